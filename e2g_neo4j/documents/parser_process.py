"""The process in which files are parsed. `processes` runs this file as a script.

Standard input has requests: the first line is the import path, each further line a file to read. Standard output has
replies: the lengths of a JSON object and a text, the object, the text. Each document is a reply, and the last one says
how the file ended. The process ends when its input is closed, and when it had nothing to do for a while.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from types import ModuleType
from typing import Any, BinaryIO

IDLE_SECONDS = 60.0
"""How long to wait for the next file."""

LENGTHS = struct.Struct(">QQ")
"""The beginning of a reply: the lengths of object and text, in bytes."""

OUT_OF_TIME = -signal.SIGPROF if sys.platform != "win32" else None
"""The exit code of the process if a file took too much time."""


def main() -> None:
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what parsers print is no reply
    requests: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_receive, args=(requests,), daemon=True).start()
    sys.path[:] = json.loads(requests.get())
    _skip_package_imports()
    sys.addaudithook(_refuse)
    while True:
        try:
            request = json.loads(requests.get(timeout=IDLE_SECONDS))
        except Empty:
            return
        _answer(request, replies)


def _receive(requests: SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        requests.put(line)
    os._exit(0)  # the other process is gone, so nobody waits for what is parsed now


def _skip_package_imports() -> None:
    """Let the modules of this package be imported without the clients, which take more than a second to import."""
    folder = Path(__file__).parents[1]
    for name in (folder.name, f"{folder.name}.types"):
        package = ModuleType(name)
        package.__path__ = [str(folder.parent.joinpath(*name.split(".")))]
        sys.modules[name] = package


def _refuse(event: str, _: Any) -> None:
    """Forbid what no parser needs: the network, and other programs."""
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen", "os.system", "os.fork"):
        raise PermissionError(f"{event} is not allowed while a file is parsed")


def _answer(request: dict[str, Any], replies: BinaryIO) -> None:
    from e2g_neo4j.documents.files import ReadingReport, read_each
    from e2g_neo4j.documents.reading import Limits
    from e2g_neo4j.errors import ReadingError

    limits = Limits(**request["limits"])
    limited = _limit_memory(limits.memory_mb * 2**20)
    _limit_seconds(limits.seconds)
    _reply(replies, {"limited": limited})
    end: dict[str, Any] = {}
    report = ReadingReport() if request["report"] else None
    try:
        for one in read_each(Path(request["path"]), request["corpus"], limits, report, request["source"]):
            document: dict[str, Any] = {
                name: getattr(one, name) for name in ("id", "corpus", "title", "source", "sha256")
            }
            document["losses"] = one.losses
            document["sections"] = [(section.kind, section.label, section.start) for section in one.sections]
            document["links"] = [(link.start, link.end, link.target) for link in one.links]
            document["properties"] = None if one.properties is None else dict(one.properties)
            _reply(replies, document, one.text.encode())
    except MemoryError:
        end["broken"] = "memory"
    except ReadingError as error:
        end["error"] = str(error)
    if report is not None:
        end |= {"failed": report.failed, "warnings": report.warnings}
    _limit_seconds(0)
    _reply(replies, {"end": end, "reusable": "broken" not in end and _memory() < limits.memory_mb * 2**20 // 4})


def _reply(replies: BinaryIO, header: dict[str, Any], text: bytes = b"") -> None:
    encoded = json.dumps(header).encode()
    replies.writelines((LENGTHS.pack(len(encoded), len(text)), encoded, text))
    replies.flush()


def _limit_memory(size: int) -> bool:
    """Limit the address space. Return False where the system has no such limit: the other process watches then."""
    if sys.platform != "linux":
        return False
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))
    return True


def _limit_seconds(seconds: float) -> None:
    """Let the system end this process after so much processor time, even if no code of Python runs; 0: never. Windows
    cannot do this: the other process watches the clock."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _memory() -> int:
    """Return the memory of this process, in bytes; 0 where the system has no /proc."""
    if sys.platform != "linux":
        return 0
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
