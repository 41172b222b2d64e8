"""Prompts: files of their own, and the fence around text that comes from documents."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from string import Template

from e2g_neo4j.errors import ConfigurationError

_BUNDLED = Path(__file__).with_name("prompts")


def load_prompt(name: str, folder: Path | None = None) -> str:
    """The prompt `<name>.txt` of a folder, or the bundled one where the folder has none.

    Raises ConfigurationError where the folder or the file cannot be read.
    """
    if folder is not None and not folder.is_dir():
        raise ConfigurationError(f"E2G_PROMPTS {str(folder)!r} is no folder: create it, or unset E2G_PROMPTS.")
    own = folder / f"{name}.txt" if folder else None
    path = own if own is not None and own.exists() else _BUNDLED / f"{name}.txt"
    try:
        return path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The prompt {path} cannot be read ({error}): it is a text file in UTF-8.") from error


def filled(prompt: str, **values: object) -> str:
    """The prompt with its $names replaced. Raises ConfigurationError for a name that there is no value for."""
    try:
        return Template(prompt).substitute({name: str(value) for name, value in values.items()})
    except (KeyError, ValueError) as error:
        known = ", ".join(f"${name}" for name in values)
        raise ConfigurationError(
            f"A prompt cannot be filled in ({error}): it may use {known}, and writes a dollar sign as $$."
        ) from error


def fence_for(text: str) -> str:
    """The name of the marks around a text. Made of the text's hash, so that the text cannot hold it by intent."""
    salt = 0
    while (fence := "text-" + sha256(f"{salt}{text}".encode()).hexdigest()[:16]) in text:
        salt += 1
    return fence


def fenced(text: str, fence: str) -> str:
    return f"<{fence}>\n{text}\n</{fence}>"
