"""The style of the graph in Neo4j Browser: captions, colours and sizes by label and relationship type."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

STYLE_FILE = Path(__file__).parent.parent / "browser" / "e2g.grass"


@cache
def read_style() -> dict[str, dict[str, str]]:
    """Read the style: the properties of each selector, such as `node.Entity`."""
    rules = re.findall(r"(?ms)^([\w.]+) \{\n(.*?)^\}", STYLE_FILE.read_text(encoding="utf-8"))
    return {
        selector: {name: value.strip('"') for name, value in re.findall(r"([\w-]+): (.*?);", body)}
        for selector, body in rules
    }


def style_command() -> str:
    """Return the command of Browser that sets the style, in one line and without a file to load.

    Browser draws a chunk without it as its first property, which is a list of numbers.
    """
    return f":style {json.dumps(read_style(), separators=(',', ':'))}"
