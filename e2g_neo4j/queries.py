"""The only reader of `cypher/` (one statement a file, a header of `//` lines, parameters only), and the
requests that the program's stories make of whoever drives them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from e2g_neo4j.chat.chatting import ChatModel, ChatRequest
from e2g_neo4j.errors import ConfigurationError

T = TypeVar("T")
_PACKAGE = Path(__file__).resolve().parent


@cache
def folder(name: str) -> Path:
    """The folder `cypher` or `migrations`: inside the package when installed, one level up in a checkout.

    Raises ConfigurationError when it is in neither place.
    """
    for place in (_PACKAGE / name, _PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise ConfigurationError(
        f"The folder {name}/ is neither in the package nor beside it: reinstall e2g-neo4j, its files are incomplete."
    )


@cache
def load(name: str) -> str:
    """The statement in `cypher/<name>.cypher`, its header left out.

    Raises ConfigurationError when there is no such file.
    """
    path = folder("cypher") / f"{name}.cypher"
    if not path.is_file():
        raise ConfigurationError(f"No statement {name}.cypher in {path.parent}: reinstall e2g-neo4j.")
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("//")).strip()


@cache
def for_server(name: str, before_search: bool) -> str:
    """The statement to run: on a server that is older than the SEARCH clause, the one in `cypher/lts/` of the same name
    stands in, where there is one."""
    stand_in = f"lts/{name}"
    return stand_in if before_search and (folder("cypher") / f"{stand_in}.cypher").is_file() else name


def corpus_key(corpus: str) -> str:
    """One word that stands for a corpus in the full-text indexes, whose analyser would take its name apart."""
    return f"c{sha256(corpus.encode('utf-8')).hexdigest()[:20]}x"


@dataclass(frozen=True, slots=True)
class Read:
    """One statement to be read, one round trip; answered by its rows."""

    statement: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Write:
    """Statements to be written in one transaction, all or none; answered by the rows of its condition.

    The condition is a statement that comes first in the transaction: where it gives no row, nothing is written.
    """

    statements: tuple[tuple[str, dict[str, Any]], ...]
    condition: tuple[str, dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Embed:
    """A question to be embedded; answered by its vector, a list of floats."""

    text: str


@dataclass(frozen=True, slots=True)
class Chat:
    """A question to a chat model; answered by its `ChatReply`. `passages`: how many it may cite."""

    model: ChatModel
    request: ChatRequest
    passages: int


Rows: TypeAlias = list[dict[str, Any]]
Perform: TypeAlias = Callable[[Read | Write], Rows]
"""Does one request to the database; may be called from any thread."""

Story: TypeAlias = Generator[Read | Write | Embed | Chat, Any, T]
"""What index() and retrieve() are: generators that ask for I/O and receive its answer, so that the sync and
the async client can drive the same code."""


def read_each(statement: str, asked: Mapping[str, Mapping[str, Any]]) -> Story[Rows]:
    """One read in each corpus, with parameters of its own; every row says its corpus. No statement that a question
    asks looks at two corpora, so that one which spans several crosses no wall that its caller did not open."""
    found: Rows = []
    for corpus, parameters in asked.items():
        rows: Rows = yield Read(statement, {"corpus": corpus, **parameters})
        found += [{**row, "corpus": corpus} for row in rows]
    return found
