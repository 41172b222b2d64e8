"""Markdown: as it is, with its headings and links. What stands between `---` before it are properties."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from e2g_neo4j.documents.headings import markdown_headings
from e2g_neo4j.documents.markdown_links import find_links
from e2g_neo4j.documents.properties import fit_properties
from e2g_neo4j.documents.reading import Limits, Reading
from e2g_neo4j.documents.text import decode, read_bytes
from e2g_neo4j.types.documents import Span

_LONGEST = 2**16
"""Maximum characters of front matter."""

_END = re.compile(r"^(?:---|\.\.\.)[ \t]*\n*", re.M)


def read(path: Path, limits: Limits) -> Reading:
    """Read a Markdown file. Only its encoding, its line ends and its front matter change."""
    whole, uncertain = decode(read_bytes(path, limits.bytes), path)
    facts, text = split_front_matter(whole)
    fenced: list[Span] = []
    title, sections = markdown_headings(text, fenced)
    links = find_links(text, fenced)
    declared = facts.pop("title", None)
    fitting, losses = fit_properties(facts)
    losses = [*uncertain, *losses, *links.losses]
    return Reading(text, str(declared) if declared else title, sections, fitting or None, losses, links=links.found)


def split_front_matter(text: str) -> tuple[dict[Any, Any], str]:
    """Return what a Markdown file says about itself in YAML, and the text after it: all, if that is no valid YAML."""
    if re.match(r"---[ \t]*\n", text) and (end := _END.search(text, 4, _LONGEST)):
        try:
            facts = yaml.load(text[3 : end.start()], _Loader)  # noqa: S506 a safe one
        except (yaml.YAMLError, ValueError, ArithmeticError, AttributeError, TypeError, RecursionError):
            return {}, text
        if isinstance(facts, dict):
            return facts, text[end.end() :]
    return {}, text


class _Loader(yaml.SafeLoader):
    """Refuses aliases, with which a small text stands for a large one."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("There are aliases.")
        return super().compose_node(parent, index)
