"""The archive format: a ZIP file with a manifest and JSON Lines. For other tools there is GraphML.

`contents` lists what an archive may contain.
"""

from __future__ import annotations

import base64
import json
import math
from typing import Any, Literal, TypeAlias

import numpy as np
from neo4j.time import Date, DateTime, Duration, Time
from pydantic import BaseModel, ConfigDict

from e2g_neo4j.errors import ArchiveError

Format: TypeAlias = Literal["archive", "graphml"]

NODES, RELATIONSHIPS, SUMMARIES = "nodes.jsonl", "relationships.jsonl", "summaries.jsonl"
MEMBERS = (NODES, RELATIONSHIPS, SUMMARIES)
MANIFEST = "manifest.json"

LONGEST_LINE = 2**24
"""Maximum bytes of a node or relationship."""

MOST_BRACKETS = 2**17
"""Maximum number of lists and objects in a line of JSON: each takes twenty times as much memory as text."""

_SHORTEST_VECTOR = 16
_TIMES: dict[str, Any] = {kind.__name__: kind for kind in (Date, DateTime, Duration, Time)}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class MadeWith(_Strict):
    """The fingerprint of the index."""

    embedding_model: str
    dimensions: int
    pooling: str
    spacy_model: str


class Member(_Strict):
    """The expected size and hash of a member of the archive."""

    lines: int
    bytes: int
    sha256: str


class Manifest(_Strict):
    """`manifest.json`."""

    format: Literal["e2g-neo4j corpus"] = "e2g-neo4j corpus"
    version: Literal[1] = 1
    corpus: str
    documents: int
    fingerprint: MadeWith
    members: dict[str, Member]


# --- JSON ------------------------------------------------------------------------------------------------


def loads(line: str | bytes) -> Any:
    """Parse JSON whose memory is bounded. Raises ValueError."""
    try:
        return json.loads(check_depth(line))
    except RecursionError as error:
        raise ValueError("its lists and objects are too deep") from error


def check_depth(line: str | bytes) -> str | bytes:
    """Return JSON, or raise ValueError if it has too many lists or objects."""
    brackets = line.count("[") + line.count("{") if isinstance(line, str) else line.count(b"[") + line.count(b"{")
    if brackets > MOST_BRACKETS:
        raise ValueError(f"it has more than {MOST_BRACKETS} lists or objects")
    return line


# --- values ------------------------------------------------------------------------------------------


def encode(value: Any) -> Any:
    """Convert the value of a property to JSON. Types that JSON lacks become an object with one field, named by type.

    Long lists of 32-bit floats, such as embeddings, become their little-endian bytes in base64.

    Raises:
        ArchiveError: archives do not support the type of the value.
    """
    match value:
        case None | bool() | str() | int():
            return value
        case float():
            return value if math.isfinite(value) else {"float": repr(value)}
        case bytes() | bytearray():
            return {"bytes": base64.b64encode(value).decode()}
        case list():
            if len(value) >= _SHORTEST_VECTOR and all(isinstance(one, float) for one in value):
                with np.errstate(over="ignore"):
                    row = np.array(value, dtype="<f4")
                # Compare bits, because -0.0 == 0.0 and nan != nan.
                if row.astype("<f8").tobytes() == np.array(value, dtype="<f8").tobytes():
                    return {"float32": base64.b64encode(row.tobytes()).decode()}
            return [encode(one) for one in value]
    if type(value).__name__ in _TIMES:
        return {type(value).__name__: value.iso_format()}
    raise ArchiveError(
        f"A property of the type {type(value).__name__} cannot be exported. Remove it from the corpus, or export the "
        "corpus as GraphML."
    )


def decode(value: Any) -> Any:
    """Undo `encode`. Raises ValueError for values that it never returns."""
    match value:
        case None | bool() | str():
            return value
        case int():
            if -(2**63) <= value < 2**63:
                return value
        case float():
            if math.isfinite(value):
                return value
        case list():
            return [decode(one) for one in value]
        case {"float": ("nan" | "inf" | "-inf") as special, **rest} if not rest:
            return float(special)
        case {"bytes": str(packed), **rest} if not rest:
            return base64.b64decode(packed, validate=True)
        case {"float32": str(packed), **rest} if not rest:
            return np.frombuffer(base64.b64decode(packed, validate=True), dtype="<f4").astype(float).tolist()
        case dict() if len(value) == 1:
            [(kind, text)] = value.items()
            if kind in _TIMES and isinstance(text, str):
                return _TIMES[kind].from_iso_format(text)
    raise ValueError("a value has a type that the database does not support")
