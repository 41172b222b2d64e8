"""Ids and keys of documents and corpora."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from unicodedata import category, normalize

from e2g_neo4j.errors import InputError, QueryError, ReadingError


def corpus_key(corpus: str) -> str:
    """Return a single word for a corpus in the full-text indexes, whose analyser would split the name itself."""
    return f"c{sha256(corpus.encode('utf-8')).hexdigest()[:20]}x"


HIDDEN_LABELS = frozenset(
    [
        *("E2GBlob", "E2GConversation", "E2GIndex", "E2GKey", "E2GLinkedNames"),
        *("E2GLock", "E2GQueue", "E2GRetired", "E2GRun", "E2GTask", "E2GTaskStep", "E2GUsage", "CachedSummary"),
        *("StagedChunk", "StagedCluster", "StagedCommunity", "StagedStatement", "StagedSummary"),
        *("StagedWindow", "OutdatedCluster", "OutdatedCommunity", "UncountedChunk", "UnlinkedChunk"),
        *("__Neo4jMigration", "__Neo4jMigrationsLock"),
    ]
)
"""Labels of what is not published, or belongs to the service, to the cache of summaries or to the migrations."""

OWN_TYPES = frozenset(
    [
        *("ALIAS_OF", "CHILD_OF", "CO_OCCURS", "FROM_CHUNK", "FROM_DOCUMENT", "IN_CLUSTER", "IN_COMMUNITY"),
        *("MIGRATED_TO", "NEXT_CHUNK", "OBJECT", "PARENT", "PART_OF", "QUOTES", "REFERS_TO", "REPEATED"),
        *("STANDS_FOR", "STATED_IN", "SUBJECT"),
    ]
)
"""Relationship types of this project."""


def check_users_label(label: str) -> None:
    """Raise InputError if a label is not one of the user's graph."""
    if label in HIDDEN_LABELS:
        raise InputError(
            f"The label {label!r} is one of e2g-neo4j itself, or of its migrations. Name a label of your own graph."
        )


def document_id(corpus: str, source: str) -> str:
    """Return the id of a document, 16 hexadecimal digits, from its corpus and source."""
    return sha256(json.dumps([corpus, source]).encode()).hexdigest()[:16]


def cache_key(corpus: str, key: str = "") -> str:
    """Return the key under which a reply of a chat model is stored for a corpus; without a key, what all keys of the
    corpus begin with. A corpus never reads the replies of another one, whoever wrote them."""
    return f"{corpus_key(corpus)}-{key}"


def addition_key(corpus: str, text_sha256: str = "") -> str:
    """Return the key under which what graph documents say about a text is kept; without a text, what all keys of the
    corpus begin with."""
    return cache_key(corpus, f"added-{text_sha256}")


def utf8(text: str, what: str) -> bytes:
    """Encode a text.

    Args:
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


_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]",
)
"""Letters and marks that have no shape of their own, of Unicode's property Default_Ignorable_Code_Point."""


def check_corpus_name(corpus: str) -> None:
    """Raise InputError if a new corpus cannot have a name.

    A name has letters and digits of any script, spaces, and `-`, `_` and `.`. It begins with a letter, a digit or `_`,
    and does not end with a space. So it is one part of an address, no option of a command and no pattern of a key, and
    has no sign that cannot be seen.
    """
    if not corpus.strip():
        raise InputError("The name of the corpus is empty. Choose a name, for example `--corpus novels`.")
    if len(utf8(corpus, "The name of the corpus")) > LONGEST_CORPUS_NAME:
        raise InputError(f"The name of the corpus has more than {LONGEST_CORPUS_NAME} bytes. Choose a shorter one.")
    if not _is_name(corpus):
        raise InputError(
            f"A corpus cannot be named {corpus!r}: a name has letters, digits, spaces, '-', '_' and '.', begins with a "
            f"letter, a digit or '_', and does not end with a space. Choose another, for "
            f"example {_similar_name(corpus)!r}."
        )


def _is_name(text: str) -> bool:
    begins, ends = text[0] not in "-. ", not text.endswith(" ")
    return begins and ends and text == normalize("NFC", text) and all(map(_in_names, text))


def _similar_name(text: str) -> str:
    signs = "".join(sign if _in_names(sign) else "-" for sign in normalize("NFC", text))
    return re.sub("-+", "-", signs).strip("-. ") or "novels"


def _in_names(sign: str) -> bool:
    return sign in " -_." or (category(sign)[0] in "LMN" and not _UNSEEN.match(sign))


def has_address(corpus: str) -> bool:
    """Return whether the service has addresses for a corpus of this name.

    `/` separates the parts of an address, also where it was sent as %2F, and clients resolve `.` and `..`.
    """
    return "/" not in corpus and corpus not in (".", "..")


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
