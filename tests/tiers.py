"""The tiers of the suite, and the parts of it that need a program which may not be there.

| E2G_TEST_TIER | set by | tests | `at_length`, `few_examples` |
|---|---|---|---|
| fast (default) | `make test` | without `full`, `long`, OTHER_PROGRAMS and WITH_TORCH | the smaller of two figures |
| rest | `make test-rest`, CI after `make test` | those of `every` that `fast` leaves out | the smaller of two figures |
| every | `make test-every` | without those marked `long` | the smaller of two figures |
| full | `make test-all`, before a release | every one | the larger of two figures |

Files that the command line names run as in the tier `every`. Slow tests and files marked `by_turns(n)` run on each n-th
day in the other tiers; in the full tier, and in a file that is named, all of them run.

What hypothesis draws differs from run to run, and what `few_of` chooses from day to day, so that many runs of few
examples add up. The first line of a run names the day; E2G_TEST_DAY repeats the choice of another one.

E2G_TEST_REQUIRE=ollama,chromium names the parts that have to be there: the run ends at once where one is missing.
Otherwise its tests are skipped, and the end of the run says so.
"""

from __future__ import annotations

import os
import random
import shutil
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import pytest
from ollama_build import BINARY

T = TypeVar("T")

OTHER_PROGRAMS = {"scratch", "scratch_5_26", "ollama_server", "playwright"}
"""Fixtures that start a program beside the one Neo4j server that a test process has anyway."""

WITH_TORCH = {
    "test_embedding.py",
    "test_ollama_embeddings.py",
    "test_other_models.py",
    "test_prefixes.py",
    "test_reranking.py",
}
"""Files that import PyTorch, which `make test` does not install."""

OTHERS: dict[str, list[str]] = {"fast": ["long"], "rest": ["long"], "every": ["long"], "full": []}
"""The tiers, with the marks of the tests that they leave out."""

TIER = os.environ.get("E2G_TEST_TIER") or "fast"
FULL = TIER == "full"
DAY = int(os.environ.get("E2G_TEST_DAY") or datetime.now(UTC).date().toordinal())
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@dataclass(frozen=True)
class Part:
    """Tests that need a program: is it there, and what adds it."""

    there: bool
    what: str
    add: str


PARTS = {
    "ollama": Part(BINARY.exists(), "a real Ollama server", "make ollama"),
    "docker": Part(
        shutil.which("docker") is not None and Path("/var/run/docker.sock").is_socket(),
        "a Docker daemon",
        "apt-get install docker.io debootstrap, and start dockerd",
    ),
    "mcp-inspector": Part(
        shutil.which("mcp-inspector") is not None,
        "the MCP inspector",
        "npm install --global @modelcontextprotocol/inspector",
    ),
    "chromium": Part(CHROMIUM is not None, "Chromium", "apt-get install chromium"),
    "curl": Part(shutil.which("curl") is not None, "curl", "apt-get install curl"),
    "nginx": Part(shutil.which("nginx") is not None, "nginx", "apt-get install nginx-light"),
    "helm": Part(shutil.which("helm") is not None, "helm", "go install helm.sh/helm/v3/cmd/helm@latest"),
}


def at_length(full: T, fast: T) -> T:
    """The first in the full tier, otherwise the second."""
    return full if FULL else fast


def few_of(values: Sequence[T], count: int) -> list[T]:
    """All of them in the full tier, otherwise a few, in their order: others for each test and each day."""
    if FULL or count >= len(values):
        return list(values)
    draw = random.Random(f"{DAY} {os.environ.get('PYTEST_CURRENT_TEST')}")
    return [values[at] for at in sorted(draw.sample(range(len(values)), count))]


def need(part: str) -> None:
    """Skip the test where a part is not there."""
    if not PARTS[part].there:
        pytest.skip(f"needs {PARTS[part].what}: {PARTS[part].add}")


def missing(required: str) -> list[str]:
    """What is wrong with the parts named in E2G_TEST_REQUIRE, one message each."""
    names = [name.strip() for name in required.split(",") if name.strip()]
    unknown = [
        f"E2G_TEST_REQUIRE: unknown part {name!r}. Known: {', '.join(PARTS)}." for name in names if name not in PARTS
    ]
    absent = [name for name in names if name in PARTS and not PARTS[name].there]
    return unknown + [
        f"E2G_TEST_REQUIRE: {PARTS[name].what} is missing. Add it with `{PARTS[name].add}`." for name in absent
    ]


def not_run(skipped: Sequence[pytest.TestReport]) -> list[str]:
    """Lines that say which tests did not run, why, and what adds them."""
    reasons = Counter(
        (report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)).removeprefix("Skipped: ")
        for report in skipped
    )
    lines = [f"{count} {'test' if count == 1 else 'tests'}: {reason}" for reason, count in sorted(reasons.items())]
    if TIER == "fast":
        lines.append(
            "tests marked `full` and those of models on PyTorch: make test-every; those marked `long`, and the full "
            "length: make test-all"
        )
    elif TIER != "full":
        lines.append("tests marked `long`, those of other days, and the full length of others: make test-all")
    return lines


# --- hooks, for conftest -----------------------------------------------------------------------------


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files that the environment of the fast tier cannot import, unless they are named."""
    left_out = TIER == "fast" and collection_path.name in WITH_TORCH
    return True if left_out and not any(collection_path.name in argument for argument in config.args) else None


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart() -> None:
    """End the run where a required part is missing."""
    if TIER not in OTHERS:
        raise pytest.UsageError(f"E2G_TEST_TIER: there is no tier {TIER!r}: choose among {', '.join(OTHERS)}.")
    if lacking := missing(os.environ.get("E2G_TEST_REQUIRE", "")):
        raise pytest.UsageError("\n".join(lacking))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of other tiers."""
    named = any(".py" in argument for argument in config.args)
    tier = "every" if TIER in ("fast", "rest") and named else TIER
    left_out = [item for item in items if any(map(item.get_closest_marker, OTHERS[tier])) or in_other_tier(item, tier)]
    if tier != "full" and not named:
        left_out += of_other_days(items)
    if left_out:
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]
        config.hook.pytest_deselected(items=left_out)


def in_other_tier(item: pytest.Item, tier: str) -> bool:
    """Whether the fast tier, or the one for the rest, leaves a test to the other."""
    wants_more = (
        item.get_closest_marker("full") is not None
        or item.path.name in WITH_TORCH
        or not OTHER_PROGRAMS.isdisjoint(getattr(item, "fixturenames", ()))
    )
    return wants_more if tier == "fast" else tier == "rest" and not wants_more


def of_other_days(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The tests marked `by_turns`, or in files so marked, whose turn it is not. The name decides when it is."""
    marked = [(item, found) for item in items if (found := next(item.iter_markers_with_node("by_turns"), None))]
    return [
        item for item, (node, mark) in marked if zlib.crc32(node.nodeid.encode()) % mark.args[0] != DAY % mark.args[0]
    ]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say once which tests did not run."""
    lines = not_run(terminalreporter.stats.get("skipped", []))
    if lines:
        terminalreporter.section("not run")
    for line in lines:
        terminalreporter.write_line(line)
