"""Statements of `cypher/explore` as people get them: with parameters to paste, or filled in in an address."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

from e2g_neo4j.model import Evidence
from e2g_neo4j.queries import load

_CUT = {"&": "\\u0026", "#": "\\u0023", "?": "\\u003f"}
"""Browser decodes its address before it takes it apart, and loses what comes after one of these."""


def evidence_parameters(evidence: Evidence) -> dict[str, Any]:
    """The parameters of `explore/evidence`."""
    nodes = dict.fromkeys(node for passage in evidence.passages for node in passage.nodes)
    return {
        "corpora": list(evidence.corpora),
        "pairs": [{"a": pair.a, "b": pair.b} for pair in evidence.pairs],
        "nodes": list(nodes),
        "names": list(evidence.entities),
    }


def params(parameters: dict[str, Any]) -> str:
    """Browser's command that sets parameters."""
    return f":params {literal(parameters)}"


def literal(value: Any) -> str:
    """A Cypher literal of strings, numbers, lists and maps."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {literal(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def evidence_address(browser_url: str, evidence: Evidence) -> str:
    """The address of Neo4j Browser with the statement in its editor that shows why a question got this evidence.

    Browser only fills the editor: whoever opens it reads the statement, and runs it.
    """
    parameters = evidence_parameters(evidence)
    filled_in = re.sub(r"\$(\w+)", lambda name: literal(parameters[name[1]]), load("explore/evidence"))
    harmless = re.sub(r"[&#?]", lambda found: _CUT[found[0]], filled_in)
    return f"{browser_url}?cmd=edit&arg={quote(harmless, safe='')}"
