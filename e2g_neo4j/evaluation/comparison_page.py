"""Render a comparison of modes as a standalone HTML page: tables, and the passages side by side."""

from __future__ import annotations

from html import escape

from e2g_neo4j.evaluation.comparison import Comparison, ModeEvidence
from e2g_neo4j.evaluation.report import STYLE, table
from e2g_neo4j.types.results import Passage

COLUMNS = ("mode", "route", "passages", "tokens", "ms", "round trips", "calls", "prompt tokens")

OVERLAP_EXPLAINED = "Overlap in percent: characters that both modes return, of the characters that either returns."

_STYLE = """
body { max-width: 110rem; } h3 { margin: 0; font-size: 1rem; }
.modes { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 2rem; }
.modes > section { min-width: 0; overflow-wrap: anywhere; } ol { padding-left: 1.5rem; } li { margin: .8rem 0; }
cite { font-style: normal; font-weight: 600; } summary { cursor: pointer; }
details > p { color: inherit; white-space: pre-line; }
.unique { border: 1px solid; border-radius: .3rem; padding: 0 .3rem; color: var(--bar); font-size: .8rem;
  white-space: nowrap; }
"""


def page(found: Comparison) -> str:
    """Render the page, which needs no script and nothing from elsewhere."""
    title = f"{found.question} – modes compared in {found.corpus}"
    failed = "".join(f"<li>{escape(mode)}: {escape(reason)}</li>" for mode, reason in found.failed.items())
    columns = "".join(_column(mode, result) for mode, result in found.modes.items())
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" />
<title>{escape(title)}</title>
<style>{STYLE}{_STYLE}</style>
</head>
<body>
<main>
<h1 dir="auto">{escape(found.question)}</h1>
<p>Evidence from the corpus {escape(found.corpus)}, by retrieval mode. Tokens are those of the embedding model; the time
is that of the second of two runs. Calls are those of the chat model, with their tokens.</p>
<h2>Modes</h2>
{table("Modes", COLUMNS, [list(map(str, row)) for row in mode_rows(found)])}
{f"<p>Modes that cannot answer this question:</p><ul>{failed}</ul>" if failed else ""}
<h2>Overlap</h2>
<p>{OVERLAP_EXPLAINED}</p>
{table("Overlap", ["mode", *found.modes], [list(map(str, row)) for row in overlap_rows(found)])}
<h2>Passages</h2>
<div class="modes">{columns}</div>
</main>
</body>
</html>
"""


def mode_rows(found: Comparison) -> list[list[str | int]]:
    """Return the cells of each mode for COLUMNS."""
    return [
        [
            mode,
            result.evidence.route,
            len(result.evidence.passages),
            result.tokens,
            round(result.milliseconds),
            result.evidence.round_trips,
            result.evidence.calls,
            result.evidence.prompt_tokens,
        ]
        for mode, result in found.modes.items()
    ]


def overlap_rows(found: Comparison) -> list[list[str | int]]:
    """Return, for each mode, its name and its overlap with every mode in percent."""
    return [
        [mode, *(100 if other == mode else round(100 * result.overlap[other]) for other in found.modes)]
        for mode, result in found.modes.items()
    ]


def _column(mode: str, result: ModeEvidence) -> str:
    items = "".join(
        _item(passage, unique=unique) for passage, unique in zip(result.evidence.passages, result.unique, strict=True)
    )
    return (
        f"<section><h3>{escape(mode)}</h3><p>{escape(result.evidence.route)}: {escape(result.evidence.reason)}</p>"
        f"{f'<ol>{items}</ol>' if items else '<p>No passages.</p>'}</section>"
    )


def _item(passage: Passage, *, unique: bool) -> str:
    mark = ' <span class="unique">only here</span>' if unique else ""
    return (
        f'<li><cite dir="auto">{escape(passage.place)}</cite>{mark}'
        f'<details><summary dir="auto">{escape(passage.shown.text)}</summary>'
        f'<p dir="auto">{escape(passage.text)}</p></details></li>'
    )
