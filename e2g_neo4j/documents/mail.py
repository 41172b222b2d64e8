"""Mail: who wrote to whom, and the text."""

from __future__ import annotations

import mailbox
import re
from binascii import a2b_base64
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime
from pathlib import Path
from typing import Any

from e2g_neo4j.documents import markup, visible
from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.properties import fit_properties
from e2g_neo4j.documents.reading import Limits, Reading, count
from e2g_neo4j.documents.text import CONTROLS, quote_path, read_bytes, within
from e2g_neo4j.errors import ReadingError

_LISTED = 20
"""Attachments that are named. The others are counted."""

_LONGEST_HEADER = 10_000
"""Characters of a header that are read."""


def read_each(path: Path, limits: Limits) -> Iterator[tuple[str, Reading | ReadingError]]:
    """Yield the message of a file, or each message of a mailbox, whose key is its Message-ID, or else its number."""
    if path.suffix.lower() != ".mbox":
        yield "its message", replace(_read(read_bytes(path, limits.bytes), path, limits), key=None)
        return
    before: set[str | None] = {None}
    with closing(mailbox.mbox(path, create=False)) as box:
        for number, index in enumerate(box.iterkeys(), 1):
            place = f"message {number}"
            try:
                data = box.get_bytes(index)
                within(len(data), limits.bytes, f"{quote_path(path)}, {place},")
                reading = _read(data, path, limits)
                yield place, replace(reading, key=str(number)) if reading.key in before else reading
                before.add(reading.key)
            except ReadingError as error:
                yield place, error


def _read(data: bytes, path: Path, limits: Limits) -> Reading:
    """Read a message of a file. The key is its Message-ID."""
    builder = Builder(path, limits)
    attached: list[str] = []
    try:
        message = message_from_bytes(data)
        subject, properties = _add_headers(message, builder)
        _add_body(message, builder, attached)
    except RecursionError as error:
        raise ReadingError(
            f"{quote_path(path)} has messages that are nested too deeply. Save the inner ones."
        ) from error
    if attached:
        more = f" and {len(attached) - _LISTED} more" if len(attached) > _LISTED else ""
        builder.losses += count(len(attached), "attachment", f"not read ({', '.join(attached[:_LISTED])}{more})")
    fitting, losses = fit_properties(properties)
    builder.losses += losses
    reading = builder.build(subject, fitting or None)
    return replace(reading, key=_header(message, "Message-ID").strip("<> ") or None)


def _add_headers(message: Message, builder: Builder) -> tuple[str, dict[str, Any]]:
    """Add the subject as a heading, and who wrote to whom. Return the subject and the properties."""
    found = {name: text for name in ("From", "To", "Cc", "Date", "Subject") if (text := _header(message, name))}
    subject = found.pop("Subject", "")
    builder.heading(subject)
    builder.add("\n".join(f"{name}: {text}" for name, text in found.items()))
    properties: dict[str, Any] = {name.lower(): text for name, text in found.items()}
    for name in {"from", "to", "cc"} & set(properties):
        people = getaddresses([properties[name]])
        listed = [f"{person} <{address}>" if person else address for person, address in people if address]
        properties[name] = listed[0] if name == "from" and listed else listed
    with suppress(KeyError, ValueError):  # none, or as it is written
        properties["date"] = parsedate_to_datetime(properties["date"]).isoformat()
    return subject, properties


def _header(message: Message, name: str) -> str:
    """Return a header in one line, with its encoded words decoded."""
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    text = str(raw)[:_LONGEST_HEADER].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    with suppress(ValueError, LookupError):  # an unknown encoding
        text = str(make_header(decode_header(re.sub(r"\s+", " ", text))))
    return " ".join(text.split())


def _add_body(part: Message, builder: Builder, attached: list[str]) -> bool:
    """Add the text of a part, and return whether there is any. Collect the names of what is not text."""
    kind, name = part.get_content_type(), part.get_filename()
    if kind == "message/rfc822" and part.is_multipart():
        inner = part.get_payload(0)
        assert isinstance(inner, Message)  # noqa: S101
        if part.get("Content-Transfer-Encoding", "").strip().lower() == "base64":  # against the rules
            inner = message_from_bytes(a2b_base64(inner.as_bytes()))
        builder.add("Forwarded message:")
        _add_headers(inner, builder)
        return _add_body(inner, builder, attached) or True
    if part.is_multipart():
        parts = [one for one in part.get_payload() if isinstance(one, Message)]
        if kind == "multipart/alternative":
            for one in sorted(parts, key=lambda one: one.get_content_type() != "text/plain"):
                if _add_body(one, builder, attached):
                    return True
            return False
        return sum(_add_body(one, builder, attached) for one in parts) > 0
    if name or part.get_content_disposition() == "attachment" or kind not in ("text/plain", "text/html"):
        attached.append(" ".join(_decode_name(name or kind).split())[:100])
        return False
    data = part.get_payload(decode=True)
    assert isinstance(data, bytes)  # noqa: S101
    text = data.decode("windows-1252", "replace")
    for charset in ("utf-8", part.get_content_charset() or "utf-8"):  # the declared one counts, if it is right
        with suppress(LookupError, UnicodeDecodeError):
            text = data.decode(charset)
    if kind == "text/html":
        builder.losses += markup.losses(markup.walk(visible.parse(text), builder))
    else:
        builder.add(CONTROLS.sub(" ", text))
    return bool(text.strip())


def _decode_name(name: str) -> str:
    holder = Message()
    holder["Name"] = name
    return _header(holder, "Name")
