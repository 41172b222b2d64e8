"""A real Ollama server for tests, on a free port of this machine, with models of their own."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from at_server import settings_of
from ollama import Client
from scripted_models import Chooses, Says, write_model

from e2g_neo4j import Settings
from e2g_neo4j.managed_neo4j import Connection

PLAIN = "{{ range .Messages }}{{ .Content }}{{ end }}"
"""A prompt that is the messages, one after the other."""

THINKING = "{{ range .Messages }}{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ .Content }}{{ end }}"


class RealOllama:
    """The server's process and what a test does with it."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self._binary, self._folder = binary, folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.host = f"http://127.0.0.1:{free.getsockname()[1]}"
        self.client = Client(self.host, timeout=60)
        self.log = folder / "ollama.log"
        self.start()

    def start(self) -> None:
        """Start it, again after it was stopped, and wait until it answers."""
        environment = {
            **os.environ,
            "HOME": str(self._folder),
            "OLLAMA_HOST": self.host,
            "OLLAMA_MODELS": str(self._folder / "models"),
            "OLLAMA_NUM_PARALLEL": "2",
            "OLLAMA_CONTEXT_LENGTH": "512",  # as a careless server has it: requests say what they need
        }
        with self.log.open("ab") as log:
            self._process = subprocess.Popen([self._binary, "serve"], env=environment, stdout=log, stderr=log)
        for _ in range(200):
            try:
                self.client.list()
            except (ConnectionError, httpx.HTTPError):
                time.sleep(0.1)
            else:
                return
        self.stop()
        raise RuntimeError(f"Ollama did not start: {self.log.read_text()[-2000:]}")

    def create(
        self,
        name: str,
        replies: Mapping[str, Says | Chooses] | Says | Chooses,
        *,
        context: int = 32768,
        template: str = PLAIN,
        window: int | None = None,
    ) -> str:
        """A model by that name; returns the name. `window` is for requests that do not say what they need."""
        script = {"": replies} if isinstance(replies, Says | Chooses) else replies
        path = write_model(self._folder / f"{name}.gguf", script, context=context)
        digest = self.client.create_blob(path)
        parameters = {"num_ctx": window} if window else None
        self.client.create(name, files={path.name: digest}, template=template, parameters=parameters)
        return name

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def settings_for(connection: Connection, server: RealOllama, **more: Any) -> Settings:
    """Settings with small chunks and a price, for one of the server's models at a time: see `with_model`."""
    return settings_of(
        connection,
        chunk_tokens=120,
        chunk_overlap=20,
        ollama_host=server.host,
        llm_concurrency=2,
        price_prompt=1.0,
        **more,
    )


def with_model(settings: Settings, name: str) -> Settings:
    return settings.model_copy(update={"chat_model": f"ollama:{name}"})
