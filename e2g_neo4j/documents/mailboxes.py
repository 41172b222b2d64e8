"""Mailboxes: one document a message."""

from __future__ import annotations

import mailbox
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from e2g_neo4j.documents.mail import read_message
from e2g_neo4j.documents.reading import Limits, Reading
from e2g_neo4j.documents.text import shown, within
from e2g_neo4j.errors import ReadingError


def read_each(path: Path, limits: Limits) -> Iterator[tuple[str, Reading | ReadingError]]:
    """Yield the place and the text of each message. The key is its Message-ID if that is the first one, or its number."""
    before: set[str | None] = set()
    box = mailbox.mbox(path, create=False)
    for number, index in enumerate(box.iterkeys(), 1):
        place = f"message {number}"
        try:
            data = box.get_bytes(index)
            within(len(data), limits.bytes, f"{shown(path)}, {place},")
            reading = read_message(data, path, limits)
            known = reading.key is not None and reading.key not in before
            before.add(reading.key)
            yield place, reading if known else replace(reading, key=str(number))
        except ReadingError as error:
            yield place, error
