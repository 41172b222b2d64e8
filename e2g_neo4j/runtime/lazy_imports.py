"""Packages of extras, and installed packages that others import although they are not needed here."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import metadata, util
from pathlib import Path

from e2g_neo4j.errors import ConfigurationError

_PROJECT = Path(__file__).resolve().parents[2]
"""The clone, if this is one."""


@contextmanager
def hide_module(module: str) -> Iterator[None]:
    """Make imports of a module fail, unless it has been imported."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]


@contextmanager
def needs(what: str, extra: str, otherwise: str = "") -> Iterator[None]:
    """Import packages of an extra. All optional imports are made within this.

    Args:
        what: What needs them, as the beginning of a message: "A PDF file".
        otherwise: What else helps, as the end of the message.

    Raises:
        ConfigurationError: A package is not installed. The message names the command that installs it.
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").startswith("e2g_neo4j"):
            raise
        package = error.name.partition(".")[0] if error.name else str(error)
        raise ConfigurationError(
            f"{what} needs {package}, which is not installed: run `{pip_install(*requirements(extra))}`"
            f"{otherwise and f', {otherwise}'}."
        ) from error


def pip_install(*arguments: str) -> str:
    """Return the command that installs packages for the interpreter that runs."""
    pip = (sys.executable, "-m", "pip", "install")  # an environment without pip was made by uv
    return shlex.join([*(pip if util.find_spec("pip") else ("uv", *pip[2:], "--python", pip[0])), *arguments])


def requirements(extra: str) -> list[str]:
    """Return the arguments of pip that install one or several extras: from the clone, or else each package, since no
    index has this one."""
    if (_PROJECT / "pyproject.toml").is_file():
        return ["-e", f"{_PROJECT}[{extra}]"]
    named = re.compile(rf"(?:; | and )extra == ['\"](?:{extra.replace(',', '|')})['\"]")
    return [named.sub("", one) for one in metadata.requires("e2g-neo4j") or () if named.search(one)]


_spacy_needs_torch = True


def leave_out_torch() -> None:
    """Make `import_spacy` leave out torch. Only processes of this program call this: it cannot be undone once spaCy is
    imported."""
    global _spacy_needs_torch
    _spacy_needs_torch = False


def import_spacy() -> None:
    """Import spaCy. It imports torch, which takes more than a second and is only needed for transformers, unless
    `leave_out_torch` was called."""
    with nullcontext() if _spacy_needs_torch else hide_module("torch"):
        import spacy  # noqa: F401
