"""Cut the texts of chunks into the parts that a chat model reads."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from e2g_neo4j.types.documents import Span, TokenSpans

PART_TOKENS = 600
"""Tokens of a part, about. Models find more in short texts: the authors of GraphRAG (arXiv 2404.16130, section 3.1.1)
counted almost twice as many references to entities with parts of 600 tokens as with 2400."""


def parts(text: str, own: Span, starts: Iterable[int], token_spans: TokenSpans) -> list[str]:
    """Cut the own text of a chunk into parts of about equal length, at the beginnings of sentences.

    What a chunk shares with the chunk before belongs to one of them alone, so that it is paid for once.

    Args:
        text: the text of the chunk.
        own: the span of its own text.
        starts: where its sentences begin.
    """
    begin, end = own[0], min(own[1], len(text))
    tokens = token_spans(text[begin:end])
    number = -(-len(tokens) // PART_TOKENS)
    borders = sorted(start - begin for start in set(starts) if begin < start < end)
    cuts = {0, end - begin}
    for part in range(1, number if borders else 0):
        wanted = tokens[part * len(tokens) // number][0]
        cuts.add(min(borders, key=lambda border: abs(border - wanted)))
    found = (text[begin + first : begin + last].strip() for first, last in pairwise(sorted(cuts)))
    return [part for part in found if part]
