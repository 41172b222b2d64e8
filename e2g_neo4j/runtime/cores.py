"""How many cores this process may use."""

from __future__ import annotations

import math
import os
import sys
from functools import cache
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
"""The limits of a container."""


@cache
def cores() -> int:
    """Return the number of cores: those that this process may run on, and at most the CPU limit of its container."""
    there = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, math.ceil(min(there, _limit(CGROUP))))


def _limit(folder: Path) -> float:
    """Return the CPU limit in a cgroup folder, version 2 or 1, in cores; infinity if there is none."""
    try:
        quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        try:
            v1 = [(folder / "cpu" / f"cpu.cfs_{name}_us").read_text(encoding="ascii") for name in ("quota", "period")]
            quota, period = v1
        except OSError:
            return math.inf
    return int(quota) / int(period) if quota.strip().isdigit() else math.inf
