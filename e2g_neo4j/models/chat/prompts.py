"""Load prompt files, delimit text that comes from documents, and make requests about it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from string import Template

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.types.chat import ChatReply, ChatRequest


def load_prompt(bundled: Path, folder: Path | None = None) -> str:
    """Return the text of a prompt.

    Args:
        folder: A folder with the user's prompts. A file of the same name replaces the bundled one.

    Raises:
        ConfigurationError: The folder or the file cannot be read.
    """
    if folder is not None and not folder.is_dir():
        raise ConfigurationError(f"E2G_PROMPTS {str(folder)!r} is not a folder: create it, or unset E2G_PROMPTS.")
    own = folder / bundled.name if folder else None
    path = own if own is not None and own.exists() else bundled
    try:
        return path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"Cannot read the prompt {path} ({error}): it must be a UTF-8 text file.") from error


def fill_prompt(prompt: str, **values: object) -> str:
    """Replace the $names in a prompt.

    Raises:
        ConfigurationError: A name has no value.
    """
    try:
        return Template(prompt).substitute({name: str(value) for name, value in values.items()})
    except (KeyError, ValueError) as error:
        known = ", ".join(f"${name}" for name in values)
        raise ConfigurationError(
            f"Cannot fill in a prompt ({error}): it may use {known}; write a dollar sign as $$."
        ) from error


def delimiter_for(text: str) -> str:
    """Return a tag name to delimit a text. It is derived from a hash of the text, so that the text cannot forge it."""
    salt = 0
    while (delimiter := "text-" + sha256(f"{salt}{text}".encode()).hexdigest()[:16]) in text:
        salt += 1
    return delimiter


def delimit(text: str, delimiter: str) -> str:
    """Wrap a text in a pair of tags."""
    return f"<{delimiter}>\n{text}\n</{delimiter}>"


def fence(instructions: str, text: str, **values: object) -> tuple[str, str]:
    """Return instructions that name the tags of a text as $fence, and the text between them.

    Args:
        values: What other $names in the instructions are replaced with.
    """
    delimiter = delimiter_for(text)
    return fill_prompt(instructions, fence=delimiter, **values), delimit(text, delimiter)


def text_request(
    text: str, instructions: str, *, retry: str, tokens: int, attempt: int = 0, **values: object
) -> ChatRequest:
    """Build the request about a text. Each further one has another seed.

    Args:
        instructions: The system prompt. $fence is the tag of the text.
        retry: What is added after an unusable reply, such as the reason.
        tokens: The expected length of the reply. It may be twice as long.
        attempt: Number of the attempt, from 0.
        values: What other $names in the instructions are replaced with.
    """
    system, user = fence(instructions, text, **values)
    return ChatRequest(
        system,
        f"{user}\n\n{retry}" if attempt else user,
        max_tokens=2 * tokens,
        temperature=0.7 if attempt else 0.0,
        seed=attempt,
    )


def fault_of_empty(reply: ChatReply) -> str:
    """Return why a reply without text is not usable."""
    thought = reply.thinking or reply.text.strip()
    return "it returned no text but only its thinking" if thought else "it returned no text"
