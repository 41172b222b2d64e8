"""Answer a question by map-reduce, as GraphRAG's global search does ("From Local to Global", arXiv 2404.16130).

The passages are read in batches. From each, the chat model takes points with a score of their importance and the
passages that support them (map). The most important points become the answer (reduce). Here passages of documents are
mapped, those that the mode finds. `all_text` maps all of them, and `global_search` the reports of communities.
"""

from __future__ import annotations

from dataclasses import replace

from e2g_neo4j.answering.batches import batches_of, map_batches
from e2g_neo4j.answering.calls import Calls
from e2g_neo4j.answering.evidence import FACTS, facts_within_budget, too_small
from e2g_neo4j.answering.points import answer_of, kept_of
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.results import Answer, Evidence

BATCHES = 8
"""Batches that the evidence has without `k` and `tokens`, about."""

MAP = "map.txt"
"""The prompt for points."""


def map_reduce(evidence: Evidence, calls: Calls) -> Operation[Answer]:
    """Ask the chat model for points of the evidence, batch by batch, then for an answer from the points.

    There are at most `settings.map_calls` batches. Of more evidence, the best passages are read.

    Raises:
        ModelError: The model failed, or no passage fits its context.
        UnusableReplyError: The model sent no usable reply to any batch, or no answer.
    """
    question = evidence.stand_alone
    budget = calls.budget(MAP, question)
    facts = facts_within_budget(evidence.facts, int(FACTS * budget), calls.model)
    batches = batches_of(evidence.passages, facts, budget, calls.model, calls.settings.map_calls)
    if evidence.passages and not batches.given:
        raise too_small(budget)
    points, failed = yield from map_batches(calls, MAP, question, batches)
    kept, above = kept_of(points, question, calls)
    told = [f"Map-reduce: points above 0: {above}, batches: {len(batches)}, points in the answer: {len(kept)}."]
    if batches.left_out:
        told.append(f"Parts of passages that did not fit: {batches.left_out}.")
    if failed:
        told.append(left_out(failed))
    evidence = replace(evidence, reason=" ".join([evidence.reason, *told]))
    return (yield from answer_of(kept, evidence, batches.given, calls))


def left_out(failed: int) -> str:
    """Tell how many batches gave no points, because no reply was usable."""
    return f"Batches that are left out, because the chat model sent no usable points: {failed}."
