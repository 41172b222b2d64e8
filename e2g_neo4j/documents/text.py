"""Decoding and cleaning of text."""

from __future__ import annotations

import codecs
import re
import shlex
from contextlib import suppress
from pathlib import Path, PurePath

from e2g_neo4j.documents.reading import count
from e2g_neo4j.errors import ReadingError

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

_GUESSES = {
    "big5": "Big5",
    "cp1250": "windows-1250",
    "cp1251": "windows-1251",
    "cp1252": "windows-1252",
    "cp1253": "windows-1253",
    "cp1254": "windows-1254",
    "cp1255": "windows-1255",
    "cp1256": "windows-1256",
    "cp866": "CP866",
    "cp874": "windows-874",
    "cp932": "Shift-JIS",
    "cp949": "EUC-KR",
    "euc_jp": "EUC-JP",
    "gb18030": "GB18030",
    "koi8_r": "KOI8-R",
    "utf-16-be": "UTF-16BE",
    "utf-16-le": "UTF-16LE",
}
"""The encodings that text without a declaration may have, and what they are called."""

_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "iso8859-9": "cp1254",
          "iso8859-1": "cp1252", "ascii": "cp1252"}  # fmt: skip
"""Encodings that browsers take for a declared one, since it has more characters."""

SAMPLE = 2**18
"""Bytes that are looked at to guess an encoding."""

_KANA = re.compile("[\u3041-\u30ff]")

_WESTERN = re.compile("[À-ÖØ-öø-ÿ‘’“”„–—…€£©®°§«»œŒšŽžŸ•™½¼¾×]")

_BINARY = bytes(byte for byte in range(32) if byte < 9 or (byte > 13 and byte != 27))
"""Bytes that are rare in text."""

CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")


def read_bytes(path: Path, max_bytes: int) -> bytes:
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            within(max(path.stat().st_size, len(data)), max_bytes, quote_path(path))
    return data


def decode(data: bytes, path: Path, declared: str | None = None) -> tuple[str, list[str]]:
    """Decode text with single newlines: UTF-8, UTF-16 with byte-order mark, what is declared, or what it seems to be.

    Returns:
        The text, and what is lost or uncertain.

    Raises:
        ReadingError: the data is binary, or its encoding is unknown.
    """
    mark, encoding = next((one for one in _BOMS if data.startswith(one[0])), (b"", "utf-8"))
    losses: list[str] = []
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-8" and (mended := _mend_bytes(data)):
            text, bad = mended
            losses += count(bad, "byte", "replaced that no UTF-8 has")
        elif mark:
            raise _not_text(data, path, encoding, len(mark) + error.start) from error
        elif declared and (known := _find_codec(declared)):
            text = data.decode(known, "replace")
            losses += count(text.count("\ufffd"), "byte", f"replaced that no {declared} has")
        elif (guess := _guess(data)) is None:
            raise _not_text(data, path, encoding, error.start) from error
        else:
            text = data.decode(guess, "replace")
            losses.append(f"read as {_GUESSES[guess]}, which is a guess; if it is wrong, convert the file to UTF-8")
    else:
        if "\0" in text[:8192] and not mark and (utf16 := _without_mark(data)):
            text = data.decode(utf16)
            losses.append(f"read as {utf16.upper()}, which is a guess; if it is wrong, convert the file to UTF-8")
    if _binary(text[:8192].encode("utf-8", "replace")):
        raise _is_binary(path)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text, losses


def _mend_bytes(data: bytes) -> tuple[str, int] | None:
    """Return UTF-8 with its few bad bytes replaced, and their number; None if there are many, or no good ones."""
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd") - data.count(b"\xef\xbf\xbd")
    good = sum(byte >= 0xC2 for byte in data) - bad
    return (text, bad) if bad <= max(1, len(data) // 1000) and good > 4 * bad else None


def _find_codec(declared: str) -> str | None:
    try:
        name = codecs.lookup(declared).name
    except LookupError:
        return None
    return _WIDER.get(name, name)


def _without_mark(data: bytes) -> str | None:
    """Return which UTF-16 without a mark this is: at least a third of its bytes are 0, all on the same side."""
    for encoding, side in (("utf-16-le", 1), ("utf-16-be", 0)):
        if len(data) % 2 == 0 and data[side::2].count(0) > len(data) // 3 and not data[1 - side :: 2].count(0):
            with suppress(UnicodeDecodeError):
                data.decode(encoding)
                return encoding
    return None


def _guess(data: bytes) -> str | None:
    """Return the encoding of text that is not UTF-8, by samples from its beginning, middle and end."""
    if (utf16 := _without_mark(data)) or b"\0" in data or _binary(data[:8192]):
        return utf16
    middle = len(data) // 2
    parts = (
        [data] if len(data) <= SAMPLE else [data[at : at + SAMPLE // 3] for at in (0, middle, len(data) - SAMPLE // 3)]
    )
    sample = b"\n".join(part[part.find(b"\n") + 1 : part.rfind(b"\n") + 1] or part for part in parts[1:])
    sample = parts[0][: parts[0].rfind(b"\n") + 1 or None] + sample if len(parts) > 1 else data
    high = sum(byte > 127 for byte in sample)
    for encoding in ("cp932", "euc_jp"):  # the library takes them for others
        with suppress(UnicodeDecodeError):
            if len(_KANA.findall(sample.decode(encoding))) > high // 10:
                return encoding
    western = sample.decode("cp1252", "replace")
    if high <= 16 and len(_WESTERN.findall(western)) == high:
        return "cp1252"
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=list(_GUESSES), enable_fallback=False).best()
    if best is None or best.encoding not in _GUESSES:
        return None
    return "cp1252" if str(best) == western else best.encoding


def _not_text(data: bytes, path: Path, encoding: str, offset: int) -> ReadingError:
    if b"\0" in data or _binary(data[:8192]):
        return _is_binary(path)
    name = shlex.quote(str(path)) if str(path).isprintable() else "FILE"
    return ReadingError(
        f"{quote_path(path)} is not {encoding.upper()} (byte 0x{data[offset]:02x} at offset {offset}), and no other "
        f"encoding fits. Find out which it is, and run: iconv -f ENCODING -t UTF-8 {name} > converted{path.suffix}"
    )


def _is_binary(path: Path) -> ReadingError:
    return ReadingError(
        f"{quote_path(path)} is binary, not text. Name a text file. If it is UTF-16 without a byte-order mark, convert "
        "it to UTF-8 first."
    )


def _binary(head: bytes) -> bool:
    return len(head) - len(head.translate(None, _BINARY)) > len(head) // 20


def clean(text: str, controls: re.Pattern[str] = CONTROLS) -> str:
    """Remove control characters, spaces at line ends, and all but one of consecutive empty lines."""
    text = controls.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip()


def within(size: int, limit: int, what: str) -> None:
    """Raise ReadingError if a size exceeds a limit. `what` is the beginning of the message."""
    if size > limit:
        raise ReadingError(
            f"{what} is larger ({size / 2**20:,.1f} MiB) than the limit of {limit / 2**20:,.4g} MiB. "
            "Split it, or raise E2G_MAX_DOCUMENT_MB."
        )


def quote_path(path: str | PurePath) -> str:
    """Return a path for messages, quoted if it has unprintable characters."""
    name = str(path)
    return name if name.isprintable() and name else repr(name)
