"""A chat model of which only the counting of tokens is asked."""

from __future__ import annotations

from typing import Any


class WordModel:
    """A model that counts a token a word."""

    name = "scripted"

    def __init__(self, context: int | None = None) -> None:
        self.context = context

    def count(self, text: str) -> int:
        return len(text.split())


MODEL: Any = WordModel()
