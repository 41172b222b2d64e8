"""Parts of lines: raised text, numbers of lists, formulas, and descriptions of pictures."""

from __future__ import annotations

import re
from typing import Any

from e2g_neo4j.documents.formulas import write_formula

_NOTE = re.compile(r"\[?\(?(\d{1,3}|[a-z]|[*†‡§¶]{1,3}|note \d+)\)?\]?", re.I)

_UNIT = re.compile(
    r"(?<![^\W\d_])(?:[^\W\d_]|km|cm|mm|dm|nm|ft|in|mi|yd|kg|mol|sec|min|ha)$|[\d)\]}]$|[=+*/(−]\s?\w{1,3}$"
)
"""What a power follows: a number, a letter, a unit or a bracket."""

_ORDINAL = re.compile(r"(?:st|nd|rd|th|er?|re|ère|[eè]me|os?|as?|º|ª|tm|sm|r|®|™|me|lle|mme|ste?|d)\.?", re.I)

_WORDS = re.compile(r"[^\W\d_]{2,}.*\s.*[^\W\d_]{2,}", re.S)

_FILE = re.compile(r"\.(?:jpe?g|png|gif|svg|webp|bmp)\b", re.I)


def is_described(alt: str) -> bool:
    """Return whether the description of a picture consists of words, and is no name of a file."""
    return _WORDS.search(alt[:500]) is not None and _FILE.search(alt[:500]) is None


def mark_superscript(text: str, before: str, *, linked: bool = False) -> str:
    """Return raised text: the mark of a note as "[1]", a power as "^6".

    Args:
        before: the end of the text before it.
    """
    bare = text.strip()
    if not bare or _ORDINAL.fullmatch(bare):
        return text
    note = _NOTE.fullmatch(bare)
    if linked or (note and not (_UNIT.search(before) and not bare.startswith(("[", "(", "*", "†", "‡", "§")))):
        inner = bare if note is None else note[1]
        return f"{'' if not before or before[-1].isspace() else ' '}{inner if inner.startswith('[') else f'[{inner}]'}"
    if (before and before[-1].isalnum()) or before.endswith((")", "]")):
        return f"^{in_brackets(bare)}"
    return text


def formula_of(element: Any) -> str:
    note = element.find(".//annotation")
    tex = element.get("alttext") or ("" if note is None else note.text or "")
    return bare_tex(" ".join(tex.split())) or " ".join(write_formula(element).split())


def bare_tex(tex: str) -> str:
    found = re.fullmatch(r"\{\\(?:display|text)style\s(.*)\}", tex)
    return found[1].strip() if found else tex


def in_brackets(text: str) -> str:
    return text if len(text) == 1 or re.fullmatch(r"[-+−]?[\d.]+", text) else f"({text})"


def numeral(number: int, kind: str) -> str:
    """Return the number of an item of a list of this type: 1, a, A, i or I."""
    if kind in "aA" and number > 0:
        letters = ""
        while number:
            number, rest = divmod(number - 1, 26)
            letters = chr(97 + rest) + letters
        return letters.upper() if kind == "A" else letters
    if kind in "iI" and 0 < number < 4000:
        found = ""
        for value, sign in _ROMAN:
            times, number = divmod(number, value)
            found += sign * times
        return found.upper() if kind == "I" else found
    return str(number)


_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
