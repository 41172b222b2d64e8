"""Files that commands write their results to."""

from __future__ import annotations

from pathlib import Path

from e2g_neo4j.errors import InputError


def check_file(file: Path, option: str, *, overwrite: bool = False) -> None:
    """Refuse a file that exists or cannot be written, before the work starts.

    Args:
        file: The file.
        option: The option that names it.
        overwrite: Whether the file may exist.

    Raises:
        InputError: The file is a folder, its own folder does not exist, or it exists although it must not.
    """
    try:
        if file.is_dir():
            raise InputError(f"{file} is a folder: pass a file with {option}.")
        if file.exists() and not overwrite:
            raise InputError(f"{file} exists already. Choose another file, or pass --overwrite.")
        if not file.absolute().parent.is_dir():
            raise InputError(f"The folder of {file} does not exist: create it, or pass another file with {option}.")
    except OSError as error:  # for example, the name is too long
        raise _cannot_write(file, error, option) from error


def write_file(file: Path, text: str, option: str, *, overwrite: bool = False) -> None:
    """Write a text to a file.

    Args:
        file: The file.
        text: The text.
        option: The option that names the file.
        overwrite: Whether the file may exist.

    Raises:
        InputError: The file cannot be written.
    """
    try:
        with file.open("w" if overwrite else "x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise _cannot_write(file, error, option) from error


def _cannot_write(file: Path, error: OSError, option: str) -> InputError:
    return InputError(f"Cannot write {file} ({error.strerror}): pass another file with {option}.")
