"""Normalise names of entities to keys."""

from __future__ import annotations

import re
import unicodedata

_DETERMINERS = re.compile(r"^(?:(?:the|an|a(?!\.)|this|that|these|those|my|your|his|her|its|our|their|thy)\s+)+(?=\S)")

_POSSESSIVE = re.compile(r"(?:'s|(?<=s)')$")

_FORM_DETERMINERS = re.compile(_DETERMINERS.pattern, re.IGNORECASE)

_FORM_POSSESSIVE = re.compile(r"(?:['‘’‛ʼ`´′＇]s|(?<=s)['‘’‛ʼ`´′＇])$", re.IGNORECASE)

_INITIALS = re.compile(r"\b([^\W\d_])\.?\s*(?=[^\W\d_]\b)")

_INITIALS_OF_WORDS = re.compile(rf"{_INITIALS.pattern}(?![^\W\d_]')")
"""In other languages than English, "M. d'Arcourt" has one initial."""

_FULL_STOPS = re.compile(r"(?<!\d)\.|\.(?!\d)")

_INITIALISM = re.compile(r"(?:^|\s)(?:[^\W\d_]\.)+$")

_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ı": "i"})

_PUNCTUATION = str.maketrans(
    dict.fromkeys("‘’‚‛ʼ`´′", "'") | dict.fromkeys('“”„‟«»″"', " ") | dict.fromkeys("-‐‑‒–—―−_", " ") | {"\u00ad": None}
)

_EDGES = " \t\n.,;:!?'()[]{}<>*/\\|~=…·•"

_FORM_EDGES = _EDGES.replace(".", "") + '‘’‚‛ʼ`´′“”„‟«»″"-‐‑‒–—―−_'


def entity_key(text: str, language: str = "en") -> str:
    """Return the normalised form of a name: the same for "Mr. Darcy’s" and "mr darcy", "U.S." and "US".

    Letter case, accents, leading determiners, a final possessive, full stops of abbreviations and surrounding
    punctuation are removed. Hyphens become spaces. Initials are joined: "J. R. R. Tolkien" is "jrr tolkien". Titles
    are kept: Mr. and Mrs. Bennet are two people. The key is empty if nothing is left.

    Args:
        text: the name.
        language: the code of the language of the text that it is in, if it is known.
    """
    initials = _INITIALS if language == "en" else _INITIALS_OF_WORDS
    key = unicodedata.normalize("NFKC", text).casefold().translate(_PUNCTUATION)
    decomposed = unicodedata.normalize("NFD", key)
    key = "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f" and unicodedata.category(c) != "Cf")
    key = unicodedata.normalize("NFC", key).translate(_LETTERS)
    key = " ".join(key.split())
    before = None
    while key != before:  # each rule may enable another one
        before = key
        key = key.strip(_EDGES.replace(".", "").replace("'", ""))
        key = _POSSESSIVE.sub("", key.rstrip(_EDGES.replace("'", "")))
        key = _DETERMINERS.sub("", key)
    before = None
    while key != before:
        before = key
        key = initials.sub(r"\1", _FULL_STOPS.sub("", initials.sub(r"\1", key)))
        key = _POSSESSIVE.sub("", " ".join(key.split()).strip(_EDGES))
    return key


def entity_form(text: str, language: str = "en") -> str:
    """Return the spelling of a name for display, such as "Mr. Darcy" for "Mr.\\nDarcy’s". It has the key of the text.

    White space becomes single spaces. Leading determiners, a final possessive and surrounding punctuation are removed.
    """
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
    form = " ".join(unicodedata.normalize("NFKC", visible).split()).strip(_FORM_EDGES)
    form = _FORM_DETERMINERS.sub("", _FORM_POSSESSIVE.sub("", form.rstrip("."))).strip(_FORM_EDGES)
    if _INITIALISM.search(form + "."):
        form += "."
    key = entity_key(text, language)
    return form if entity_key(form, language) == key else key
