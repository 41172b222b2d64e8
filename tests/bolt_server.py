"""A server that only tells its version over Bolt, and counts what else it is asked."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress

from bolt_cluster import Listener, chunk, exactly, messages, packed

_CHOSEN = bytes((0, 0, 4, 5))
"""Bolt 5.4."""

_HELLO, _GOODBYE, _RESET, _LOGON = 0x01, 0x02, 0x0F, 0x6A


class Server(Listener):
    """Accepts every log-in.

    Args:
        agent: What it calls itself, such as `Neo4j/5.20.0`.
        tls: Its certificate; None: it has none.

    Attributes:
        uri: Its address.
        asked: The messages beside those of the log-in.
    """

    def __init__(self, agent: str, tls: ssl.SSLContext | None = None) -> None:
        self.agent = agent
        self._tls = tls
        self.asked: list[bytes] = []
        super().__init__()
        self.uri = f"bolt://{self.address}"

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client:
            if self._tls:
                client = self._tls.wrap_socket(client, server_side=True)
            if not exactly(client, 20).startswith(b"\x60\x60\xb0\x17"):
                return
            client.sendall(_CHOSEN)
            for message in messages(client):
                if message[1] == _GOODBYE:
                    return
                if message[1] in (_HELLO, _LOGON, _RESET):
                    told = {"server": self.agent, "connection_id": "bolt-1"} if message[1] == _HELLO else {}
                    client.sendall(chunk(b"\xb1\x70" + packed(told)))
                else:
                    self.asked.append(message)
                    failure = {"code": "Neo.ClientError.Statement.SyntaxError", "message": "Invalid input 'CALL'"}
                    client.sendall(chunk(b"\xb1\x7f" + packed(failure)))
