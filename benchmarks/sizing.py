"""Estimate what a corpus of a given size needs, from the figures of scale.py.

    python benchmarks/sizing.py 1e9 [--set scale-one-corpus] [--dimensions 1024] [--processors 16] [--hours 24]

Nodes, relationships and processor time grow as measured: as a power of the number of tokens, which is fitted to the
figures and continued. Continuing them to a thousand times the largest measured size is a guess, not a measurement. All
processors were busy nearly all of the time, so that processor time is the time of all of them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from record import RESULTS

GIB, MIB = 2**30, 2**20
MEASURED_DIMENSIONS = 384
VECTORS = 4 * 2
"""Bytes of a number of a vector: in the node, and in the index. Quantised copies come on top, an eighth."""

MEASURED_PROCESSORS = 2

SMALLEST = 1e6
"""Tokens below which sizes are not fitted: with them, what a database needs at least counts too."""


@dataclass(frozen=True)
class Growth:
    """`factor * tokens ** power`."""

    factor: float
    power: float

    def at(self, tokens: float) -> float:
        return float(self.factor * tokens**self.power)


def read_growths(results: Path, name: str) -> dict[str, Growth]:
    """Fit each figure of indexing to the tokens."""
    values: dict[str, dict[str, float]] = {}
    for one in json.loads(results.read_text(encoding="utf-8"))["figures"]:
        if one["set"] == name and one["mode"] in ("index", "server") and "variant" in one:
            values.setdefault(one["metric"], {})[one["variant"]] = one["value"]
    tokens = values.pop("tokens")
    return {
        metric: fit([(tokens[size], value) for size, value in found.items() if size in tokens and value > 0])
        for metric, found in values.items()
    }


def fit(points: Sequence[tuple[float, float]]) -> Growth:
    """Fit a power to points, those of at least SMALLEST tokens if there are two of them."""
    large = [point for point in points if point[0] >= SMALLEST]
    tokens, values = np.log(np.array(large if len(large) > 1 else points)).T
    power, factor = np.polyfit(tokens, values, 1) if len(tokens) > 1 else (1.0, float(values[0] - tokens[0]))
    return Growth(float(np.exp(factor)), float(power))


def needs(growths: Mapping[str, Growth], tokens: float, given: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield what so many tokens need, in words."""
    counts = {
        what: growths[what].at(tokens) for what in ("chunks", "summaries", "entities", "mentions", "co_occurrences")
    }
    for what, count in counts.items():
        yield what.replace("_", "-"), f"{count:,.0f}"
    windows = tokens / given.window_tokens
    vectors = windows + counts["summaries"]
    yield "vectors", f"{vectors:,.0f}"
    stored = growths["MiB stored"].at(tokens) * MIB
    stored += vectors * (given.dimensions - MEASURED_DIMENSIONS) * VECTORS
    yield "disk, and memory to cache all of it", f"{stored / GIB:,.1f} GiB"
    hours = growths["seconds"].at(tokens) * MEASURED_PROCESSORS / 3600
    yield "processor hours of indexing", f"{hours:,.1f}"
    yield f"hours with {given.processors} processors, if all are busy", f"{hours / given.processors:,.1f}"
    yield f"processors for {given.hours:g} hours", f"{np.ceil(hours / given.hours):,.0f}"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokens", type=float, nargs="+")
    parser.add_argument("--set", default="scale-one-corpus", help="set of the figures")
    parser.add_argument("--dimensions", type=int, default=MEASURED_DIMENSIONS, help="of the embedding model")
    parser.add_argument("--window-tokens", type=int, default=240, help="tokens of a window")
    parser.add_argument("--processors", type=int, default=16)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args(argv)
    growths = read_growths(given.results, given.set)
    for tokens in given.tokens:
        print(f"{tokens:,.0f} tokens")
        for what, need in needs(growths, tokens, given):
            print(f"    {what:60} {need:>20}")


if __name__ == "__main__":
    main()
