"""Reports of communities that a chat model writes, as GraphRAG has them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2g_neo4j.indexing.asking import TextTask
from e2g_neo4j.models.chat.json_replies import TEXT, list_schema, number_schema, object_schema, objects_in
from e2g_neo4j.models.chat.prompts import fault_of_empty
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import JudgedReply
from e2g_neo4j.types.chat import ChatReply

WORDS, FINDINGS = 120, 5
"""The length of a summary, and the number of findings, that the prompt asks for at most."""

REPLY_TOKENS = 400
"""The expected length of a reply."""

LEVEL = -1
"""Where the usage of the chat model for reports is counted. Summaries have the levels from 1, statements have 0."""

LONGEST_TITLE, LONGEST_TEXT = 200, 4_000
"""Maximum characters of a title and of a report. What is longer is cut off."""

HIGHEST_RATING = 10

_CUT_OFF = re.compile(r'"(title|summary)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_NUMBER = re.compile(r"\d{1,6}(?:\.\d+)?")
_CITATION = re.compile(r"(\s*)\[(\d{1,6}(?:\s*[,;]\s*\d{1,6})*)\]")


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report as a model writes it.

    Attributes:
        title: its title; empty without one.
        text: the summary, and the findings, each in a line.
        rating: how much it matters, 1 to 10; None if it is not said.
    """

    title: str
    text: str
    rating: int | None


class ReportWriter(TextTask):
    """Asks a chat model for reports."""

    stage, level = "reports", LEVEL
    prompt = Path(__file__).with_name("prompts") / "report.txt"
    tokens, values = REPLY_TOKENS, {"words": WORDS, "most": FINDINGS}
    schema = object_schema(
        title=TEXT, summary=TEXT, findings=list_schema(TEXT, FINDINGS), rating=number_schema(1, HIGHEST_RATING)
    )

    def judge(self, reply: ChatReply) -> JudgedReply:
        """Say what a reply is worth: one that is cut off may have a summary."""
        said = without_thought(reply.text).strip()
        report = parse_report(said)
        value = len(report.text) if report else 0
        if report and reply.finish not in ("length", "repetition") and _read(said)[1]:
            return JudgedReply(said, value, "")
        if reply.finish == "length":
            fault = f"it was not finished after {reply.completion_tokens} tokens"
        elif reply.finish == "repetition":
            fault = "it repeated itself"
        elif reply.finish == "refusal":
            fault = "the model refused"
        elif not said:
            fault = fault_of_empty(reply)
        elif report:
            fault = "its JSON cannot be read as a whole"
        else:
            fault = 'it has no JSON object with a "summary"'
        return JudgedReply(said, value, fault)


def parse_report(reply: str) -> WrittenReport | None:
    """Read a reply as far as possible; None if it has neither summary nor findings."""
    held, _ = _read(reply)
    findings = held.get("findings")
    lines = [_line(held.get("summary")), *map(_join_finding, findings if isinstance(findings, list) else [findings])]
    text = "\n".join(dict.fromkeys(line for line in lines if line))
    if not text:
        return None
    return WrittenReport(
        _line(held.get("title"))[:LONGEST_TITLE], text[:LONGEST_TEXT], _parse_rating(held.get("rating"))
    )


def renumber_citations(text: str, numbers: Mapping[int, int]) -> str:
    """Return a text with other numbers in its citations, such as [1] and [2, 3], without those that have none."""

    def renumber(found: re.Match[str]) -> str:
        cited = dict.fromkeys(numbers[one] for one in map(int, re.findall(r"\d+", found[2])) if one in numbers)
        return found[1] + "".join(f"[{one}]" for one in cited) if cited else ""

    return _CITATION.sub(renumber, text)


def cite_sources(text: str, chunks: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return a text whose citations count from 1 in their order, and what they cite, without what was not read.

    Args:
        chunks: the ids of the chunks by the numbers that the text cites, from 1.
    """
    found = (int(one) for _, numbers in _CITATION.findall(text) for one in re.findall(r"\d+", numbers))
    cited = [one for one in dict.fromkeys(found) if 0 < one <= len(chunks)]
    renumbered = renumber_citations(text, {old: new for new, old in enumerate(cited, 1)})
    return renumbered, tuple(chunks[one - 1] for one in cited)


def _read(reply: str) -> tuple[Mapping[str, Any], bool]:
    """Return the object of a reply, and whether all of it could be read."""
    objects = list[dict[str, Any]]()
    for text in (reply, _TRAILING_COMMA.sub(r"\1", reply)):
        objects = [one for one in map(_lower, objects_in(text)) if _has_text(one)]
        if whole := next((one for one in objects if "title" in one), None):
            return whole, True
    cut = {name: _unescape(value) for name, value in reversed(_CUT_OFF.findall(reply))}
    untitled = "title" not in cut and bool(objects) and cut.get("summary") in (None, objects[0].get("summary"))
    if untitled or any("findings" in one for one in objects[:1]):
        return objects[0], True
    return cut, False  # the objects, if any, are findings in one that is broken


def _has_text(held: Mapping[str, Any]) -> bool:
    return any(held.get(name) for name in ("summary", "findings"))


def _lower(held: Mapping[str, Any]) -> dict[str, Any]:
    return {name.casefold(): value for name, value in held.items()}


def _unescape(value: str) -> str:
    try:
        return str(json.loads(f'"{value}"', strict=False))
    except ValueError:
        return value


def _join_finding(finding: object) -> str:
    """Return a finding, or both parts of one of GraphRAG's, as a line."""
    if isinstance(finding, dict):
        return " ".join(filter(None, map(_line, finding.values())))
    return _line(finding)


def _line(value: object) -> str:
    """Return a text without line breaks and what no database stores; "" for anything else."""
    if not isinstance(value, str):
        return ""
    return " ".join(value.encode("utf-8", "ignore").decode().replace("\0", "").split())


def _parse_rating(value: object) -> int | None:
    """Return the first number: of 8, 8.5, "8" and "8/10" it is 8."""
    number = None if isinstance(value, bool) else _NUMBER.search(str(value))
    return min(max(int(float(number[0])), 1), HIGHEST_RATING) if number else None
