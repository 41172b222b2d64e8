"""Reads CoNLL-U into sentences that keep their text, their tokens' offsets, their tree and GUM's mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Token:
    form: str
    lemma: str
    upos: str
    xpos: str
    head: int  # index into the sentence, -1 for the root
    deprel: str
    start: int  # offsets in the sentence's text
    end: int


@dataclass(slots=True)
class Mention:
    kind: str
    start: int  # tokens
    end: int


@dataclass(slots=True)
class Tree:
    text: str
    tokens: list[Token]
    mentions: list[Mention] = field(default_factory=list)
    new_paragraph: bool = False


def read_documents(path: Path) -> Iterator[list[Tree]]:
    """The documents of a file, each a list of sentences."""
    document: list[Tree] = []
    lines: list[str] = []
    new_paragraph = False
    open_mentions: list[tuple[str, str, int]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# newdoc") and document:
            yield document
            document, open_mentions = [], []
        if line.startswith(("# newpar", "# newdoc")):
            new_paragraph = True
        elif line and not line.startswith("#"):
            lines.append(line)
        elif not line and lines:
            tree = _read_tree(lines, open_mentions)
            tree.new_paragraph = new_paragraph
            document.append(tree)
            lines, new_paragraph = [], False
    if document:
        yield document


def _read_tree(lines: list[str], open_mentions: list[tuple[str, str, int]]) -> Tree:
    tokens: list[Token] = []
    mentions: list[Mention] = []
    text = ""
    surface: tuple[int, int, int, bool] | None = None  # a multi-word token: last id, start, end, space after
    for line in lines:
        columns = line.split("\t")
        number, form, misc = columns[0], columns[1], columns[9]
        space = "SpaceAfter=No" not in misc
        if "." in number:
            continue
        if "-" in number:
            start = len(text)
            text += form
            surface = (int(number.split("-")[1]), start, len(text), space)
            position = start
            continue
        if surface:
            end = surface[2] if int(number) == surface[0] else min(position + len(form), surface[2])
            start, position = position, end
        else:
            start = len(text)
            text += form
            end = len(text)
        xpos = columns[4]
        tokens.append(Token(form, columns[2], columns[3], xpos, int(columns[6]) - 1, columns[7], start, end))
        if surface:
            if int(number) == surface[0]:
                text += " " if surface[3] else ""
                surface = None
        elif space:
            text += " "
        _read_brackets(misc, len(tokens) - 1, open_mentions, mentions)
    open_mentions.clear()
    return Tree(text.rstrip(), tokens, mentions)


def _read_brackets(misc: str, at: int, open_mentions: list[tuple[str, str, int]], mentions: list[Mention]) -> None:
    found = re.search(r"(?:^|\|)Entity=([^|]*)", misc)
    if not found:
        return
    for opened, closed in re.findall(r"\(([^()]*\)?)|([^()]+)\)", found[1]):
        if opened:
            group, kind = opened.rstrip(")").split("-")[:2]
            if opened.endswith(")"):
                mentions.append(Mention(kind, at, at + 1))
            else:
                open_mentions.append((group, kind, at))
        else:
            group = closed.split("[")[0]
            for i in range(len(open_mentions) - 1, -1, -1):
                if open_mentions[i][0] == group:
                    _, kind, start = open_mentions.pop(i)
                    mentions.append(Mention(kind, start, at + 1))
                    break
