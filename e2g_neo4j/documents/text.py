"""Decoding and cleaning of text."""

from __future__ import annotations

import codecs
import re
import shlex
from pathlib import Path, PurePath

from e2g_neo4j.errors import ReadingError

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")


def read_bytes(path: Path, max_bytes: int) -> bytes:
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            within(max(path.stat().st_size, len(data)), max_bytes, shown(path))
    return data


def decode(data: bytes, path: Path, fallback: str | None = None) -> str:
    """Decode text like `Path.read_text`: UTF-8, UTF-16 with byte-order mark, or `fallback`, with single newlines.

    Raises:
        ReadingError: the data is binary or in another encoding.
    """
    mark, encoding = next((one for one in _BOMS if data.startswith(one[0])), (b"", "utf-8"))
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        if fallback is not None:
            text = data.decode(fallback)
        else:
            raise _not_text(data, path, encoding, len(mark) + error.start) from error
    if _binary(text[:8192].encode("utf-8", "replace")):
        raise _is_binary(path)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _not_text(data: bytes, path: Path, encoding: str, offset: int) -> ReadingError:
    if b"\0" in data or _binary(data[:8192]):
        return _is_binary(path)
    name = shlex.quote(str(path)) if str(path).isprintable() else "FILE"
    return ReadingError(
        f"{shown(path)} is not {encoding.upper()}: byte 0x{data[offset]:02x} at offset {offset}. "
        f"Convert it, for example: iconv -f WINDOWS-1252 -t UTF-8 {name} > converted{path.suffix}"
    )


def _is_binary(path: Path) -> ReadingError:
    return ReadingError(
        f"{shown(path)} is binary, not text. Name a text file. If it is UTF-16 without a byte-order mark, convert it "
        "to UTF-8 first."
    )


def _binary(head: bytes) -> bool:
    controls = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in head)
    return controls > len(head) // 20


def clean(text: str) -> str:
    """Remove control characters, spaces at line ends, and all but one of consecutive empty lines."""
    text = _CONTROLS.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip()


def within(size: int, limit: int, what: str) -> None:
    """Raise ReadingError if a size exceeds a limit. `what` is the beginning of the message."""
    if size > limit:
        raise ReadingError(
            f"{what} is larger ({size / 2**20:,.1f} MiB) than the limit of {limit / 2**20:,.4g} MiB. "
            "Split it, or raise E2G_MAX_DOCUMENT_MB."
        )


def shown(path: str | PurePath) -> str:
    """Return a path for messages, quoted if it has unprintable characters."""
    name = str(path)
    return name if name.isprintable() and name else repr(name)
