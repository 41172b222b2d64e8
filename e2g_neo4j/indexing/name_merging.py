"""Name merging: "Harker" resolves to Jonathan Harker in a document without another Harker.

The rules use the names of one document only, and never merge names that may belong to two people.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from e2g_neo4j.types.graph import Extraction, Sentence
from e2g_neo4j.types.mentions import NameMerge


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MEN = _words("mr mister sir lord master squire monsieur don herr signor baron")

_WIVES = _words("mrs madame frau mme")
"""Titles that may precede the full name of the husband, as in Mrs. Joe Gargery."""

_MARRIED = _WIVES | _words("lady madam dame")

_UNMARRIED = _words("miss mademoiselle fraulein mlle")

_OFFICES = _words(
    "ms dr doctor prof professor rev reverend captain capt colonel col major general gen lieutenant sergeant admiral "
    "count judge justice president senator governor inspector constable lawyer nurse parson bishop"
)

_TITLES = _MEN | _MARRIED | _UNMARRIED | _OFFICES

_BEFORE_GIVEN_NAMES = _words("sir lady lord dame miss madam master don")
"""Titles that may precede a given name alone, as in Sir William or Miss Lucy."""

_PARTICLES = _words("van von der den de du la le di da del della dos ter")

_SUFFIXES = _words("jr sr junior senior esq esquire phd md")

_SURNAMES_AT_BEST = _words(
    "poor old young little good fair sweet late friend husband wife cousin uncle aunt brother sister father mother son "
    "daughter king queen prince princess duke duchess earl emperor pope saint st"
)
"""Words that are not given names, but may end a name, as in Mary King."""

_NOT_IN_NAMES = _words(
    "dear dearest papa mamma majesty god almighty messrs messieurs misses of for and the to in at on by with from"
)

_LONGEST = 4
"""Maximum number of words of a name without titles."""

NOUNS = 0.1
"""Maximum share of the occurrences of a name that are common nouns: "grey sky" is not Mr. Grey."""

PEOPLE = 0.25
"""Minimum share of the occurrences of a name that are tagged as a person. The pipeline misses some."""

STRAY = 0.05
"""Maximum share of occurrences of a given name as a surname that count as a mistake."""


@dataclass(slots=True)
class NameCount:
    """The occurrences of a name in a document.

    Attributes:
        first: the number of the first chunk that mentions it.
        count: all occurrences.
        people: occurrences that are tagged as a person.
        forms: occurrences of each spelling.
    """

    first: int
    count: int = 0
    people: int = 0
    forms: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Name:
    """A parsed name. `last` is the surname, with "van" or "de la". If `given` is empty, it may be a given name."""

    key: str
    titles: frozenset[str]
    given: tuple[str, ...]
    last: str


@dataclass(slots=True)
class _Person:
    """A person with given name and surname in a document: the full names, the most frequent first."""

    names: list[_Name] = field(default_factory=list)
    count: int = 0
    first: int = 0

    @property
    def key(self) -> str:
        return self.names[0].key

    @property
    def titles(self) -> frozenset[str]:
        return frozenset[str]().union(*(name.titles for name in self.names))


def name_counts(extractions: Iterable[Extraction]) -> dict[str, NameCount]:
    """Count the names of a document, from the extractions of its chunks in reading order."""
    counts: dict[str, NameCount] = {}
    for number, extraction in enumerate(extractions):
        for key, count in extraction.counts.items():
            name = counts.setdefault(key, NameCount(number))
            name.count += count
            name.people += extraction.people.get(key, 0)
            name.forms.update(extraction.forms.get(key, {key: count}))
    return {key: name for key, name in counts.items() if set(name.forms) != {key}}


def find_merges(names: Mapping[str, NameCount], do_not_merge: Collection[str] = ()) -> list[NameMerge]:
    """Find the names of a document that resolve to another name.

    The rules are `_same_full_name`, `_by_surname`, `_by_title` and `_by_given_name`.

    Args:
        names: the names of the document, by key.
        do_not_merge: the keys of split names, which resolve to no other name.

    Returns:
        The merges, sorted by name.
    """
    parsed = [name for key, one in names.items() if _is_person(key, one) and (name := _parsed(key))]
    people = _people(parsed, names)
    with_last: defaultdict[str, list[_Person]] = defaultdict(list)
    with_given: defaultdict[str, list[_Person]] = defaultdict(list)
    for person in people:
        with_last[person.names[0].last].append(person)
        with_given[person.names[0].given[0]].append(person)
    short: defaultdict[str, list[_Name]] = defaultdict(list)
    for name in parsed:
        if not name.given:
            short[name.last].append(name)

    matches = [one for person in people for one in _same_full_name(person)]
    for word, short_names in short.items():
        surnames, given_names = with_last[word], with_given[word]
        if surnames and not given_names and not _is_family(word, names):
            matches += _by_surname(word, short_names, surnames)
        elif given_names and not surnames:
            matches += _by_given_name(word, short_names, given_names, names)
        elif not given_names and not _is_family(word, names):
            matches += _by_title(word, short_names, names)
    return [
        NameMerge(name.key, full, why, names[name.key].count, _most_frequent(names[name.key].forms))
        for name, full, why in sorted(matches, key=lambda one: one[0].key)
        if name.key not in do_not_merge
    ]


_Match: TypeAlias = tuple[_Name, str, str]
"""A name, the key of the name that it resolves to, and the reason."""


def _same_full_name(person: _Person) -> Iterator[_Match]:
    """Merge names with the same given name and surname, if their titles can belong to one person."""
    if _compatible(person.titles):
        for name in person.names[1:]:
            yield name, person.key, "the same given name and surname"


def _by_surname(word: str, short_names: Sequence[_Name], people: Sequence[_Person]) -> Iterator[_Match]:
    """Merge a surname, alone or after titles, with the only full name, if all titles can belong to one person.

    Mrs. Harker may be the wife of another Harker, and then Harker alone may be she. A full name that occurs only once,
    and never with a title, may not be a name.
    """
    known = frozenset[str]().union(*(person.titles for person in people))
    titles = known.union(*(name.titles for name in short_names))
    another = titles & _WIVES and not known & _WIVES
    if len(people) == 1 and _compatible(titles) and not another and (titles or people[0].count > 1):
        for name in short_names:
            yield name, people[0].key, f"the only full name with the surname {word}"


def _by_title(word: str, short_names: Sequence[_Name], names: Mapping[str, NameCount]) -> Iterator[_Match]:
    """Merge a surname alone and after its only title, if there is no full name."""
    titles = frozenset[str]().union(*(name.titles for name in short_names))
    if (
        {len(name.titles) for name in short_names} == {0, 1}
        and len(short_names) == 2
        and not titles & (_BEFORE_GIVEN_NAMES | _WIVES)
    ):
        main, other = sorted(short_names, key=lambda name: (-names[name.key].count, name.key))
        yield other, main.key, f"{word} has one title only"


def _by_given_name(
    word: str, short_names: Sequence[_Name], people: Sequence[_Person], names: Mapping[str, NameCount]
) -> Iterator[_Match]:
    """Merge a given name, alone or after a title such as Sir or Miss, with the only full name.

    If the name has a title, it may be the only full name with the title. The full name must occur at least twice, and
    not later. The given name must not be used as a surname, as in Colonel John.
    """
    as_given = [name for name in short_names if name.titles <= _BEFORE_GIVEN_NAMES]
    as_surname = [name for name in short_names if not name.titles <= _BEFORE_GIVEN_NAMES]
    if _count(as_surname, names) > STRAY * _count(as_given, names):
        return
    for name in as_given:
        candidates = [person for person in people if name.titles <= person.titles] or people
        if len(candidates) == 1 and _compatible(candidates[0].titles | name.titles):
            [person] = candidates
            if person.count > 1 and person.first <= names[name.key].first:
                yield name, person.key, f"the only full name with the given name {word}"


def apply_merges(extractions: Iterable[Extraction], merges: Iterable[NameMerge]) -> Iterator[Extraction]:
    """Return the extractions of a document with merged names counted as the names that they resolve to.

    The types of merged names are added to the types of the entity, their spellings are not added to its spellings.
    """
    full = {one.name: one.full for one in merges}
    return (_apply(extraction, full) for extraction in extractions)


def _apply(extraction: Extraction, full: Mapping[str, str]) -> Extraction:
    if full.keys().isdisjoint(extraction.counts):
        return extraction
    counts: Counter[str] = Counter()
    people: Counter[str] = Counter()
    types: defaultdict[str, Counter[str]] = defaultdict(Counter)
    entities = set(full.values())
    forms: dict[str, Mapping[str, int]] = {}
    for key, count in extraction.counts.items():
        counts[full.get(key, key)] += count
        people[full.get(key, key)] += extraction.people.get(key, 0)
        types[full.get(key, key)].update(extraction.types.get(key, {}))
        if key in full:
            forms.setdefault(full[key], {})
        elif key in extraction.forms:
            forms[key] = extraction.forms[key]
        elif key in entities:
            forms[key] = {key: count}
    sentences = [
        Sentence(one.start, one.end, tuple(dict.fromkeys(full.get(key, key) for key in one.entities)))
        for one in extraction.sentences
    ]
    return Extraction(tuple(sentences), dict(counts), forms, dict(+people), types)


def _is_person(key: str, one: NameCount) -> bool:
    return one.forms[key] <= NOUNS * one.count and one.people >= PEOPLE * one.count


def _is_family(word: str, names: Mapping[str, NameCount]) -> bool:
    """Return whether a word is the plural of a name, or a name whose plural occurs."""
    plurals = {f"{word}s", f"{word}es"}
    singulars = {word.removesuffix("s"), word.removesuffix("es")} - {word}
    return not names.keys().isdisjoint(plurals | singulars | {f"mr {one}" for one in singulars})


def _parsed(key: str) -> _Name | None:
    words = key.split()
    while words and words[-1] in _SUFFIXES:
        words.pop()
    titles = []
    while words and words[0] in _TITLES:
        titles.append(words.pop(0))
    if not 0 < len(words) <= _LONGEST or not all(word.replace("'", "").isalpha() for word in words):
        return None
    if not _NOT_IN_NAMES.isdisjoint(words) or not (_TITLES | _SURNAMES_AT_BEST).isdisjoint(words[:-1]):
        return None
    last = next((i for i, word in enumerate(words[:-1]) if word in _PARTICLES), len(words) - 1)
    return _Name(key, frozenset(titles), tuple(words[:last]), " ".join(words[last:]))


def _people(parsed: Iterable[_Name], names: Mapping[str, NameCount]) -> list[_Person]:
    """Return the people with a full name. If it occurs in both orders, the surname comes first in the rarer one."""
    by_name: defaultdict[tuple[str, str], _Person] = defaultdict(_Person)
    for name in parsed:
        if name.given:
            wife = sorted(name.titles & _WIVES)
            by_name[" ".join([*wife, name.given[0]]), name.last].names.append(name)
    for person in by_name.values():
        person.names.sort(key=lambda name: (-names[name.key].count, len(name.key), name.key))
        person.count = _count(person.names, names)
        person.first = min(names[name.key].first for name in person.names)

    def is_reversed(given: str, last: str) -> bool:
        other = by_name.get((last, given))
        return other is not None and (other.count, last) > (by_name[given, last].count, given)

    return [person for (given, last), person in by_name.items() if not is_reversed(given, last)]


def _most_frequent(forms: Mapping[str, int]) -> str:
    """Return the most frequent spelling; in case of a tie, one that is not all capitals."""
    return min(forms, key=lambda form: (-forms[form], form == form.upper(), form))


def _count(group: Iterable[_Name], names: Mapping[str, NameCount]) -> int:
    return sum(names[name.key].count for name in group)


def _compatible(titles: Collection[str]) -> bool:
    """Return whether one person can have all of these titles."""
    kinds = [kind for kind in (_MEN, _MARRIED, _UNMARRIED) if not kind.isdisjoint(titles)]
    return len(kinds) < 2
