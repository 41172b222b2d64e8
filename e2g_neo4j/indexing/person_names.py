"""Names of people: titles, given names and surnames."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from e2g_neo4j.types.languages import NameWords

_GENERATIONS = {"jr": "junior", "junior": "junior", "sr": "senior", "senior": "senior"}

_SAME_TITLE = {
    "mister": "mr", "doctor": "dr", "doktor": "dr", "docteur": "dr", "professor": "prof", "professeur": "pr",
    "reverend": "rev", "captain": "capt", "colonel": "col", "general": "gen", "mme": "madame", "mlle": "mademoiselle",
    "m": "monsieur", "fräulein": "fraulein", "frl": "fraulein",
}  # fmt: skip
"""Titles that are written in two ways, and the one that stands for both."""

_LONGEST = 4
"""Maximum number of words of a name without titles."""


@dataclass(frozen=True, slots=True)
class PersonName:
    """A parsed name. `last` is the surname, with "van" or "de la", without d'. If `given` is empty, it may be a given
    name."""

    key: str
    titles: frozenset[str]
    given: tuple[str, ...]
    last: str
    saluted: str = ""
    """The key without a salutation, if it has one."""
    generation: str = ""
    """What tells it from the name of a parent or child: "junior" or "senior"."""

    @property
    def is_initial(self) -> bool:
        return bool(self.given) and len(self.given[0]) == 1


def parse_name(key: str, of: NameWords) -> PersonName | None:
    """Return the name of a person with this key, if it may be one, by the words of a language."""
    words = key.split()
    while len(words) > 1 and words[0] in of.salutations:
        words.pop(0)
    saluted = " ".join(words) if len(words) < len(key.split()) else ""
    generation = ""
    while words and words[-1] in of.suffixes:
        generation = _GENERATIONS.get(words.pop(), generation)
    titles = []
    while words and words[0] in of.titles:
        titles.append(_SAME_TITLE.get(words[0], words[0]))
        words.pop(0)
    if not 0 < len(words) <= _LONGEST or not all(word.replace("'", "").isalpha() for word in words):
        return None
    if not of.not_in_names.isdisjoint(words) or not (of.titles | of.surnames_at_best).isdisjoint(words[:-1]):
        return None
    last = next((i for i, word in enumerate(words[:-1]) if word in of.particles), len(words) - 1)
    surname = " ".join(words[last:])
    for elision in of.elisions:
        surname = surname.removeprefix(elision)
    return PersonName(key, frozenset(titles), tuple(words[:last]), surname, saluted, generation)


def are_compatible(titles: Collection[str], of: NameWords) -> bool:
    """Return whether one person can have all of these titles."""
    kinds = [kind for kind in (of.men, of.wives | of.married, of.unmarried) if not kind.isdisjoint(titles)]
    return len(kinds) < 2


def split_generations(names: Sequence[PersonName]) -> list[list[PersonName]]:
    """Divide names with the same given name and surname: a junior and a senior are two people, and then the name
    without either may be anybody's."""
    if len({name.generation for name in names} - {""}) < 2:
        return [list(names)]
    by_generation: dict[str, list[PersonName]] = {}
    for name in names:
        by_generation.setdefault(name.generation, []).append(name)
    return list(by_generation.values())


def is_title(word: str, titles: Collection[str]) -> bool:
    """Return whether a word of a text is one of these titles, such as "Mr." or "Fräulein"."""
    return word.rstrip(".").casefold() in titles
