"""Topic persistence of a document, which decides how much of its score a window passes to its neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.types.documents import Vectors

ALIKE = 0.01
"""1 - mean cosine of all pairs of windows below which windows count as nearly equal."""


class Persistence:
    """Computes incrementally how much more similar neighbouring windows of a document are than any two, from 0 to 1.

    The value is (mean cosine of neighbours - mean cosine of all pairs) / (1 - mean cosine of all pairs), and 0 for
    fewer than three windows. If all windows are nearly equal, as in repeated text, the divisor is `ALIKE`: otherwise
    rounding errors would be divided by rounding errors.
    """

    def __init__(self) -> None:
        self.windows = 0
        self._neighbours = 0.0
        self._total: NDArray[np.float64] = np.zeros(1)
        self._last: NDArray[np.float64] = np.zeros(1)

    def add(self, vectors: Vectors) -> None:
        """Add the vectors of the next windows, of shape (n, dimensions)."""
        for row in vectors.astype(np.float64):
            if self.windows:
                self._neighbours += float(self._last @ row)
            self._total = self._total + row
            self._last = row
            self.windows += 1

    @property
    def value(self) -> float:
        """The topic persistence of the windows so far."""
        n = self.windows
        if n < 3:
            return 0.0
        neighbours = self._neighbours / (n - 1)
        pairs = float((self._total @ self._total - n) / (n * (n - 1)))
        if pairs > 1 - 1e-6:
            return 0.0
        return min(max(0.0, (neighbours - pairs) / max(1 - pairs, ALIKE)), 1.0)
