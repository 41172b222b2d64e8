"""Show on standard error what a command waits for, and how far it is."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, RLock, Thread

from e2g_neo4j.runtime import waiting
from e2g_neo4j.types.reports import Progress

SECONDS = 0.7
"""After so long without a sign, the command says what it waits for."""

REPEAT_SECONDS = 10.0
"""How often progress is told where a line cannot be rewritten, such as in a file."""


class WaitingHandler(logging.Handler):
    """Shows the innermost wait of `runtime.waiting` that lasts: in a terminal in one line that changes, elsewhere in a
    line each."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = RLock()
        self._waits: dict[float, str] = {}
        self._told: dict[str, float] = {}
        self._last_sign = time.monotonic()
        self._line = ""
        self._hidden = False
        self._thread: Thread | None = None

    def install(self) -> None:
        """Listen to the waits of this process, from now on."""
        self._last_sign = time.monotonic()
        waiting.logger.setLevel(logging.INFO)
        waiting.logger.propagate = False
        waiting.logger.handlers = [self]
        if self._thread is None:
            self._thread = Thread(target=self._watch, name="e2g-waiting", daemon=True)
            self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Note that a wait has begun, come on, or ended."""
        wait: float = record.__dict__["waits"]
        with self._lines:
            if record.__dict__["over"]:
                self._waits.pop(wait, None)
                self._clear()  # before the command prints its result
            else:
                self._waits[wait] = record.getMessage()

    def hide(self, hidden: bool) -> None:
        """Show no waits, because progress is shown instead, or show them again."""
        with self._lines:
            self._clear()
            self._hidden = hidden

    @contextmanager
    def lines_of_progress(self) -> Iterator[Progress]:
        """Yield a function that prints how far a stage is, in a line each ten seconds."""
        last = 0.0

        def advance(stage: str, done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if not self._hidden:
                self.hide(True)
                last = now - REPEAT_SECONDS + SECONDS
            if now - last >= REPEAT_SECONDS:
                last = now
                _write(f"{stage}: {done} of {total}\n")

        try:
            yield advance
        finally:
            self.hide(False)

    def _watch(self) -> None:
        never = Event()
        while not never.wait(0.1):
            with self._lines:
                if self._waits and not self._hidden:
                    self._show(*list(self._waits.items())[-1])

    def _show(self, wait: float, text: str) -> None:
        now = time.monotonic()
        if now - self._last_sign < SECONDS:
            return
        if sys.stderr.isatty():
            self._clear()
            self._line = f"{text} … {now - wait:.0f} s"
            _write(self._line)
            self._last_sign = now
        elif now - self._told.get(text.partition(" (")[0], -REPEAT_SECONDS) >= REPEAT_SECONDS:
            self._told[text.partition(" (")[0]] = self._last_sign = now
            _write(f"{text} …\n")

    def _clear(self) -> None:
        if self._line:
            _write("\r" + " " * len(self._line) + "\r")
            self._line = ""


HANDLER = WaitingHandler()


@contextmanager
def progress(*, quiet: bool) -> Iterator[Progress]:
    """Show a progress bar per stage, with rate and remaining time, on standard error; lines if it is no terminal."""
    if not sys.stderr.isatty() and not quiet:
        with HANDLER.lines_of_progress() as advance_lines:
            yield advance_lines
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as ProgressBars

    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    bars: dict[str, TaskID] = {}
    lock = Lock()
    began = time.monotonic()
    shown = ProgressBars(*columns, console=Console(stderr=True), disable=quiet)

    def advance(stage: str, done: int, total: int) -> None:
        with lock:
            if not bars:
                HANDLER.hide(True)
                shown.start()
            if stage not in bars:
                bars[stage] = shown.add_task(stage, total=total, rate="")
            rate = done / (time.monotonic() - began)
            shown.update(bars[stage], completed=done, total=total, rate=f"{rate:.1f}/s")

    try:
        yield advance
    finally:
        if bars:
            shown.stop()
            HANDLER.hide(False)


def _write(text: str) -> None:
    encoding = sys.stderr.encoding or "ascii"
    sys.stderr.write(text.replace("…", "...").encode(encoding, "replace").decode(encoding))
    sys.stderr.flush()
