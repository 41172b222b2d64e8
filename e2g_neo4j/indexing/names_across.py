"""Name merging across documents: "Miss Quill" resolves to the only full name of the corpus that fits.

Only names with a title or an initial are merged, and only in documents without a full name that they could stand for: a
surname or a given name alone may be anybody in another document. So may a title or initial with a surname, unless the
document shares other names with one that has the full name: at least one, and one of SHARE. A decision depends on the
names of all documents of the corpus, which are stored with their numbers of occurrences. When these change,
`update_names` rewrites the mentions of those documents whose decisions have changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from math import ceil

from e2g_neo4j.indexing.name_merging import NameCount, is_family, is_person, matches, names_of
from e2g_neo4j.indexing.person_names import PersonName, are_compatible, parse_name, split_generations
from e2g_neo4j.types.languages import NameWords
from e2g_neo4j.types.mentions import DocumentNames

ATTESTED = 2
"""Minimum occurrences of a full name in the corpus."""

SHARE = 12
"""One of how many names must be shared. With one in all, 34 names of 99 novels were merged with people of another one,
mostly wrongly: novels mention the same saints and poets, and *Ulysses* all of them. With one of twelve, it was three,
all between books of one author. *The Hound of the Baskervilles* shares 4 of 47 with *The Adventures of Sherlock
Holmes*."""


def document_names(counts: Mapping[str, NameCount], across: Mapping[str, str], of: NameWords) -> DocumentNames:
    """Return what other documents need to know of the names of a document.

    A surname after a title, a given name after a title such as Miss, and initials with a surname are open if no full
    name of the document has the surname or given name; a full name after a title, if the document does not have it
    without.
    """
    names = names_of(counts)
    parsed = [name for key, one in names.items() if is_person(key, one) and (name := parse_name(key, of))]
    words = {word for name in parsed if name.given and not name.is_initial for word in (name.given[0], name.last)}
    merged = {name.key for name, _, _ in matches(names, of)}
    fulls = {(name.given, name.last) for name in parsed if name.given and not name.titles}
    open = [
        name.key
        for name in parsed
        if name.key not in merged
        and (
            (name.given, name.last) not in fulls
            if name.given and not name.is_initial
            else name.last not in words and not is_family(name.last, names, of)
        )
        and (name.titles or name.is_initial)
    ]
    return DocumentNames({name.key: names[name.key].count for name in parsed}, sorted(open), dict(across))


def words_of(names: Collection[str], of: NameWords) -> list[str]:
    """Return the words that the names have in common with the full names which they may stand for."""
    parsed = [name for key in names if (name := parse_name(key, of))]
    return sorted({name.last.split()[-1] for name in parsed})


def resolve_across(open: Collection[str], corpus: Mapping[str, int], of: NameWords) -> dict[str, str]:
    """Resolve open names to the only full name of the corpus that fits.

    Args:
        open: the keys of the names.
        corpus: the occurrences of all names of people that have one of `words_of` these, over all documents.

    Returns:
        The keys of the full names, by name.
    """
    by_word: defaultdict[str, list[PersonName]] = defaultdict(list)
    for key in sorted(corpus):
        if name := parse_name(key, of):
            for word in {name.last.split()[-1], *name.given[:1]}:
                by_word[word].append(name)
    resolved = {}
    for key in open:
        name = parse_name(key, of)
        fitting = _find_people(name, by_word[name.last.split()[-1]], of) if name else []
        if name and len(fitting) == 1:
            [names] = fitting
            titles = frozenset[str]().union(*(one.titles for one in names))
            main = min(names, key=lambda one: (bool(one.titles), -corpus[one.key], len(one.key), one.key))
            attested = sum(corpus[one.key] for one in names) >= ATTESTED
            if attested and main.key != key and are_compatible(titles | name.titles, of):
                resolved[key] = main.key
    return resolved


def needs_context(key: str, of: NameWords) -> bool:
    """Return whether a name may be another person's in a document that shares no other name: it has no given name."""
    name = parse_name(key, of)
    return name is None or not name.given or name.is_initial


def context(names: Collection[str], full: str) -> tuple[list[str], int]:
    """Return the names of a document that show that it is about the same people as one that shares them, and how many
    it must share. They have at least two words, and none in common with the full name."""
    words = set(full.split())
    found = sorted(name for name in names if " " in name and words.isdisjoint(name.split()))
    return found, max(1, ceil(len(found) / SHARE))


def _find_people(name: PersonName, names: Sequence[PersonName], of: NameWords) -> Sequence[Sequence[PersonName]]:
    """Return the people that a name may stand for, each with the full names.

    Args:
        names: the names of the corpus with the same word.
    """
    full: defaultdict[tuple[tuple[str, ...], str], list[PersonName]] = defaultdict(list)
    for one in names:
        if one.given and not one.is_initial:
            full[one.given, one.last].append(one)
    if name.given and not name.is_initial:
        same = [people for people in split_generations(full[name.given, name.last]) if people]
        return same if len(same) < 2 else [people for people in same if people[0].generation == name.generation]
    with_last = [some for (_, last), people in full.items() if last == name.last for some in split_generations(people)]
    with_given = [some for (given, _), all in full.items() if given[0] == name.last for some in split_generations(all)]
    if name.is_initial:
        return [people for people in with_last if people[0].given[0][0] == name.given[0]]
    others = frozenset[str]().union(*(one.titles for one in names if not one.given and one.last == name.last))
    if with_last and not with_given:  # a surname: all titles before it must be able to belong to one person
        titles = frozenset[str]().union(*(one.titles for people in with_last for one in people))
        another = others & of.wives and not titles & of.wives
        return with_last if are_compatible(titles | others, of) and not another else []
    if with_given and not with_last and others <= of.before_given_names:
        return with_given
    return []
