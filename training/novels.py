"""Names of people found in the novels, to stand in for those of the annotated texts."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

_TITLED = re.compile(
    r"\b((?:Mr|Mrs|Miss|Dr|Sir|Lady|Lord|Captain|Colonel|Count|Aunt|Uncle|Madame|Professor|Major|Judge|Squire)\.? "
    r"(?:[A-Z][a-z]+(?: [A-Z][a-z]{2,})?))(?=[ ,;:!?'’])"
)
_FULL = re.compile(r"(?<=[a-z,;] )([A-Z][a-z]{2,}) ((?:[A-Z]\. )?[A-Z][a-z]{2,})(?=[ ,;:!?.'’])")
_NO_SURNAME = re.compile(
    r"\b(?:Street|Road|House|Hall|Park|Square|Church|Sea|River|Ocean|Islands?|Court|Bay|Hill|Castle|Bridge|Lane|Inn|"
    r"Abbey|England|States|City|College|War|Day|Gutenberg|Company|Hotel|Club|Place|Row|Avenue|Majesty|Highness|Cross|"
    r"Alley|York|Lord|Father|Mother|What|That|The|And|But|You|Not|Why|Yes|How|Well)$"
)


def person_names(books: Path, given: set[str], without: set[str]) -> list[str]:
    """Names that stand at least twice in a novel, sorted: with a title, or a name of `given` and a surname.

    Novels whose file name holds one of `without` are not read.
    """
    names: set[str] = set()
    for path in sorted(books.glob("*.txt")):
        if any(book in path.name for book in without):
            continue
        text = " ".join(path.read_text(encoding="utf-8").split())
        found = Counter(_TITLED.findall(text))
        found += Counter(f"{first} {last}" for first, last in _FULL.findall(text) if first in given)
        names |= {name for name, count in found.items() if count > 1 and not _NO_SURNAME.search(name)}
    return sorted(names)
