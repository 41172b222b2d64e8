"""A passage: text with whatever is annotated about it, by character offsets. What training documents are made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from spacy.language import Language
from spacy.tokens import Doc

MORPH = {
    "NN": "Number=Sing", "NNP": "Number=Sing", "NNS": "Number=Plur", "NNPS": "Number=Plur",
    "JJ": "Degree=Pos", "RB": "Degree=Pos", "JJR": "Degree=Cmp", "RBR": "Degree=Cmp",
    "JJS": "Degree=Sup", "RBS": "Degree=Sup", "VB": "VerbForm=Inf", "VBP": "Tense=Pres|VerbForm=Fin",
    "VBZ": "Number=Sing|Person=3|Tense=Pres|VerbForm=Fin", "VBD": "Tense=Past|VerbForm=Fin",
    "VBN": "Aspect=Perf|Tense=Past|VerbForm=Part", "VBG": "Aspect=Prog|Tense=Pres|VerbForm=Part",
}  # fmt: skip
"""What the rule lemmatizer asks about a word, from its Penn tag."""


@dataclass(slots=True)
class Word:
    start: int
    end: int
    tag: str
    pos: str
    lemma: str


@dataclass(slots=True)
class Passage:
    text: str
    sentences: list[int]  # where they start
    words: list[Word] = field(default_factory=list)  # none: the text is not tagged
    entities: list[tuple[int, int, str]] = field(default_factory=list)
    unknown: list[tuple[int, int]] = field(default_factory=list)  # perhaps entities, perhaps not
    with_entities: bool = True

    def shifted(self, by: int) -> Passage:
        return Passage(
            " " * by + self.text,
            [s + by for s in self.sentences],
            [replace(w, start=w.start + by, end=w.end + by) for w in self.words],
            [(s + by, e + by, label) for s, e, label in self.entities],
            [(s + by, e + by) for s, e in self.unknown],
            self.with_entities,
        )


def join(parts: list[Passage], separators: list[str]) -> Passage:
    """One passage of several; `separators[i]` stands before part i, the first is ignored."""
    whole = Passage("", [], with_entities=parts[0].with_entities)
    for part, separator in zip(parts, separators, strict=True):
        text = whole.text + (separator if whole.text else "")
        moved = part.shifted(len(text))
        whole.text = text + part.text
        whole.sentences += moved.sentences
        whole.words += moved.words
        whole.entities += moved.entities
        whole.unknown += moved.unknown
    return whole


def recase(passage: Passage, case: str) -> Passage:
    """The same passage in "lower", "upper" or "title" case."""
    change = {"lower": str.lower, "upper": str.upper, "title": _title}[case]
    text = change(passage.text)
    return replace(passage, text=text) if len(text) == len(passage.text) else passage


def _title(text: str) -> str:
    small = {"a", "an", "and", "as", "at", "by", "for", "in", "of", "on", "or", "the", "to", "with", "'s"}
    words = text.split(" ")
    return " ".join(w if w in small and i else w[:1].upper() + w[1:] for i, w in enumerate(words))


def hard_wrap(passage: Passage, width: int) -> Passage:
    """Line breaks for spaces, so that lines are at most `width` characters long."""
    text = list(passage.text)
    line, space = 0, -1
    for i, character in enumerate(text):
        if character == "\n":
            line, space = i + 1, -1
        elif character == " ":
            space = i
        if i - line > width and space > line:
            text[space] = "\n"
            line, space = space + 1, -1
    return replace(passage, text="".join(text))


def replace_name(passage: Passage, which: int, name: str) -> Passage:
    """Entity number `which` under another name. Only for passages without words."""
    start, end, _ = passage.entities[which]
    grown = len(name) - (end - start)

    def moved(at: int) -> int:
        return at + grown if at >= end else at

    return replace(
        passage,
        text=passage.text[:start] + name + passage.text[end:],
        sentences=[moved(s) for s in passage.sentences],
        entities=[(moved(s), moved(e), label) for s, e, label in passage.entities],
        unknown=[(moved(s), moved(e)) for s, e in passage.unknown],
    )


def vary(passage: Passage, random: Random, *, recased: float, wrapped: float) -> Passage:
    """By chance in another letter case, or hard-wrapped, or both."""
    if random.random() < recased:
        passage = recase(passage, random.choices(["lower", "title", "upper"], [16, 3, 1])[0])
    if random.random() < wrapped:
        passage = hard_wrap(passage, random.randint(45, 80))
    return passage


def to_doc(nlp: Language, passage: Passage) -> Doc:
    """The passage as spaCy tokenises it. Tokens that the annotation splits otherwise stay without a tag."""
    doc = nlp.make_doc(passage.text)
    words = {(w.start, w.end): w for w in passage.words}
    for token in doc:
        word = words.get((token.idx, token.idx + len(token)))
        if word:
            token.tag_ = word.tag
            token.pos_ = word.pos
            token.set_morph(MORPH.get(word.tag, ""))
            token.lemma_ = word.lemma
        elif token.is_space and passage.words:
            token.tag_, token.pos_ = "_SP", "SPACE"
            token.set_morph("")
    starts = sorted(passage.sentences)
    position = 0
    for token in doc:
        first = position < len(starts) and token.idx + len(token) > starts[position] and not token.is_space
        token.is_sent_start = first
        while first and position < len(starts) and starts[position] < token.idx + len(token):
            position += 1
    if passage.with_entities:
        _set_entities(doc, passage)
    return doc


def _set_entities(doc: Doc, passage: Passage) -> None:
    known, missing = [], [doc.char_span(s, e, alignment_mode="expand") for s, e in passage.unknown]
    for start, end, label in passage.entities:
        span = doc.char_span(start, end, label=label)
        if span is not None and not span[0].is_space and not span[-1].is_space:
            known.append(span)
        else:
            missing.append(doc.char_span(start, end, alignment_mode="expand"))
    taken = {i for span in known for i in range(span.start, span.end)}
    free = {i for span in missing if span is not None for i in range(span.start, span.end)} - taken
    doc.set_ents(known, missing=[doc[i : i + 1] for i in sorted(free)], default="outside")
