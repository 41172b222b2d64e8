"""The output of `--json`."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

from e2g_neo4j.types.results import Answer, Evidence


def as_answer(answer: Answer) -> dict[str, Any]:
    """Convert an answer to JSON types, with its citations and the evidence."""
    fields = asdict(replace(answer, given=(), citations=()))
    del fields["evidence"], fields["text"], fields["given"]
    return {
        "answer": answer.text,
        **fields,
        "citations": [
            {"number": one.number, **asdict(one.passage)} | ({"fact": asdict(one.fact)} if one.fact else {})
            for one in answer.citations
        ],
        **{name: value for name, value in as_object(answer.evidence).items() if name not in fields},
    }


def as_object(evidence: Evidence) -> dict[str, Any]:
    """Convert evidence to JSON types. Offsets count characters of the source's text."""
    return {
        "question": evidence.question,
        "corpora": list(evidence.corpora),
        "mode": evidence.mode,
        "route": evidence.route,
        "reason": evidence.reason,
        "entities": list(evidence.entities),
        "unknown_entities": list(evidence.unknown_entities),
        "ignored_entities": list(evidence.ignored_entities),
        "pairs": [asdict(pair) for pair in evidence.pairs],
        "hops": evidence.hops,
        "trace": [asdict(entry) for entry in evidence.trace],
        "round_trips": evidence.round_trips,
        "calls": evidence.calls,
        "prompt_tokens": evidence.prompt_tokens,
        "completion_tokens": evidence.completion_tokens,
        "passages": [
            {**asdict(passage), "pairs": [asdict(pair) for pair in passage.pairs]} for passage in evidence.passages
        ],
        "facts": [{**asdict(fact), "properties": dict(fact.properties)} for fact in evidence.facts],
    }


def print_json(value: Any) -> None:
    """Print one JSON document to standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=2))
