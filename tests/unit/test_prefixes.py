"""Prefixes, window sizes and shorter vectors of embedding models other than the bundled one."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import MARKERS, write_embedder

from e2g_neo4j.errors import ConfigurationError, FingerprintError
from e2g_neo4j.models.embedding.base import DEFAULT, POOLING, Embedder, adapt
from e2g_neo4j.models.embedding.load import load_embedder
from e2g_neo4j.models.embedding.prefixes import FAMILIES, Prefixes, knows_language, languages_of, model_prefixes
from e2g_neo4j.models.embedding.sentence_transformers import LocalEmbedder
from e2g_neo4j.models.embedding.windows import embed_long, embed_with_parts, windows
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Embed, EmbedAll
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.documents import Span, Vectors
from e2g_neo4j.types.fingerprint import Fingerprint

WORDS = ["the", "whale", "is", "blue", "and", "a", "red", "fish", "swims", "in", "cold", "sea", "what", "colour", "has"]
TEXT = "The whale is blue. The red fish swims in the cold sea. " * 200
QUERY, PASSAGE = MARKERS.index("query"), MARKERS.index("passage")
E5 = Prefixes("query: ", "passage: ")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def prompted(folder: Path) -> Path:
    """A model whose configuration has prompts."""
    return write_embedder(folder / "prompted", WORDS, prompts={"query": "query: ", "passage": "passage: "})


@pytest.fixture(scope="module")
def plain(folder: Path) -> LocalEmbedder:
    return LocalEmbedder(str(write_embedder(folder / "plain", WORDS)))


def models(path: Path | str, **settings: object) -> Models:
    return Models(Settings(embedding_model=str(path), **settings))  # type: ignore[arg-type]


def asked(models: Models, question: str) -> np.ndarray:
    return np.array(models.vector(Embed(question)).result())


# --- which prefixes a model has ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("intfloat/e5-small-v2", "query: ", "passage: "),
        ("intfloat/Multilingual-E5-Large", "query: ", "passage: "),
        ("/models/multilingual_e5_base/", "query: ", "passage: "),
        ("jeffh/intfloat-multilingual-e5-large:f16", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", FAMILIES[0][1].query, ""),
        ("intfloat/e5-mistral-7b-instruct", FAMILIES[0][1].query, ""),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("bge-large", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-base-zh-v1.5", FAMILIES[2][1].query, ""),
        ("BAAI/bge-m3", "", ""),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("nomic-ai/nomic-embed-text-v2-moe", "search_query: ", "search_document: "),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
        ("snowflake-arctic-embed:335m", "Represent this sentence for searching relevant passages: ", ""),
        ("Snowflake/snowflake-arctic-embed-m-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("hf.co/Qwen/Qwen3-Embedding-0.6B-GGUF:Q8_0", FAMILIES[7 + 1][1].query, ""),
        ("embeddinggemma:300m", "task: search result | query: ", "title: none | text: "),
        ("all-minilm", "", ""),
        ("sentence-transformers/all-mpnet-base-v2", "", ""),
        ("/home/e5-base/my-model", "", ""),
        ("no5-base", "", ""),
    ],
)
def test_families_are_known_by_the_last_part_of_the_name_in_any_case(name: str, query: str, passage: str) -> None:
    assert model_prefixes(name) == Prefixes(query, passage)


@pytest.mark.parametrize(
    ("name", "languages"),
    [
        ("BAAI/bge-small-en-v1.5", "English"),
        ("ollama:all-minilm", "English"),
        ("/models/e5-small-v2", "English"),
        ("ollama:nomic-embed-text", "English"),
        ("BAAI/bge-small-zh-v1.5", "Chinese"),
        ("intfloat/multilingual-e5-small", "several"),
        ("openai:text-embedding-3-small", "several"),
        ("BAAI/bge-m3", "several"),
        ("nomic-ai/nomic-embed-text-v2-moe", "several"),
        ("snowflake-arctic-embed2", "several"),
        ("/models/my-model", "several"),
    ],
)
def test_the_name_of_a_model_tells_its_languages(name: str, languages: str) -> None:
    assert languages_of(name) == languages
    assert knows_language(name, "de") == (languages == "several")


def test_the_configuration_of_a_model_comes_before_its_name() -> None:
    assert model_prefixes("e5-base", {"query": "ask ", "document": "doc "}) == Prefixes("ask ", "doc ")
    assert model_prefixes("e5-base", {"query": "ask ", "document": ""}) == Prefixes("ask ", "")
    assert model_prefixes("any", {"query": "", "document": "", "corpus": "text: "}) == Prefixes("", "text: ")
    assert model_prefixes("e5-base", {"query": "", "document": ""}) == E5  # what is saved for every model
    assert model_prefixes("any", {"sts": "same: "}, "sts") == Prefixes("same: ", "same: ")
    assert model_prefixes("any", {"sts": "same: "}) == Prefixes()


def test_prompts_of_a_saved_model_are_used(prompted: Path, folder: Path) -> None:
    assert LocalEmbedder(str(prompted)).prefixes == E5
    default = write_embedder(folder / "default", prompts={"all": "search "}, default_prompt="all")
    assert LocalEmbedder(str(default)).prefixes == Prefixes("search ", "search ")
    named = write_embedder(folder / "named").rename(folder / "My-E5-Base")
    assert LocalEmbedder(str(named)).prefixes == E5


def test_the_table_in_the_documentation_is_that_of_the_program() -> None:
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    page = re.sub("</?code>", "`", page[page.index("| question |") :])  # these may have the sign of cells
    rows = re.findall(r"^\| (`.+`) \| `(.+?)` \| (?:`(.+?)` )?\|$", page, re.MULTILINE)
    assert len(rows) == len(FAMILIES)
    for (_, prefixes), (names, query, passage) in zip(FAMILIES, rows, strict=True):
        shown = [html.unescape(one.replace(r"\n", "\n")) for one in (query, passage)]
        assert shown == [prefixes.query, prefixes.passage]
        for name in re.findall("`(.+?)`", names):
            assert model_prefixes(name) == prefixes, name


# --- questions and passages --------------------------------------------------------------------------


def test_questions_and_passages_get_their_own_prefix(prompted: Path) -> None:
    found = models(prompted)
    question, passage = asked(found, "the whale"), embed_long(found.embedder, ["the whale"])[0]
    assert question[QUERY] > 0.1 > abs(question[PASSAGE])
    assert passage[PASSAGE] > 0.1 > abs(passage[QUERY])
    raw = load_embedder(str(prompted))
    assert np.allclose(question, raw.embed(["query: the whale"])[0], atol=1e-5)
    assert np.allclose(passage, raw.embed(["passage: the whale"])[0], atol=1e-5)


def test_keywords_are_embedded_together_as_each_alone(prompted: Path) -> None:
    found = models(prompted)
    together = np.array(found.vectors(EmbedAll(("the whale", "fish"))).result())
    assert np.allclose(together, [asked(found, "the whale"), asked(found, "fish")], atol=1e-5)
    assert found.vectors(EmbedAll(())).result() == []


def test_vectors_are_those_of_sentence_transformers_with_prompts(folder: Path) -> None:
    from sentence_transformers import SentenceTransformer

    path = write_embedder(folder / "theirs", WORDS, prompts={"query": "query: ", "document": "passage: "})
    theirs, found = SentenceTransformer(str(path), device="cpu"), models(path, embedding_precision="float32")
    options: Any = {"normalize_embeddings": True}
    assert np.allclose(asked(found, "the whale"), theirs.encode_query("the whale", **options), atol=1e-5)
    [passage] = embed_long(found.embedder, ["red fish"])
    assert np.allclose(passage, theirs.encode_document("red fish", **options), atol=1e-5)


def test_settings_override_the_model_also_with_nothing(prompted: Path) -> None:
    found = models(prompted, query_prefix="represent ", passage_prefix="")
    assert asked(found, "the whale")[MARKERS.index("represent")] > 0.1
    [passage] = embed_long(found.embedder, ["the whale"])
    assert np.abs(passage[: len(MARKERS)]).max() < 0.02
    assert found.fingerprint.pooling == POOLING


def test_sentences_are_found_behind_a_prefix(prompted: Path) -> None:
    found = models(prompted).embedder
    sentences = ["the whale is blue", "a red fish swims"]
    text = f"{sentences[0]} {sentences[1]}"
    spans = [(0, len(sentences[0])), (len(sentences[0]) + 1, len(text))]
    [embedded] = embed_with_parts(found, [(text, spans)])
    expected = load_embedder(str(prompted)).embed(sentences)
    for row, same in zip(embedded.part_vectors, expected, strict=True):  # without special tokens, which are nothing
        assert row @ same > 0.95
    assert embedded.windows == ((0, len(text)),)


class Given:
    """An embedder of a user's, written before there were prefixes."""

    name, dimensions, window_tokens = "intfloat/e5-base", 3, 20

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        return np.tile(np.array([[0.6, 0.8, 0.0]], np.float32), (len(texts), 1))

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, list[Vectors]]:
        return self.embed(texts), [self.embed([""] * len(spans)) for spans in parts]

    def token_spans(self, text: str) -> Sequence[Span]:
        return [(at, at + 1) for at in range(len(text))]


def test_an_embedder_of_the_callers_gets_only_configured_prefixes() -> None:
    given = Given()
    found = Models(Settings(), embedder=given)
    assert found.embedder is given is found.query_embedder
    found = Models(Settings(query_prefix="q ", passage_prefix="p "), embedder=given)
    embed_long(found.embedder, ["abc"])
    asked(found, "abc")
    assert given.embedded == ["p abc", "q abc"]


def test_the_default_model_is_not_loaded_to_know_its_prefix_and_fingerprint() -> None:
    found = Models(Settings())
    known = Fingerprint("BAAI/bge-small-en-v1.5", 384, "mean-of-windows", found.fingerprint.spacy_model)
    assert found.fingerprint == known
    assert "_embedder" not in found.__dict__
    assert found.embedder.window_tokens == 256
    assert found.query_embedder.window_tokens == 510 - 8 - 8, "the tokens of the prefix and of the seam"


# --- the size of windows -----------------------------------------------------------------------------


def tokens(embedder: Embedder, text: str) -> list[int]:
    return [len(embedder.token_spans(text[start:end])) for start, end in windows(embedder, text)]


@pytest.mark.parametrize(
    ("accepts", "configured", "largest"),
    [(512, 256, 256), (512, 2000, 510), (1024, 1000, 1000), (8192, 256, 256), (8192, 5000, 5000), (128, 256, 126)],
)
def test_windows_have_the_configured_size_if_the_model_accepts_it(
    tmp_path: Path, accepts: int, configured: int, largest: int
) -> None:
    found = models(write_embedder(tmp_path, WORDS, max_tokens=accepts), window_tokens=configured)
    assert found.embedder.window_tokens == largest
    sizes = tokens(found.embedder, TEXT * 3)
    assert max(sizes) <= largest
    assert min(sizes) > largest * 0.7
    assert np.isfinite(embed_long(found.embedder, [TEXT * 3])).all()
    assert found.query_embedder.window_tokens == accepts - 2  # a question is split only if the model needs it


def test_a_window_fits_with_its_prefix(prompted: Path) -> None:
    """The model refuses longer texts, so that it would raise here."""
    found = models(prompted, window_tokens=512, passage_prefix="passage: " * 40)
    assert found.embedder.window_tokens < 512 - 80
    assert np.isfinite(embed_long(found.embedder, [TEXT])).all()


@given(
    text=st.text(st.sampled_from("ab .é中ß-:'\n"), max_size=2000),
    prefix=st.text(st.sampled_from("ab :é中"), min_size=1, max_size=12),
)
def test_any_text_fits_with_any_prefix(plain: LocalEmbedder, text: str, prefix: str) -> None:
    assert np.isfinite(embed_long(adapt(plain, prefix=prefix), [text])).all()


def test_a_prefix_that_leaves_no_room_is_an_error(prompted: Path) -> None:
    found = models(prompted, passage_prefix="passage: " * 300)
    with pytest.raises(ConfigurationError, match=r"leaves no room.*E2G_PASSAGE_PREFIX"):
        _ = found.embedder


# --- shorter vectors ---------------------------------------------------------------------------------


def test_truncated_vectors_are_those_of_sentence_transformers(folder: Path, plain: LocalEmbedder) -> None:
    from sentence_transformers import SentenceTransformer

    found = models(plain.name, embedding_dimensions=16, embedding_precision="float32")
    [vector] = embed_long(found.embedder, ["the red fish"])
    theirs = SentenceTransformer(plain.name, device="cpu", truncate_dim=16)
    assert np.allclose(vector, theirs.encode("the red fish", normalize_embeddings=True), atol=1e-5)
    assert asked(found, "the red fish") == pytest.approx(vector, abs=1e-5)
    assert (found.dimensions, found.fingerprint.dimensions) == (16, 16)
    [embedded] = embed_with_parts(found.embedder, [("the red fish", [(0, 7)])])
    assert embedded.part_vectors.shape == (1, 16)
    assert np.linalg.norm(embedded.part_vectors) == pytest.approx(1, abs=1e-5)


def test_the_default_model_can_be_truncated_and_is_not_loaded_to_know_its_length() -> None:
    found = Models(Settings(embedding_dimensions=128))
    assert found.fingerprint.dimensions == 128
    assert "_embedder" not in found.__dict__
    assert embed_long(found.embedder, ["the whale"]).shape == (1, 128)


@pytest.mark.parametrize("default", [True, False])
def test_more_dimensions_than_the_model_has_are_an_error(plain: LocalEmbedder, default: bool) -> None:
    name = DEFAULT if default else plain.name
    with pytest.raises(ConfigurationError, match=r"E2G_EMBEDDING_DIMENSIONS is 385.*at most (384|64)"):
        _ = models(name, embedding_dimensions=385).dimensions


def test_a_model_with_a_layer_after_pooling_has_vectors_of_sentences(folder: Path) -> None:
    found = models(write_embedder(folder / "dense", WORDS, dense=24)).embedder
    sentences = ["the whale is blue", "a red fish swims"]
    [embedded] = embed_with_parts(found, [(" ".join(sentences), [(0, 17), (18, 34)])])
    assert found.dimensions == 24
    assert np.allclose(embedded.part_vectors, found.embed(sentences), atol=1e-3)


def test_a_model_that_is_saved_truncated_stays_so(folder: Path) -> None:
    from sentence_transformers import SentenceTransformer

    path = folder / "truncated"
    SentenceTransformer(str(write_embedder(folder / "full", WORDS)), truncate_dim=16, device="cpu").save(
        str(path), create_model_card=False
    )
    found = LocalEmbedder(str(path))
    vectors, [part] = found.embed_parts(["the whale"], [[(0, 3)]])
    assert (found.dimensions, vectors.shape, part.shape) == (16, (1, 16), (1, 16))


# --- the fingerprint ---------------------------------------------------------------------------------


def test_the_fingerprint_tells_passage_prefixes_apart_and_nothing_else(prompted: Path) -> None:
    with_prefix, without = models(prompted).fingerprint, models(prompted, passage_prefix="").fingerprint
    assert (with_prefix.passage_prefix, without.passage_prefix) == ("passage: ", "")
    assert models(prompted, query_prefix="other ", window_tokens=100).fingerprint == with_prefix
    with pytest.raises(FingerprintError, match=r"with the passage prefix '', but 'passage: ' is.*E2G_PASSAGE_PREFIX"):
        with_prefix.check(without)
    with pytest.raises(FingerprintError, match="E2G_EMBEDDING_DIMENSIONS"):
        models(prompted, embedding_dimensions=8).fingerprint.check(with_prefix)
    with_prefix.check(models(prompted).fingerprint)


@given(st.text(min_size=1))
def test_any_prefix_is_read_back_from_the_fingerprint(prefix: str) -> None:
    from e2g_neo4j.types.fingerprint import pooling_after

    assert Fingerprint("m", 1, pooling_after(POOLING, prefix), "s").passage_prefix == prefix
