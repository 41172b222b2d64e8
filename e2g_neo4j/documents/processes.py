"""Read files in another process, which is stopped when a file takes too much time or memory.

A small file can make a parser of PDF, DOCX, EPUB or HTML work for hours. So parsers run in processes of their own that
inherit no secrets. A process reads one file after the other, until one breaks a limit.
"""

from __future__ import annotations

import atexit
import json
import os
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Semaphore, Thread
from typing import Any, BinaryIO

import psutil

from e2g_neo4j.documents import parser_process
from e2g_neo4j.documents.files import ReadingReport, read_all
from e2g_neo4j.documents.formats import detect_format
from e2g_neo4j.documents.ocr import with_text
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.documents.text import quote_path
from e2g_neo4j.errors import ReadingError
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.documents import Hyperlink, Section, SourceDocument

POLL_SECONDS = 0.05
"""How often to look whether the caller still waits, and at the memory where the system does not limit it."""

EXIT_SECONDS = 10.0
"""How long a process may take to end after its last reply, before it is killed."""

WAITING = 5
"""Maximum ratio of time by the clock and time of the processor. It is large if disks are slow or cores are busy."""

AT_ONCE = 2
"""How many files are read at once, so that the memory of all processes is limited too. Others wait."""

_ENVIRONMENT = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH")
"""The variables that a process inherits. The others may have secrets."""


LIBRARY = (4096, 1800.0)
"""MiB of memory and seconds for files of the user's own, unless the settings say otherwise."""

SERVICE = (1024, 300.0)
"""The same for files that were sent to the service."""


def limits_of(settings: Settings, defaults: tuple[int, float]) -> Limits:
    """Return the limits that the settings name, or else the defaults."""
    memory_mb, seconds = defaults
    return Limits(
        settings.max_document_mb * 2**20,
        settings.parse_memory_mb or memory_mb,
        settings.parse_seconds or seconds,
        whole_page=settings.whole_page,
        ocr=settings.ocr,
    )


def read_file(
    path: Path,
    corpus: str,
    limits: Limits,
    check: Callable[[], object] = lambda: None,
    report: ReadingReport | None = None,
    source: str | None = None,
) -> list[SourceDocument]:
    """Read the documents of a file, in another process if its format needs one.

    Args:
        check: called every POLL_SECONDS. If it raises, the process is stopped at once.

    Raises:
        ReadingError: the file cannot be read, or takes more than the limits.
    """
    check()
    if path.is_file() and detect_format(path).here:
        return read_all(path, corpus, limits, report, source)
    if limits.ocr and path.is_file() and detect_format(path).module == "pdf":
        with with_text(path, limits, check) as copy:
            return read_file(copy, corpus, replace(limits, ocr=False), check, report, source or str(path.resolve()))
    while not _slots.acquire(timeout=POLL_SECONDS):
        check()
    try:
        request = {
            "path": str(path.absolute()),
            "corpus": corpus,
            "limits": asdict(limits),
            "report": report is not None,
            "source": source,
        }
        while (documents := _read_with(_idle_process() or _Process(), request, limits, check, report)) is None:
            pass  # the process had ended, because it was idle for too long
        return documents
    finally:
        _slots.release()


def end_idle() -> None:
    """End the processes that have nothing to do."""
    with _lock:
        idle, _idle[:] = _idle[:], []
    for process in idle:
        process.end()


class _Process:
    """A process that reads files.

    Attributes:
        replies: its replies: pairs of an object and a text. None: it has ended.
        used: whether it has read a file.
    """

    def __init__(self) -> None:
        self.replies: SimpleQueue[tuple[dict[str, Any], bytes] | None] = SimpleQueue()
        self.used = False
        inherited = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        try:
            self._popen = subprocess.Popen(
                [sys.executable, "-I", parser_process.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=inherited | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                start_new_session=True,  # Ctrl-C is for this process, which ends that one
            )
        except OSError as error:
            raise ReadingError(
                f"No process can be started to read files: {error}. Free memory or processes."
            ) from error
        with _lock:
            _alive.add(self)
        assert self._popen.stdin is not None  # noqa: S101
        assert self._popen.stdout is not None  # noqa: S101
        self._requests = self._popen.stdin
        Thread(target=self._receive, args=(self._popen.stdout,), name="e2g-parser", daemon=True).start()
        self.send([str(Path(one).absolute()) for one in sys.path])

    @property
    def is_alive(self) -> bool:
        return self._popen.poll() is None

    @property
    def memory(self) -> int:
        """Its memory, in bytes."""
        try:
            return psutil.Process(self._popen.pid).memory_info().rss
        except psutil.Error:
            return 0

    def send(self, request: Any) -> None:
        with suppress(OSError):  # it has ended, which the replies tell
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()

    def end(self, patience: float = 0) -> int:
        """Kill the process if it does not end within `patience` seconds, and return its exit code."""
        with _lock:
            _alive.discard(self)
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(patience)
        self._popen.kill()
        with suppress(OSError):
            self._requests.close()
        return self._popen.wait()

    def _receive(self, output: BinaryIO) -> None:
        with output, suppress(OSError, ValueError, struct.error):  # a reply without its end: the process was killed
            while lengths := output.read(parser_process.LENGTHS.size):
                header, text = parser_process.LENGTHS.unpack(lengths)
                self.replies.put((json.loads(output.read(header)), output.read(text)))
        self.replies.put(None)


_lock = Lock()

_idle: list[_Process] = []

_alive: set[_Process] = set()

_slots = Semaphore(AT_ONCE)


def _idle_process() -> _Process | None:
    with _lock:
        process = _idle.pop() if _idle else None
    if process is None or process.is_alive:
        return process
    process.end()
    return _idle_process()


def _read_with(
    process: _Process,
    request: dict[str, Any],
    limits: Limits,
    check: Callable[[], object],
    report: ReadingReport | None,
) -> list[SourceDocument] | None:
    """Read a file with a process, and keep it for other files if it is sound. Return None if it had ended before."""
    name, reusable = quote_path(request["path"]), False
    began, limited = time.monotonic(), True
    documents: list[SourceDocument] = []
    process.send(request)
    try:
        while True:
            check()
            if time.monotonic() - began > WAITING * limits.seconds:
                raise _broken(name, "time", limits)
            try:
                reply = process.replies.get(timeout=POLL_SECONDS)
            except Empty:
                if not limited and process.memory > limits.memory_mb * 2**20:
                    raise _broken(name, "memory", limits) from None
                continue
            if reply is None:
                code = process.end(EXIT_SECONDS)
                if code == parser_process.OUT_OF_TIME:
                    raise _broken(name, "time", limits)
                if process.used and code == 0 and not documents:
                    return None
                raise ReadingError(
                    f"{name} ended the process that read it (exit code {code}). It is broken, or takes more memory "
                    f"than there is, or than {limits.memory_mb} MiB: open it in its own program and save it again, "
                    "or raise E2G_PARSE_MEMORY_MB."
                )
            header, text = reply
            if "limited" in header:
                limited = header["limited"]
            elif "end" not in header:
                documents.append(_document(header, text))
            else:
                process.used, reusable = True, header["reusable"]
                if "broken" in header["end"]:
                    raise _broken(name, header["end"]["broken"], limits)
                if "error" in header["end"]:
                    raise ReadingError(header["end"]["error"])
                if report is not None:
                    report.failed |= header["end"]["failed"]
                    report.warnings |= header["end"]["warnings"]
                return documents
    finally:
        if reusable:
            with _lock:
                _idle.append(process)
        else:
            process.end()


def _broken(name: str, limit: str, limits: Limits) -> ReadingError:
    if limit == "time":
        return ReadingError(
            f"{name} takes more than {limits.seconds:g} s of processor time to read. Split it, save it in another "
            "format, or raise E2G_PARSE_SECONDS."
        )
    return ReadingError(
        f"{name} takes more than {limits.memory_mb} MiB of memory to read. Split it, save it in another format, or "
        "raise E2G_PARSE_MEMORY_MB."
    )


def _document(header: dict[str, Any], text: bytes) -> SourceDocument:
    sections = tuple(Section(*one) for one in header.pop("sections"))
    links = tuple(Hyperlink(*one) for one in header.pop("links"))
    losses = tuple(header.pop("losses"))
    return SourceDocument(**header, sections=sections, links=links, losses=losses, text=text.decode())


def _forget() -> None:
    """In a fork of this process, forget the processes of its parent."""
    global _lock, _slots
    _lock, _slots = Lock(), Semaphore(AT_ONCE)
    _idle.clear()
    _alive.clear()


def _end_all() -> None:
    for process in list(_alive):
        process.end()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
