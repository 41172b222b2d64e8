"""The names that a corpus knows from the user's graph: those of the nodes that `link` compared its entities with.

They are found in the texts where the pipeline missed them, see `missed_names`. `link` stores them with the corpus, one
node per label, so that mentions depend on nothing that changes without a run: (:E2GLinkedNames {corpus, label, names}).
`changed` lists the names whose documents are still to be updated, see `merge_overrides.update_linked_names`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from string import capwords
from typing import Any

from e2g_neo4j.graph.fingerprint import read_name_words
from e2g_neo4j.indexing.missed_names import SHORTEST, is_spelled
from e2g_neo4j.models.entities.entity_key import entity_form, entity_key
from e2g_neo4j.runtime.requests import Operation, Read, Rows, Write
from e2g_neo4j.types.graph import NAME
from e2g_neo4j.types.languages import NameWords

MOST_NODES = 20_000
"""Maximum nodes of a label whose names are all known. Of more nodes, those that entities are linked to are known."""

LONGEST = 100
"""Maximum characters of a name."""

_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class LinkedNames:
    """The names that a corpus knows from the user's graph.

    Attributes:
        types: the type that each name gets in a document that has it not mostly as a person, by spelling.
        versions: of the names of each label, sorted. They change with the names.
        by_first_word: the spellings, by their first word.
    """

    types: Mapping[str, str] = field(default_factory=dict)
    versions: Sequence[str] = ()
    by_first_word: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def find_in(self, texts: Iterable[str]) -> dict[str, str]:
        """Return the type of each name that is in one of the texts, by spelling."""
        found: dict[str, str] = {}
        for text in texts if self.types else ():
            words = set(_WORDS.findall(text))
            near = {form for word in words for form in self.by_first_word.get(word, ())} - found.keys()
            near = {form for form in near if words.issuperset(_WORDS.findall(form))}
            found |= {form: self.types[form] for form in near if is_spelled(form, text)}
        return found


def collect_linked_names(types: Mapping[str, str], versions: Sequence[str] = ()) -> LinkedNames:
    """Return names that can be found in texts."""
    by_first_word: defaultdict[str, list[str]] = defaultdict(list)
    for form in types:
        for word in _WORDS.findall(form)[:1]:
            by_first_word[word].append(form)
    return LinkedNames(types, versions, by_first_word)


def read_linked_names(corpus: str) -> Operation[LinkedNames]:
    """Read the names that a corpus knows. Of a name of two labels, the type is that of the first."""
    rows: Rows = yield Read("link/known_names", {"corpus": corpus})
    types = {name: row["type"] for row in reversed(rows) for name in row["names"]}
    return collect_linked_names(types, sorted(row["version"] for row in rows))


def learn(corpus: str, *, label: str, name: str, aliases: str | None, type: str | None) -> Operation[int]:
    """Store the names of the nodes of a label, in place of those of the last time. Return their number."""
    parameters = {"labels": [label], "name": name, "aliases": aliases, "after": "", "limit": MOST_NODES + 1}
    rows: Rows = yield Read("link/nodes", parameters)
    if len(rows) > MOST_NODES:
        rows = yield Read("link/linked_nodes", {"corpus": corpus, "label": label, "name": name, "aliases": aliases})
    of = yield from read_name_words(corpus)
    names = sorted({form for row in rows for value in (row["name"], row["aliases"]) for form in _forms(value, of)})
    yield from _store(corpus, label, names, type or NAME)
    return len(names)


def forget(corpus: str, label: str | None) -> Operation[None]:
    """Remove the names of the nodes of a label, or of all."""
    rows: Rows = yield Read("link/known_names", {"corpus": corpus})
    for row in rows:
        if label in (None, row["label"]):
            yield from _store(corpus, row["label"], [], NAME)


def _store(corpus: str, label: str, names: Sequence[str], type: str) -> Operation[None]:
    """Store the names of a label, and which of them have changed."""
    while True:
        rows: Rows = yield Read("link/known_names", {"corpus": corpus})
        stored: dict[str, Any] = next((row for row in rows if row["label"] == label), {})
        before, old = set(stored.get("names", ())), stored.get("version", "")
        version = sha256(json.dumps([label, type, names]).encode()).hexdigest()[:24] if names else ""
        if version == old:
            return
        changed = before ^ set(names) if type == stored.get("type") else before | set(names)
        changed |= set(stored.get("changed", ()))
        values = {"names": names, "type": type, "version": version, "changed": sorted(changed)}
        stored_names = ("link/set_known_names", {"corpus": corpus, "label": label, **values})
        condition = ("link/hold_known_names", {"corpus": corpus, "label": label, "version": old})
        if (yield Write((stored_names,), condition)):
            return


def _forms(value: Any, of: NameWords) -> Iterable[str]:
    """Yield the spellings in which the names in the value of a property are found. Names of people in capitals are also
    found as they are usually written."""
    for text in value if isinstance(value, list) else [value]:
        form = entity_form(text) if isinstance(text, str) and len(text) <= LONGEST else ""
        key = entity_key(form)
        if len(key) >= SHORTEST and form[0].isupper() and key not in of.calendar:
            yield form
            if form.isupper() and " " in form:
                yield capwords(form)
