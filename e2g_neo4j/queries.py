"""The only reader of `cypher/`: one statement a file, a header of `//` lines, parameters only."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from e2g_neo4j.errors import ConfigurationError

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
