"""Splits iterables into batches. The sizes: of chunks in `indexing/pipeline.py`, of rows a transaction in
`graph/writer.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of `size` items; the last may be shorter. As `itertools.batched`, which Python 3.11 does not have."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
