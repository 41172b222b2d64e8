"""A mixture of Gaussians over principal components, without random numbers.

RAPTOR (arXiv 2401.18059) reduces vectors with UMAP and fits scikit-learn's mixture from random starts: the same texts
give other clusters each time. Here the first Gaussian has all nodes, and each further one halves the Gaussian that
scatters most. All Gaussians have one variance, for all directions: with a variance of its own, a single node becomes a
Gaussian, and the directions of components that scatter alike would depend on rounding.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from e2g_neo4j.types.documents import Vectors
from e2g_neo4j.types.ties import first_best

DIMENSIONS = 10
"""Maximum number of principal components, as many as RAPTOR keeps."""

DIGITS = 4
"""Vectors are rounded to as many digits, because they differ in the last bits between machines."""

MOST = 50
"""Maximum number of Gaussians."""

PATIENCE = 5
"""Gaussians are added until the BIC has not improved for so many."""

FLOOR = 1e-3
"""Least variance of the Gaussians, relative to that of all nodes. Groups of equal nodes have none."""

SAME = 1e-6
"""Up to this variance, all nodes are the same."""

LEAST = 1e-9
"""Least sum of the probabilities of a Gaussian."""

ITERATIONS = 100
CONVERGED = 1e-5
"""The parameters are improved so many times, or until the mean log-likelihood grows by less than this."""

TIE = 1e-6
"""Gaussians whose scatter differs by less than this, relative to the largest, scatter alike. The first is halved."""

Array: TypeAlias = NDArray[np.float64]


def memberships(vectors: Vectors, least: int = 1) -> Array:
    """Return the probability of each Gaussian for each node, of the mixture with the lowest BIC.

    Args:
        vectors: a row for each node, at least one.
        least: the minimum number of Gaussians. There is one if all nodes are the same.

    Returns:
        An array of shape (nodes, Gaussians), whose rows add up to 1.
    """
    points = principal_components(vectors)
    nodes, dimensions = points.shape
    variance = float(points.var(axis=0).sum()) / max(dimensions, 1)
    best = probabilities = np.ones((nodes, 1))
    if variance <= SAME:
        return best
    lowest, worse = np.inf, 0
    for number in range(1, min(MOST, nodes) + 1):
        if number > 1:
            probabilities = _halve_widest(points, probabilities)
        probabilities, likelihood = _fit(points, probabilities, FLOOR * variance)
        bic = number * (dimensions + 1) * np.log(nodes) - 2 * likelihood
        if number <= least or bic < lowest:
            best, lowest, worse = probabilities, bic, 0
        else:
            worse += 1
        if worse == PATIENCE:
            break
    return best


def principal_components(vectors: Vectors) -> Array:
    """Return the coordinates of vectors on their first principal components. The largest coordinate is positive.

    Args:
        vectors: a row for each node.
    """
    rows = np.round(vectors.astype(np.float64), DIGITS)
    rows -= rows.mean(axis=0)
    nodes, dimensions = rows.shape
    kept = min(DIMENSIONS, nodes - 1, dimensions)
    if not kept:
        return np.zeros((nodes, 0))
    few = nodes <= dimensions
    products = rows @ rows.T if few else rows.T @ rows
    values, directions = eigh(products, subset_by_index=[len(products) - kept, len(products) - 1])
    points: Array = directions * np.sqrt(np.maximum(values, 0)) if few else rows @ directions
    points = points[:, ::-1]
    return points * np.where(points[np.abs(points).argmax(axis=0), np.arange(kept)] < 0, -1, 1)


def _fit(points: Array, probabilities: Array, least: float) -> tuple[Array, float]:
    """Improve a mixture by expectation-maximisation. Returns its probabilities and its log-likelihood."""
    before = likelihood = -np.inf
    lengths = (points**2).sum(axis=1, keepdims=True)
    for _ in range(ITERATIONS):
        weights, means, scatter = _parameters(points, probabilities)
        distances = lengths - 2 * points @ means.T + (means**2).sum(axis=1)
        dimensions = points.shape[1]
        variance = max(float(scatter.sum()) / dimensions, least)
        logs = np.log(weights) - dimensions / 2 * np.log(2 * np.pi * variance) - distances / (2 * variance)
        largest = logs.max(axis=1, keepdims=True)
        totals = largest + np.log(np.exp(logs - largest).sum(axis=1, keepdims=True))
        probabilities = np.exp(logs - totals)
        likelihood = float(totals.sum())
        if likelihood - before < CONVERGED * len(points):
            break
        before = likelihood
    return probabilities, likelihood


def _parameters(points: Array, probabilities: Array) -> tuple[Array, Array, Array]:
    """Return the weights and means of Gaussians, and how much of the squared distances from the means each has."""
    sums = np.maximum(probabilities.sum(axis=0), LEAST)
    means = probabilities.T @ points / sums[:, None]
    squares = probabilities.T @ (points**2).sum(axis=1) - sums * (means**2).sum(axis=1)
    return sums / sums.sum(), means, squares / sums.sum()


def _halve_widest(points: Array, probabilities: Array) -> Array:
    """Halve the Gaussian that scatters most, along the direction in which it does."""
    _, means, scatter = _parameters(points, probabilities)
    widest = first_best(scatter, TIE * float(scatter.max()))
    shifted = points - means[widest]
    covariance = (probabilities[:, [widest]] * shifted).T @ shifted
    direction = eigh(covariance)[1][:, -1]
    direction = direction * np.sign(direction[np.abs(direction).argmax()])
    ahead = shifted @ direction > 0
    own = probabilities[:, [widest]]
    others = np.delete(probabilities, widest, axis=1)
    return np.hstack([others, own * ahead[:, None], own * ~ahead[:, None]])
