"""How much a document keeps to its subjects, which decides how far a passage lends its score to its neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.model import Vectors


class Persistence:
    """How much more alike neighbouring windows of a document are than any two of it, from 0 to 1, as they come.

    (mean cosine of neighbours - mean cosine of all pairs) / (1 - mean cosine of all pairs). 0 for fewer than three
    windows, and for one that is repeated, where 32-bit vectors tell rounding only.
    """

    def __init__(self) -> None:
        self.windows = 0
        self._neighbours = 0.0
        self._total: NDArray[np.float64] = np.zeros(1)
        self._last: NDArray[np.float64] = np.zeros(1)

    def add(self, vectors: Vectors) -> None:
        """The next windows, shape (n, dimensions)."""
        for row in vectors.astype(np.float64):
            if self.windows:
                self._neighbours += float(self._last @ row)
            self._total = self._total + row
            self._last = row
            self.windows += 1

    @property
    def value(self) -> float:
        n = self.windows
        if n < 3:
            return 0.0
        neighbours = self._neighbours / (n - 1)
        pairs = float((self._total @ self._total - n) / (n * (n - 1)))
        if pairs > 1 - 1e-6:
            return 0.0
        return min(max(0.0, (neighbours - pairs) / (1 - pairs)), 1.0)
