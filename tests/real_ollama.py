"""A real Ollama server for tests, on a free port of this machine, with models of their own."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
from ollama import Client
from scripted_models import Chooses, Says, write_model

PLAIN = "{{ range .Messages }}{{ .Content }}{{ end }}"
"""A prompt that is the messages, one after the other."""

THINKING = "{{ range .Messages }}{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ .Content }}{{ end }}"


class RealOllama:
    """The server's process and what a test does with it."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.host = f"http://127.0.0.1:{free.getsockname()[1]}"
        environment = {
            **os.environ,
            "HOME": str(folder),
            "OLLAMA_HOST": self.host,
            "OLLAMA_MODELS": str(folder / "models"),
            "OLLAMA_NUM_PARALLEL": "2",
            "OLLAMA_CONTEXT_LENGTH": "512",  # as a careless server has it: requests say what they need
        }
        self.log = folder / "ollama.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([binary, "serve"], env=environment, stdout=log, stderr=log)
        self.client = Client(self.host, timeout=60)
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
        self, name: str, replies: Mapping[str, Says | Chooses] | Says, *, context: int = 32768, template: str = PLAIN
    ) -> str:
        """A model by that name; returns the name."""
        script = {"": replies} if isinstance(replies, Says) else replies
        path = write_model(self._folder / f"{name}.gguf", script, context=context)
        digest = self.client.create_blob(path)
        self.client.create(name, files={path.name: digest}, template=template)
        return name

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
