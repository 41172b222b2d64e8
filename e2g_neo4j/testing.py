"""Checks for people who write a mode."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from e2g_neo4j.client import E2G
from e2g_neo4j.retrieval.options import MAX_K
from e2g_neo4j.retrieval.where import Where
from e2g_neo4j.types.results import Evidence

WITHOUT_NAMES = ("What happened?", "?!", "Wer war das?")
"""Questions without entities, without words, and in another language: a mode may find nothing for them."""


def check_mode(
    client: E2G, mode: str, question: str, *, corpora: Sequence[str], where: Where | None = None
) -> Evidence:
    """Ask a question in a mode, and check the rules that every mode keeps.

    - A score is a finite number, and a passage comes once.
    - The same question finds the same passages again, in any order of the corpora.
    - With `where`, all passages are of documents that meet the conditions.
    - A question without entities or words is no error.

    That passages are of the corpora asked, with their own text and within `k` and `tokens`, holds for every mode.

    Args:
        client: a client that knows the mode.
        mode: the name of the mode.
        question: a question for which the mode finds something.
        corpora: the corpora to ask.
        where: conditions that some of the documents meet. Default: no check of filters.

    Returns:
        The evidence without `where`, for your own checks.

    Raises:
        AssertionError: the mode breaks a rule. The message says which one.
        QueryError: the mode cannot be asked, for example because a corpus lacks a layer.
    """
    evidence = client.retrieve(question, corpora=corpora, mode=mode)
    places = _find_places(evidence)
    _require(places, f"Mode {mode} finds nothing for {question!r}. Ask a question for which it finds something.")
    _require(len(places) == len(set(places)), f"A passage comes twice: {places}.")
    for passage in evidence.passages:
        _require(isfinite(passage.score), f"A score is {passage.score}: {passage.text!r}.")
    for order in (corpora, [*reversed(corpora)]):
        again = _find_places(client.retrieve(question, corpora=order, mode=mode))
        _require(set(again) == set(places), f"Asked again, of {order}, it finds {again} instead of {places}.")
    if where is not None:
        found = client.retrieve(question, corpora=corpora, mode=mode, where=where)
        meeting = client.retrieve(question, corpora=corpora, mode="dense", k=MAX_K, where=where)  # ranks all windows
        left = {(one.corpus, one.document_id) for one in meeting.passages}
        outside = [one.source for one in found.passages if (one.corpus, one.document_id) not in left]
        _require(
            not outside, f"With where={where!r}, it finds passages of {outside}, which do not meet the conditions."
        )
    for other in WITHOUT_NAMES:
        client.retrieve(other, corpora=corpora, mode=mode)
    return evidence


def _require(holds: object, message: str) -> None:
    """An `assert` that also checks under `python -O`."""
    if not holds:
        raise AssertionError(message)


def _find_places(evidence: Evidence) -> list[tuple[str, str, int, int, int]]:
    return [(one.corpus, one.document_id, one.level, one.start, one.end) for one in evidence.passages]
