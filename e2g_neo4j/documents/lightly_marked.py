"""Texts with light markup, reStructuredText and Org, as they are, with their headings."""

from __future__ import annotations

import re
from pathlib import Path

from e2g_neo4j.documents.headings import check_headings
from e2g_neo4j.documents.reading import Limits, Reading
from e2g_neo4j.documents.text import decode, read_bytes
from e2g_neo4j.types.documents import Section

_RULE = re.compile(r"([!-/:-@\[-`{-~])\1*+")

_STARS = re.compile(r"\*+[ \t]++(?:(?:TODO|DONE)[ \t]++)?(?P<label>\S.*)")


def read(path: Path, limits: Limits) -> Reading:
    """Read a text. Only its encoding and its line ends change."""
    text, losses = decode(read_bytes(path, limits.bytes), path)
    title, sections = (_read_org if path.suffix.lower() == ".org" else _read_rst)(text)
    return Reading(text, title, sections, losses=losses)


def _read_rst(text: str) -> tuple[str | None, list[Section]]:
    """Find titles, which are underlined by a sign that is repeated for their length at least."""
    sections: list[Section] = []
    start, before, title, begin = 0, "", "", 0
    for line in text.split("\n"):
        rule, label = line.rstrip(), title.strip()
        underlined = label and len(rule) >= max(len(title.rstrip()), 2) and _RULE.fullmatch(rule)
        if underlined and not _RULE.fullmatch(label) and (title[0] not in " \t" or before.rstrip() == rule):
            _add(sections, label, begin)
        before, title, begin = title, line, start
        start += len(line) + 1
    return (sections[0].label if sections else None), sections


def _read_org(text: str) -> tuple[str | None, list[Section]]:
    sections: list[Section] = []
    start, title = 0, None
    for line in text.split("\n"):
        if line.startswith("*") and (found := _STARS.fullmatch(line)):
            _add(sections, re.sub(r"[ \t]:[\w@#%:]+:$", "", found["label"].rstrip()), start)
        elif line[:8].lower() == "#+title:":
            title = title or line[8:].strip()
        start += len(line) + 1
    return title, sections


def _add(sections: list[Section], label: str, start: int) -> None:
    check_headings(len(sections))
    label = re.sub(r"\[\[(?:[^]\[]*+\]\[)?([^]\[]*+)\]\]|`", r"\1", label)  # without addresses of links
    sections.append(Section("heading", label.strip()[:200], start))
