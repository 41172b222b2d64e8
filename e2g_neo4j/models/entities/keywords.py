"""The keywords of a question: its entities, and short noun phrases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from e2g_neo4j.models.entities.entity_key import entity_form, entity_key
from e2g_neo4j.models.entities.extraction import extract

if TYPE_CHECKING:
    from spacy.tokens import Doc

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
