"""`e2g chat`: a conversation in the terminal. It also reads questions from a pipe, one a line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Unpack

from e2g_neo4j.cli import show_evidence
from e2g_neo4j.cli.asking import preceding_text
from e2g_neo4j.cli.options import Corpora, choose_corpora, with_retrieval_options
from e2g_neo4j.cli.terminal import escape, out
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import ModelError, NotFoundError, QueryError
from e2g_neo4j.retrieval.options import TURNS, RetrievalKeywords
from e2g_neo4j.types.results import Answer, Evidence, Passage, Turn

ENDS = ("exit", "quit")
"""What ends a conversation, besides the end of the input."""

CHARACTERS = 1500
"""Minimum characters that are shown of a passage and what follows it."""


@with_retrieval_options
def chat(corpora: Corpora = None, **retrieval: Unpack[RetrievalKeywords]) -> None:
    """Ask questions that refer to those before. A number opens that passage; exit or Ctrl-D ends."""
    turns: list[Turn] = []
    passages: Sequence[Passage] = ()
    with E2G() as e2g:
        chosen = choose_corpora(e2g, corpora)
        out.print(f"[dim]{_introduction(e2g, chosen)}[/dim]")
        for line in _lines():
            try:
                if line.isdecimal():
                    _open(e2g, int(line), passages)
                    continue
                retrieval["history"] = turns[-TURNS:]
                answer = _ask(e2g, line, chosen, retrieval)
            except (ModelError, NotFoundError, QueryError) as error:
                if not turns and isinstance(error, NotFoundError):
                    raise
                out.print(f"[red]{escape(str(error))}[/red]")
                continue
            turns.append(answer.turn)
            passages = answer.evidence.passages if answer.text is None else answer.given


def _introduction(e2g: E2G, corpora: Sequence[str]) -> str:
    what = "Ask" if e2g.models.chat_model else "There is no chat model (E2G_CHAT_MODEL), so you see evidence. Ask"
    return f"{what} about {escape(', '.join(corpora))}. A number opens that passage; exit or Ctrl-D ends."


def _lines() -> Iterator[str]:
    """Yield what is typed, or read from a pipe and then repeated, without empty lines."""
    typed = sys.stdin.isatty()
    if typed:
        with suppress(ImportError):
            import readline  # noqa: F401  (lines can be edited)
    while True:
        try:
            line = input("\n> " if typed else "").strip()
        except EOFError:
            return
        if line in ENDS:
            return
        if line:
            if not typed:
                out.print(f"\n> {escape(line)}")
            yield line


def _ask(e2g: E2G, question: str, corpora: Sequence[str], retrieval: RetrievalKeywords) -> Answer:
    """Answer a question and print the answer as it is made; without a chat model, the evidence."""
    for piece in e2g.stream(question, corpora=corpora, **retrieval):
        match piece:
            case Evidence():
                show_evidence.searched_as(out, piece)
            case str():
                out.print(escape(piece), end="")
            case Answer():
                answer = piece
    if answer.text is None:
        shown = retrieval.get("k") or (None if retrieval.get("tokens") else show_evidence.SCREENFUL)
        show_evidence.evidence(out, answer.evidence, shown=shown, opened=False)
    else:
        show_evidence.answer(out, answer, opened=False)
    return answer


def _open(e2g: E2G, number: int, passages: Sequence[Passage]) -> None:
    """Print the text of a passage in its document."""
    if not 1 <= number <= len(passages):
        last = f"1 to {len(passages)} are" if passages else "none is"
        raise QueryError(f"There is no passage {number}: {last} there. To ask about a number, write a question.")
    passage = passages[number - 1]
    if not passage.document_id:
        out.print(escape(passage.text))  # a relationship of a linked graph
        return
    end = max(passage.end, passage.start + CHARACTERS)
    found = e2g.text(passage.document_id, corpus=passage.corpus, start=passage.start, end=end)
    show_evidence.text(out, found, preceding_text(e2g, found, passage.corpus))
