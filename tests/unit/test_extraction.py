"""Keys and entities, on documents whose annotation is written down here; no pipeline is loaded."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, Span

from e2g_neo4j.models.entities.entity_key import entity_form, entity_key
from e2g_neo4j.models.entities.extraction import extract, extract_all
from e2g_neo4j.models.entities.extraction_codec import decode, encode
from e2g_neo4j.models.entities.pipeline import load_pipeline, pipeline_id
from e2g_neo4j.types.graph import Extraction

BLANK = spacy.blank("en")


def tagged(marked: str, *entities: tuple[int, int, str], starts: tuple[int, ...] = (0,)) -> Doc:
    """A document from "word/POS" pieces; "_" for a blank line, "~" after a word that no space follows."""
    pieces = [piece.rsplit("/", 1) for piece in marked.split()]
    words = ["\n\n" if word == "_" else word.rstrip("~") for word, _ in pieces]
    spaces = [not word.endswith("~") and word != "_" for word, _ in pieces]
    doc = Doc(
        BLANK.vocab,
        words=words,
        spaces=spaces,
        pos=[pos for _, pos in pieces],
        lemmas=[
            word.removesuffix("s") if pos == "NOUN" else word for word, (_, pos) in zip(words, pieces, strict=True)
        ],
        sent_starts=[i in starts for i in range(len(words))],
    )
    doc.ents = [Span(doc, start, end, label) for start, end, label in entities]
    return doc


@pytest.mark.parametrize(
    ("written", "also_written"),
    [
        ("Mr. Darcy", "mr darcy"),
        ("Mr.\nDarcy", "Mr. Darcy"),
        ("Darcy's", "Darcy"),
        ("Darcy’s", "darcy"),
        ("James'", "James"),
        ("St. John’s", "St John"),
        ("U.S.", "US"),
        ("the U. S. A.", "USA"),
        ("J. R. R. Tolkien", "J.R.R. Tolkien"),
        ("J R R Tolkien", "j.r.r. tolkien"),
        ("Zoë Brontë", "Zoe Bronte"),
        ("Søren", "Soren"),
        ("Jean–Paul", "Jean-Paul"),
        ("Jean - Paul", "Jean‑Paul"),
        ("The “Nautilus”", "nautilus"),
        ("_Emma_,", "Emma"),
        ("O’Brien", "O'Brien"),
        ("the   Hague", "The Hague"),
        ("ﬁnance", "finance"),
        ("STRASSE", "straße"),
        ("his Majesty", "Majesty"),
        ("Ph.D.", "PhD"),
    ],
)
def test_spellings_of_one_name_have_one_key(written: str, also_written: str) -> None:
    assert entity_key(written) == entity_key(also_written) != ""


@pytest.mark.parametrize(
    ("name", "another"),
    [
        ("Mr. Bennet", "Mrs. Bennet"),
        ("Mr. Bennet", "Bennet"),
        ("Web 2.0", "Web 20"),
        ("A. Smith", "Smith"),
        ("AT&T", "AT T"),
        ("Lincoln's Inn", "Lincoln Inn"),
    ],
)
def test_different_names_have_different_keys(name: str, another: str) -> None:
    assert entity_key(name) != entity_key(another)


@pytest.mark.parametrize("nothing", ["", " ", "...", "’", "“”", "—", "\n"])
def test_nothing_but_signs_has_no_key(nothing: str) -> None:
    assert entity_key(nothing) == ""


@given(st.text(max_size=40))
def test_a_key_has_no_white_space_around_or_doubled_and_does_not_depend_on_case(text: str) -> None:
    key = entity_key(text)
    assert key == " ".join(key.split())
    assert key == key.casefold()


@given(st.from_regex(r"\A[B-Z][a-z]{2,8}( [B-Z][a-z]{2,8}){0,2}\Z"))
def test_a_key_is_its_own_key_and_ignores_what_surrounds_the_name(name: str) -> None:
    key = entity_key(name)
    assert entity_key(key) == key
    for around in ("the {}", "“{}”", "{}’s", "{},", "_{}_", "({})", " {}\n", "The {}.", "{}'s"):
        assert entity_key(around.format(name)) == key
    assert entity_key(name.upper()) == entity_key(name.replace(" ", "-")) == key


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("Mr.\nDarcy’s", "Mr. Darcy"),
        ("the U. S. A.", "U. S. A."),
        ("U.S.", "U.S."),
        ("Zoë Brontë", "Zoë Brontë"),
        ("_Emma_,", "Emma"),
        ("The “Nautilus”", "Nautilus"),
        ("Van Helsing", "Van Helsing"),
        ("Ｄａｒｃｙ", "Darcy"),
        ("Har\u00adker\u200f", "Harker"),
        ("James'", "James"),
    ],
)
def test_a_form_is_the_name_as_it_is_written_without_what_surrounds_it(written: str, form: str) -> None:
    assert entity_form(written) == form


NAMES = st.text(alphabet="aAéÉßİıﬁＭº'’. ,;-()“s\tthe\u0301\u00ad\u200f", max_size=16) | st.text(max_size=16)


@given(NAMES)
def test_a_form_has_the_key_of_the_text(text: str) -> None:
    assert entity_form(text) == entity_key(text) or entity_key(entity_form(text)) == entity_key(text)


@given(NAMES, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_spellings_that_differ_in_case_accents_width_and_signs_around_have_one_key(text: str, normal: Any) -> None:
    key = entity_key(text)
    for same in (unicodedata.normalize(normal, text), text.upper(), text.lower(), text.casefold(), f" {text}\n"):
        assert entity_key(same) == key
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
    assert entity_key(wide) == key
    assert entity_key(f"“{text},”") == key


@given(NAMES)
def test_folding_again_changes_nothing(text: str) -> None:
    key = entity_key(text)
    if key.split(" ")[0] not in ("a", "the"):  # "A. Smith": a full stop told the initial from the article
        assert entity_key(key) == key


def test_an_extraction_tells_the_forms_of_names_and_who_is_called_a_person() -> None:
    doc = tagged(
        "Emma/PROPN met/VERB EMMA/PROPN in/ADP the/DET garden/NOUN of/ADP emma/NOUN ./PUNCT Kent/PROPN",
        (0, 1, "PERSON"),
        (2, 3, "PERSON"),
    )
    found = extract(doc)
    assert found.forms == {"emma": {"Emma": 1, "EMMA": 1, "emma": 1}, "kent": {"Kent": 1}}
    assert found.people == {"emma": 2}


def test_an_extraction_tells_what_each_entity_is() -> None:
    doc = tagged(
        "Emma/PROPN left/VERB Kent/PROPN for/ADP Kent/PROPN Abbey/PROPN and/CCONJ the/DET Guild/PROPN ./PUNCT "
        "Mercury/PROPN and/CCONJ mercury/NOUN of/ADP May/PROPN weigh/VERB two/NUM pounds/NOUN in/ADP Kent/PROPN",
        (0, 1, "PER"),
        (2, 3, "GPE"),
        (4, 6, "FAC"),
        (8, 9, "Sodality"),
        (16, 18, "QUANTITY"),
        (19, 20, "PERSON"),
        starts=(0, 10),
    )
    assert extract(doc).types == {
        "emma": {"person": 1},
        "kent": {"place": 1, "person": 1},
        "kent abbey": {"place": 1},
        "guild": {"sodality": 1},
        "mercury": {"name": 1, "noun": 1},
        "pound": {"noun": 1},
    }


def test_an_extraction_is_stored_and_read() -> None:
    doc = tagged("Emma/PROPN likes/VERB the/DET garden/NOUN", (0, 1, "PERSON"))
    found = extract(doc)
    assert decode(encode(found)) == found


def test_named_entities_proper_nouns_and_nouns_in_order_of_appearance() -> None:
    doc = tagged(
        "The/DET letters/NOUN of/ADP Mr./PROPN Darcy~/PROPN 's/PART aunt/NOUN reached/VERB Kent/PROPN Abbey/PROPN "
        "./PUNCT Darcy/PROPN read/VERB two/NUM letters/NOUN ./PUNCT",
        (3, 5, "PERSON"),
        starts=(0, 11),
    )
    found = extract(doc)
    assert [s.entities for s in found.sentences] == [
        ("letter", "mr darcy", "aunt", "kent abbey"),
        ("darcy", "letter"),
    ]
    assert found.counts == {"letter": 2, "mr darcy": 1, "aunt": 1, "kent abbey": 1, "darcy": 1}


def test_an_entity_that_comes_twice_in_a_sentence_is_named_once_and_counted_twice() -> None:
    found = extract(tagged("Emma/PROPN loves/VERB Emma/PROPN", (0, 1, "PERSON")))
    assert found.sentences[0].entities == ("emma",)
    assert found.counts == {"emma": 2}


def test_nouns_inside_a_named_entity_are_not_entities_of_their_own() -> None:
    found = extract(tagged("the/DET house/NOUN of/ADP lords/NOUN and/CCONJ lords/NOUN", (1, 4, "ORG")))
    assert found.sentences[0].entities == ("house of lords", "lord")


@pytest.mark.parametrize("label", ["DATE", "TIME", "MONEY", "PERCENT", "QUANTITY", "ORDINAL", "CARDINAL"])
def test_dates_and_amounts_are_no_entities_but_their_nouns_are(label: str) -> None:
    found = extract(tagged("in/ADP 20/NUM years/NOUN of/ADP peace/NOUN", (1, 3, label)))
    assert found.sentences[0].entities == ("year", "peace")


@pytest.mark.parametrize(
    "word", ["I/PROPN", "x/NOUN", "1812/NOUN", "ten/NOUN", "something/NOUN", "--/NOUN", "Monday/PROPN", "May/PROPN"]
)
def test_letters_numbers_stop_words_and_days_are_no_entities(word: str) -> None:
    assert extract(tagged(f"we/PRON saw/VERB {word} there/ADV")).counts == {}


def test_a_tight_hyphen_joins_proper_nouns_and_a_loose_one_does_not() -> None:
    assert extract(tagged("Jean~/PROPN -~/PUNCT Paul/PROPN came/VERB")).counts == {"jean paul": 1}
    assert extract(tagged("Jean/PROPN -/PUNCT Paul/PROPN came/VERB")).counts == {"jean": 1, "paul": 1}


def test_a_possessive_parts_two_names() -> None:
    found = extract(tagged("London~/PROPN 's/PART Thames/PROPN"))
    assert found.sentences[0].entities == ("london", "thames")


def test_a_blank_line_ends_a_sentence_and_white_space_belongs_to_none() -> None:
    doc = tagged("CHAPTER/NOUN _/SPACE Emma/PROPN slept/VERB ./PUNCT _/SPACE")
    found = extract(doc)
    assert [doc.text[s.start : s.end] for s in found.sentences] == ["CHAPTER", "Emma slept ."]
    assert [s.entities for s in found.sentences] == [("chapter",), ("emma",)]


def test_a_text_without_words_has_no_sentences() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    assert extract(nlp("")) == extract(nlp(" \n\n ")) == Extraction((), {})


@given(st.lists(st.sampled_from(["Emma", "rain", "fell", ".", "\n\n", "London", "-", "2"]), max_size=30), st.data())
def test_counts_and_sentences_agree(words: list[str], data: st.DataObject) -> None:
    pos = [data.draw(st.sampled_from(["NOUN", "PROPN", "VERB", "PUNCT"])) for _ in words]
    starts: list[bool | int | None] = [i == 0 or data.draw(st.booleans()) for i in range(len(words))]
    doc = Doc(BLANK.vocab, words=words, pos=pos, lemmas=words, sent_starts=starts)
    found = extract(doc)
    assert {key for s in found.sentences for key in s.entities} == set(found.counts)
    bounds = [s.start for s in found.sentences[1:]] + [len(doc.text)]
    for sentence, bound in zip(found.sentences, bounds, strict=False):
        assert sentence.start < sentence.end <= bound
        assert len(set(sentence.entities)) == len(sentence.entities)
        assert doc.text[sentence.start : sentence.end].strip() == doc.text[sentence.start : sentence.end]


def test_texts_are_read_as_they_are_needed() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    read = []

    def texts() -> Iterator[str]:
        for i in range(1000):
            read.append(i)
            yield f"Text number {i}."

    stream = extract_all(nlp, texts(), workers=1)
    next(stream)
    assert len(read) < 200


def test_line_breaks_in_a_paragraph_are_spaces_and_offsets_stay() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    seen: list[str] = []

    @Language.component("test_extraction_spy")
    def spy(doc: Doc) -> Doc:
        seen.append(doc.text)
        return doc

    nlp.add_pipe("test_extraction_spy")
    (found,) = extract_all(nlp, ["Emma\nWoodhouse,\r\nrich.\n\nShe had"])
    assert seen == ["Emma Woodhouse,  rich.\n\nShe had"]
    assert [(s.start, s.end) for s in found.sentences] == [(0, 22), (24, 31)]


def test_the_pipeline_is_identified_by_language_name_and_version() -> None:
    nlp = spacy.blank("en", meta={"name": "mine", "version": "1.2.3"})
    assert pipeline_id(nlp) == "en_mine-1.2.3"


def test_parts_of_addresses_are_no_names() -> None:
    text = (
        "Ada Lovelace met Charles Babbage in London. See https://s0.example.com/latex.php?Mersenne=Fermat&bg=ffffff or "
        "[the letters of Ada Lovelace](https://archive.example/Wayback/Galois.html), and www.example.org/Riemann/Gauss."
    )
    [found] = extract_all(load_pipeline(), [text])
    assert {"ada lovelace", "charles babbage", "london"} <= found.counts.keys()
    parts = ("example", "latex", "mersenne", "fermat", "wayback", "galois", "riemann", "gauss", "http", "www")
    assert [key for key in found.counts if any(part in key for part in parts)] == []
    assert text[found.sentences[0].start : found.sentences[0].end] == "Ada Lovelace met Charles Babbage in London."
