"""Every deliberate error. The exit code of its class says who has to act.

A message says what happened, to what, and the next step. Those about errors of Neo4j and its driver are in
`runtime/database.py`.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from shlex import quote


class E2GError(Exception):
    """The root of all deliberate errors. Read the message.

    `exit_code` is what the command line returns for this kind of error.
    """

    exit_code = 1

    @classmethod
    def code(cls) -> str:
        """Return the name of this kind of error in the service, such as `corpus_not_found`."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__.removesuffix("Error")).lower()


INCOMPLETE = 14
"""The exit code of commands that indexed some documents and could not read others."""


WORSE = 15
"""The exit code of an evaluation in which the mean of a score is lower than it was before."""


class ConfigurationError(E2GError):
    """A setting is missing, contradictory or out of range. Correct the setting that the message names."""

    exit_code = 3


class PipelineError(ConfigurationError):
    """The spaCy pipeline is missing, or does not fit the installed spaCy. Install another one."""


class InputError(E2GError):
    """Something that was passed in cannot be used. Correct it."""

    exit_code = 4


class ReadingError(InputError):
    """A file is missing, empty, binary, too large or has no text."""


class ArchiveError(InputError):
    """An archive is damaged, incomplete, forged, or no archive."""


class QueryError(InputError):
    """A question or one of its options is out of range."""


class IdempotencyError(InputError):
    """The idempotency key was used for another request."""


class TaskStateError(InputError):
    """The state of the task does not allow the call."""


class NotFoundError(E2GError):
    """The database does not have it. List what exists with `e2g corpora` and `e2g documents`."""

    exit_code = 5


class DatabaseError(E2GError):
    """Neo4j refused or failed. The message contains Neo4j's message."""

    exit_code = 6


class UnreachableError(DatabaseError):
    """No server answers at the address. Check `NEO4J_URI` and the server."""

    exit_code = 7


class AccessError(DatabaseError):
    """The user name or password is wrong, or privileges are missing."""

    exit_code = 8


class MigrationError(DatabaseError):
    """The schema is not that of the migrations. `e2g doctor` says how."""

    exit_code = 9


class FingerprintError(DatabaseError):
    """The index was made with another embedding model or spaCy pipeline. Use the models of the index, or another
    database."""

    exit_code = 10


class LocalServerError(E2GError):
    """The managed Neo4j could not be downloaded, started or stopped. Read `e2g db logs`."""

    exit_code = 11


class ModelError(E2GError):
    """An embedding or chat model failed. Check the model and its server."""

    exit_code = 12


class UnusableReplyError(ModelError):
    """The chat model's replies have no text, or name no option."""


class BudgetError(E2GError):
    """The token budget of the run is spent. Run again with a larger one; nothing is paid for twice."""

    exit_code = 13


class CorpusNotFoundError(NotFoundError):
    """The corpus holds no document."""

    def __init__(self, corpus: str) -> None:
        self.corpus = corpus
        super().__init__(
            f"The corpus {corpus!r} holds no document: index some with `e2g index PATH --corpus {quote(corpus)}`, or "
            "list the corpora with `e2g corpora`."
        )


class DocumentNotFoundError(NotFoundError):
    """The corpus does not hold this document.

    Args:
        target: the document.
        corpus: the corpus.
        deleting: whether it was looked up, by id, file, folder or title, to delete it.
        named: whether it was looked up by id, file or title. Otherwise, by id only.
    """

    def __init__(self, target: str, corpus: str, *, deleting: bool = False, named: bool = False) -> None:
        found = f"document with the id {target!r}"
        if deleting or named:
            ways = "by id, file or folder" if deleting else "by id or file"
            found = f"document {target!r}, neither {ways} nor by title"
        super().__init__(
            f"The corpus {corpus!r} holds no {found}: list its documents with `e2g documents --corpus {quote(corpus)} "
            "--json`." + (" Nothing was deleted." if deleting else "")
        )


class AliasNotFoundError(NotFoundError):
    """The name resolves to no other entity and is not kept apart."""

    def __init__(self, name: str, corpus: str) -> None:
        super().__init__(
            f"The name {name!r} resolves to no other entity in the corpus {corpus!r}, and is not kept apart: list what "
            f"was merged with `e2g entities --merges --corpus {quote(corpus)}`. Nothing was changed."
        )


class EntityNotFoundError(NotFoundError):
    """No entity has this name."""

    def __init__(self, name: str, corpus: str) -> None:
        super().__init__(
            f"No entity of the corpus {corpus!r} has the name {name!r}: list names with `e2g entities PART --corpus "
            f"{quote(corpus)}`. Nothing was changed."
        )


class NameNotInDocumentError(NotFoundError):
    """A document does not mention a name."""

    def __init__(self, name: str, title: str, corpus: str) -> None:
        super().__init__(
            f"The document {title!r} does not mention {name!r}: find where it occurs with `e2g query {quote(name)} "
            f"--mode fulltext --corpus {quote(corpus)}`. Nothing was changed."
        )


class CorpusChangedError(InputError):
    """The corpus kept changing while a layer of it was made. Run `e2g enrich` when nothing is being indexed.

    Args:
        corpus: the corpus.
        attempts: how often it was tried.
        what: what was done, such as "its communities were made".
        layer: the name of the layer; empty: a question was asked.
    """

    def __init__(self, corpus: str, attempts: int, what: str, layer: str = "") -> None:
        again = f"Run `e2g enrich --with {layer} --corpus {quote(corpus)}`" if layer else "Ask again"
        super().__init__(
            f"The corpus {corpus!r} was changed {attempts} times while {what}. {again} when nothing is being indexed "
            "into it."
        )


class AdoptedCorpusError(InputError):
    """The corpus was adopted, and the call is for corpora that were indexed."""

    def __init__(self, corpus: str, instead: str) -> None:
        super().__init__(f"The corpus {corpus!r} was adopted from your own text nodes: {instead}.")


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a question such as ` Did you mean 'novels'?`, or an empty text if no name is close."""
    by_folded = {one.casefold(): one for one in names}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return f" Did you mean {by_folded[near[0]]!r}?" if near else ""
