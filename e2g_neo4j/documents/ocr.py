"""Recognise the text of scanned PDFs with ocrmypdf, which has to be installed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.documents.text import quote_path
from e2g_neo4j.errors import ReadingError

PROGRAM = "ocrmypdf"

INSTALL = "apt-get install ocrmypdf, or brew install ocrmypdf"

_POLL_SECONDS = 0.05


@contextmanager
def with_text(path: Path, limits: Limits, check: Callable[[], object]) -> Iterator[Path]:
    """Yield a copy of a PDF, of the same name, whose pages without text have the text that is recognised in them.

    Raises:
        ReadingError: the program is not installed, fails, or takes more than `limits.seconds`.
    """
    if shutil.which(PROGRAM) is None:
        raise ReadingError(
            f"{quote_path(path)} is not read: --ocr needs {PROGRAM}. Install it ({INSTALL}), or omit --ocr."
        )
    with tempfile.TemporaryDirectory(prefix="e2g-ocr-") as folder:
        copy = Path(folder, path.name)
        options = ["--skip-text", "--quiet", "--jobs", "1", "--output-type", "pdf", "--optimize", "0"]
        began = time.monotonic()
        with subprocess.Popen(
            [PROGRAM, *options, str(path.absolute()), str(copy)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ},
            start_new_session=True,
        ) as program:
            try:
                while program.poll() is None:
                    check()
                    if time.monotonic() - began > limits.seconds:
                        raise ReadingError(
                            f"{quote_path(path)} takes more than {limits.seconds:g} s to recognise. Split it, or raise "
                            "E2G_PARSE_SECONDS."
                        )
                    time.sleep(_POLL_SECONDS)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(program.pid, signal.SIGKILL)  # with the programs that it runs
            said = program.stderr.read() if program.stderr else b""
        if program.returncode or not copy.exists():
            what = " ".join(said.decode("utf-8", "replace").split())[-200:] or f"exit code {program.returncode}"
            raise ReadingError(
                f"{quote_path(path)}: {PROGRAM} cannot recognise its text ({what}). Read it without --ocr."
            )
        yield copy
