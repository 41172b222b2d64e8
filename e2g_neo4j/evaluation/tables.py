"""The tables of an evaluation and a comparison, which the command line shows, and their HTML page, which needs no
script and nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

from e2g_neo4j.evaluation.comparison import Comparison, ModeEvidence
from e2g_neo4j.evaluation.results import (
    PARTS,
    AnswerCosts,
    CitationScores,
    Evaluation,
    Group,
    Interval,
    Judged,
    ModeResult,
)
from e2g_neo4j.types.results import Passage

Cell: TypeAlias = str | int | Interval | None

CALLS = ("calls", "prompt tokens")
"""The headers of calls of a chat model, and of the tokens of their prompts."""

TIMES_EXPLAINED = (
    "Medians in milliseconds of the whole question and of its parts. Embedding is the remaining wait for the "
    "question's vector, which is computed while spaCy and the database work."
)

ANSWERS_EXPLAINED = (
    "Means per answer: evidence in tokens of the embedding model, prompts in tokens of the chat model, and calls with "
    "those that are repeated because a reply is unusable. An unreadable reply, such as none of the letters, scores 0."
)

JUDGED_EXPLAINED = (
    "Win rates: 1 if every answer is better than that of the base mode, in both orders; a tie in an order counts as "
    "half a win. Or shares of the ratings of both answers: .5 if they are as good. Calls of the judge and tokens of "
    "their prompts are means per answer."
)

CITED_EXPLAINED = (
    "Citations that were checked, and those whose passage supports the claim, per answer; accuracy is the mean share "
    "of these in answers with citations."
)

ENTITIES_EXPLAINED = (
    "Means per question: names that are entities of the corpus, names that are not, and pairs of entities within h "
    "hops; then the numbers of questions by their known entities. The local route needs two."
)

OVERLAP_EXPLAINED = "Overlap in percent: characters that both modes return, of the characters that either returns."


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `note` says what its cells are, the first cell of a row is its header, `names` is how many columns are
    names, not numbers; with `signed`, intervals are differences."""

    title: str
    note: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    names: int = 1
    signed: bool = False


def describe(found: Evaluation) -> str:
    """Tell how many questions were asked, and how."""
    questions = f"{found.questions} question{'s' * (found.questions != 1)}"
    unit = f"unit {found.unit or 'of the mode'}"
    return f"{questions}, k={found.k}, {unit}, ranking version {found.ranking}. Means with 95 % bootstrap intervals."


def tables_of(found: Evaluation) -> Iterator[Table]:
    """Yield the tables of an evaluation: scores, differences to the base mode, answers, entities and times."""
    groups: list[tuple[str, str, Group, ModeResult | None]] = [
        *(("all", mode, result.overall, result) for mode, result in found.modes.items()),
        *(
            (kind, mode, result.by_type[kind], None)
            for kind in found.types
            for mode, result in found.modes.items()
            if kind in result.by_type
        ),
        *(
            (f"{route} route", mode, group, None)
            for mode, result in found.modes.items()
            for route, group in result.by_route.items()
        ),
    ]
    scores = list(dict.fromkeys(name for _, _, group, _ in groups for name in group.scores))
    costs = ["median ms", "p95 ms", "round trips", "tokens"]
    called = any(result.calls for result in found.modes.values())
    rows: list[list[Cell]] = []
    for name, mode, group, result in groups:
        row: list[Cell] = [name, mode, group.questions, *(group.scores.get(score) for score in scores)]
        if result:
            row += [f"{result.median_ms:.1f}", f"{result.p95_ms:.1f}", result.round_trips, result.tokens]
            row += _calls(result) if called else []
        rows.append(row)
    named = ["questions", "mode", "n"]
    costs_shown = "Times, tokens and calls" if called else "Times and tokens"
    note = f"{costs_shown} are those of finding the evidence."
    yield Table("Scores", note, [*named, *scores, *costs, *(CALLS if called else ())], rows, names=2)
    rows = [
        [name, mode, group.questions, *(group.differences.get(score) for score in scores)]
        for name, mode, group, _ in groups
        if group.differences
    ]
    title, note = f"Paired differences to {found.against}", "Bold if the interval excludes 0."
    yield Table(title, note, [*named, *scores], rows, names=2, signed=True)

    modes = found.modes.items()
    answers = ((mode, result.answers) for mode, result in modes if result.answers)
    yield Table(
        f"Answers of {found.chat_model}",
        ANSWERS_EXPLAINED,
        ("mode", "answers", "unreadable", "evidence tokens", *CALLS),
        [[mode, of.answers, of.unreadable, round(of.evidence_tokens), *_calls(of)] for mode, of in answers],
    )
    judged = ((mode, result.judged) for mode, result in modes if result.judged)
    yield Table(
        f"Judged by {found.judge_model}",
        f"Against {found.against}. {JUDGED_EXPLAINED}",
        ("mode", "answers", "not judged", *found.criteria, *CALLS),
        [[mode, by.answers, by.not_judged, *map(by.wins.get, found.criteria), *_calls(by)] for mode, by in judged],
    )
    checked = ((mode, result.citations) for mode, result in modes if result.citations)
    yield Table(
        f"Citations checked by {found.judge_model}",
        CITED_EXPLAINED,
        ("mode", "answers", "citations", "effective citations", "citation accuracy", *CALLS),
        [
            [mode, of.answers, f"{of.citations:.2f}", f"{of.effective:.2f}", of.accuracy, *_calls(of)]
            for mode, of in checked
        ],
    )
    entities = ((mode, result.entities) for mode, result in modes if result.entities)
    yield Table(
        "Entities of the questions",
        ENTITIES_EXPLAINED,
        ("mode", "known", "unknown", "pairs", "questions with none", "with one", "with more"),
        [
            [
                *(mode, f"{of.entities:.2f}", f"{of.unknown_entities:.2f}", f"{of.pairs:.2f}"),
                *(of.without, of.with_one, of.with_more),
            ]
            for mode, of in entities
        ],
    )
    yield Table(
        "Times",
        TIMES_EXPLAINED,
        ("mode", "whole question", *PARTS),
        [[mode, f"{one.median_ms:.1f}", *(f"{one.parts_ms[part]:.1f}" for part in PARTS)] for mode, one in modes],
    )


def _calls(of: ModeResult | AnswerCosts | Judged | CitationScores) -> list[Cell]:
    return [f"{of.calls:.2f}", f"{of.prompt_tokens:.0f}"]


def compare_tables(found: Comparison) -> Iterator[Table]:
    """Yield the tables of a comparison: what each mode finds, and how much of it others find."""
    yield Table(
        "Modes",
        "",
        ("mode", "route", "passages", "tokens", "ms", "round trips", "calls", "prompt tokens"),
        [
            [
                mode,
                one.evidence.route,
                *(len(one.evidence.passages), one.tokens, round(one.milliseconds)),
                *(one.evidence.round_trips, one.evidence.calls, one.evidence.prompt_tokens),
            ]
            for mode, one in found.modes.items()
        ],
    )
    overlaps: list[list[Cell]] = [
        [mode, *(100 if other == mode else round(100 * one.overlap[other]) for other in found.modes)]
        for mode, one in found.modes.items()
    ]
    yield Table("Overlap", OVERLAP_EXPLAINED, ("mode", *found.modes), overlaps)


# --- the page ----------------------------------------------------------------------------------------

STYLE = """
:root { color-scheme: light dark; --paper: #fcfcfb; --ink: #1a1a19; --quiet: #686864; --line: #dcdcd6;
  --mark: #2f6fb5; }
@media (prefers-color-scheme: dark) { :root { --paper: #1a1a19; --ink: #f0f0ec; --quiet: #a3a39d; --line: #3c3c39;
  --mark: #5b9be0; } }
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 110rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; } h3 { margin: 0; font-size: 1rem; }
p { color: var(--quiet); } .wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .7rem; text-align: right; white-space: nowrap; }
th:first-child { text-align: left; } tbody th { font-weight: inherit; }
.modes { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 2rem; }
.modes > section { min-width: 0; overflow-wrap: anywhere; } ol { padding-left: 1.5rem; } li { margin: .8rem 0; }
cite { font-style: normal; font-weight: 600; } summary { cursor: pointer; }
details > p { color: inherit; white-space: pre-line; }
.unique { border: 1px solid; border-radius: .3rem; padding: 0 .3rem; color: var(--mark); font-size: .8rem;
  white-space: nowrap; }
"""


def evaluation_page(found: Evaluation) -> str:
    """Return the page of an evaluation, which is also well-formed XML."""
    title = f"Retrieval from {found.corpus}"
    return _page(title, title, describe(found), found.failed, tables_of(found))


def comparison_page(found: Comparison) -> str:
    """Return the page of a comparison: tables, and the passages side by side."""
    lead = (
        f"Evidence from the corpus {found.corpus}, by retrieval mode. Tokens are those of the embedding model; the "
        "time is that of the second of two runs. Calls are those of the chat model, with their tokens."
    )
    columns = "".join(_passages(mode, result) for mode, result in found.modes.items())
    title = f"{found.question} – modes compared in {found.corpus}"
    body = f'<h2>Passages</h2><div class="modes">{columns}</div>'
    return _page(title, found.question, lead, found.failed, compare_tables(found), body)


def _page(
    title: str, heading: str, lead: str, failed: Mapping[str, str], tables: Iterable[Table], body: str = ""
) -> str:
    left_out = "".join(f"<li>{escape(mode)}: {escape(reason)}</li>" for mode, reason in failed.items())
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" />
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1 dir="auto">{escape(heading)}</h1>
<p>{escape(lead)}</p>
{f"<p>Modes that are left out:</p><ul>{left_out}</ul>" if failed else ""}
{"".join(_table(one) for one in tables if one.rows)}
{body}
</main>
</body>
</html>
"""


def _table(table: Table) -> str:
    """Return a table that scrolls where it is too wide. The first cell of a row is its header."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    rows = ([_text(cell, signed=table.signed) for cell in row] for row in table.rows)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for first, *cells in rows
    )
    title = escape(table.title)
    return (
        f'<h2>{title}</h2><div class="wide" role="region" tabindex="0" aria-label="{title}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f"{f'<p>{escape(table.note)}</p>' if table.note else ''}"
    )


def _text(cell: Cell, *, signed: bool) -> str:
    sign = "+" if signed else ""
    if isinstance(cell, Interval):
        return f"{cell.mean:{sign}.3f} ({cell.low:{sign}.2f} to {cell.high:{sign}.2f})"
    return "" if cell is None else escape(str(cell))


def _passages(mode: str, result: ModeEvidence) -> str:
    items = "".join(_item(*one) for one in zip(result.evidence.passages, result.unique, strict=True))
    return (
        f"<section><h3>{escape(mode)}</h3><p>{escape(result.evidence.route)}: {escape(result.evidence.reason)}</p>"
        f"{f'<ol>{items}</ol>' if items else '<p>No passages.</p>'}</section>"
    )


def _item(passage: Passage, unique: bool) -> str:
    mark = ' <span class="unique">only here</span>' if unique else ""
    return (
        f'<li><cite dir="auto">{escape(passage.place)}</cite>{mark}'
        f'<details><summary dir="auto">{escape(passage.shown.text)}</summary>'
        f'<p dir="auto">{escape(passage.text)}</p></details></li>'
    )
