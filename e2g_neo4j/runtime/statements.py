"""Load the statements in `cypher/`: one statement per file, a header of `//` lines, parameters only."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from e2g_neo4j.errors import ConfigurationError

ALL_DOCUMENTS = {"documents": None, "overfetch": 5}
"""With these parameters, statements in `cypher/filtered/` search all documents of a corpus. Servers without the SEARCH
clause cannot search an index for one corpus, so they are asked for five times as many nodes as are needed."""

_PACKAGE = Path(__file__).resolve().parent.parent


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
def load(name: str) -> str:
    """Load the statement in `cypher/<name>.cypher`, or in `<name>.cypher` if the name is an absolute path, without its
    header.

    Raises:
        ConfigurationError: The file does not exist.
    """
    path = folder("cypher") / f"{name}.cypher"
    if not path.is_file():
        step = "add the file" if Path(name).is_absolute() else "reinstall e2g-neo4j"
        raise ConfigurationError(f"The statement {path.name} is missing in {path.parent}: {step}.")
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("//")).strip()


@cache
def for_server(name: str, before_search: bool) -> str:
    """Return the name of the statement to run. Servers without the SEARCH clause use the one of the same name in
    `cypher/lts/`, if it exists; else, for one in `cypher/query/`, that in `cypher/filtered/`, if it exists."""
    variants = [f"lts/{name}", name.replace("query/", "filtered/")] if before_search else []
    return next((one for one in variants if (folder("cypher") / f"{one}.cypher").is_file()), name)


def on_server(name: str, parameters: dict[str, Any], before_search: bool) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of the statement to run for a read."""
    variant = for_server(name, before_search)
    added = ALL_DOCUMENTS if variant != name and variant.startswith("filtered/") else {}
    return variant, {**parameters, **added}
