"""Everything this package raises on purpose.

    E2GError
    ├── ConfigurationError      a setting is missing, contradictory or out of range
    │   └── PipelineError       the spaCy pipeline is missing or does not fit the installed spaCy
    ├── InputError              something handed in cannot be used
    │   ├── ReadingError        a file is missing, empty, binary, too large or holds no text
    │   ├── ArchiveError        an exported corpus is damaged, incomplete or something else
    │   └── QueryError          a question, k, h or mode is out of range
    ├── NotFoundError           a corpus or document that the database does not hold
    ├── DatabaseError           Neo4j said no
    │   ├── UnreachableError    no server answers at the address
    │   ├── AccessError         wrong password, or rights that do not suffice
    │   ├── MigrationError      the schema is not what the migrations say
    │   └── FingerprintError    the index was made with another embedding model or spaCy pipeline
    ├── LocalServerError        the managed Neo4j could not be fetched, started or stopped
    ├── ModelError              an embedding or chat model failed
    └── BudgetError             the tokens that a run may cost are spent

A message says what happened, to what, and the next step.
"""


class E2GError(Exception):
    """Root of every error that this package raises on purpose.

    `exit_code` is what the command line returns for this kind of error.
    """

    exit_code = 1


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


class BudgetError(E2GError):
    exit_code = 13


def no_document(target: str, corpus: str) -> NotFoundError:
    return NotFoundError(
        f"The corpus {corpus!r} holds no document {target!r}, neither by id, file or folder nor by title: list what "
        "there is with `e2g documents --corpus NAME --json`. Nothing was deleted."
    )


def is_adopted(corpus: str, instead: str) -> InputError:
    return InputError(
        f"The corpus {corpus!r} was made by `e2g adopt`, of text nodes that belong to somebody else: {instead}."
    )


def no_alias(name: str, corpus: str) -> NotFoundError:
    return NotFoundError(
        f"The name {name!r} stands for no other in the corpus {corpus!r}, and is not kept apart: list what was "
        "merged with `e2g entities --merges --corpus NAME`. Nothing was changed."
    )


def no_notes(document: str, corpus: str) -> FingerprintError:
    return FingerprintError(
        f"The document {document!r} of the corpus {corpus!r} was indexed by an earlier version of this program, which "
        "kept too little of it: delete it, and index it again. Nothing was changed."
    )


def no_corpus(corpus: str) -> NotFoundError:
    return NotFoundError(
        f"The corpus {corpus!r} holds no document: index some with `e2g index PATH --corpus NAME`, or list what there "
        "is with `e2g corpora`."
    )
