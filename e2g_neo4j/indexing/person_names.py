"""Names of people: titles, given names and surnames."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MEN = _words("mr mister sir lord master squire monsieur don herr signor signore senor baron")

WIVES = _words("mrs madame frau mme")
"""Titles that may precede the full name of the husband, as in Mrs. Joe Gargery."""

_MARRIED = WIVES | _words("lady madam dame signora senora")

_UNMARRIED = _words("miss mademoiselle fraulein mlle signorina senorita")

_OFFICES = _words(
    "ms dr doctor prof professor rev reverend captain capt colonel col major general gen lieutenant sergeant admiral "
    "count judge justice president senator governor inspector constable lawyer nurse parson bishop commander commodore "
    "superintendent detective corporal sheriff vicar rabbi"
)

_TITLES = _MEN | _MARRIED | _UNMARRIED | _OFFICES

BEFORE_GIVEN_NAMES = _words("sir lady lord dame miss madam master don")
"""Titles that may precede a given name alone, as in Sir William or Miss Lucy."""

_PARTICLES = _words("van von der den de du la le di da del della dos ter")

_SUFFIXES = _words("jr sr junior senior esq esquire phd md")

_SURNAMES_AT_BEST = _words(
    "poor old young little good fair sweet late friend husband wife cousin uncle aunt brother sister father mother son "
    "daughter king queen prince princess duke duchess earl emperor pope saint st"
)
"""Words that are not given names, but may end a name, as in Mary King."""

_SALUTATIONS = _words("dear dearest")
"""Words that may precede any name of a person, as in Dear Miss Quill."""

_NOT_IN_NAMES = _words(
    "dear dearest papa mamma majesty god almighty messrs messieurs misses of for and the to in at on by with from"
)

_LONGEST = 4
"""Maximum number of words of a name without titles."""


@dataclass(frozen=True, slots=True)
class PersonName:
    """A parsed name. `last` is the surname, with "van" or "de la". If `given` is empty, it may be a given name."""

    key: str
    titles: frozenset[str]
    given: tuple[str, ...]
    last: str
    saluted: str = ""
    """The key without a salutation, if it has one."""

    @property
    def is_initial(self) -> bool:
        return bool(self.given) and len(self.given[0]) == 1


def parse_name(key: str) -> PersonName | None:
    words = key.split()
    while len(words) > 1 and words[0] in _SALUTATIONS:
        words.pop(0)
    saluted = " ".join(words) if len(words) < len(key.split()) else ""
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
    return PersonName(key, frozenset(titles), tuple(words[:last]), " ".join(words[last:]), saluted)


def are_compatible(titles: Collection[str]) -> bool:
    """Return whether one person can have all of these titles."""
    kinds = [kind for kind in (_MEN, _MARRIED, _UNMARRIED) if not kind.isdisjoint(titles)]
    return len(kinds) < 2


def is_title(word: str) -> bool:
    """Return whether a word of a text is a title, such as "Mr." or "Captain"."""
    return word.rstrip(".").casefold() in _TITLES
