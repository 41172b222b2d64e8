"""Ids and keys of documents and corpora."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256

from e2g_neo4j.errors import InputError, QueryError, ReadingError


def corpus_key(corpus: str) -> str:
    """Return a single word for a corpus in the full-text indexes, whose analyser would split the name itself."""
    return f"c{sha256(corpus.encode('utf-8')).hexdigest()[:20]}x"


def document_id(corpus: str, source: str) -> str:
    """Return the id of a document, 16 hexadecimal digits, from its corpus and source."""
    return sha256(json.dumps([corpus, source]).encode()).hexdigest()[:16]


def cached_key(corpus: str, key: str = "") -> str:
    """Return the key under which a reply of a chat model is stored for a corpus; without a key, what all keys of the
    corpus begin with. A corpus never reads the replies of another one, whoever wrote them."""
    return f"{corpus_key(corpus)}-{key}"


def added_key(corpus: str, text_sha256: str = "") -> str:
    """Return the key under which what graph documents say about a text is kept; without a text, what all keys of the
    corpus begin with."""
    return cached_key(corpus, f"added-{text_sha256}")


def utf8(text: str, what: str) -> bytes:
    """Encode a text.

    Args:
        text: the text.
        what: the beginning of the error message.

    Raises:
        ReadingError: the text contains half of a surrogate pair.
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ReadingError(
            f"{what} cannot be written as UTF-8: character {error.start} is half of a surrogate pair. Correct it."
        ) from error


LONGEST_CORPUS_NAME = 1000
"""In bytes. Neo4j's indexes accept 8 kB for name and key together."""


def check_corpus_name(corpus: str) -> None:
    """Raise InputError if a name cannot be used for a corpus."""
    if not corpus.strip():
        raise InputError("The name of the corpus is empty. Choose a name, for example `--corpus novels`.")
    if len(utf8(corpus, "The name of the corpus")) > LONGEST_CORPUS_NAME:
        raise InputError(f"The name of the corpus has more than {LONGEST_CORPUS_NAME} bytes. Choose a shorter one.")


def has_address(corpus: str) -> bool:
    """Return whether the service has addresses for a corpus of this name.

    `/` separates the parts of an address, also where it was sent as %2F, and clients resolve `.` and `..`.
    """
    return "/" not in corpus and corpus not in (".", "..")


def check_address(corpus: str) -> None:
    """Raise InputError if a name cannot be used for a corpus of the service."""
    check_corpus_name(corpus)
    if not has_address(corpus):
        raise InputError(
            f"The service has no address for a corpus named {corpus!r}: names with '/', '.' and '..' have none. Choose "
            "another name. A corpus that has this one already can still be asked: name it in `corpora`."
        )


def corpora_to_ask(corpus: str | None, corpora: Sequence[str]) -> tuple[str, ...]:
    """Return the corpora to search.

    Args:
        corpus: the name of one corpus, or None.
        corpora: the names of several corpora, or empty.

    Raises:
        QueryError: both or neither of them were given.
    """
    if isinstance(corpora, str) or (corpus is None) == (not corpora):
        raise QueryError('Name one corpus, `corpus="novels"`, or several, `corpora=["novels", "letters"]`.')
    return tuple(dict.fromkeys(corpora)) if corpus is None else (corpus,)
