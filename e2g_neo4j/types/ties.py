"""Ranking by scores that are computed from vectors.

The same sum rounds differently on other processors and in other batches, so scores that should be equal differ
slightly. Here, scores within a tolerance of each other count as equal, and ties keep the input order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def first_best(scores: Sequence[float] | NDArray[np.float64], tolerance: float) -> int:
    """Return the index of the first score that is at most `tolerance` below the highest."""
    values = np.asarray(scores, dtype=np.float64)
    return int(np.argmax(values >= values.max() - tolerance))


def best_first(scores: Sequence[float] | NDArray[np.float64], tolerance: float) -> list[int]:
    """Return the indices of scores, highest first.

    Neighbours in that order that differ by at most `tolerance` count as equal and keep their input order.
    """
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-values, kind="stable")
    group = np.cumsum(np.abs(np.diff(values[order], prepend=values[order[:1]])) > tolerance)
    tied: list[int] = order[np.lexsort((order, group))].tolist()
    return tied
