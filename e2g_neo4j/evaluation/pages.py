"""An evaluation or a comparison as an HTML page, which needs no script and nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from e2g_neo4j.evaluation.comparison import Comparison, ModeEvidence
from e2g_neo4j.evaluation.results import Evaluation, Interval
from e2g_neo4j.evaluation.tables import Cell, Table, compare_tables, describe, tables_of
from e2g_neo4j.types.results import Passage

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
