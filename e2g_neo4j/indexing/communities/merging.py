"""One description in place of many: what is stated of an entity, or of two, is merged by a chat model if it is long.

As in the published code of GraphRAG, which merges as soon as there are two descriptions. Here they are statements, and
a report reads the short ones as they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from e2g_neo4j.indexing.asking import CachedReplies, TextTask
from e2g_neo4j.indexing.communities.chat import LEVEL
from e2g_neo4j.indexing.communities.elements import StoredStatement
from e2g_neo4j.models.chat.json_replies import TEXT, object_schema, objects_in
from e2g_neo4j.models.chat.prompts import fault_of_empty
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import JudgedReply
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.chat import ChatReply

LONG = 1_000
"""Characters up to which statements are not merged: about as long as what they are merged to."""

LONGEST = 16_000
"""Maximum characters of the statements that are merged, about 4,000 tokens, the limit of GraphRAG."""

WORDS = 120
"""The length of a description that the prompt asks for at most."""

REPLY_TOKENS = 200
"""The expected length of a reply."""

Entities: TypeAlias = tuple[str, ...]
"""The key of an entity, or of the subject and the object of a relation."""


class DescriptionMerger(TextTask):
    """Asks a chat model for one description that says what several do."""

    stage, level = "descriptions", LEVEL
    prompt = Path(__file__).with_name("prompts") / "description.txt"
    tokens, values = REPLY_TOKENS, {"words": WORDS}
    schema = object_schema(description=TEXT)

    def judge(self, reply: ChatReply) -> JudgedReply:
        """Say what a reply is worth: nothing without a whole description."""
        said = without_thought(reply.text).strip()
        if parse_description(said):
            return JudgedReply(said, 1, "")
        return JudgedReply(said, 0, 'it has no JSON object with a "description"' if said else fault_of_empty(reply))


def parse_description(reply: str) -> str | None:
    """Return the description of a reply such as {"description": "Orla Venn winds the clock."}, or None."""
    for found in objects_in(reply):
        said = found.get("description")
        if isinstance(said, str) and (text := " ".join(said.encode("utf-8", "ignore").decode().split())):
            return text.replace("\0", "")
    return None


def merge_statements(
    statements: Sequence[StoredStatement], names: Mapping[str, str], replies: CachedReplies
) -> Operation[tuple[list[StoredStatement], int]]:
    """Merge the statements of an entity or of a relation where they are long together.

    Statements with a status or a period are claims, and stay as they are.

    Args:
        names: the names of the entities of communities, by key. Statements about others are read by nobody.
        replies: the replies of a DescriptionMerger. If one cannot be read, the statements stay as they are.

    Returns:
        The statements, with descriptions in place of those that were merged, and how many replies were cached.
    """
    groups = long_groups(one for one in statements if names.keys() >= set(one.entities))
    said = {entities: text_to_merge([names[one] for one in entities], group) for entities, group in groups.items()}
    written, cached = yield from replies.read(said)
    merged = list[StoredStatement]()
    gone = set[str]()
    for entities, reply in written.items():
        if text := parse_description(reply):
            first = groups[entities][0]
            chunks = tuple(dict.fromkeys(chunk for one in groups[entities] for chunk in one.chunks))
            merged.append(replace(first, text=text, chunks=chunks))
            gone |= {one.id for one in groups[entities]}
    return [*(one for one in statements if one.id not in gone), *merged], cached


def text_to_merge(names: Iterable[str], statements: Iterable[StoredStatement]) -> str:
    """Return what a DescriptionMerger reads: the names of the entities, and the statements."""
    return "\n".join([f"Names: {', '.join(names)}", *(one.text for one in statements)])


def long_groups(statements: Iterable[StoredStatement]) -> dict[Entities, list[StoredStatement]]:
    """Return the statements to merge, by their entities, the strongest first: of those that are longer than LONG
    together, as many as LONGEST allows."""
    groups: defaultdict[Entities, list[StoredStatement]] = defaultdict(list)
    for one in sorted(statements, key=lambda one: (-one.strength, one.text, one.id)):
        if one.status is None and one.period is None:
            groups[one.entities].append(one)
    found = {}
    for entities, group in sorted(groups.items()):
        if len(group) < 2 or sum(len(one.text) for one in group) <= LONG:
            continue
        left = LONGEST
        found[entities] = chosen = list[StoredStatement]()
        for one in group:
            if len(one.text) <= left:
                chosen.append(one)
                left -= len(one.text)
    return found
