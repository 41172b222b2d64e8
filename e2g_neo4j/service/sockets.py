"""Connections of clients that are slow to ask, or slow to read: both are ended, and only theirs.

Bodies are bounded by `limits.Shares`, which knows the key.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_CONNECTIONS = 1000
"""Connections that are open at once. Beyond, one without a request is closed, of the address that has the most."""

HEAD_SECONDS = 15.0
"""How long a connection may take until the headers of its next request are complete."""

MAX_HEAD = 65_536
"""Maximum bytes of the first line and the headers of a request."""

READ_SECONDS = 30.0
"""How long a client may take to read what READ_RATE allows for this time."""

READ_RATE = 4096
"""The slowest admitted rate of reading a reply, in bytes a second."""

WATCH_SECONDS = 1.0
"""How often a connection is looked at."""


class BoundedProtocol(HttpToolsProtocol):
    """Uvicorn's protocol with limits of the time and size of headers, the time of reading, and the connections."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        self._in_head = False
        self._head = 0  # bytes of the headers so far
        self.waits_since: float | None = self.loop.time()
        """Since when the connection has waited for a request; None while one is answered."""
        self._reads_since = 0.0  # what is unsent has not got smaller by what it should have since then
        self._unsent = 0
        _make_room(self.connections)
        self._watching = self.loop.call_later(WATCH_SECONDS, self._watch)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        self._watching.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Some bytes have come."""
        known = self._head if self._in_head else 0
        super().data_received(data)
        self._head = known + len(data) if self._in_head else 0
        if self._head > MAX_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The headers have more than {MAX_HEAD} bytes.")

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._in_head = True

    def on_headers_complete(self) -> None:
        """The headers of a request are there."""
        self._in_head = False
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MAX_HEAD:
            raise ValueError(f"The headers have more than {MAX_HEAD} bytes.")  # the reply is 400
        super().on_headers_complete()
        self.waits_since = None

    def on_response_complete(self) -> None:
        """A reply has been handed to the connection."""
        follows = bool(self.pipeline)
        super().on_response_complete()
        if not follows:
            self.waits_since = self.loop.time()

    def pause_writing(self) -> None:
        """The client reads more slowly than the reply is written."""
        super().pause_writing()
        self._note_unsent()

    def _note_unsent(self) -> None:
        self._reads_since, self._unsent = self.loop.time(), self.transport.get_write_buffer_size()

    def _watch(self) -> None:
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        reading = self.flow.write_paused or (self.transport.is_closing() and unsent > 0)
        if not reading or unsent <= self._unsent - READ_RATE * READ_SECONDS:
            self._note_unsent()
        if reading:
            late = now - self._reads_since > READ_SECONDS
        else:
            late = self.waits_since is not None and now - self.waits_since > HEAD_SECONDS
        if late:
            self.transport.abort()
        else:
            self._watching = self.loop.call_later(WATCH_SECONDS, self._watch)


def _make_room(connections: Collection[Any]) -> None:
    """Close a connection if there are too many: of the address with the most, the one that has waited longest for a
    request. So whoever opens many without asking loses them, and others do not."""
    if len(connections) <= MAX_CONNECTIONS:
        return
    opened = [one for one in connections if isinstance(one, BoundedProtocol) and not one.transport.is_closing()]
    if len(opened) <= MAX_CONNECTIONS:
        return
    by_address = Counter(map(_address, opened))
    waiting = [one for one in opened if one.waits_since is not None]  # the newest does
    min(waiting, key=lambda one: (-by_address[_address(one)], one.waits_since or 0.0)).transport.abort()


def _address(connection: BoundedProtocol) -> str:
    return connection.client[0] if connection.client else ""
