"""Entities for unannotated novels: what a first model finds, put right by how each name is used in the whole book.

A model that sees one sentence at a time misses a name here and there that it knows elsewhere. Over some
thousand words of one book, a word that is nearly always part of a name is one everywhere; a word that rarely is,
is none. What stays doubtful is left open, as is every name next to a capitalised word outside of it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from training.corpus import HELD_OUT
from training.passages import Passage

_WORDS_PER_BOOK, _KEPT = 12_000, 2
_SURE, _LEAST = 0.6, 3
_FREE = frozenset({"Mr.", "Mrs.", "Mr", "Mrs", "Miss", "Dr.", "Dr", "I", "O", "Oh", "The", "A", "An"})


def silver_passages(teacher: Language, books: Path) -> list[Passage]:
    """Paragraphs of every novel that is not in LitBank's dev or test part, with sentences and entities.

    More text is read than is returned: 12,000 words of a book settle its names, every second paragraph is kept.
    """
    passages = []
    for path in sorted(books.glob("*.txt")):
        if not any(book in path.name for book in HELD_OUT):
            docs = list(teacher.pipe(_paragraphs(path.read_text(encoding="utf-8")), batch_size=16))
            passages += _agreed(docs)[::_KEPT]
    return passages


def _paragraphs(text: str) -> list[str]:
    paragraphs = [" ".join(p.split()) for p in re.split(r"\n\s*\n", text)]
    paragraphs = [p for p in paragraphs if 60 < len(p) < 2500]
    start = len(paragraphs) // 4  # past front matter
    chosen: list[str] = []
    words = 0
    for paragraph in paragraphs[start:]:
        chosen.append(paragraph)
        words += paragraph.count(" ") + 1
        if words > _WORDS_PER_BOOK:
            break
    return chosen


def _agreed(docs: list[Doc]) -> list[Passage]:
    inside: Counter[str] = Counter()
    total: Counter[str] = Counter()
    alone: dict[str, Counter[str]] = defaultdict(Counter)
    for doc in docs:
        for token in doc:
            if token.text[:1].isupper():
                total[token.text] += 1
                inside[token.text] += token.ent_type_ != ""
        for entity in doc.ents:
            if len(entity) == 1:
                alone[entity.text][entity.label_] += 1
    share = {word: inside[word] / total[word] for word in total}
    return [_passage(doc, share, total, alone) for doc in docs]


def _passage(doc: Doc, share: dict[str, float], total: Counter[str], alone: dict[str, Counter[str]]) -> Passage:
    passage = Passage(doc.text, [s[0].idx for s in doc.sents if not s[0].is_space])
    for entity in doc.ents:
        span = (entity.start_char, entity.end_char)
        edges = [doc[i] for i in (entity.start - 1, entity.end) if 0 <= i < len(doc)]
        touching = any(t.text[:1].isupper() and t.ent_type_ == "" and t.text not in _FREE for t in edges)
        capitals = [t.text for t in entity if t.text[:1].isupper()]
        sure = capitals and all(total[c] < _LEAST or share[c] >= _SURE for c in capitals)
        if any(map(str.isdigit, entity.text)) if entity.label_ == "DATE" else sure and not touching:
            passage.entities.append((*span, entity.label_))
        else:
            passage.unknown.append(span)
    for token in doc:
        if token.ent_type_ or not token.text[:1].isupper() or not token.is_alpha or len(token) < 2:
            continue
        word = token.text
        around = [doc[i] for i in (token.i - 1, token.i + 1) if 0 <= i < len(doc)]
        beside = any(t.ent_type_ or (t.text[:1].isupper() and not t.is_sent_start) for t in around)
        span = (token.idx, token.idx + len(token))
        if share[word] >= _SURE and total[word] >= _LEAST and alone[word] and not beside:
            passage.entities.append((*span, alone[word].most_common(1)[0][0]))
        elif share[word] > 0.15:
            passage.unknown.append(span)
    passage.entities.sort()
    return passage
