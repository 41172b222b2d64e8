"""Score passages with a cross-encoder, which reads question and passage together.

This is slower than comparing vectors and more accurate, so it orders only the best passages of a retrieval mode.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # read when the libraries below are imported

from sentence_transformers import CrossEncoder
from tokenizers import Tokenizer
from transformers.utils import logging

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.chat.base import first_line
from e2g_neo4j.models.embedding.base import spans_of
from e2g_neo4j.models.embedding.sentence_transformers import quiet, tokenizer_of
from e2g_neo4j.models.embedding.windows import windows
from e2g_neo4j.types.documents import Span

_MAX_TOKENS = 8192
"""Upper limit of the tokens of a question with a passage, for models without a limit or with a very long context."""

_SCORERS = ("ForSequenceClassification", "ForCausalLM")
"""Ends of the names of architectures that return a score. Others would be loaded with random weights for it."""


class Reranker:
    """A sentence-transformers cross-encoder in this process. Not thread-safe.

    Args:
        name: Name or folder of the model.

    Raises:
        ModelError: The model cannot be loaded, or is not a cross-encoder with one score.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        verbosity = logging.get_verbosity()
        logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        try:
            with quiet():
                self._model = CrossEncoder(name).eval()
        except Exception as error:
            raise ModelError(
                f"Cannot load the reranker {name!r} ({first_line(error)}). Set E2G_RERANKER to the name or folder of a "
                "sentence-transformers cross-encoder, or unset it."
            ) from error
        finally:
            logging.set_verbosity(verbosity)
        self._check()
        self._tokenizer = tokenizer_of(self._model, f"The reranker {name!r}")
        self._max_tokens = int(min(self._model.max_seq_length or 512, _MAX_TOKENS))
        self._max_tokens -= self._tokenizer.num_special_tokens_to_add(is_pair=True)

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the score of each text: how well it answers the question. Higher is better.

        A text that does not fit into the model together with the question is split, and its best part counts. If the
        question takes more than half of the model's tokens, its end is cut off.
        """
        question_tokens = len(spans_of(self._tokenizer, question))
        cutter = _Cutter(self._tokenizer, max(self._max_tokens - question_tokens, self._max_tokens // 2))
        parts = [[text[start:end] for start, end in windows(cutter, text)] for text in texts]
        pairs = [(question, part) for cut in parts for part in cut]
        if not pairs:
            return []
        scores = self._model.predict(pairs, show_progress_bar=False, convert_to_numpy=True)
        borders = [0]
        for cut in parts:
            borders.append(borders[-1] + len(cut))
        return [float(scores[start:end].max()) for start, end in pairwise(borders)]

    def _check(self) -> None:
        architectures = getattr(self._model.config, "architectures", None) or [""]
        converted = len(self._model) == 1 and not architectures[0].endswith(_SCORERS)
        if converted or self._model.num_labels != 1:
            found = "it is another kind of model" if converted else f"it returns {self._model.num_labels} scores"
            raise ModelError(
                f"The reranker {self.name!r} is not a cross-encoder that returns one score ({found}). Set E2G_RERANKER "
                "to one that was trained for ranking, such as cross-encoder/ms-marco-MiniLM-L6-v2, or unset it."
            )


@dataclass(frozen=True)
class _Cutter:
    """What `windows` needs to split a text."""

    tokenizer: Tokenizer
    window_tokens: int

    def token_spans(self, text: str) -> Sequence[Span]:
        return spans_of(self.tokenizer, text)
