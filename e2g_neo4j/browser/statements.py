"""Statements of `cypher/explore` for users: with parameters to paste, or as an address of Neo4j Browser."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from e2g_neo4j.graph.catalog import evidence_parameters
from e2g_neo4j.runtime.cypher import load
from e2g_neo4j.types.results import Evidence

MOST_PASSAGES = 8
"""Number of passages that Browser shows. More of them, with their trees, cannot be told apart."""

_ESCAPES = {"&": "\\u0026", "#": "\\u0023", "?": "\\u003f"}
"""Browser decodes its address before it parses it, so that text after one of these characters would be lost."""


def params(parameters: dict[str, Any]) -> str:
    """Return the command of Browser that sets parameters."""
    return f":params {literal(parameters)}"


def literal(value: Any) -> str:
    """Format strings, numbers, lists and maps as a Cypher literal."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {literal(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def evidence_address(browser_url: str, evidence: Evidence) -> str:
    """Return the address that opens Neo4j Browser with the statement that shows the best passages of a question."""
    parameters = evidence_parameters(replace(evidence, passages=evidence.passages[:MOST_PASSAGES]))
    filled_in = re.sub(r"\$(\w+)", lambda name: literal(parameters[name[1]]), load("explore/evidence"))
    return edit_address(browser_url, re.sub(r"[&#?]", lambda found: _ESCAPES[found[0]], filled_in))


def edit_address(browser_url: str, command: str) -> str:
    """Return the address that opens Neo4j Browser with a command or statement in its editor, which the user runs.

    With an address that runs a guide at once, Browser does not run the commands of the server, which set the style.
    """
    return f"{browser_url}?cmd=edit&arg={quote(command, safe='')}"
