"""Name merging: "Harker" resolves to Jonathan Harker in a document without another Harker.

The rules use the names of one document, and never merge names that may belong to two people. Names of different
documents are one entity if they are spelled the same, apart from titles of full names. Merges and splits by hand come
last.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from e2g_neo4j.indexing.person_names import PersonName, are_compatible, parse_name, split_generations
from e2g_neo4j.types.graph import Extraction, Sentence
from e2g_neo4j.types.languages import NameWords
from e2g_neo4j.types.mentions import Decisions, NameMerge

NOUNS = 0.1
"""Maximum share of the occurrences of a name that are common nouns: "grey sky" is not Mr. Grey."""

PEOPLE = 0.25
"""Minimum share of the occurrences of a name that are tagged as a person. The pipeline misses some."""

SURNAMES = 0.5
"""The same for a surname alone, which may be a place or a brand: "the king of Jordan", "Ford recalled the truck"."""

BY_HAND = "by hand"
"""The reason for a merge that a user has made."""

INTRODUCED = 2
"""Maximum number of chunks from a full name that occurs only once to the first surname alone: "Yellow Jack", far above,
is no Jack's name."""

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


_Match: TypeAlias = tuple[PersonName, str, str]
"""A name, the key of the name that it resolves to, and the reason."""


@dataclass(slots=True)
class _Person:
    """A person with given name and surname in a document.

    Attributes:
        names: the full names, the most frequent first.
        key: the most frequent name without titles, unless it may be that of a husband.
    """

    names: list[PersonName] = field(default_factory=list)
    key: str = ""
    count: int = 0
    first: int = 0

    @property
    def given(self) -> str:
        return " ".join(self.names[0].given)

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
    return counts


def find_merges(
    counts: Mapping[str, NameCount],
    of: NameWords,
    overrides: Decisions | None = None,
    spelled: Mapping[str, str] | None = None,
) -> list[NameMerge]:
    """Find the names of a document that resolve to another name.

    The rules are `_find_inflections`, `_same_full_name`, `_by_initial`, `_by_surname`, `_by_title`, `_by_given_name`
    and `_by_salutation`.

    Args:
        counts: the entities of the document, by key. Those that are only spelled like their key are no names.
        spelled: names of entities that no text has, by key.

    Returns:
        The merges, sorted by name.
    """
    overrides = overrides or {}
    found = {name.key: (full, why) for name, full, why in _matches(names_of(counts), of)}
    for name in overrides:
        found.pop(name, None)
    by_hand = {name: full for name, full in overrides.items() if full is not None}
    merged, ends = {**{one: full for one, (full, _) in found.items()}, **by_hand}, dict[str, str]()
    merges = []
    for name in sorted(counts):
        full = _find_end(name, merged, by_hand, ends)
        if full != name:
            why = BY_HAND if name in by_hand else found[name][1]
            one = counts[name]
            merges.append(NameMerge(name, full, why, one.count, _most_frequent(one.forms)))
    named = {**_untitled_forms(merges, counts), **(spelled or {})}
    return [replace(one, spelled=named.get(one.full)) for one in merges]


def _untitled_forms(merges: Iterable[NameMerge], counts: Mapping[str, NameCount]) -> dict[str, str]:
    """Return the names of entities that a document has with titles only, by key."""
    with_titles = [one for one in merges if one.full not in counts and one.name.endswith(f" {one.full}")]
    return {
        one.full: " ".join(one.form.split()[-len(one.full.split()) :])
        for one in sorted(with_titles, key=lambda one: (one.count, one.name))
    }


def _find_end(name: str, merged: Mapping[str, str], by_hand: Mapping[str, str], ends: dict[str, str]) -> str:
    """Return what a name resolves to in the end. Where merges by rule and by hand form a circle, that by rule is
    ignored; a circle by hand changes nothing. `ends` keeps what was found, so that long chains are followed once."""
    path: dict[str, None] = {}
    end = name
    while end in merged and end not in path and end not in ends:
        path[end] = None
        end = merged[end]
    if end in path:
        circle = list(path)[list(path).index(end) :]
        return next((one for one in circle if one not in by_hand), name)
    end = ends.get(end, end)
    ends.update(dict.fromkeys(path, end))
    return end


def names_of(counts: Mapping[str, NameCount]) -> dict[str, NameCount]:
    """Return the entities that are names: they are not only spelled like their key."""
    return {key: one for key, one in counts.items() if set(one.forms) != {key}}


def _matches(names: Mapping[str, NameCount], of: NameWords) -> Iterator[_Match]:
    """Yield the merges by the rules of one document."""
    inflected = dict(_find_inflections(names, of))
    for key, full in inflected.items():
        yield PersonName(key, frozenset(), (), key), full, "another form of it"
    names = {key: one for key, one in names.items() if key not in inflected}
    hyphenated = {key: one for key, one in names.items() if of.hyphenated and _is_hyphenated(one)}
    names = {key: one for key, one in names.items() if key not in hyphenated}
    parsed = [name for key, one in names.items() if is_person(key, one) and (name := parse_name(key, of))]
    elided = {name.last for name in parsed for elision in of.elisions if name.key.endswith(elision + name.last)}
    parsed += [name for key in sorted(elided & names.keys()) if (name := parse_name(key, of)) and name not in parsed]
    saluted = {name.key: name for name in parsed if name.saluted and name.saluted in names}
    for name in saluted.values():
        yield name, name.saluted, "the same name after a salutation"
    parsed = [name for name in parsed if name.key not in saluted]
    people = _people([name for name in parsed if not name.is_initial], names, of)
    initials = {name.key: name for name in parsed if name.is_initial}
    for match in _by_initial(list(initials.values()), people, parsed, of):
        del initials[match[0].key]
        yield match
    people += _people(initials.values(), names, of)
    with_last: defaultdict[str, list[_Person]] = defaultdict(list)
    with_given: defaultdict[str, list[_Person]] = defaultdict(list)
    for person in people:
        with_last[person.names[0].last].append(person)
        with_given[person.names[0].given[0]].append(person)
    short: defaultdict[str, list[PersonName]] = defaultdict(list)
    for name in parsed:
        if not name.given:
            short[name.last].append(name)

    for key, one in hyphenated.items():
        if is_person(key, one) and len(fitting := [person for person in people if person.given == key]) == 1:
            yield PersonName(key, frozenset(), (), key), fitting[0].key, "the only full name with this given name"
    for person in people:
        yield from _same_full_name(person, of)
    for word, short_names in short.items():
        surnames, given_names = with_last[word], with_given[word]
        if surnames and not given_names and not _is_family(word, names, of):
            yield from _by_surname(word, short_names, surnames, names, of)
        elif given_names and not surnames:
            yield from _by_given_name(word, short_names, given_names, names, of)
        elif not given_names and not _is_family(word, names, of):
            yield from _by_title(word, short_names, names, of)


def _find_inflections(names: Mapping[str, NameCount], of: NameWords) -> Iterator[tuple[str, str]]:
    """Yield names that are the possessive of another one, or another one without its elided particle, and that one."""
    for key in names:
        for name in (key.removesuffix(of.possessive), *(elision + key for elision in of.elisions)):
            if name != key and name in names:
                yield key, name


def _is_hyphenated(one: NameCount) -> bool:
    """Return whether a name is always one word with a hyphen."""
    return all("-" in form and " " not in form for form in one.forms)


def _same_full_name(person: _Person, of: NameWords) -> Iterator[_Match]:
    """Merge names with the same given name and surname, if their titles can belong to one person."""
    if are_compatible(person.titles, of):
        for name in person.names:
            if name.key != person.key:
                yield name, person.key, "the same given name and surname"


def _by_initial(
    names: Sequence[PersonName], people: Sequence[_Person], parsed: Sequence[PersonName], of: NameWords
) -> Iterator[_Match]:
    """Merge an initial and a surname with the only full name that they fit, if all titles can belong to one person."""
    for name in names:
        fitting = [
            one for one in people if one.names[0].last == name.last and one.names[0].given[0][0] == name.given[0]
        ]
        others = [one.titles for one in parsed if one.last == name.last and (not one.given or one.is_initial)]
        if len(fitting) == 1 and not name.titles & of.wives and are_compatible(fitting[0].titles.union(*others), of):
            yield name, fitting[0].key, f"the only full name with the surname {name.last} and this initial"


def _by_surname(
    word: str,
    short_names: Sequence[PersonName],
    people: Sequence[_Person],
    names: Mapping[str, NameCount],
    of: NameWords,
) -> Iterator[_Match]:
    """Merge a surname, alone or after titles, with the only full name, if all titles can belong to one person.

    Mrs. Harker may be the wife of another Harker, and then Harker alone may be she. A surname alone must mostly be
    tagged as a person, unless it is that of d'Artagnan. A full name that occurs only once must introduce it.
    """
    known = frozenset[str]().union(*(person.titles for person in people))
    titles = known.union(*(name.titles for name in short_names))
    another = titles & of.wives and not known & of.wives
    if len(people) == 1 and are_compatible(titles, of) and not another:
        [person] = people
        elided = any(person.key.endswith(elision + word) for elision in of.elisions)
        for name in short_names:
            one = names[name.key]
            is_introduced = titles or person.count > 1 or 0 <= one.first - person.first <= INTRODUCED
            if is_introduced and (name.titles or elided or one.people >= SURNAMES * one.count):
                yield name, people[0].key, f"the only full name with the surname {word}"


def _by_title(
    word: str, short_names: Sequence[PersonName], names: Mapping[str, NameCount], of: NameWords
) -> Iterator[_Match]:
    """Merge a surname alone and after its only title, however that is written, if there is no full name."""
    titles = frozenset[str]().union(*(name.titles for name in short_names))
    if len(titles) == 1 and not titles & (of.before_given_names | of.wives):
        main, *others = sorted(short_names, key=lambda name: (-names[name.key].count, name.key))
        for other in others:
            yield other, main.key, f"{word} has one title only"


def _by_given_name(
    word: str,
    short_names: Sequence[PersonName],
    people: Sequence[_Person],
    names: Mapping[str, NameCount],
    of: NameWords,
) -> Iterator[_Match]:
    """Merge a given name, alone or after a title such as Sir or Miss, with the only full name.

    If the name has a title, it may be the only full name with the title. The full name must occur at least twice, and
    not later. The given name must not be used as a surname, as in Colonel John.
    """
    as_given = [name for name in short_names if name.titles <= of.before_given_names]
    as_surname = [name for name in short_names if not name.titles <= of.before_given_names]
    if _count(as_surname, names) > STRAY * _count(as_given, names):
        return
    for name in as_given:
        candidates = [person for person in people if name.titles <= person.titles] or people
        if len(candidates) == 1 and are_compatible(candidates[0].titles | name.titles, of):
            [person] = candidates
            if person.count > 1 and person.first <= names[name.key].first:
                yield name, person.key, f"the only full name with the given name {word}"


def apply_merges(extractions: Iterable[Extraction], merges: Iterable[NameMerge]) -> Iterator[Extraction]:
    """Return the extractions of a document with merged names counted as the names that they resolve to.

    The types of merged names are added to the types of the entity, their spellings are not added to its spellings.
    """
    merges = list(merges)
    full = {one.name: one.full for one in merges}
    spelled = {one.full: one.spelled for one in merges if one.spelled}
    return (_apply(extraction, full, spelled) for extraction in extractions)


def _apply(extraction: Extraction, full: Mapping[str, str], spelled: Mapping[str, str]) -> Extraction:
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
    forms |= {key: {spelled[key]: counts[key]} for key in spelled.keys() & counts.keys()}
    sentences = [
        Sentence(one.start, one.end, tuple(dict.fromkeys(full.get(key, key) for key in one.entities)))
        for one in extraction.sentences
    ]
    return Extraction(tuple(sentences), dict(counts), forms, dict(+people), types)


def is_person(key: str, one: NameCount) -> bool:
    return one.forms[key] <= NOUNS * one.count and one.people >= PEOPLE * one.count


def _is_family(word: str, names: Mapping[str, NameCount], of: NameWords) -> bool:
    """Return whether a word is the plural of a name, or a name whose plural occurs."""
    plurals = {word + ending for ending in of.plurals}
    singulars = {word.removesuffix(ending) for ending in of.plurals} - {word}
    return not names.keys().isdisjoint(plurals | singulars | {f"mr {one}" for one in singulars})


def _people(parsed: Iterable[PersonName], names: Mapping[str, NameCount], of: NameWords) -> list[_Person]:
    """Return the people with a full name. If it occurs in both orders, the surname comes first in the rarer one."""
    by_name: defaultdict[tuple[str, str], _Person] = defaultdict(_Person)
    for name in parsed:
        if name.given:
            wife = sorted(name.titles & of.before_husbands_names)
            by_name[" ".join([*wife, name.given[0]]), name.last].names.append(name)
    for person in by_name.values():
        person.names.sort(key=lambda name: (-names[name.key].count, len(name.key), name.key))
        person.count = _count(person.names, names)
        person.first = min(names[name.key].first for name in person.names)

    def is_reversed(given: str, last: str) -> bool:
        other = by_name.get((last, given))
        return other is not None and (other.count, last) > (by_name[given, last].count, given)

    people = []
    for (given, last), person in by_name.items():
        if is_reversed(given, last):
            continue
        for same in split_generations(person.names):
            count, first = _count(same, names), min(names[name.key].first for name in same)
            person = _Person(same, same[0].key, count, first)
            if are_compatible(person.titles, of):
                person.key = _untitled(same[0], of)
            people.append(person)
    return people


def _untitled(name: PersonName, of: NameWords) -> str:
    """Return the key of a full name without titles. Mrs. John Harker is not John Harker."""
    words = name.key.split()
    while not name.is_initial and name.titles.isdisjoint(of.wives) and words[0] in of.titles:
        words.pop(0)
    return " ".join(words)


def _most_frequent(forms: Mapping[str, int]) -> str:
    """Return the most frequent spelling; in case of a tie, one that is not all capitals."""
    return min(forms, key=lambda form: (-forms[form], form == form.upper(), form))


def _count(group: Iterable[PersonName], names: Mapping[str, NameCount]) -> int:
    return sum(names[name.key].count for name in group)
