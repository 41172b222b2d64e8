"""What the clients tell about retrieval modes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Ranks: TypeAlias = Literal["windows", "nodes"]


@dataclass(frozen=True, slots=True)
class ModeInfo:
    """A retrieval mode, and whether corpora can be asked in it.

    Attributes:
        name: the value of the option `mode`.
        summary: what it does, in one sentence.
        source: the paper or system whose retrieval it is.
        ranks: what it ranks: windows, or nodes, which are chunks and what is above them.
        needs: what it cannot do without: `vector` of the question, `full_text` index, `entities` of the question, or a
            layer that `enrich` makes: `communities`, `clusters`, `entity_vectors`, `sentence_vectors`,
            `statements`.
        uses: what it uses if a corpus has it.
        calls_model: whether it calls the chat model if the option `llm` is set.
        available: whether the corpora have what it needs; None: no corpora were named.
        missing: what they lack, with the next step.
    """

    name: str
    summary: str
    source: str
    ranks: Ranks
    needs: tuple[str, ...]
    uses: tuple[str, ...]
    calls_model: bool
    available: bool | None = None
    missing: str | None = None
