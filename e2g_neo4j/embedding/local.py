"""Embeddings by a sentence-transformers model in this process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # read when the libraries below are imported

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer
from transformers.utils import logging

from e2g_neo4j.embedding.embedder import BUNDLED, bundled_folder, first_line, normalised, spans_of
from e2g_neo4j.errors import ModelError
from e2g_neo4j.model import Span, Vectors

_BATCH = 16
"""Texts in one forward pass. More gains nothing on a CPU, and pads more."""


class LocalEmbedder:
    """A sentence-transformers model in this process.

    On a CPU, batches are spread over threads of one core each: with other work on the machine that is two to
    three times as fast as torch's own division of each matrix product among the cores.
    """

    def __init__(self, name: str) -> None:
        bars = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            path = bundled_folder() if name == BUNDLED else name
            self._model = SentenceTransformer(path, local_files_only=name == BUNDLED).eval()
        except Exception as error:
            raise ModelError(
                f"The embedding model {name!r} cannot be loaded ({first_line(error)}). Give a sentence-transformers "
                f"name or folder, `ollama:NAME`, or unset E2G_EMBEDDING_MODEL to use the bundled {BUNDLED}."
            ) from error
        finally:
            if bars:
                logging.enable_progress_bar()  # type: ignore[no-untyped-call]
        self._tokenizing = Lock()
        self.name = name
        self.dimensions = int(self._model.get_embedding_dimension() or len(self._model.encode("a")))
        fast = getattr(self._model.tokenizer, "backend_tokenizer", None)
        if fast is None:
            raise ModelError(f"The embedding model {name!r} has no fast tokenizer, which offsets need. Use another.")
        self._tokenizer = Tokenizer.from_str(fast.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        special = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        self.window_tokens = int(self._model.max_seq_length or 512) - special
        on_cpu = self._model.device.type == "cpu"
        self._threads = torch.get_num_threads() if on_cpu else 1

    def token_spans(self, text: str) -> Sequence[Span]:
        return spans_of(self._tokenizer, text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self.embed_parts(texts, [()] * len(texts))[0]

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, list[Vectors]]:
        """A part's vector is the mean of the vectors that the model gives to its tokens in their context."""
        encodings = self._tokenizer.encode_batch(list(texts))
        lengths = [len(encoding) for encoding in encodings]
        longest = self._model.max_seq_length or 512
        if lengths and max(lengths) > longest:
            raise ModelError(
                f"A text of {max(lengths)} tokens does not fit into the {longest} that {self.name} reads at once. "
                "Use embed_long, which embeds it in windows."
            )
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        of_parts: list[Vectors] = [np.empty((0, self.dimensions), np.float32)] * len(texts)
        order = sorted(range(len(texts)), key=lengths.__getitem__, reverse=True)  # little padding in a batch
        batches = [order[i : i + _BATCH] for i in range(0, len(order), _BATCH)]
        # The tokenizer of the model is not safe to share among threads.
        with self._tokenizing:
            features = [self._model.preprocess([texts[i] for i in batch]) for batch in batches]

        def run(batch: list[int], inputs: dict[str, Any]) -> None:
            moved = {
                key: value.to(self._model.device) if isinstance(value, torch.Tensor) else value
                for key, value in inputs.items()
            }
            with torch.inference_mode():
                output = self._model(moved)
            vectors[batch] = normalised(output["sentence_embedding"].float().cpu().numpy())
            if any(parts[i] for i in batch):
                tokens = output["token_embeddings"].float().cpu().numpy()
                for row, i in enumerate(batch):
                    of_parts[i] = _pool_parts(tokens[row], encodings[i].offsets, parts[i], vectors[i])

        if self._threads == 1 or len(batches) == 1:
            for batch, inputs in zip(batches, features, strict=True):
                run(batch, inputs)
        else:
            with ThreadPoolExecutor(self._threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                list(pool.map(run, batches, features))
            torch.set_num_threads(self._threads)
        return vectors, of_parts


def _pool_parts(tokens: Vectors, offsets: Sequence[Span], parts: Sequence[Span], whole: NDArray[np.float32]) -> Vectors:
    """Mean of the tokens of each part; a part without any token, such as white space, gets the whole text's."""
    pooled = np.empty((len(parts), tokens.shape[1]), np.float32)
    starts = np.array([start for start, _ in offsets])
    ends = np.array([end for _, end in offsets])  # special tokens are empty: their start is their end
    for number, (start, end) in enumerate(parts):
        inside = np.flatnonzero((starts >= start) & (ends <= end) & (starts < ends))
        pooled[number] = tokens[inside].mean(axis=0) if len(inside) else whole
    return normalised(pooled)
