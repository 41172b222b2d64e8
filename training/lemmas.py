"""The rule lemmatizer: the English tables of spacy-lookups-data, with exceptions learned from the treebanks."""

from __future__ import annotations

from collections import Counter, defaultdict

from spacy.language import Language
from spacy.lookups import load_lookups
from spacy.tokens import Doc

from training.passages import MORPH, Passage

_TABLES = ["lemma_rules", "lemma_exc", "lemma_index"]
_CLASSES = {"NOUN", "VERB", "ADJ", "ADV", "AUX", "PRON", "DET", "PART"}
_LEAST_COUNT, _LEAST_SHARE = 3, 0.7
_WEEDS = {("NOUN", "km"), ("NOUN", "mins"), ("NOUN", "silkies"), ("NOUN", "veggies"), ("VERB", "bred"), ("VERB", "b."),
          ("VERB", "mimicked"), ("VERB", "fighting"), ("VERB", "new"), ("VERB", "gon"), ("ADV", "were"),
          ("PRON", "’s"), ("PRON", "'s"), ("PRON", "s")}  # fmt: skip
"""Spellings and accidents of the training files that no other text shares."""


def add_lemmatizer(nlp: Language, passages: list[Passage]) -> None:
    """Adds the component; words that the rules get wrong in `passages`, most of the time, become exceptions."""
    lemmatizer = nlp.add_pipe("lemmatizer", config={"mode": "rule", "overwrite": True})
    lemmatizer.initialize(lookups=load_lookups("en", _TABLES))
    exceptions = lemmatizer.lookups.get_table("lemma_exc")
    lemmas: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    tags: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for passage in passages:
        for word in passage.words:
            if word.pos in _CLASSES and word.lemma.strip("_-"):
                key = word.pos, passage.text[word.start : word.end].lower()
                lemmas[key][word.lemma.lower()] += 1
                tags[key][word.tag] += 1
    words = [key for key in lemmas if key not in _WEEDS]
    # Capitalised, as the rules give a word that they do not know back as it stands: "People" must become "people".
    doc = Doc(nlp.vocab, words=[form.capitalize() for _, form in words], pos=[pos for pos, _ in words])
    learned: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for token, (pos, form) in zip(doc, words, strict=True):
        token.set_morph(MORPH.get(tags[pos, form].most_common(1)[0][0], ""))
        lemma, count = lemmas[pos, form].most_common(1)[0]
        plural = pos == "NOUN" and form in (lemma + "s", lemma + "es")
        torn = len(lemma) > len(form) + 1 and lemma.startswith(form)  # "down fall" has the lemma "downfall"
        common = count >= (1 if plural else _LEAST_COUNT)
        common = common and count >= _LEAST_SHARE * lemmas[pos, form].total() and not torn
        # A base form is its own lemma without asking the tables, so an exception would never be read.
        if common and not lemmatizer.is_base_form(token) and lemma != lemmatizer.rule_lemmatize(token)[0]:
            learned[pos.lower()][form] = [lemma]
    for pos, forms in learned.items():
        exceptions[pos] = dict(exceptions.get(pos, {})) | forms
    lemmatizer.cache = {}
