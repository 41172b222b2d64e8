"""Load the statements in `cypher/`: one statement per file, a header of `//` lines, parameters only.

A line `// include: NAME` stands for the text of a fragment, `cypher/fragments/NAME.cypher`, which may include others.
The header of a fragment names its parameters (`$name`), the variables that it reads (`←`) and those that it adds (`→`),
or says that it is an expression (`=`). The line may rename parameters: `// include: nearest_windows, $limit for $many`.
Where servers or filters need another text, it has the same name in `fragments/filtered/` or `fragments/lts/`.

Vectors of the first embedding model of a database are in the property `embedding` and in indexes such as
`e2g_window_embedding`. Those of another model have the same names with a suffix, which `load` adds, and so have the
properties `sentence_vectors` of chunks and `embedded_name` of entities. While a corpus is reindexed, its nodes have the
vectors of two models. The full-text indexes of other languages than English have the analyzer as a suffix, and so have
the properties that they hold, such as `fulltext_german`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.types.languages import ANALYZERS

_PACKAGE = Path(__file__).resolve().parent.parent

_INCLUDE = re.compile(r"^( *)// include: (\w+)((?:, \$\w+ for \$\w+)*)(\n|\Z)", re.MULTILINE)

_VECTORS = re.compile(
    r"\be2g_(?:[a-z]+_)?embedding\b|'embedding(?=')"
    r"|(?<!\brow)(?<!\bcorpus)\.(?:embedding|embedded_name|sentence_vectors)\b"
)
"""Where a statement or a migration names an index of vectors or a property with vectors: not of `row`, which is of
parameters, nor of `corpus`, which says up to which revision there are any."""

_WORDS = re.compile(r"\be2g_(?:chunk|window)_words\b|(?<=\b[a-z]\.)fulltext(?:_corpus)?\b")
"""Where a statement names a full-text index, or a property that those with a suffix hold."""

_SUFFIX = re.compile(rf"(_[0-9a-f]{{8}})?({'|'.join(ANALYZERS)})?")

_CYPHER_25 = "CYPHER 25\n"
"""Selects the language of a statement. A fragment that needs it begins with it."""


class Variant(Enum):
    """What a statement is composed for. Its value: the folders in which a fragment is looked up, in this order."""

    SEARCH = ("",)
    """All documents, with the SEARCH clause."""

    FILTERED = ("filtered/", "")
    """Only the documents of a filter, on any server: no index knows them."""

    LTS = ("lts/", "filtered/", "")
    """All documents, on 5.26, which does not know the SEARCH clause."""


def variant_for(parameters: Mapping[str, Any], before_search: bool) -> Variant:
    """Return the variant for the parameters of a read. `before_search`: the server does not know the SEARCH clause."""
    if parameters.get("documents") is not None:
        return Variant.FILTERED
    return Variant.LTS if before_search else Variant.SEARCH


@cache
def folder(name: str) -> Path:
    """Return the folder `cypher` or `migrations`: inside the installed package, or one level up in a checkout.

    Raises:
        ConfigurationError: The folder does not exist.
    """
    for place in (_PACKAGE / name, _PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise ConfigurationError(f"The folder {name}/ is missing from the installation: reinstall e2g-neo4j.")


@cache
def load(name: str, variant: Variant = Variant.SEARCH, vectors: str = "") -> str:
    """Compose the statement in `cypher/<name>.cypher`, without its header. An absolute path names a file elsewhere.

    Args:
        variant: What it is composed for.
        vectors: The suffix of the indexes that it uses.

    Raises:
        ConfigurationError: The file, or a fragment that it includes, does not exist.
    """
    text = with_suffix(_INCLUDE.sub(lambda line: _fragment(line, variant), _split(name)[1]), vectors)
    return _CYPHER_25 + text.replace(_CYPHER_25, "") if _CYPHER_25 in text else text


def with_suffix(text: str, vectors: str) -> str:
    """Return a statement that uses the indexes with a suffix, see `split_suffix`.

    Raises:
        ConfigurationError: There is no such suffix.
    """
    of_vectors, of_words = split_suffix(vectors)
    if of_vectors:
        text = _VECTORS.sub(lambda found: found[0] + of_vectors, text)
    return _WORDS.sub(lambda found: found[0] + of_words, text) if of_words else text


def split_suffix(suffix: str) -> tuple[str, str]:
    """Return the parts of a suffix of indexes: `_` and eight hexadecimal digits for vectors, and one of `ANALYZERS` for
    words. Each may be empty.

    Raises:
        ConfigurationError: It is something else.
    """
    found = _SUFFIX.fullmatch(suffix)
    if found is None:
        raise ConfigurationError(f"{suffix!r} is no suffix of indexes: the record of a corpus' models was changed.")
    return found[1] or "", found[2] or ""


def header(name: str) -> str:
    """Return the header of a statement or of a fragment: purpose, parameters and columns.

    Raises:
        ConfigurationError: The file does not exist.
    """
    return _split(name)[0]


def statement_names() -> list[str]:
    """Return the names of all statements that `load` knows, in alphabetical order."""
    place = folder("cypher")
    names = (str(path.relative_to(place).with_suffix("")) for path in place.rglob("*.cypher"))
    return sorted(name for name in names if not name.startswith("fragments/"))


def _fragment(line: re.Match[str], variant: Variant) -> str:
    """Return the text of the fragment that a line includes, indented as the line is."""
    spaces, name, renamed, end = line.groups()
    places = (f"fragments/{place}{name}" for place in variant.value)
    found = next((place for place in places if _path(place).is_file()), f"fragments/{name}")
    given = {old: new for new, old in re.findall(r"\$(\w+) for \$(\w+)", renamed)}
    text = _INCLUDE.sub(lambda line: _fragment(line, variant), _split(found)[1])
    text = re.sub(r"\$(\w+)", lambda parameter: f"${given.get(parameter[1], parameter[1])}", text)
    language = _CYPHER_25 if _CYPHER_25 in text else ""
    return language + indent(text.replace(_CYPHER_25, ""), spaces) + end if text else ""


@cache
def _split(name: str) -> tuple[str, str]:
    """Return the header and the text of a file, without the comments in it that include nothing."""
    path = _path(name)
    if not path.is_file():
        step = "add the file" if Path(name).is_absolute() else "reinstall e2g-neo4j"
        raise ConfigurationError(f"The statement {path.name} is missing in {path.parent}: {step}.")
    comments: list[str] = []
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        comment = line.lstrip().startswith("//") and not _INCLUDE.match(line)
        if not comment or not lines:
            (comments if comment else lines).append(line)
    return "\n".join(comments), "\n".join(lines).strip()


def _path(name: str) -> Path:
    return folder("cypher") / f"{name}.cypher"
