"""Every error that this package raises on purpose.

    E2GError
    ├── ConfigurationError      a setting is missing, contradictory or out of range
    │   └── PipelineError       the spaCy pipeline is missing or does not fit the installed spaCy
    ├── InputError              something handed in cannot be used
    │   ├── ReadingError        a file is missing, empty, binary, too large or holds no text
    │   ├── ArchiveError        an exported corpus is damaged, incomplete or something else
    │   ├── QueryError          a question, k, h or mode is out of range
    │   ├── AdoptedCorpusError  the corpus was adopted, not indexed
    │   ├── CorpusChangedError  others changed the corpus all the time
    │   ├── IdempotencyError    the key of idempotency was used for another request
    │   └── TaskStateError      the task is in a state that does not allow it
    ├── NotFoundError           the database does not hold it
    │   ├── CorpusNotFoundError, DocumentNotFoundError
    │   └── AliasNotFoundError  the name resolves to no other entity
    ├── DatabaseError           Neo4j refused or failed
    │   ├── UnreachableError    no server at the address
    │   ├── AccessError         wrong password, or missing privileges
    │   ├── MigrationError      the schema is not what the migrations say
    │   └── FingerprintError    the index was made with another embedding model or spaCy pipeline
    │       └── OutdatedDocumentError   an earlier version stored too little of the document
    ├── LocalServerError        the managed Neo4j could not be fetched, started or stopped
    ├── ModelError              an embedding or chat model failed
    │   └── UnusableReplyError  the chat model's replies to a question have no text, or name no option
    └── BudgetError             the tokens that a run may cost are spent

A message says what happened, to what, and the next step. Those about errors of Neo4j and its driver are in
`runtime/database.py`.
"""

import re


class E2GError(Exception):
    """Root of every error that this package raises on purpose.

    `exit_code` is what the command line returns for this kind of error.
    """

    exit_code = 1

    @classmethod
    def code(cls) -> str:
        """Return the name of this kind of error in the service, such as `corpus_not_found`."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__.removesuffix("Error")).lower()


INCOMPLETE = 14
"""The exit code of commands that indexed some documents and could not read others."""


class ConfigurationError(E2GError):
    exit_code = 3


class PipelineError(ConfigurationError):
    pass


class InputError(E2GError):
    exit_code = 4


class ReadingError(InputError):
    pass


class ArchiveError(InputError):
    pass


class QueryError(InputError):
    pass


class IdempotencyError(InputError):
    pass


class TaskStateError(InputError):
    pass


class NotFoundError(E2GError):
    exit_code = 5


class DatabaseError(E2GError):
    exit_code = 6


class UnreachableError(DatabaseError):
    exit_code = 7


class AccessError(DatabaseError):
    exit_code = 8


class MigrationError(DatabaseError):
    exit_code = 9


class FingerprintError(DatabaseError):
    exit_code = 10


class LocalServerError(E2GError):
    exit_code = 11


class ModelError(E2GError):
    exit_code = 12


class UnusableReplyError(ModelError):
    pass


class BudgetError(E2GError):
    exit_code = 13


class CorpusNotFoundError(NotFoundError):
    """The corpus holds no document."""

    def __init__(self, corpus: str) -> None:
        self.corpus = corpus
        super().__init__(
            f"The corpus {corpus!r} holds no document: index some with `e2g index PATH --corpus NAME`, or list the "
            "corpora with `e2g corpora`."
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
            f"The corpus {corpus!r} holds no {found}: list its documents with `e2g documents --corpus NAME --json`."
            + (" Nothing was deleted." if deleting else "")
        )


class AliasNotFoundError(NotFoundError):
    """The name resolves to no other entity and is not kept apart."""

    def __init__(self, name: str, corpus: str) -> None:
        super().__init__(
            f"The name {name!r} resolves to no other entity in the corpus {corpus!r}, and is not kept apart: list what "
            "was merged with `e2g entities --merges --corpus NAME`. Nothing was changed."
        )


class EntityNotFoundError(NotFoundError):
    """No entity has this name."""

    def __init__(self, name: str, corpus: str) -> None:
        super().__init__(
            f"No entity of the corpus {corpus!r} has the name {name!r}: list names with `e2g entities PART --corpus "
            "NAME`. Nothing was changed."
        )


class CorpusChangedError(InputError):
    """Others changed the corpus whenever a layer of it was made.

    Args:
        corpus: the corpus.
        attempts: how often it was tried.
        what: what was done, such as "its communities were made".
        layer: the name of the layer.
    """

    def __init__(self, corpus: str, attempts: int, what: str, layer: str) -> None:
        super().__init__(
            f"The corpus {corpus!r} was changed {attempts} times while {what}. Run `e2g enrich --with {layer} --corpus "
            f"{corpus}` when nothing is being indexed into it."
        )


class AdoptedCorpusError(InputError):
    """The corpus was adopted, and the call is for corpora that were indexed."""

    def __init__(self, corpus: str, instead: str) -> None:
        super().__init__(f"The corpus {corpus!r} was made by `e2g adopt` from your own text nodes: {instead}.")


class OutdatedDocumentError(FingerprintError):
    """An earlier version indexed the document and stored too little of it."""

    def __init__(self, document: str, corpus: str) -> None:
        super().__init__(
            f"The document {document!r} of the corpus {corpus!r} was indexed by an earlier version, which stored too "
            "little of it: delete it, and index it again. Nothing was changed."
        )
