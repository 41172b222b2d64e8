"""Render an evaluation as a standalone HTML page: bar charts with intervals, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from e2g_neo4j.evaluation.results import PARTS, AnswerCosts, Evaluation, Group, Interval, ModeResult

TIMES = ("whole question", "beside a busy process", *PARTS)
"""Columns with medians."""

TIMES_EXPLAINED = (
    "Medians in milliseconds of the whole question and of its parts. Embedding is the remaining wait for the "
    "question's vector, which is computed while spaCy and the database work."
)

ANSWERS = ("answers", "unreadable", "evidence tokens", "calls", "prompt tokens")
"""Columns with the costs of answers."""

ANSWERS_EXPLAINED = (
    "Means per answer: evidence in tokens of the embedding model, prompts in tokens of the chat model, and calls with "
    "those that are repeated because a reply is unusable. An unreadable reply, such as none of the letters, scores 0."
)

JUDGED_EXPLAINED = (
    "Win rates: 1 if every answer is better than that of the base mode, in both orders; a tie in an order counts as "
    "half a win. Or shares of the ratings of both answers: .5 if they are as good. Calls of the judge and tokens of "
    "their prompts are means per answer."
)

CITED = ("answers", "citations", "effective citations", "citation accuracy", "calls", "prompt tokens")
"""Columns with the citations that were checked."""

CITED_EXPLAINED = (
    "Citations that were checked, and those whose passage supports the claim, per answer; accuracy is the mean share "
    "of these in answers with citations."
)

CALLS = ("calls", "prompt tokens")
"""Columns with the mean calls of the chat model per question, to find evidence, and the tokens of their prompts."""

ENTITIES = ("known", "unknown", "pairs", "questions with none", "with one", "with more")
"""Columns with the entities of the questions."""

ENTITIES_EXPLAINED = (
    "Means per question: names that are entities of the corpus, names that are not, and pairs of entities within h "
    "hops; then the numbers of questions by their known entities. The local route needs two."
)

WIDTH, LABEL, VALUE, ROW = 360, 76, 48, 24
"""Sizes of a chart in pixels: total width, names left of the bars, numbers right of them, height of a row."""

STYLE = """
:root { color-scheme: light dark; --paper: #fcfcfb; --ink: #1a1a19; --quiet: #686864; --line: #dcdcd6;
  --bar: #2f6fb5; --base: #9a9a94; --whisker: #1a1a19; }
@media (prefers-color-scheme: dark) { :root { --paper: #1a1a19; --ink: #f0f0ec; --quiet: #a3a39d; --line: #3c3c39;
  --bar: #5b9be0; --base: #7a7a75; --whisker: #f0f0ec; } }
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; } p, figcaption { color: var(--quiet); }
.charts { display: flex; flex-wrap: wrap; gap: 1.25rem 1.5rem; }
figure { margin: 0; } figcaption { font-size: .9rem; } svg { display: block; max-width: 100%; height: auto; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } svg .quiet { fill: var(--quiet); }
.bar { fill: var(--bar); } .base { fill: var(--base); } .axis { stroke: var(--line); }
.whisker { stroke: var(--whisker); stroke-width: 1.5; fill: none; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .7rem; text-align: right; white-space: nowrap; }
th:first-child { text-align: left; } tbody th { font-weight: inherit; } td small { color: var(--quiet); }
"""


def page(found: Evaluation) -> str:
    """Render the page, which is also well-formed XML."""
    overall = {mode: result.overall for mode, result in found.modes.items()}
    calls = calls_to_find(found)
    columns = ("95th percentile", "round trips", "tokens", *(CALLS if calls else ()))
    speed = {
        mode: [*times(one), f"{one.p95_ms:.1f}", str(one.round_trips), str(one.tokens), *calls.get(mode, ())]
        for mode, one in found.modes.items()
    }
    answered = {mode: answer_costs(one.answers) for mode, one in found.modes.items() if one.answers}
    judged = win_rates(found)
    sections = [
        _section("All questions", overall, found.against),
        _by_mode("Speed", "Speed", (*TIMES, *columns), speed, TIMES_EXPLAINED),
        _by_mode(f"Answers of {found.chat_model}", "Answers", ANSWERS, answered, ANSWERS_EXPLAINED),
        _by_mode(f"Judged by {found.judge_model}", "Judged", judged_columns(found), judged, JUDGED_EXPLAINED),
        _by_mode(f"Citations checked by {found.judge_model}", "Citations", CITED, citations(found), CITED_EXPLAINED),
        _by_mode("Entities of the questions", "Entities", ENTITIES, entity_statistics(found), ENTITIES_EXPLAINED),
    ]
    for kind in found.types:
        groups = {mode: result.by_type[kind] for mode, result in found.modes.items() if kind in result.by_type}
        sections.append(_section(f"Type {kind}", groups, found.against))
    for mode, result in found.modes.items():
        if len(result.by_route) > 1:
            sections.append(_section(f"Routes of {mode}", result.by_route, None))
    failed = "".join(f"<li>{escape(mode)}: {escape(reason)}</li>" for mode, reason in found.failed.items())
    compared = f" Grey: {escape(found.against)}, the mode that the others are compared with." if found.against else ""
    noun = "question" if found.questions == 1 else "questions"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" />
<title>Retrieval from {escape(found.corpus)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>Retrieval from {escape(found.corpus)}</h1>
<p>{found.questions} {noun}, k = {found.k}, unit {found.unit or "of the mode"}, ranking version {found.ranking}.
Bars are means over questions, the lines at their ends are 95 % bootstrap intervals.{compared}</p>
{f"<p>Modes that cannot answer these questions:</p><ul>{failed}</ul>" if failed else ""}
{"".join(sections)}
</body>
</html>
"""


def times(result: ModeResult) -> list[str]:
    """Return the cells of a mode for the columns TIMES."""
    busy = "" if result.busy_median_ms is None else f"{result.busy_median_ms:.1f}"
    return [f"{result.median_ms:.1f}", busy, *(f"{result.parts_ms[part]:.1f}" for part in PARTS)]


def calls_to_find(found: Evaluation) -> dict[str, list[str]]:
    """Return the cells of each mode for the columns CALLS; nothing if no mode has called a chat model."""
    if not any(result.calls for result in found.modes.values()):
        return {}
    return {mode: [f"{result.calls:.2f}", f"{result.prompt_tokens:.0f}"] for mode, result in found.modes.items()}


def answer_costs(costs: AnswerCosts) -> list[str]:
    """Return the cells of a mode for the columns ANSWERS."""
    means = (f"{costs.evidence_tokens:.0f}", f"{costs.calls:.2f}", f"{costs.prompt_tokens:.0f}")
    return [str(costs.answers), str(costs.unreadable), *means]


def entity_statistics(found: Evaluation) -> dict[str, list[str]]:
    """Return the cells of the columns ENTITIES by mode, for modes that use the entity graph."""
    return {
        mode: [
            *(f"{value:.2f}" for value in (counted.entities, counted.unknown_entities, counted.pairs)),
            *map(str, (counted.without, counted.with_one, counted.with_more)),
        ]
        for mode, result in found.modes.items()
        if (counted := result.entities)
    }


def judged_columns(found: Evaluation) -> tuple[str, ...]:
    """Return the columns with how answers were judged."""
    return ("answers", "not judged", *found.criteria, "calls", "prompt tokens")


def win_rates(found: Evaluation) -> dict[str, list[str]]:
    """Return the cells of `judged_columns` by mode, for modes that were judged."""
    return {
        mode: [
            str(judged.answers),
            str(judged.not_judged),
            *(_cell(judged.wins.get(criterion)) for criterion in found.criteria),
            f"{judged.calls:.2f}",
            f"{judged.prompt_tokens:.0f}",
        ]
        for mode, result in found.modes.items()
        if (judged := result.judged)
    }


def citations(found: Evaluation) -> dict[str, list[str]]:
    """Return the cells of the columns CITED by mode, for modes whose citations were checked."""
    return {
        mode: [
            str(checked.answers),
            f"{checked.citations:.2f}",
            f"{checked.effective:.2f}",
            _cell(checked.accuracy),
            f"{checked.calls:.2f}",
            f"{checked.prompt_tokens:.0f}",
        ]
        for mode, result in found.modes.items()
        if (checked := result.citations)
    }


def bars(title: str, rows: Mapping[str, Interval], base: str | None) -> str:
    """Render a chart of one score from 0 to 1, a bar with its interval per row.

    Args:
        title: Name of the score.
        rows: Interval by name of the row.
        base: Name of the row to compare with, which is grey.
    """
    room = WIDTH - LABEL - VALUE
    height = ROW * len(rows) + 18
    drawn = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        x = LABEL + share * room
        drawn.append(f'<line class="axis" x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{height - 16}" />')
        drawn.append(f'<text class="quiet" x="{x:.1f}" y="{height - 3}" text-anchor="middle">{share:g}</text>')
    for number, (name, value) in enumerate(rows.items()):
        top, middle = number * ROW, number * ROW + ROW / 2
        low, high = (LABEL + end * room for end in (value.low, value.high))
        kind = "base" if name == base else "bar"
        hint = f"{name}: {value.mean:.3f}, 95 % interval {value.low:.3f} to {value.high:.3f}, n={value.questions}"
        drawn.append(
            f"<g><title>{escape(hint)}</title>"
            f'<text x="{LABEL - 8}" y="{middle + 4}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="{kind}" x="{LABEL}" y="{top + 5}" width="{value.mean * room:.1f}" height="{ROW - 10}" />'
            f'<path class="whisker" d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 4}v8M{high:.1f} '
            f'{middle - 4}v8" />'
            f'<text x="{WIDTH}" y="{middle + 4}" text-anchor="end">{value.mean:.3f}</text></g>'
        )
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="{escape(title)}" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">'
        f"{''.join(drawn)}</svg></figure>"
    )


def _section(title: str, groups: Mapping[str, Group], base: str | None) -> str:
    metrics = list(dict.fromkeys(metric for group in groups.values() for metric in group.scores))
    charts = (
        bars(metric, {name: group.scores[metric] for name, group in groups.items() if metric in group.scores}, base)
        for metric in metrics
    )
    rows = (
        [name, str(group.questions), *(_cell(group.scores.get(m)) for m in metrics)] for name, group in groups.items()
    )
    parts = [f"<h2>{escape(title)}</h2>", f'<div class="charts">{"".join(charts)}</div>']
    parts.append(table(title, ["", "questions", *metrics], rows))
    compared = {name: group for name, group in groups.items() if group.differences and base}
    if compared:
        parts.append(f"<p>Paired differences to {escape(base or '')}:</p>")
        parts.append(
            table(
                f"{title}: differences",
                ["", *metrics],
                ([name, *(_cell(group.differences.get(m), "+") for m in metrics)] for name, group in compared.items()),
            )
        )
    return "".join(parts)


def _by_mode(title: str, name: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]], explained: str) -> str:
    """Render a section with a table of modes and an explanation, if there are rows."""
    if not rows:
        return ""
    cells = ([mode, *row] for mode, row in rows.items())
    return f"<h2>{escape(title)}</h2>{table(name, ['mode', *columns], cells)}<p>{explained}</p>"


def _cell(value: Interval | None, sign: str = "") -> str:
    if value is None:
        return ""
    return f"{value.mean:{sign}.3f} ({value.low:{sign}.2f} to {value.high:{sign}.2f})"


def table(name: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Render a table that scrolls where it is too wide. The first cell of a row is its header.

    Args:
        name: What a screen reader calls the table.
        columns: Headers of the columns.
        rows: Texts of the cells.
    """
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
        for first, *cells in rows
    )
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{escape(name)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
