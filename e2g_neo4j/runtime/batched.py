"""Splits iterables into batches. The sizes: of chunks in `indexing/pipeline.py`, of rows a transaction in
`graph/writer.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

LARGEST_BATCH = 2**24
"""Bytes of a batch, or one item."""


def split_batches(items: Iterable[T], size: int, bytes_of: Callable[[T], int] | None = None) -> Iterator[list[T]]:
    """Lists of `size` items; the last may be shorter, and others that would have more than LARGEST_BATCH bytes."""
    batch: list[T] = []
    room = LARGEST_BATCH
    for item in items:
        bytes = bytes_of(item) if bytes_of else 0
        if batch and (len(batch) == size or bytes > room):
            yield batch
            batch, room = [], LARGEST_BATCH
        batch.append(item)
        room -= bytes
    if batch:
        yield batch
