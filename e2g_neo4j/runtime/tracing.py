"""OpenTelemetry spans, where the program around has loaded OpenTelemetry. Without it they cost nothing.

Spans have numbers and names of modes and models, never texts, names of corpora or messages of errors.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol


class Span(Protocol):
    """A span that is open."""

    def set_attribute(self, key: str, value: Any) -> None: ...


class _NoSpan:
    def set_attribute(self, key: str, value: Any) -> None:
        pass


@contextmanager
def span(name: str, attributes: Mapping[str, str | int]) -> Iterator[Span]:
    """Open a span for the time of the context, as a child of the current one.

    It does not become the current span itself, so that generators may be suspended within it.
    """
    api = sys.modules.get("opentelemetry.trace")  # whoever exports spans has imported it
    if api is None:
        yield _NoSpan()
        return
    opened = api.get_tracer("e2g_neo4j").start_span(name, attributes=attributes)
    try:
        yield opened
    except Exception as error:
        opened.set_attribute("error.type", type(error).__name__)
        opened.set_status(api.StatusCode.ERROR)
        raise
    finally:
        opened.end()
