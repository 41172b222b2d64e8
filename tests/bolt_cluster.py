"""A cluster before one Neo4j: addresses that forward Bolt, and answer themselves who reads and who writes.

The server behind them has no other members, so what a cluster does beyond one server is done here: each member has a
role in the routing table, which may change, a follower refuses writes, and a member may close its connections.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread

_VERSION = bytes((0, 4, 4, 5)) + bytes(12)
"""What is proposed to the server instead of what the driver proposes: Bolt 5.0 to 5.4, whose failures are short."""

_BEGIN, _RUN, _RESET, _ROUTE = 0x11, 0x10, 0x0F, 0x66


@dataclass(frozen=True)
class Transaction:
    """A transaction that was begun at a member."""

    reads: bool
    waits_for_bookmarks: bool


class Listener:
    """A socket of this machine, whose connections are served in threads."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        raise NotImplementedError


@dataclass
class Member(Listener):
    """An address of the cluster.

    Attributes:
        cluster: The cluster.
        begun: The transactions that were begun here.
        refused: How many transactions were refused because a follower cannot write.
        left: How many more transactions it begins before it closes its connections, once; None: it never does.
    """

    cluster: Cluster
    begun: list[Transaction] = field(default_factory=list)
    refused: int = 0
    left: int | None = None

    def __post_init__(self) -> None:
        super().__init__()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection(self.cluster.server) as server:
            proposed = exactly(client, 20)
            server.sendall(proposed[:4] + _VERSION)
            Thread(target=_copy, args=(server, client), daemon=True).start()
            ignoring = False
            for message in messages(client):
                kind = message[1]
                if kind == _RESET:
                    ignoring = False
                if ignoring:
                    client.sendall(chunk(b"\xb0\x7e"))
                elif kind == _ROUTE:
                    client.sendall(chunk(b"\xb1\x70" + packed({"rt": self.cluster.table()})))
                elif kind == _BEGIN or (kind == _RUN and b"\x84mode\x81r" in message):
                    one = Transaction(b"\x84mode\x81r" in message, b"\x89bookmarks" in message)
                    if self.left == 0:
                        self.left = None
                        return
                    if self.left is not None:
                        self.left -= 1
                    if one.reads or self.cluster.is_leader(self):
                        self.begun.append(one)
                        server.sendall(chunk(message))
                    else:
                        self.refused += 1
                        ignoring = True
                        code = {"code": "Neo.ClientError.Cluster.NotALeader", "message": "No longer the leader."}
                        client.sendall(chunk(b"\xb1\x7f" + packed(code)))
                else:
                    server.sendall(chunk(message))
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)


class Cluster:
    """Three members: the first writes, the others read.

    Args:
        host: The host of the server behind them.
        port: Its Bolt port.

    Attributes:
        server: Host and port.
        members: The members.
        leader: The one that writes.
        terms: How many more transactions each leader begins to write before the next member becomes leader; of the
            last one, unlimited.
    """

    def __init__(self, host: str, port: int) -> None:
        self.server = host, port
        self.members = [Member(self) for _ in range(3)]
        self.leader = self.members[0]
        self.terms: list[int] = []

    @property
    def uri(self) -> str:
        return f"neo4j://{self.members[0].address}"

    def is_leader(self, member: Member) -> bool:
        """Return whether a member may begin to write. The last time of a term, it is no longer."""
        if member is self.leader and self.terms:
            self.terms[0] -= 1
            if self.terms[0] < 0:
                self.terms.pop(0)
                self.leader = self.members[(self.members.index(member) + 1) % len(self.members)]
        return member is self.leader

    def table(self) -> dict[str, object]:
        """Return the routing table."""
        followers = [one.address for one in self.members if one is not self.leader]
        servers = [
            {"addresses": [self.leader.address], "role": "WRITE"},
            {"addresses": followers, "role": "READ"},
            {"addresses": [one.address for one in self.members], "role": "ROUTE"},
        ]
        return {"ttl": 300, "db": "neo4j", "servers": servers}

    def close(self) -> None:
        for one in self.members:
            one.close()


def exactly(source: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = source.recv(size - len(found))
        if not more:
            raise OSError("The connection was closed.")
        found += more
    return found


def messages(source: socket.socket) -> Iterator[bytes]:
    """Yield the messages of a connection, until it is closed. Each comes in chunks that begin with their length."""
    message = b""
    with suppress(OSError):
        while True:
            (size,) = struct.unpack(">H", exactly(source, 2))
            if size:
                message += exactly(source, size)
            elif message:
                yield message
                message = b""


def chunk(message: bytes) -> bytes:
    parts = [message[at : at + 0xFFFF] for at in range(0, len(message), 0xFFFF)]
    return b"".join(struct.pack(">H", len(part)) + part for part in parts) + b"\0\0"


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


def packed(value: object) -> bytes:
    """Return a small value in PackStream: fewer than 16 items, texts under 256 bytes, integers of 16 bits."""
    match value:
        case int():
            return b"\xc9" + struct.pack(">h", value)
        case str():
            text = value.encode()
            return b"\xd0" + bytes([len(text)]) + text
        case list():
            return bytes([0x90 + len(value)]) + b"".join(map(packed, value))
        case dict():
            return bytes([0xA0 + len(value)]) + b"".join(packed(key) + packed(one) for key, one in value.items())
    raise TypeError(value)
