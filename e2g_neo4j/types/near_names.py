"""Suggest the name that somebody meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a question such as ` Did you mean 'novels'?`, or an empty text if no name is close."""
    by_folded = {one.casefold(): one for one in names}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return f" Did you mean {by_folded[near[0]]!r}?" if near else ""
