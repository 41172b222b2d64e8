"""Make text from documents and servers safe to print on a terminal."""

from __future__ import annotations

import re

from rich import markup

_NEW_LINES = re.compile(r"\r\n|[\r\v\f]")
_CONTROLS = re.compile(  # C0 except tab and line feed, DEL, C1; bidirectional controls
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


def neutral(text: str) -> str:
    """Escape control characters, for example as `\\u001b`, so that the text cannot control a terminal.

    rich strips only five of them (`rich.control.strip_control_codes`), but not ESC, C1 and bidirectional overrides.
    Cypher and JSON read the escape as the character.
    """
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", _NEW_LINES.sub("\n", text))


def escape(text: str) -> str:
    """Escape control characters and the markup of rich."""
    return markup.escape(neutral(text))
