"""Embedding models on OpenVINO, whose weights are fetched."""

from __future__ import annotations

import os
import sys
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.embedding.base import Precision, normalise, pool_parts, refuse_long_text, remove_limits, spans_of
from e2g_neo4j.models.embedding.prefixes import model_prefixes
from e2g_neo4j.models.embedding.weights import Weights, import_openvino
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.threads import cores, once
from e2g_neo4j.types.documents import Span, Vectors

if TYPE_CHECKING:
    from openvino import CompiledModel, InferRequest

    from e2g_neo4j.models.embedding.sentence_transformers import LocalEmbedder

_QUESTION_STREAMS = 4
"""Questions that are embedded in parallel, if there are as many cores."""

_FIRST_USE = Lock()
"""Guards the first use of OpenVINO, which initialises its numpy binding. Two threads that do so at once deadlock:
one holds the GIL, the other the lock of the initialisation."""

_SMALL_REQUEST = 1024
"""Texts of at most this many tokens together count as a small request, such as a question or its keywords."""

_SHORT = 16
"""Maximum number of tokens of texts that are batched, such as names."""

_BATCH = 32
"""Maximum number of texts in a batch. One stream embedded 1,140 names per second in batches of 32, 910 in batches of 8,
and 1,220 in batches of 128."""


class OpenVinoEmbedder:
    """A BERT model on the CPU, one text per core.

    Only short texts of the same number of tokens are batched. For longer ones, this gains nothing on a CPU. Without
    padding, the vector of a text does not depend on the other texts, but for rounding.
    If there is a GPU, sentence-transformers is installed and its cache has the model, larger requests run there, on
    torch.

    Args:
        precision: "auto" uses bfloat16 if the processor has instructions for it (AMX, AVX512-BF16), otherwise 32 bits.
            "float32" always uses 32 bits.

    Raises:
        ModelError: The weights cannot be fetched.
    """

    def __init__(self, model: Weights, precision: Precision = "auto") -> None:
        self.name, self.dimensions, self.prefixes = model.name, model.dimensions, model_prefixes(model.name)
        self.window_tokens = model.tokens - 2
        self._weights = model
        model.fetch()
        self._core = import_openvino().Core()
        bfloat16 = precision == "auto" and "BF16" in self._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        self._precision: Literal["bf16", "f32"] = "bf16" if bfloat16 else "f32"
        self._tokenizer = remove_limits(Tokenizer.from_file(str(model.tokenizer)))
        self._loading = RLock()
        self._few = self._compile(min(_QUESTION_STREAMS, cores()))
        with _FIRST_USE:
            self.embed_parts(["a"], [[(0, 1)]])

    @once
    def _many(self) -> CompiledModel:
        return self._compile(cores())

    @once
    def _gpu(self) -> LocalEmbedder | None:
        if not has_gpu():
            return None
        from e2g_neo4j.models.embedding.sentence_transformers import LocalEmbedder

        try:
            return LocalEmbedder(self.name, local_files_only=True)
        except ModelError:  # the weights for torch are not on this machine
            return None

    def _compile(self, streams: int) -> CompiledModel:
        """Compile the model for a number of parallel texts, one thread each. Several threads per text would mostly wait
        for each other."""
        options: dict[str, Any] = {
            "NUM_STREAMS": streams,
            "INFERENCE_NUM_THREADS": streams,
            "INFERENCE_PRECISION_HINT": self._precision,
            "ENABLE_CPU_PINNING": False,  # another process may use the same cores
        }
        model = self._weights.model
        if os.access(model.parent, os.W_OK):
            processor = self._core.get_property("CPU", "FULL_DEVICE_NAME")
            folder = model.parent / "".join(c if c.isalnum() else "-" for c in processor)
            options |= {"CACHE_DIR": str(folder), "CACHE_MODE": "OPTIMIZE_SIZE"}
        return self._core.compile_model(str(model), "CPU", options)

    def token_spans(self, text: str) -> Sequence[Span]:
        return spans_of(self._tokenizer, text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self.embed_parts(texts, [()] * len(texts))[0]

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, list[Vectors]]:
        """See `Embedder.embed_parts`. The vector of a part is the mean of its token vectors in context."""
        encodings = self._tokenizer.encode_batch(list(texts))
        refuse_long_text(self.name, [len(encoding) for encoding in encodings], self._weights.tokens)
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        part_vectors: list[Vectors] = [np.empty((0, self.dimensions), np.float32)] * len(texts)

        def keep(batch: Sequence[int], request: InferRequest) -> None:
            for row, i in enumerate(batch):
                tokens = request.get_output_tensor(0).data[row]
                vectors[i] = tokens[0] if self._weights.pooling == "cls" else tokens.mean(axis=0)
                if parts[i]:
                    part_vectors[i] = pool_parts(tokens, encodings[i].offsets, parts[i], vectors[i])

        small = sum(map(len, encodings)) <= _SMALL_REQUEST
        if not small and (gpu := self._gpu):
            return gpu.embed_parts(texts, parts)
        # No callbacks: with a callback into Python, an OpenVINO thread needs the GIL even after the last result. A
        # thread that frees the model meanwhile holds the GIL and waits for that thread, which is a deadlock.
        model, parallel = (self._few, 1) if small else (self._many, 2 * cores())
        free = [model.create_infer_request() for _ in range(min(parallel, len(texts)))]
        running: deque[tuple[Sequence[int], InferRequest]] = deque()
        for batch in _batches(encodings):
            if not free:
                done, request = running.popleft()
                request.wait()
                keep(done, request)
                free.append(request)
            request = free.pop()
            request.start_async(_inputs([encodings[i] for i in batch], len(model.inputs)))
            running.append((batch, request))
        for batch, request in running:
            request.wait()
            keep(batch, request)
        return normalise(vectors), part_vectors


def has_gpu() -> bool:
    """Return whether torch is installed and finds a GPU. It is imported only if there may be one."""
    possible = sys.platform in ("darwin", "win32") or any(map(os.path.exists, ("/dev/nvidiactl", "/dev/kfd")))
    if not possible or find_spec("sentence_transformers") is None:
        return False
    import torch

    return torch.cuda.is_available() or torch.backends.mps.is_available()


def _batches(encodings: Sequence[Encoding]) -> Iterator[Sequence[int]]:
    """Yield the positions of texts that are embedded at once: single ones, and short ones of the same length."""
    short = defaultdict[int, list[int]](list)
    for i, encoding in enumerate(encodings):
        if len(encoding) <= _SHORT:
            short[len(encoding)].append(i)
        else:
            yield [i]
    for positions in short.values():
        yield from split_batches(positions, _BATCH)


def _inputs(encodings: Sequence[Encoding], number: int) -> list[NDArray[np.int64]]:
    """Return ids, attention mask and, if the model has three inputs, the types of tokens."""
    ids = np.array([encoding.ids for encoding in encodings], np.int64)
    return [ids, np.ones_like(ids), np.zeros_like(ids)][:number]
