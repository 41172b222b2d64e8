"""The summary tree: every g consecutive nodes become one, level by level (E²GraphRAG, arXiv 2505.24226).

Which text a node stands for, and who is its parent, is decided here. What the summary says is up to a summariser:
`extractive.ExtractiveSummariser` needs no language model, `ChatSummariser` asks one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from numpy.typing import NDArray

from e2g_neo4j.errors import ModelError
from e2g_neo4j.model import Chunk, Extraction, Sentence, SourceDocument, Summary, TokenSpans, Vectors


@dataclass(frozen=True, slots=True)
class Prose:
    """A text, and what is known of it.

    `sentences` have offsets into `text`, `vectors` a row for each of them. `counts` tells how many sentences of the
    document hold each entity, in all of the text that this one stands for.
    """

    text: str
    sentences: tuple[Sentence, ...] = ()
    vectors: Vectors | None = None
    counts: Mapping[str, int] = field(default_factory=dict)


class Summariser(Protocol):
    """What writes one node of the tree.

    It gets one text at a time, so that whoever grows the tree decides which texts are summarised at once.
    """

    @property
    def name(self) -> str:
        """Tells apart two summarisers that would write different summaries."""

    @property
    def concurrency(self) -> int:
        """How many texts may be summarised at once."""

    @property
    def needs_sentences(self) -> bool:
        """Whether it wants a text's sentences and their vectors, which other models find first."""

    def summarise(self, prose: Prose) -> Prose:
        """A shorter text, and its sentences where the summariser knows them. Raises ModelError."""


def grow_tree(
    document: SourceDocument,
    chunks: Sequence[Chunk],
    summariser: Summariser,
    *,
    group_size: int,
    token_spans: TokenSpans,
    extractions: Sequence[Extraction] | None = None,
    sentence_vectors: Sequence[Vectors] | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[Summary]:
    """The summaries over a document's chunks, level by level, in reading order.

    Level 1 has one node for every `group_size` chunks, each further level one for every `group_size` nodes below it,
    the last of a level for what is left. Levels end with the first that has at most `group_size` nodes: 2 to g
    chunks make one summary, 151 chunks and g=5 make levels of 31, 7 and 2. A single chunk makes none: there is
    nothing to bring together, and a second copy of it would only crowd out other evidence. For the same reason a
    node that would stand on one summary alone repeats its text, without a call.

    Args:
        document: the one that `chunks` were cut from.
        chunks: in reading order. What neighbours share is summarised once.
        summariser: writes the texts.
        group_size: the paper's g, at least 2.
        token_spans: the tokenizer that counts `Summary.tokens`.
        extractions: of each chunk; an extractive summariser needs them.
        sentence_vectors: of the sentences of each extraction; an extractive summariser needs them.
        progress: called with the number of summaries written since the last call.

    Raises:
        ModelError: the summariser failed; the message names the node.
    """
    if group_size < 2:
        raise ValueError(f"A group of {group_size} nodes would never end: the group size is at least 2.")
    if len(chunks) < 2:
        return []
    nothing: list[None] = [None] * len(chunks)
    leaves = list(zip(chunks, extractions or nothing, sentence_vectors or nothing, strict=True))
    below = [chunk.id for chunk in chunks]
    texts: Iterable[Prose | _Alone] = (_merged(document, group) for group in _groups(leaves, group_size))
    tree: list[Summary] = []
    level = 1
    while True:
        written: list[Prose] = []
        ids: Counter[str] = Counter()
        made = _written(texts, summariser, f"level {level} of {document.title!r}")
        for prose, children in zip(made, _groups(below, group_size), strict=True):
            identity = _identity(document, level, prose.text, ids)
            tokens = len(token_spans(prose.text))
            tree.append(Summary(identity, level, len(written), prose.text, tokens, tuple(children)))
            written.append(prose)
            if progress:
                progress(1)
        if len(written) <= group_size:
            return tree
        below = [summary.id for summary in tree[-len(written) :]]
        texts = [_joined(group) if len(group) > 1 else _Alone(group[0]) for group in _groups(written, group_size)]
        level += 1


def tree_size(chunks: int, group_size: int) -> int:
    """How many summaries `grow_tree` makes of so many chunks."""
    if chunks < 2:
        return 0
    total = 0
    while True:
        chunks = -(-chunks // group_size)
        total += chunks
        if chunks <= group_size:
            return total


# --- the texts of a level ----------------------------------------------------------------------------

_Node = TypeVar("_Node")
_Leaf: TypeAlias = tuple[Chunk, Extraction | None, Vectors | None]


@dataclass(frozen=True, slots=True)
class _Alone:
    """A summary with no neighbour to be summarised with."""

    prose: Prose


def _groups(nodes: Sequence[_Node], size: int) -> Iterator[Sequence[_Node]]:
    return (nodes[i : i + size] for i in range(0, len(nodes), size))


def _identity(document: SourceDocument, level: int, text: str, seen: Counter[str]) -> str:
    """The same for the same text at the same level, so that a summary that did not change keeps its id."""
    digest = sha256(text.encode()).hexdigest()[:12]
    seen[digest] += 1
    repeat = f"-{seen[digest]}" if seen[digest] > 1 else ""
    return f"{document.id}-s{level}-{digest}{repeat}"


def _merged(document: SourceDocument, group: Sequence[_Leaf]) -> Prose:
    """The text that consecutive chunks cover, once, and its sentences.

    A sentence in an overlap is taken from the first chunk that holds it whole.
    """
    begin, end = group[0][0].start, group[-1][0].end
    sentences: list[Sentence] = []
    rows: list[NDArray[np.float32]] = []
    covered = begin
    for position, (chunk, extraction, vectors) in enumerate(group):
        following = group[position + 1][0].start if position + 1 < len(group) else end
        for number, sentence in enumerate(extraction.sentences if extraction else ()):
            first, last = chunk.start + sentence.start, chunk.start + sentence.end
            cut_off = last >= chunk.end and first >= following
            if first < covered or cut_off:
                continue
            covered = last
            sentences.append(Sentence(first - begin, last - begin, sentence.entities))
            if vectors is not None:
                rows.append(vectors[number])
    counts = Counter(entity for sentence in sentences for entity in sentence.entities)
    return Prose(document.text[begin:end], tuple(sentences), np.stack(rows) if rows else None, counts)


def _joined(group: Sequence[Prose]) -> Prose:
    """Several summaries in one text, a paragraph each."""
    sentences: list[Sentence] = []
    offset = 0
    for prose in group:
        sentences += (Sentence(s.start + offset, s.end + offset, s.entities) for s in prose.sentences)
        offset += len(prose.text) + 2
    vectors = [prose.vectors for prose in group if prose.vectors is not None]
    known = len(vectors) == len(group)
    text = "\n\n".join(prose.text for prose in group)
    counts = sum((Counter(prose.counts) for prose in group), Counter[str]())
    return Prose(text, tuple(sentences), np.vstack(vectors) if known else None, counts)


def _written(texts: Iterable[Prose | _Alone], summariser: Summariser, where: str) -> Iterator[Prose]:
    """A summary of each text, in order; never an empty one."""

    def write(numbered: tuple[int, Prose | _Alone]) -> Prose:
        index, prose = numbered
        if isinstance(prose, _Alone):
            return prose.prose
        try:
            summary = summariser.summarise(prose)
        except ModelError as error:
            raise ModelError(f"Summary {index} of {where}: {error}") from error
        if not summary.text.strip():
            raise ModelError(
                f"Summary {index} of {where}: {summariser.name} returned no text. Index again, or choose another model."
            )
        return summary

    if summariser.concurrency == 1:
        yield from map(write, enumerate(texts))
        return
    pool = ThreadPoolExecutor(summariser.concurrency)
    try:
        yield from pool.map(write, enumerate(texts))
    finally:
        pool.shutdown(cancel_futures=True)  # after an error, nobody pays for the rest of the level


# --- a chat model ------------------------------------------------------------------------------------

_PROMPT = Path(__file__).parent / "prompts" / "summary.txt"
_FENCE = "=" * 12


class ChatSummariser:
    """Summaries by any chat model of langchain-core.

    Args:
        model: the chat model.
        budget: tokens that a summary may have. Models count words better than tokens, so the prompt asks for at
            most three words for every four tokens.
        concurrency: calls under way at once.
    """

    needs_sentences = False

    def __init__(self, model: BaseChatModel, *, budget: int = 400, concurrency: int = 1) -> None:
        self._model = model
        self._instructions = _PROMPT.read_text("utf-8").format(words=budget * 3 // 4, fence=_FENCE).strip()
        self.concurrency = concurrency
        told = repr(sorted(model._get_ls_params().items())) + self._instructions
        self.name = f"chat-{sha256(told.encode()).hexdigest()[:12]}"

    def summarise(self, prose: Prose) -> Prose:
        # A line of the text that looks like the fence must not close it.
        fenced = f"{_FENCE}\n{prose.text.replace(_FENCE, '=')}\n{_FENCE}"
        try:
            reply = self._model.invoke([SystemMessage(self._instructions), HumanMessage(fenced)])
        except Exception as error:
            reason = (str(error) or type(error).__name__).splitlines()[0][:200]
            raise ModelError(f"the chat model failed ({reason}). Check E2G_CHAT_MODEL and its server.") from error
        return Prose(str(reply.text).strip())
