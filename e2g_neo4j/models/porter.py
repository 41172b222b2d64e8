"""The stemmer of Porter ("An algorithm for suffix stripping", 1980), as in Lucene's analyzer `english`.

Lucene has the two changes that Porter made later: the endings "bli" and "logi". It leaves words of one or two letters
as they are.
"""

from __future__ import annotations

from functools import lru_cache

_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}

_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}

_STEP_4 = dict.fromkeys(
    (
        *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou"),
        *("ism", "ate", "iti", "ous", "ive", "ize"),
    ),
    "",
) | {"sion": "s", "tion": "t"}


@lru_cache(maxsize=2**17)
def stem(word: str) -> str:
    """Return the stem of a word in lower case."""
    if len(word) <= 2:
        return word
    word = _without_plural(word)
    word = _without_participle(word)
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replace_ending(word, _STEP_2, 0)
    word = _replace_ending(word, _STEP_3, 0)
    word = _replace_ending(word, _STEP_4, 1)
    return _tidy(word)


def _shape(word: str) -> str:
    """Return "v" or "c" for each letter. A y after a consonant is a vowel; all signs but letters are consonants."""
    shape = ""
    for letter in word:
        shape += "v" if letter in "aeiou" or (letter == "y" and shape[-1:] == "c") else "c"
    return shape


def _measure(word: str) -> int:
    """Return how often consonants follow vowels."""
    return _shape(word).count("vc")


def _is_short(word: str) -> bool:
    """Return whether a word ends with consonant, vowel, consonant, the last of them not w, x or y."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


def _ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_participle(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    ending = next((one for one in ("ed", "ing") if word.endswith(one)), None)
    if ending is None or "v" not in _shape(word[: -len(ending)]):
        return word
    word = word[: -len(ending)]
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _ends_double(word):
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _is_short(word) else word


def _replace_ending(word: str, endings: dict[str, str], least: int) -> str:
    """Replace the longest ending that a word has, if the measure of what is before it is more than `least`."""
    for length in range(min(7, len(word)), 1, -1):
        ending = word[-length:]
        if ending in endings:
            before = word[:-length]
            kept = endings[ending]
            return before + kept if _measure(before + (kept if endings is _STEP_4 else "")) > least else word
    return word


def _tidy(word: str) -> str:
    """Remove a final e, and one of two final l."""
    measure = _measure(word)
    if word.endswith("e") and (measure > 1 or (measure == 1 and not _is_short(word[:-1]))):
        word = word[:-1]
    return word[:-1] if word.endswith("ll") and measure > 1 else word
