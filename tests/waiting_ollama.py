"""A server that speaks Ollama's protocol, takes its time, and tells which of its calls overlapped."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from failing_ollama import END, Failing, part

ITEM = re.compile(r"^\[(\d+)\] .+\n(.+?)(?:[.?!]\s|$)", re.MULTILINE)


def read_items(system: str, user: str) -> str:
    """The reply of a model that rates all reports 0 but the last, takes a point of each batch, the first sentence of
    its second item, and answers with the points."""
    items = ITEM.findall(user)
    if system.startswith("Rate"):
        return json.dumps({number: 4 * (number == items[-1][0]) for number, _ in items})
    if system.startswith("List"):
        of = "reports" if "list what the reports" in system.lower() else "passages"
        number, said = items[min(1, len(items) - 1)]
        return json.dumps({"points": [{"text": said, "score": 10 + int(items[0][0]), of: [int(number)]}]})
    return " ".join(re.findall(r"^\(\d+\) (.+)$", user, re.MULTILINE))


class Waiting(Failing):
    """Replies to each chat after so many seconds, or when `go_on` is set.

    `begun` and `ended` are the moments of the calls for points and ratings, which alone wait; `most` is how many of
    these ran at once. `on_call` is called with the number of each, from 1.
    """

    context = 2**17

    def __init__(self, seconds: float = 0.0, reply: Callable[[str, str], str] = read_items) -> None:
        self.seconds, self.reply = seconds, reply
        self.go_on = threading.Event()
        self.go_on.set()
        self.on_call: Callable[[int], object] = lambda number: None
        self._lock = threading.Lock()
        self.reset()
        super().__init__()

    def reset(self) -> None:
        self.begun, self.ended = list[float](), list[float]()
        self.running = self.most = 0

    @property
    def span(self) -> float:
        """Seconds from the first of these calls to the end of the last."""
        return max(self.ended) - min(self.begun)

    def reply_to(self, body: dict) -> bytes:
        system, user = (message["content"] for message in body["messages"])
        if system.startswith(("Rate", "List", "Find")):
            with self._wait():
                time.sleep(self.seconds)
                self.go_on.wait(60)
        text = self.reply(system, user)
        return part(text) + END.replace(b'"prompt_eval_count": 5', b'"prompt_eval_count": "all"')

    @contextmanager
    def _wait(self) -> Iterator[None]:
        with self._lock:
            self.begun.append(time.monotonic())
            number = len(self.begun)
            self.running += 1
            self.most = max(self.most, self.running)
        self.on_call(number)
        try:
            yield
        finally:
            with self._lock:
                self.ended.append(time.monotonic())
                self.running -= 1
