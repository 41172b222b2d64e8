"""What the implementations of chat models share."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import Any

from e2g_neo4j.errors import ModelError

SHORTEST_KEY = 8
"""Characters of the value of a variable such as OPENAI_API_KEY that no message repeats."""

_KEY = re.compile(r"\b(?:sk|pk|hf|gsk|pplx)[-_][\w*-]{6,}|(?<=Bearer )\S+")


def first_line(error: BaseException) -> str:
    """Return the first line of an error message, at most 200 characters, without keys that providers repeat."""
    line = (str(error) or type(error).__name__).strip().splitlines()[0]
    for name, value in os.environ.items():
        if len(value) >= SHORTEST_KEY and name.endswith(("_KEY", "_TOKEN", "_SECRET")):
            line = line.replace(value, "***")
    return _KEY.sub("***", line)[:200]


class RetryableError(Exception):
    """A transient failure.

    Args:
        retry_after: Seconds to wait, if the server sent a number.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooLongError(ModelError):
    """The prompt and the reply together do not fit into the model's context."""


class TokenEstimator:
    """Estimates how many tokens a text has, from the counts that a model reports.

    The estimate uses the highest number of tokens per byte seen so far, plus a margin. Without any count it assumes one
    token per byte.

    Args:
        tokens_per_byte: Initial estimate.
    """

    MARGIN = 1.25
    SHORTEST_CONTEXT = 255

    def __init__(self, tokens_per_byte: float | None = None) -> None:
        self._densest = tokens_per_byte
        self._most = self.SHORTEST_CONTEXT
        self._lock = Lock()

    @property
    def known(self) -> bool:
        return self._densest is not None

    def count(self, text: str) -> int:
        return int(len(text.encode()) * (self._densest or 1.0) * self.MARGIN) + 1

    def learn(self, text: str, tokens: int) -> None:
        with self._lock:
            self._densest = max(self._densest or 0.0, tokens / max(len(text.encode()), 1))
            self._most = max(self._most, tokens)

    def is_truncated(self, text: str, tokens: int) -> bool:
        """Return whether a server has read only so many tokens of a text. It may also count only those that it had not
        kept from a prompt before: they are fewer than a context has, or than it has read at once."""
        return self._most < tokens < len(text.split())


def seconds_in(headers: Any) -> float | None:
    """Return the seconds of a Retry-After header, which is a number or a date. None if there is none."""
    value = headers.get("retry-after") if headers is not None else None
    if value is None:
        return None
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    except (TypeError, ValueError):
        return None
