"""Which names of a document are one person: "Harker" is Jonathan Harker, where no other Harker is.

The rules look at the names of one document only, and join nothing that might be two people.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from e2g_neo4j.model import Extraction, Sentence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MEN = _words("mr mister sir lord master squire monsieur don herr signor baron")
_WIVES = _words("mrs madame frau mme")
"""Titles that may stand before a husband's full name: Mrs. Joe Gargery."""

_MARRIED = _WIVES | _words("lady madam dame")
_UNMARRIED = _words("miss mademoiselle fraulein mlle")
_OFFICES = _words(
    "ms dr doctor prof professor rev reverend captain capt colonel col major general gen lieutenant sergeant admiral "
    "count judge justice president senator governor inspector constable lawyer nurse parson bishop"
)
_TITLES = _MEN | _MARRIED | _UNMARRIED | _OFFICES
_BEFORE_GIVEN_NAMES = _words("sir lady lord dame miss madam master don")
"""Titles that stand before a given name alone too: Sir William, Miss Lucy."""

_PARTICLES = _words("van von der den de du la le di da del della dos ter")
_SUFFIXES = _words("jr sr junior senior esq esquire phd md")
_SURNAMES_AT_BEST = _words(
    "poor old young little good fair sweet late friend husband wife cousin uncle aunt brother sister father mother son "
    "daughter king queen prince princess duke duchess earl emperor pope saint st"
)
"""What makes no given name, but may end a name: Mary King, not King George."""

_NOT_IN_NAMES = _words(
    "dear dearest papa mamma majesty god almighty messrs messieurs misses of for and the to in at on by with from"
)
_LONGEST = 4
"""Words of a name, titles left out."""

NOUNS = 0.1
"""Of a name's occurrences, how many may be common nouns: a grey sky says nothing of Mr. Grey."""

PEOPLE = 0.25
"""Of a name's occurrences, how many must be called a person: the pipeline misses some."""

STRAY = 0.05
"""A use of a name that is rarer than this, as a part of the other use, may be a slip."""


@dataclass(slots=True)
class NameCount:
    """How often a document has a name: in all, called a person, and in each form. `first` is the number of the chunk
    that has it first."""

    first: int
    count: int = 0
    people: int = 0
    forms: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Join:
    """A name of a document that stands for another one, both by key, and why. `count` and `form`: how often, and how
    mostly, the document has it."""

    name: str
    full: str
    why: str
    count: int
    form: str


@dataclass(frozen=True, slots=True)
class _Name:
    """`last` is the surname, with "van" or "de la"; where there is no given name it may be one."""

    key: str
    titles: frozenset[str]
    given: tuple[str, ...]
    last: str


@dataclass(slots=True)
class _Person:
    """Who has a given name and a surname in a document: the full names, the one that is written most often first."""

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
    """What a document calls by name, from its chunks in reading order."""
    found: dict[str, NameCount] = {}
    for number, extraction in enumerate(extractions):
        for key, count in extraction.counts.items():
            one = found.setdefault(key, NameCount(number))
            one.count += count
            one.people += extraction.people.get(key, 0)
            one.forms.update(extraction.forms.get(key, {key: count}))
    return {key: one for key, one in found.items() if set(one.forms) != {key}}


def joins(names: Mapping[str, NameCount], apart: Collection[str] = ()) -> list[Join]:
    """The names of a document that stand for another one in it, sorted; those in `apart` stand for none.

    `_same_full_name`, `_by_surname`, `_by_title` and `_by_given_name` tell which.
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

    found = [one for person in people for one in _same_full_name(person)]
    for word, alike in short.items():
        surnames, given_names = with_last[word], with_given[word]
        if surnames and not given_names and not _is_family(word, names):
            found += _by_surname(word, alike, surnames)
        elif given_names and not surnames:
            found += _by_given_name(word, alike, given_names, names)
        elif not given_names and not _is_family(word, names):
            found += _by_title(word, alike, names)
    return [
        Join(name.key, full, why, names[name.key].count, _mostly(names[name.key].forms))
        for name, full, why in sorted(found, key=lambda one: one[0].key)
        if name.key not in apart
    ]


_Found: TypeAlias = tuple[_Name, str, str]
"""A name, the key of the one that it stands for, and why."""


def _same_full_name(person: _Person) -> Iterator[_Found]:
    """Names with the same given name and surname are one person's, if their titles may be."""
    if _of_one(person.titles):
        for name in person.names[1:]:
            yield name, person.key, "the same given name and surname"


def _by_surname(word: str, alike: Sequence[_Name], people: Sequence[_Person]) -> Iterator[_Found]:
    """A surname, alone or after titles, stands for the only full name with it, if all titles may be one person's.

    Mrs. Harker may be another's wife, and where she is, Harker may be she. A full name that is there once, where nobody
    with the surname has a title, may be no name.
    """
    known = frozenset[str]().union(*(person.titles for person in people))
    titles = known.union(*(name.titles for name in alike))
    another = titles & _WIVES and not known & _WIVES
    if len(people) == 1 and _of_one(titles) and not another and (titles or people[0].count > 1):
        for name in alike:
            yield name, people[0].key, f"the only full name with the surname {word}"


def _by_title(word: str, alike: Sequence[_Name], names: Mapping[str, NameCount]) -> Iterator[_Found]:
    """Where nobody has a full name, a surname alone and the same after its only title are one."""
    titles = frozenset[str]().union(*(name.titles for name in alike))
    if (
        {len(name.titles) for name in alike} == {0, 1}
        and len(alike) == 2
        and not titles & (_BEFORE_GIVEN_NAMES | _WIVES)
    ):
        main, other = sorted(alike, key=lambda name: (-names[name.key].count, name.key))
        yield other, main.key, f"{word} has one title only"


def _by_given_name(
    word: str, alike: Sequence[_Name], people: Sequence[_Person], names: Mapping[str, NameCount]
) -> Iterator[_Found]:
    """A given name, alone or after a title such as Sir or Miss, stands for the only full name with it, or the only one
    that has the title too, if that is there twice and no later. Nobody may have it as a surname, as in Colonel John."""
    as_given = [name for name in alike if name.titles <= _BEFORE_GIVEN_NAMES]
    as_surname = [name for name in alike if not name.titles <= _BEFORE_GIVEN_NAMES]
    if _count(as_surname, names) > STRAY * _count(as_given, names):
        return
    for name in as_given:
        meant = [person for person in people if name.titles <= person.titles] or people
        if len(meant) == 1 and _of_one(meant[0].titles | name.titles):
            [person] = meant
            if person.count > 1 and person.first <= names[name.key].first:
                yield name, person.key, f"the only full name with the given name {word}"


def joined(extractions: Iterable[Extraction], same: Iterable[Join]) -> Iterator[Extraction]:
    """The extractions of a document with the names that stand for another one counted as that one.

    The forms of an entity stay its own: of a name that only stands for it, there are none.
    """
    full = {one.name: one.full for one in same}
    return (_joined(extraction, full) for extraction in extractions)


def _joined(extraction: Extraction, full: Mapping[str, str]) -> Extraction:
    if full.keys().isdisjoint(extraction.counts):
        return extraction
    counts: Counter[str] = Counter()
    people: Counter[str] = Counter()
    entities = set(full.values())
    forms: dict[str, Mapping[str, int]] = {}
    for key, count in extraction.counts.items():
        counts[full.get(key, key)] += count
        people[full.get(key, key)] += extraction.people.get(key, 0)
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
    return Extraction(tuple(sentences), dict(counts), forms, dict(+people))


def _is_person(key: str, one: NameCount) -> bool:
    return one.forms[key] <= NOUNS * one.count and one.people >= PEOPLE * one.count


def _is_family(word: str, names: Mapping[str, NameCount]) -> bool:
    """Whether a word is the plural of a name, or a name whose plural is there."""
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
    """Who has a full name. A surname before a given name is the rarer way round."""
    found: defaultdict[tuple[str, str], _Person] = defaultdict(_Person)
    for name in parsed:
        if name.given:
            wife = sorted(name.titles & _WIVES)
            found[" ".join([*wife, name.given[0]]), name.last].names.append(name)
    for person in found.values():
        person.names.sort(key=lambda name: (-names[name.key].count, len(name.key), name.key))
        person.count = _count(person.names, names)
        person.first = min(names[name.key].first for name in person.names)

    def is_turned(given: str, last: str) -> bool:
        other = found.get((last, given))
        return other is not None and (other.count, last) > (found[given, last].count, given)

    return [person for (given, last), person in found.items() if not is_turned(given, last)]


def _mostly(forms: Mapping[str, int]) -> str:
    """The commonest form, among equals one that is not all capitals."""
    return min(forms, key=lambda form: (-forms[form], form == form.upper(), form))


def _count(alike: Iterable[_Name], names: Mapping[str, NameCount]) -> int:
    return sum(names[name.key].count for name in alike)


def _of_one(titles: Collection[str]) -> bool:
    """Whether one person may have all of these titles."""
    kinds = [kind for kind in (_MEN, _MARRIED, _UNMARRIED) if not kind.isdisjoint(titles)]
    return len(kinds) < 2
