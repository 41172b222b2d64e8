"""What the programs that are compared have in common: their job, the counts of the stand-in, and their result.

Only the standard library is used, because each peer runs in an environment of its own.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

MODEL = "stand-in"
QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
"""What bge models want before a question."""
CALL_SECONDS = 3600
"""What a call may take: a real model may answer one at a time, and slowly."""


@dataclass
class Job:
    """What a program is given.

    Attributes:
        text: The text to index.
        folder: An empty folder for what the program stores.
        host: The address of the stand-in.
        questions: Questions whose time is measured.
        evidence: Questions for which the evidence is returned.
        budget: Tokens of evidence.
    """

    text: Path
    folder: Path
    host: str
    questions: list[str]
    evidence: list[str]
    budget: int

    @classmethod
    def read(cls) -> Job:
        """Read the job from the file that the command line names."""
        values = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
        return cls(**values | {"text": Path(values["text"]), "folder": Path(values["folder"])})


@dataclass
class Phase:
    """When a phase began and ended (Unix time), the seconds of each call, and what the stand-in counted."""

    began: float
    ended: float
    each: list[float] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


def post(host: str, path: str, values: dict[str, Any]) -> Any:
    """Call the stand-in."""
    body = json.dumps(values).encode()
    asked = Request(f"{host}{path}", body, {"Content-Type": "application/json"})
    with urlopen(asked, timeout=CALL_SECONDS) as reply:
        return json.load(reply)


def chat(host: str, messages: Sequence[dict[str, str]]) -> str:
    """Return the reply of the stand-in."""
    said: str = post(host, "/api/chat", {"model": MODEL, "messages": list(messages), "stream": False})["message"][
        "content"
    ]
    return said


def embed(host: str, texts: Sequence[str]) -> list[list[float]]:
    vectors: list[list[float]] = post(host, "/api/embed", {"model": MODEL, "input": list(texts)})["embeddings"]
    return vectors


def counts(host: str) -> dict[str, int]:
    with urlopen(f"{host}/counts", timeout=60) as reply:
        found: dict[str, int] = json.load(reply)
    return found


def timed(host: str, calls: Sequence[Callable[[], object]], *, warm: bool = False) -> Phase:
    """Make calls one after the other. With `warm`, all are made before, too, and not measured."""
    for call in calls if warm else ():
        call()
    before, began, each = counts(host), time.time(), []
    for call in calls:
        start = time.perf_counter()
        call()
        each.append(time.perf_counter() - start)
    ended, after = time.time(), counts(host)
    return Phase(began, ended, each, {name: after[name] - before.get(name, 0) for name in after})


def size_of(folder: Path) -> int:
    """Return the bytes of the files of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def finish(**result: Any) -> None:
    """Print the result as the last line."""
    print(json.dumps(result, default=vars), flush=True)
