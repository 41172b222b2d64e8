"""`lazy`: test the windows nearest to the question community by community, from large communities down to small ones.

LazyGraphRAG (Microsoft Research, 2024) has a chat model test text for relevance, until a budget of tests is spent: the
best text of each community first; after several communities in a row without relevant text, the communities below those
that have some. This follows its description; the code is not published. Here, text is relevant if its vector is nearer
to that of the question than the corpus is on average, by two standard deviations; with the option `llm`, the chat model
decides, and splits the question into several before, each of which has its own windows and tests.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeAlias

from e2g_neo4j.models.chat.json_replies import TEXT, example_texts, list_schema, object_schema, objects_in
from e2g_neo4j.models.chat.prompts import load_prompt
from e2g_neo4j.retrieval.chat_calls import PROMPTS, ChatCalls, relevant_numbers, relevant_schema
from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.retrieval.query import Query, RankedWindows, Ranking
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.retrieval.windows import Window, round_robin, windows_in
from e2g_neo4j.runtime.requests import Embed, Operation, read_each
from e2g_neo4j.types.ties import best_first

WINDOWS = 100
"""The nearest windows, which may be tested. 200 and 400 found no more of the evidence in novels."""

SAMPLE = 250
"""Windows whose mean and standard deviation stand for those of the corpus."""

DEVIATIONS = 2.0
"""Standard deviations above the mean that make a window relevant: 3 % of the windows of a novel, 23 of the nearest 100.
With 1, these are 16 % and 92, so that nearly every test passes, and the nearest windows have to wait for the others."""

BUDGET = 50
"""Maximum number of tests. 100 found no more."""

BATCH = 10
"""Windows that the chat model tests in one call."""

PARTS = 5
"""Maximum number of questions into which the chat model splits one: the upper end of the description's 3 to 5. Each
has as many of the tests."""

LONGEST_PART = 300
"""Characters of such a question."""

CALLS = 9
"""Maximum calls of the chat model for a question: one splits it, five make all tests, and others are for replies that
are not usable, or if the context is too small for BATCH windows. After them, the tests end."""

PROMPT = "test_relevance"

SCHEMA = object_schema(questions=list_schema(TEXT, PARTS, least=1))
"""The JSON schema of a reply with the parts of a question."""

TESTS = 1
"""Windows of a community that are tested in a turn."""

BARREN = 5
"""Communities in a row without a relevant window that end a turn of the communities."""

Key: TypeAlias = tuple[str, str]
"""Corpus and id of a community. Communities of several corpora may have the same id."""


def lazy(query: Query) -> Ranking:
    """Rank windows: relevant ones in the order of the tests, then all others of the nearest, best first.

    The score of a window is its own, (1 + cosine) / 2.
    """
    found = yield from read_candidates(query, query.question)
    if query.chat is None:
        return order_windows(found, by_vector(found))[: query.limit]
    parts = yield from parts_of(query.question, query.chat)
    scored = {window.id: (window, score) for _, window, score in found.windows}
    chosen: list[list[str]] = []
    results: list[bool] = []
    by_vectors = False
    for part in parts:
        of_part = found if part == query.question else (yield from read_candidates(query, part))
        known = yield from check_windows(part, query.chat, of_part, BUDGET if len(parts) == 1 else BUDGET // PARTS)
        if known is None:
            by_vectors = True
            relevant = by_vector(of_part)
        else:
            results += known.values()
            relevant = [rank for rank, is_relevant in known.items() if is_relevant]
        for _, window, score in of_part.windows:
            scored.setdefault(window.id, (window, score))
        chosen.append([of_part.windows[rank][1].id for rank in relevant])
    if by_vectors:
        query.chat.fall_back("vectors decide instead")
    if results:
        query.chat.told.append(f"The chat model found {sum(results)} of {len(results)} tested windows relevant.")
    nearest = [window.id for _, window, _ in found.windows]
    return [scored[id] for id in dict.fromkeys([*round_robin(chosen), *nearest])][: query.limit]


def read_candidates(query: Query, question: str) -> Operation[Candidates]:
    """Read the windows nearest to a question, and their communities."""
    vector = yield Embed(question)
    parameters = {"vector": vector, "windows": max(query.limit, WINDOWS), "tested": WINDOWS, "sample": SAMPLE}
    return candidates((yield from query.read_each("lazy", dict.fromkeys(query.corpora, parameters))))


def parts_of(question: str, chat: ChatCalls) -> Operation[list[str]]:
    """Have the chat model split a question into several. If its replies are not usable, which it is told, the question
    stays whole."""
    examples = example_texts(load_prompt(PROMPTS / "sub_questions.txt", chat.prompts))
    parse = partial(parts_in, examples=examples)
    parts = yield from chat.ask("sub_questions", question, (), SCHEMA, parse, most=CALLS)
    if parts is None:
        chat.fall_back("the question is not split")
        return [question]
    if parts != [question]:
        chat.told.append(f"Questions of the chat model: {' '.join(parts)}")
    return parts


def parts_in(reply: str, examples: Collection[str] = ()) -> list[str] | None:
    """Return the questions of a reply such as {"questions": ["Who is Orla Venn?"]}, or None if it has none. Those that
    are too long, and examples of the prompt, are left out."""
    for found in reversed(objects_in(reply)):
        listed = found.get("questions")
        texts = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
        cleaned = [" ".join(text.encode("utf-8", "ignore").decode().split()) for text in texts]
        parts = [text for text in dict.fromkeys(cleaned) if 0 < len(text) <= LONGEST_PART and text not in examples]
        if parts:
            return parts[:PARTS]
    return None


@dataclass(frozen=True, slots=True)
class Candidates:
    """Windows that may be tested, and their communities.

    Attributes:
        windows: The windows with their corpora and scores, nearest first.
        relevant: Whether the vector of each is near enough.
        ranks: The ranks of the windows of each community, ascending. 0 is the nearest window.
        parents: The community above each, None at the top.
    """

    windows: list[tuple[str, Window, float]]
    relevant: list[bool]
    ranks: dict[Key, list[int]]
    parents: dict[Key, Key | None]


def rank_rows(rows: Iterable[Mapping[str, Any]]) -> RankedWindows:
    """Rank the windows of rows of `lazy.cypher` without a chat model."""
    found = candidates(rows)
    return order_windows(found, by_vector(found))


def by_vector(found: Candidates) -> list[int]:
    """Return the ranks of windows that are relevant by their vectors, in the order of the tests."""
    return [rank for rank in visit(found.ranks, found.parents, found.relevant) if found.relevant[rank]]


def order_windows(found: Candidates, first: Iterable[int]) -> RankedWindows:
    """Return the windows of these ranks, then all others."""
    return [found.windows[at][1:] for at in dict.fromkeys([*first, *range(len(found.windows))])]


def candidates(rows: Iterable[Mapping[str, Any]]) -> Candidates:
    """Return the windows and communities of rows of `lazy.cypher`."""
    found: list[tuple[str, Window, float]] = []
    above: list[float] = []
    places: dict[tuple[str, int], int] = {}
    parents: dict[Key, Key | None] = {}
    members: dict[Key, list[tuple[str, int]]] = {}
    for row in rows:
        corpus = row["corpus"]
        for one in row["communities"]:
            key = corpus, one["id"]
            parents[key] = None if one["parent"] is None else (corpus, one["parent"])
            members[key] = [(corpus, at) for at in one["windows"]]
        for window, one in windows_in(row["candidates"]):
            places[corpus, one["at"]] = len(found)
            found.append((corpus, window, one["score"]))
            above.append(one["score"] - row["mean"] - DEVIATIONS * row["deviation"])
    order = best_first([score for _, _, score in found], TIE)
    rank = {place: at for at, place in enumerate(order)}
    ranks = {key: sorted(rank[places[one]] for one in windows) for key, windows in members.items()}
    return Candidates([found[at] for at in order], [above[place] > 0 for place in order], ranks, parents)


def check_windows(question: str, chat: ChatCalls, found: Candidates, budget: int) -> Operation[dict[int, bool] | None]:
    """Have the chat model test windows.

    A call tests the windows that the visit of communities needs next, and as many of the nearest others as a call may
    have: the visit is likely to need them later.

    Args:
        found: The windows and communities.
        budget: The maximum number of tests.

    Returns:
        Whether a window is relevant, by its rank: those that the visit needed, in the order of their tests, then the
        others. None if a reply was not usable, or there were too many calls before.
    """
    waiting = sorted({rank for ranks in found.ranks.values() for rank in ranks})
    ids: dict[str, list[str]] = {}
    for rank in waiting:
        corpus, window, _ = found.windows[rank]
        ids.setdefault(corpus, []).append(window.id)
    rows = yield from read_each("query/windows", {corpus: {"ids": of} for corpus, of in ids.items()})
    texts = {window["id"]: " ".join(window["text"].split()) for row in rows for window in row["windows"]}
    known: dict[int, bool] = {}
    needed: dict[int, None] = {}
    visits = _visits(found.ranks, found.parents, budget)
    ranks = next(visits, None)
    while ranks is not None:
        missing = [rank for rank in ranks if rank not in known]
        if missing:
            others = [rank for rank in waiting if rank not in known and rank not in missing]
            batch = [*missing, *others][: min(BATCH, budget - len(known))]
            shown = [texts.get(found.windows[rank][1].id, "") for rank in batch]
            batch = batch[: max(1, chat.count_fitting(PROMPT, question, shown))]
            if not batch or (known and chat.made == CALLS):
                break
            schema, parse = relevant_schema(len(batch)), partial(relevant_numbers, items=len(batch))
            chosen = yield from chat.ask(PROMPT, question, shown[: len(batch)], schema, parse, most=CALLS)
            if chosen is None:
                return None
            known |= {rank: number in chosen for number, rank in enumerate(batch, 1)}
            if any(rank not in known for rank in missing):
                continue
        needed |= dict.fromkeys(ranks)
        ranks = _next(visits, [known[rank] for rank in ranks])
    return {rank: known[rank] for rank in dict.fromkeys([*needed, *sorted(known)])}


def visit(ranks: Mapping[Key, Sequence[int]], parents: Mapping[Key, Key | None], relevant: Sequence[bool]) -> list[int]:
    """Return the ranks of the tested windows, in the order of the tests; see `_visits`.

    Args:
        ranks: The ranks of the windows of each community, ascending. 0 is the nearest window.
        parents: The community above each, None at the top.
        relevant: Whether the window of a rank is relevant.
    """
    visits = _visits(ranks, parents, BUDGET)
    order: list[int] = []
    tests = next(visits, None)
    while tests is not None:
        order += tests
        tests = _next(visits, [relevant[rank] for rank in tests])
    return order


Visits: TypeAlias = Generator[list[int], list[bool], None]
"""Yields the ranks of windows to test, and receives whether each is relevant."""


def _next(visits: Visits, results: list[bool]) -> list[int] | None:
    try:
        return visits.send(results)
    except StopIteration:
        return None


def _visits(ranks: Mapping[Key, Sequence[int]], parents: Mapping[Key, Key | None], budget: int) -> Visits:
    """Visit communities.

    In a turn, each community has its best TESTS untested windows tested, those with the nearest windows first. After
    BARREN communities in a row without a relevant window, or after all, the next turn begins, with the communities
    below those that had a relevant window. One that has none below it stays. The tests end when no community is left,
    or after `budget` tests.

    The windows of several communities are yielded together if all of them are tested whatever the results are.
    """
    below: defaultdict[Key | None, list[Key]] = defaultdict(list)
    for key in sorted(ranks, key=lambda key: (ranks[key], key)):
        below[parents[key]].append(key)
    tested: set[int] = set()
    turn = below[None]
    while turn:
        fruitful = []
        barren = 0
        waiting = deque(turn)
        while waiting and barren < BARREN:
            certain: list[tuple[Key, list[int]]] = []
            while waiting and len(certain) < BARREN - barren:
                key = waiting.popleft()
                tests = [rank for rank in ranks[key] if rank not in tested][: min(TESTS, budget - len(tested))]
                if tests:
                    tested.update(tests)
                    certain.append((key, tests))
            if not certain:
                break
            results = iter((yield [rank for _, tests in certain for rank in tests]))
            for key, tests in certain:
                if any(list(islice(results, len(tests)))):  # a list: each community takes its own results
                    fruitful.append(key)
                    barren = 0
                else:
                    barren += 1
        turn = [lower for key in fruitful for lower in below[key] or [key]]
        turn.sort(key=lambda key: (ranks[key], key))


LAZY = Strategy(
    name="lazy",
    summary="The nearest windows, tested community by community.",
    source="LazyGraphRAG",
    ranked_by="tests of the nearest ones, community by community",
    needs={"vector", "communities"},
    calls_model=True,
    rank_windows=lazy,
)
