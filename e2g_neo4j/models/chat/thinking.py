"""The reasoning that some chat models put before their reply, between `<think>` and `</think>`. It is never shown."""

from __future__ import annotations

import re
from typing import Literal

_TAGS = ("<think>", "<thinking>")
_OPENING = re.compile(r"\s*<think(ing)?>")
_CLOSING = re.compile(r"</think(ing)?>")
_LONGEST_BEGINNING = len("</thinking>") - 1


class ThoughtFilter:
    """Removes the reasoning at the beginning of a text that arrives in pieces of any length, and the space after it."""

    def __init__(self) -> None:
        self._held = ""
        self._place: Literal["before", "inside", "after", "reply"] = "before"

    def add(self, piece: str) -> str:
        """Add a piece and return the text to show. What may become a tag is held back."""
        self._held += piece
        if self._place == "before":
            self._look_for_opening()
        if self._place == "inside":
            self._look_for_closing()
        if self._place == "after":
            self._held = self._held.lstrip()
            self._place = "reply" if self._held else "after"
        return self._taken() if self._place == "reply" else ""

    def end(self) -> str:
        """Return the text that was held back. Reasoning that never ended is not shown."""
        return self._taken() if self._place == "before" else ""

    def _look_for_opening(self) -> None:
        if found := _OPENING.match(self._held):
            self._held, self._place = self._held[found.end() :], "inside"
        elif not any(tag.startswith(self._held.lstrip()) for tag in _TAGS):
            self._place = "reply"

    def _look_for_closing(self) -> None:
        if found := _CLOSING.search(self._held):
            self._held, self._place = self._held[found.end() :], "after"
        else:
            self._held = self._held[-_LONGEST_BEGINNING:]

    def _taken(self) -> str:
        text, self._held = self._held, ""
        return text


def without_thought(text: str) -> str:
    """Return a reply without the reasoning at its beginning."""
    thought = ThoughtFilter()
    return thought.add(text) + thought.end()
