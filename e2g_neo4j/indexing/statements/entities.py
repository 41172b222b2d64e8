"""Find the entities that the names in statements stand for."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from e2g_neo4j.models.entities.entity_key import entity_key


def entity_of(name: str, mentioned: Collection[str], aliases: Mapping[str, str]) -> str | None:
    """Return the key of the entity that a name stands for in a chunk, or None.

    It is an entity that the chunk mentions: the one of that name, or that the name resolves to in the document. Else it
    is the one with the longest end of the name, because in English the last words say what it is: "the old Count
    Dracula" is Count Dracula, but "Dracula's castle" is not Dracula. An entity that the chunk does not mention is not
    one that its text states anything about.

    Args:
        mentioned: the keys of the entities that the chunk mentions.
        aliases: the entities that other names resolve to in the document.
    """
    words = entity_key(name).split()
    for first in range(len(words)):
        key = " ".join(words[first:])
        for found in (key, aliases.get(key)):
            if found in mentioned:
                return found
    return None
