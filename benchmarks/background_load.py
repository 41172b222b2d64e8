"""A process that uses all cores, to measure times under load."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_WORK = """
import numpy
a = numpy.random.default_rng(0).random((2000, 2000), "float32")
print(flush=True)
while True:
    a @ a
"""


@contextmanager
def busy_processes() -> Iterator[None]:
    """Multiply matrices on all cores in another process until the context ends."""
    with subprocess.Popen([sys.executable, "-c", _WORK], stdout=subprocess.PIPE) as process:
        try:
            if process.stdout is None or not process.stdout.readline():
                raise RuntimeError("The background process has ended.")
            yield
        finally:
            process.kill()
