"""A way to a server that may freeze, like a firewall that forgets connections: nothing passes, nothing is closed."""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Event, Thread


class FreezingProxy:
    """Forwards connections to a server.

    Args:
        host: The host of the server.
        port: Its port.

    Attributes:
        port: The port of the proxy on 127.0.0.1.
        opened: How many connections were opened.
    """

    def __init__(self, host: str, port: int) -> None:
        self._server = host, port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._frozen = Event()
        self._kept: list[socket.socket] = []
        self.port = self._listening.getsockname()[1]
        self.opened = 0
        Thread(target=self._accept, daemon=True).start()

    def freeze(self) -> None:
        """Let nothing more pass through the connections that are open now. New ones work."""
        self._frozen.set()
        self._frozen = Event()

    def close(self) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        for one in (self._listening, *self._kept):
            one.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(self._server)
                self._kept += [client, server]
                self.opened += 1
                for source, target in ((client, server), (server, client)):
                    Thread(target=_copy, args=(source, target, self._frozen), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket, frozen: Event) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            if frozen.is_set():
                frozen.wait()
                return
            target.sendall(data)
        target.shutdown(socket.SHUT_RDWR)
