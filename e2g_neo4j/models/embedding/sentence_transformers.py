"""Embeddings with a sentence-transformers model in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # read when the libraries below are imported

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense
from threadpoolctl import threadpool_limits
from tokenizers import Tokenizer
from transformers.utils import logging

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.chat.base import first_line
from e2g_neo4j.models.embedding.base import (
    DEFAULT,
    Precision,
    embed_parts_separately,
    normalise,
    pool_parts,
    refuse_long_text,
    remove_limits,
    spans_of,
)
from e2g_neo4j.models.embedding.prefixes import model_prefixes
from e2g_neo4j.runtime.threads import cores
from e2g_neo4j.types.documents import Span, Vectors

_GPU_BATCH = 16
"""Maximum number of texts in one forward pass on a GPU."""

_GPU_TOKENS = 8192
"""Maximum number of tokens in one forward pass on a GPU, if it has several texts."""


@contextmanager
def quiet() -> Iterator[None]:
    """Show no progress bar while a model is loaded."""
    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def load_model(path: str, *, local_files_only: bool = False) -> SentenceTransformer:
    """Load a sentence-transformers model."""
    with quiet():
        return SentenceTransformer(path, local_files_only=local_files_only).eval()


def tokenizer_of(model: Any, what: str) -> Tokenizer:
    """Return the fast tokenizer of a model. Raises ModelError, which begins with `what`, if it has none."""
    fast = getattr(model.tokenizer, "backend_tokenizer", None)
    if fast is None:
        raise ModelError(f"{what} has no fast tokenizer, which is needed for offsets. Use another model.")
    return remove_limits(Tokenizer.from_str(fast.to_str()))


class LocalEmbedder:
    """A sentence-transformers model in this process.

    On a CPU, each text is embedded by one thread, without batching. If the machine has other work, this is two to three
    times as fast as torch's own parallelism, which splits each matrix product among threads that wait for each other.
    It also makes the vector of a text independent of the other texts. The embedder has its own threads, so that the
    torch settings of the process are unchanged.

    Args:
        name: Name or folder of the model.
        local_files_only: Whether to use the weights only if they are on this machine, without asking the Hub.
        precision: See `load_embedder`. On a GPU, the precision of the model is used.

    Raises:
        ModelError: The model cannot be loaded, or it has no fast tokenizer.
    """

    def __init__(self, name: str, precision: Precision = "auto", *, local_files_only: bool = False) -> None:
        try:
            self._model = load_model(name, local_files_only=local_files_only)
        except Exception as error:
            raise ModelError(
                f"Cannot load the embedding model {name!r} ({first_line(error)}). Set E2G_EMBEDDING_MODEL to a "
                f"sentence-transformers name or folder or to `ollama:NAME`, or unset it to use {DEFAULT}."
            ) from error
        self._tokenizing = Lock()
        self.name = name
        self.prefixes = model_prefixes(name, self._model.prompts, self._model.default_prompt_name)
        self._tokenizer = tokenizer_of(self._model, f"The embedding model {name!r}")
        special = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        self._max_tokens = int(self._model.max_seq_length or 512)
        self.window_tokens = self._max_tokens - special
        self._on_cpu = self._model.device.type == "cpu"
        self._bfloat16 = precision == "auto" and self._on_cpu and _has_bfloat16()
        self._threads = ThreadPoolExecutor(
            cores() if self._on_cpu else 1, thread_name_prefix="e2g-embedding", initializer=_one_thread
        )
        self.dimensions = int(self._model.get_embedding_dimension() or len(self._model.encode("a")))
        # A layer after pooling maps vectors of texts to a space in which there are no vectors of tokens.
        self._has_token_vectors = not any(isinstance(module, Dense) for module in self._model)

    def token_spans(self, text: str) -> Sequence[Span]:
        return spans_of(self._tokenizer, text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self.embed_parts(texts, [()] * len(texts))[0]

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, list[Vectors]]:
        """See `Embedder.embed_parts`. The vector of a part is the mean of its token vectors in context."""
        if any(parts) and not self._has_token_vectors:
            return embed_parts_separately(self, texts, parts)
        encodings = self._tokenizer.encode_batch(list(texts))
        lengths = [len(encoding) for encoding in encodings]
        refuse_long_text(self.name, lengths, self._max_tokens)
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        part_vectors: list[Vectors] = [np.empty((0, self.dimensions), np.float32)] * len(texts)
        order = sorted(range(len(texts)), key=lengths.__getitem__, reverse=True)  # less padding
        size = 1 if self._on_cpu else min(_GPU_BATCH, max(1, _GPU_TOKENS // max(lengths, default=1)))
        batches = [order[i : i + size] for i in range(0, len(order), size)]
        # The tokenizer of the model is not thread-safe.
        with self._tokenizing:
            features = [self._model.preprocess([texts[i] for i in batch]) for batch in batches]

        def run(batch: list[int], inputs: dict[str, Any]) -> None:
            moved = {
                key: value.to(self._model.device) if isinstance(value, torch.Tensor) else value
                for key, value in inputs.items()
            }
            with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=self._bfloat16):
                output = self._model(moved)
            vectors[batch] = normalise(output["sentence_embedding"][:, : self.dimensions].float().cpu().numpy())
            if any(parts[i] for i in batch):
                tokens = output["token_embeddings"][..., : self.dimensions].float().cpu().numpy()
                for row, i in enumerate(batch):
                    part_vectors[i] = pool_parts(tokens[row], encodings[i].offsets, parts[i], vectors[i])

        list(self._threads.map(run, batches, features))
        return vectors, part_vectors


def _one_thread() -> None:
    """Limit this thread to itself. torch.set_num_threads would also affect later threads."""
    torch.get_num_threads()  # otherwise torch would initialise this thread later and undo the limit
    threadpool_limits(1, user_api="openmp")


def _has_bfloat16() -> bool:
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name, False) for name in ("avx512_bf16", "amx_bf16", "amx_tile"))
