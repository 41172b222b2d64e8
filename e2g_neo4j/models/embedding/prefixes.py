"""What the name of an embedding model tells: the prefixes that it expects, and the languages that it knows.

Many models are trained with such prefixes and are worse without them. sentence-transformers models may name them in
their configuration (`prompts`). For the others, and for Ollama, which does not know them, there is a table of families.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from e2g_neo4j.types.languages import name_of


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Texts that are put before a question and before a passage."""

    query: str = ""
    passage: str = ""


_SEARCH = "Represent this sentence for searching relevant passages: "
_INSTRUCTION = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"

FAMILIES: tuple[tuple[str, Prefixes], ...] = (
    (r"\be5-.*instruct", Prefixes(f"{_INSTRUCTION} ")),
    (r"\be5-(small|base|large)", Prefixes("query: ", "passage: ")),
    (r"\bbge-(small|base|large)-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    (r"\bbge-(small|base|large)", Prefixes(_SEARCH)),
    (r"\bmxbai-embed-large", Prefixes(_SEARCH)),
    (r"\bsnowflake-arctic-embed(2|-.*v2)", Prefixes("query: ")),
    (r"\bsnowflake-arctic-embed", Prefixes(_SEARCH)),
    (r"\b(nomic-embed-text|modernbert-embed)", Prefixes("search_query: ", "search_document: ")),
    (r"\bqwen3-embedding", Prefixes(_INSTRUCTION)),
    (r"\bembeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
)
"""Patterns of model names and the prefixes that their model cards ask for. The first match counts. docs/models.md has
the same table."""

_ENGLISH = re.compile(
    r"\b(?<!multilingual-)en(-|$)|\bbge-(small|base|large)|\b(all|multi-qa|msmarco|paraphrase)-(minilm|mpnet|distil)"
    r"|\bmxbai-embed-large|\bsnowflake-arctic-embed(?!2|.*v2)|\bnomic-embed-text(?!-v2)|\bmodernbert-embed"
    r"|(?<!multilingual-)\be5-(small|base|large)|\bgte-(small|base|large)"
)
_CHINESE = re.compile(r"\bbge-(small|base|large)-zh")
"""Names of models for English and for Chinese alone. Others are taken for multilingual ones."""

_PASSAGE_PROMPTS = ("document", "passage", "corpus")
"""Names of the prompt for passages, as sentence-transformers looks them up in `encode_document`."""


def model_prefixes(
    name: str, prompts: Mapping[str, str | None] | None = None, default_prompt: str | None = None
) -> Prefixes:
    """Return the prefixes of a model: those of its configuration, otherwise those of its family.

    sentence-transformers saves empty prompts for every model, so empty ones count as missing.

    Args:
        name: Name or folder of the model; only its last part counts, in any case.
        prompts: The prompts of its configuration, by name.
        default_prompt: The name of the prompt for all texts, used if there is none for queries or passages.
    """
    configured = prompts or {}
    query = configured.get("query") or ""
    passage = next(filter(None, (configured.get(kind) for kind in _PASSAGE_PROMPTS)), "")
    if query or passage:
        return Prefixes(query, passage)
    if default_prompt and (both := configured.get(default_prompt)):
        return Prefixes(both, both)
    last = _last_part(name)
    return next((prefixes for pattern, prefixes in FAMILIES if re.search(pattern, last)), Prefixes())


def knows_language(name: str, language: str) -> bool:
    """Return whether an embedding model knows a language, by its code, as far as the name of the model tells."""
    last = _last_part(name)
    if _CHINESE.search(last):
        return language == "zh"
    return language == "en" or not _ENGLISH.search(last)


def languages_of(name: str) -> str:
    """Return which languages an embedding model knows, in words."""
    known = [one for one in ("en", "zh") if knows_language(name, one)]
    return "several" if len(known) > 1 else name_of(known[0])


def _last_part(name: str) -> str:
    return re.split(r"[/\\]", name.casefold().rstrip("/\\"))[-1].replace("_", "-")
