"""Find names in chunks where the pipeline missed them.

They are names of people that other chunks of the document have, and names that the corpus knows from the user's graph.
The pipeline reads "Thorne" as a name on one page and as an adjective on another. What is added depends only on the
document, its texts and the extractions of its chunks, and on the names of `collect_linked_names`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from e2g_neo4j.indexing.name_merging import NameCount, is_person, names_of
from e2g_neo4j.indexing.person_names import is_title, parse_name
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.models.entities.extraction_codec import MOST_ENTITIES
from e2g_neo4j.types.graph import NOUN, PERSON, Extraction, Sentence
from e2g_neo4j.types.languages import NameWords

SHORTEST = 4
"""Minimum characters of a name."""

SURE = 0.5
"""Minimum share of the occurrences of a name that are tagged as a person."""

ATTESTED = 3
"""Minimum occurrences of a name in the document."""

NEAR = 50
"""Characters before and after a name that are looked at."""

_BEFORE = re.compile(r"(\S+)\s+$")
_AFTER = re.compile(r"^\s+(\w+)")


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The names that a document certainly has.

    Attributes:
        keys: their keys, by spelling.
        types: the types of those that are not people, by key.
        pattern: matches the spellings as whole words, the longest first.
        titles: words that may precede them.
    """

    keys: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    pattern: re.Pattern[str] | None = None
    titles: Collection[str] = ()


def collect_known_names(
    counts: Mapping[str, NameCount], of: NameWords, linked: Mapping[str, str] = MappingProxyType({})
) -> KnownNames:
    """Return the names of a document that are found wherever they are spelled the same.

    These are names of people that it often has, given names and surnames of those with a full name, which the pipeline
    may have read as common nouns, and the names of linked nodes.

    Args:
        counts: the names that the pipeline found.
        linked: the types of the names of linked nodes that are in the texts, by spelling.
    """
    keys = {form: entity_key(form) for form in linked}
    types = {key: linked[form] for form, key in keys.items() if not _is_of_a_person(counts.get(key))}
    for key, one in names_of(counts).items():
        if len(key) >= SHORTEST and one.count >= ATTESTED and one.people >= SURE * one.count and is_person(key, one):
            name = parse_name(key, of)
            for form in one.forms:
                if form[0].isupper() and form != form.upper():
                    keys[form] = key
                    if name and name.given and not name.titles:
                        words = [form.split()[0], form.split()[-1]]
                        keys |= {word: entity_key(word) for word in words if len(word) >= SHORTEST and word.isalpha()}
    if not keys:
        return KnownNames()
    return KnownNames(keys, types, _pattern(keys), of.titles)


def is_spelled(form: str, text: str) -> bool:
    """Return whether a text contains a spelling of a name as whole words."""
    return _pattern([form]).search(text) is not None


def _pattern(forms: Collection[str]) -> re.Pattern[str]:
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    spellings = "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in longest_first)
    return re.compile(rf"(?<![\w'’-])(?:{spellings})(?![\w-])")


def _is_of_a_person(one: NameCount | None) -> bool:
    return one is not None and one.people >= SURE * one.count


def add_missed_names(text: str, extraction: Extraction, known: KnownNames) -> Extraction:
    """Add the names to the extraction of a chunk that its sentences contain but do not list.

    A part of a name that the pipeline found in its place, such as "Hugo" for Hugo Thorne, is replaced by the name. A
    name that it read as a common noun becomes a name.
    """
    if known.pattern is None:
        return extraction
    found: _Counts | None = None  # costs more than all else, and most chunks need none
    matched: Counter[tuple[str, str]] = Counter()
    sentences = []
    for sentence in extraction.sentences:
        entities = dict.fromkeys(sentence.entities)
        written = text[sentence.start : sentence.end]
        matches = list(_matches(written, known)) if len(entities) < MOST_ENTITIES - 1 else []
        matched.update(matches)
        for form, key in matches:
            if key not in entities and not any(_is_part(key, one) for one in entities):
                found = found or _Counts(extraction)
                rest = known.pattern.sub(lambda one: " " if len(one[0].split()) > 1 else one[0], written)
                for part in [one for one in entities if _is_part(one, key) and not found.occurs(one, rest)]:
                    del entities[part]
                    found.remove(part)
                entities[key] = None
                found.add(key, form, known.types.get(key, PERSON))
        sentences.append(Sentence(sentence.start, sentence.end, tuple(entities)))
    for (form, key), number in matched.items():
        if found or NOUN in extraction.types.get(key, ()):
            found = found or _Counts(extraction)
            found.retype(key, form, number, known.types.get(key, PERSON))
    return found.extraction(sentences) if found else extraction


def _matches(written: str, known: KnownNames) -> Iterator[tuple[str, str]]:
    """Yield spelling and key of the known names in a sentence."""
    for match in known.pattern.finditer(written) if known.pattern else ():
        form = " ".join(match[0].split())
        if (key := known.keys.get(form)) and (" " in key or not _may_be_of_another_name(written, match, known)):
            yield form, key


def _may_be_of_another_name(written: str, match: re.Match[str], known: KnownNames) -> bool:
    """Return whether a single word begins the sentence or has a neighbour in capitals, other than a title."""
    first = max(0, match.start() - NEAR)
    before = _BEFORE.search(written[first : match.start()])
    after = _AFTER.search(written[match.end() : match.end() + NEAR])
    if before is None:
        return True
    follows = before[1][:1].isupper() and not is_title(before[1], known.titles) and first + before.start() > 0
    return follows or (after is not None and after[1][0].isupper())


def _is_part(part: str, key: str) -> bool:
    return part != key and f" {part} " in f" {key} "


class _Counts:
    """The counts of an extraction, to be changed."""

    def __init__(self, extraction: Extraction) -> None:
        self.counts, self.people = Counter(extraction.counts), Counter(extraction.people)
        self.forms = {key: Counter(extraction.forms.get(key, {key: count})) for key, count in self.counts.items()}
        self.types = {key: Counter(extraction.types.get(key, {})) for key in self.counts}

    def occurs(self, key: str, text: str) -> bool:
        """Return whether all words of a spelling of an entity are in a text."""
        words = {word.casefold() for word in re.findall(r"\w+", text)}
        return any(set(form.casefold().split()) <= words for form in self.forms[key])

    def add(self, key: str, form: str, type: str) -> None:
        self._change(key, form, type, 1)

    def remove(self, key: str) -> None:
        """Take back an occurrence with the most frequent spelling and type."""
        forms, types = self.forms[key], self.types[key]
        form = min(forms, key=lambda one: (-forms[one], one))
        self._change(key, form, min(types, key=lambda one: (-types[one], one), default=NOUN), -1)

    def retype(self, key: str, form: str, number: int, type: str) -> None:
        """Make names of common nouns, as far as the spelling occurs more often than it was counted."""
        forms, types = self.forms.get(key, Counter[str]()), self.types.get(key, Counter[str]())
        for _ in range(min(number - forms[form], forms[key], types[NOUN])):
            self._change(key, key, NOUN, -1)
            self._change(key, form, type, 1)

    def _change(self, key: str, form: str, type: str, by: int) -> None:
        self.counts[key] += by
        self.forms.setdefault(key, Counter())[form] += by
        self.types.setdefault(key, Counter())[type] += by
        self.people[key] += by * (type == PERSON)

    def extraction(self, sentences: Sequence[Sentence]) -> Extraction:
        left = {key: count for key, count in self.counts.items() if count > 0}
        forms = {key: dict(+self.forms[key]) for key in left}
        return Extraction(
            tuple(sentences),
            left,
            {key: one for key, one in forms.items() if set(one) != {key}},
            {key: count for key, count in self.people.items() if count > 0 and key in left},
            {key: dict(+self.types[key]) for key in left},
        )
