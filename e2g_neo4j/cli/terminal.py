"""Text of documents, names and servers on its way to a terminal."""

from __future__ import annotations

import re

from rich import markup

_NEW_LINES = re.compile(r"\r\n|[\r\v\f]")
_CONTROLS = re.compile(  # C0 but tab and line feed, DEL, C1; marks that turn the direction of writing
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


def neutral(text: str) -> str:
    """The text without power over a terminal: control characters are spelt out, such as `\\u001b`.

    rich strips five of them (`rich.control.strip_control_codes`), and ESC, C1 and the bidi overrides are not among
    these. Cypher and JSON read the spelling as the character itself.
    """
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", _NEW_LINES.sub("\n", text))


def escape(text: str) -> str:
    """`neutral`, and without power over rich: brackets are no markup."""
    return markup.escape(neutral(text))
