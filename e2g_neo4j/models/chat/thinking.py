"""The reasoning that some chat models put before their reply, between tags. It is never shown.

Templates of some models open it in the prompt, so the reply has the closing tag alone. OpenAI's models with open
weights write it into a channel of its own, whose tags some servers drop: `analysis… assistantfinal…`.
"""

from __future__ import annotations

import re
from typing import Literal

_TAGS = ("<think>", "<thinking>", "<thought>", "<reasoning>", "<seed:think>", "[THINK]")
_CHANNELS = ("<|channel|>", "<|start|>", "analysis")
_OPENING = re.compile(rf"\s*(?:{'|'.join(map(re.escape, _TAGS))}|(?=<\|(?:channel|start)\|>)|analysis(?=[A-Z]))")
_TOKEN = re.compile(r"<\|(?:end|return|call)\|>")
_CLOSED = (
    r"</(?:think|thinking|thought|reasoning|seed:think)>|\[/THINK\]|"
    r"<\|channel\|>final[^<]{0,20}(?:<\|constrain\|>[^<]{0,20})?<\|message\|>"
)
_CLOSING = re.compile(f"{_CLOSED}|assistantfinal")
_CLOSING_ALONE = re.compile(rf"(?<!`)(?:{_CLOSED})\s*")
_OPENED = re.compile("|".join(map(re.escape, _TAGS)))
_BEGUN = re.compile(r"(?:`?<\S{0,80}|`|\[(?:/?[A-Z]{0,5})?)$")
_LONGEST = 100


class ThoughtFilter:
    """Removes the reasoning at the beginning of a text that arrives in pieces of any length, and the space after it."""

    def __init__(self) -> None:
        self._held = ""
        self._place: Literal["before", "inside", "after", "reply"] = "before"
        self._thought = False

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
        return self._release_text() if self._place == "reply" else ""

    def end(self) -> str:
        """Return the text that was held back. Reasoning that never ended is not shown."""
        return self._take(len(self._held)) if self._place in ("before", "reply") else ""

    def _look_for_opening(self) -> None:
        if found := _OPENING.match(self._held):
            self._held, self._place, self._thought = self._held[found.end() :], "inside", True
        elif not any(tag.startswith(self._held.lstrip()) for tag in (*_TAGS, *_CHANNELS)):
            self._place = "reply"

    def _look_for_closing(self) -> None:
        if found := _CLOSING.search(self._held):
            self._held, self._place = self._held[found.end() :], "after"
        else:
            self._held = self._held[-_LONGEST:]

    def _release_text(self) -> str:
        if not self._thought and (found := _CLOSING_ALONE.search(self._held)):
            self._thought = True
            if not _OPENED.search(self._held, 0, found.start()):
                self._held = self._held[found.end() :]
                self._place = "reply" if self._held else "after"
        self._thought = self._thought or bool(_OPENED.search(self._held))
        self._held = _TOKEN.sub("", self._held)
        begun = _BEGUN.search(self._held)
        return self._take(begun.start() if begun else len(self._held))

    def _take(self, length: int) -> str:
        text, self._held = self._held[:length], self._held[length:]
        return text


def without_thought(text: str) -> str:
    """Return a reply without the reasoning at its beginning."""
    thought = ThoughtFilter()
    return thought.add(text) + thought.end()
