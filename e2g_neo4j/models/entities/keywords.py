"""The keywords of a question: its entities, short noun phrases, and words that may be names which the pipeline missed,
such as "Hugo Thorne", read as a noun; and its terms as in the published code of E²GraphRAG."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from e2g_neo4j.models.entities.entity_key import entity_form, entity_key
from e2g_neo4j.models.entities.extraction import extract, is_calendar, is_value

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

LONGEST_PHRASE = 4
"""Maximum words of a noun phrase. Of longer ones, the last words count."""

_BEFORE_NOUNS = frozenset(["ADJ", "NOUN", "PROPN"])


def keywords(doc: Doc) -> dict[str, str]:
    """Return the keywords of a question that the pipeline has processed: by key, how the question spells them.

    These are the entities that `extract` finds, in its order, then noun phrases of two to four words, such as "marine
    chronometer", that are none of them. A common noun is spelled as its lemma.
    """
    extraction = extract(doc)
    found = {
        key: max(extraction.forms.get(key, {key: 1}).items(), key=lambda one: one[1])[0] for key in extraction.counts
    }
    for text in _noun_phrases(doc):
        key = entity_key(text)
        if key and key not in found:
            found[key] = entity_form(text)
    return found


def _noun_phrases(doc: Doc) -> list[str]:
    """Return runs of adjectives and nouns that end with a noun, of at least two words."""
    phrases: list[str] = []
    start = 0
    while start < len(doc):
        end = start
        while end < len(doc) and doc[end].pos_ in _BEFORE_NOUNS and not (end > start and doc[end].is_sent_start):
            end += 1
        last = end
        while last > start and doc[last - 1].pos_ == "ADJ":
            last -= 1
        first = max(start, last - LONGEST_PHRASE)
        if last - first > 1:
            phrases.append(doc[first:last].text)
        start = max(end, start + 1)
    return phrases


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a question, as keys: words of names, and whole names and nouns."""

    parts: tuple[str, ...] = ()
    wholes: tuple[str, ...] = ()


def find_terms(doc: Doc) -> Terms:
    """Return the terms of a question as the published code of E²GraphRAG takes them.

    These are the words of people, organisations, countries and towns as a whole, the words of proper nouns in no
    named entity, and the lemmas of nouns. Nothing within another named entity is a term, be it a mountain or a date.
    """
    parts: list[str] = []
    wholes: list[str] = []
    for span in doc.ents:
        if span.label_ in ("PERSON", "PER"):
            parts += span.text.split()
        elif span.label_ in ("ORG", "GPE"):
            wholes.append(span.text)
    for token in doc:
        if not token.ent_type_ and token.pos_ in ("PROPN", "NOUN"):
            (parts if token.pos_ == "PROPN" else wholes).append((token.lemma_ or token.text).lower())
    keys = ((entity_key(term, doc.lang_) for term in terms) for terms in (parts, wholes))
    return Terms(*(tuple(dict.fromkeys(filter(None, terms))) for terms in keys))


MAX_CANDIDATES = 100
"""Maximum number of candidates of a question, those in capitals first."""

LONGEST = 4
"""Maximum words of a candidate."""

SHORTEST = 3
"""Minimum characters of a candidate."""


def name_candidates(doc: Doc, names: Collection[str]) -> list[str]:
    """Return the keys of the runs of words of a question that may be names, without those in `names`.

    A run neither begins nor ends with a stop word, and contains no punctuation but hyphens. Its first and last word are
    both written with a capital letter or both without. A single word has one, and is no date. Whether it is a name is
    known where the corpus has it as one.
    """
    found: dict[str, bool] = {}
    for start in range(len(doc)):
        for end in _ends(doc, start):
            key, capital = entity_key(doc[start:end].text, doc.lang_), _has_capital(doc[start])
            if len(key) >= SHORTEST and key not in names:
                found[key] = found.get(key, False) or capital
    return sorted(found, key=lambda key: not found[key])[:MAX_CANDIDATES]


def capital_runs(doc: Doc) -> list[str]:
    """Return the runs of words with capital letters which begin no sentence and are neither stop words nor dates."""
    capital = [not token.is_sent_start and _may_bound(token) and _may_be_alone(token) for token in doc]
    runs = (list(run) for is_capital, run in groupby(doc, lambda token: capital[token.i]) if is_capital)
    return [doc[run[0].i : run[-1].i + 1].text for run in runs]


def _ends(doc: Doc, start: int) -> Iterator[int]:
    """Yield where the runs that begin with a token end."""
    if not _may_bound(doc[start]):
        return
    words = 0
    for end in range(start, len(doc)):
        token = doc[end]
        if end > start and token.is_sent_start:
            return
        if token.is_alpha or token.text.rstrip(".").isalpha():
            words += 1
            if words > LONGEST:
                return
            same = _has_capital(token) == _has_capital(doc[start])
            if same and _may_bound(token) and (end > start or _may_be_alone(token)):
                yield end + 1
        elif token.text not in "-‐‑–":
            return


def _may_bound(token: Token) -> bool:
    return not token.is_stop and token.text.rstrip(".").isalpha()


def _may_be_alone(token: Token) -> bool:
    return _has_capital(token) and not is_value(token) and not is_calendar(token.lower_, token.lang_)


def _has_capital(token: Token) -> bool:
    return token.text[:1].isupper()
