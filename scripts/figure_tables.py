"""Tables and plots of the figures in benchmarks/results.json, for docs_pages.py."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log10
from os.path import relpath
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
IMAGES = DOCS / "images"


@dataclass
class Page:
    """A page of the documentation, and the plots on it."""

    file: Path
    plots: dict[Path, str] = field(default_factory=dict)

    def link(self, target: Path) -> str:
        return relpath(target, self.file.parent).replace("\\", "/")

    def add_plot(self, column: str, title: str, height: int, drawn: Iterable[str], told: str = "") -> str:
        """Draw a plot under its title, and return the Markdown that shows it. What is told is for readers by ear."""
        file = IMAGES / (re.sub(r"[^a-z0-9]+", "-", column.lower()) + ".svg")
        self.plots[file] = (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 -30 {WIDTH} {height + 40}" '
            f'width="{WIDTH}">\n'
            f"<title>{escape(title + told)}</title>\n"
            "<style>svg { color: #1f2328; background: #fff; font: 12px sans-serif }\n"
            "@media (prefers-color-scheme: dark) { svg { color: #e6edf3; background: #0d1117 } }</style>\n"
            + "\n".join([label(10, -10, title, "start"), *drawn])
            + "\n</svg>\n"
        )
        return f"![{title}{told}]({self.link(file)})"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(write_cell, line)) + " |" for line in lines)


def write_cell(text: str) -> str:
    """Return a text in one line. A bar in code needs HTML: Markdown of GitHub and of the site differ about it."""

    def write_code(found: re.Match[str]) -> str:
        return f"<code>{escape(found[1], quote=False)}</code>" if "|" in found[1] else found[0]

    return re.sub("`([^`]*)`", write_code, " ".join(text.split())).replace("|", "&#124;")


@dataclass(frozen=True)
class Figures:
    sets: dict[str, dict[str, Any]]
    found: dict[tuple[str, str, str, str], dict[str, Any]]

    @classmethod
    def load(cls) -> Figures:
        read = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))
        found = {}
        for one in read["figures"]:
            metric = one["metric"] + (f"@{one['budget']}" if "budget" in one else "")
            against = f" - {one['against']}" if "against" in one else ""
            found[one["set"], metric + against, one["mode"], one.get("variant", "")] = one
        return cls(read["sets"], found)

    def head(self, column: str) -> str:
        name, metric = column.split(":")
        return f"{self.sets[name]['title']}: {metric.removeprefix('evidence@')}"


def is_score(column: str) -> bool:
    """Return whether more is better: not for times, calls, tokens and memory."""
    return column.partition(":")[2].startswith(("R@", "MRR", "evidence"))


def number(value: float) -> str:
    """Return a share as .123, and any other number, and 0, as it is."""
    return f"{value:.3f}".replace("0.", ".", 1) if value and -1 < value < 1 else f"{value:g}"


def write_signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)


def figures(arguments: str, page: Page, variant: str = "") -> str:
    """The figures of modes (rows) by `SET:METRIC` (columns): `<!-- figures: SET:METRIC, … | MODE MODE … -->`."""
    heads, *rows = zip(*find_rows(arguments, variant), strict=True)
    return table(heads, rows)


def figures_by_set(arguments: str, page: Page) -> str:
    """The same with a row for each `SET:METRIC`."""
    heads, *rows = find_rows(arguments)
    return table(heads, rows)


def figures_of_variant(arguments: str, page: Page) -> str:
    """The same of a variant: `<!-- figures_of_variant: VARIANT | SET:METRIC, … | MODE MODE … -->`."""
    variant, _, others = arguments.partition(" | ")
    return figures(others, page, variant)


def find_rows(arguments: str, variant: str = "") -> Iterator[list[str]]:
    known = Figures.load()
    columns, _, names = arguments.partition(" | ")
    yield ["", *(f"`{name}`" for name in names.split())]
    for column in columns.split(", "):
        entries = [known.found.get((*column.split(":"), name, variant)) for name in names.split()]
        if not any(entries):
            raise KeyError(column)
        best = max(one["value"] for one in entries if one)
        yield [
            known.head(column),
            *(cell(one, bold=bool(one) and one["value"] == best and is_score(column)) for one in entries),
        ]


def systems(arguments: str, page: Page) -> str:
    """Modes and published systems, with their models: `<!-- systems: SET:METRIC, … | NAME, NAME, … -->`."""
    known = Figures.load()
    columns, _, names = arguments.partition(" | ")
    rows = []
    for name in names.split(", "):
        entries = [known.found.get((*column.split(":"), name, "")) for column in columns.split(", ")]
        one = next(filter(None, entries), None) or next(one for key, one in known.found.items() if key[2] == name)
        label = f"[{name}]({one['source']})" if "source" in one else f"`{name}`"
        rows.append([label, one["model"], one.get("chat_model", "none"), *(cell(each) or "–" for each in entries)])
    return table(("", "embedding model", "language model", *map(known.head, columns.split(", "))), rows)


def cell(one: dict[str, Any] | None, *, bold: bool = False) -> str:
    """Return a figure, with its interval or its spread."""
    if one is None:
        return ""
    if "against" in one:
        low, high = (f"{bound:.2f}".replace("0.", ".", 1) for bound in one["interval"])
        return f"{write_signed(one['value'])} ({low} to {high})"
    text = f"**{number(one['value'])}**" if bold else number(one["value"])
    return f"{text} ({number(one['spread'][0])} to {number(one['spread'][1])})" if "spread" in one else text


def variants(arguments: str, page: Page) -> str:
    """What a mode finds if a part of it is changed: `<!-- variants: SET:METRIC, … | MODE -->`.

    In brackets is the difference to the mode as it is, in bold if its 95 % interval excludes 0.
    """
    known = Figures.load()
    columns, _, mode = arguments.partition(" | ")
    listed = columns.split(", ")
    names = dict.fromkeys(key[3] for key in known.found if key[2] == mode and key[3] and f"{key[0]}:{key[1]}" in listed)
    rows = []
    for name in names:
        row = [name]
        for column in listed:
            one = known.found.get((*column.split(":"), mode, name))
            text = number(one["value"]) if one else ""
            if one and "difference" in one:
                change = write_signed(one["difference"])
                text += f" (**{change}**)" if one.get("significant") else f" ({change})"
            row.append(text)
        rows.append(row)
    return table(("variant", *map(known.head, listed)), rows)


# --- plots -------------------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM = 640, 300, 60, 110, 30
"""Size of a plot, and its margins, in pixels."""


def growth(arguments: str, page: Page) -> str:
    """A plot of how a figure grows with the tokens of the variants: `<!-- growth: SET:METRIC | MODE MODE … -->`.

    Both axes are logarithmic. A line of slope 1 is in proportion to the tokens.
    """
    known = Figures.load()
    column, _, modes = arguments.partition(" | ")
    name, metric = column.split(":")
    sizes = {key[3]: one["value"] for key, one in known.found.items() if key[:3] == (name, "tokens", "index")}
    lines = {
        mode: sorted(
            (tokens, known.found[name, metric, mode, variant]["value"])
            for variant, tokens in sizes.items()
            if (name, metric, mode, variant) in known.found
        )
        for mode in modes.split()
    }
    xs, ys = (
        axis([x for line in lines.values() for x, _ in line]),
        axis([y for line in lines.values() for _, y in line]),
    )

    def at(x: float, y: float) -> tuple[float, float]:
        across = (log10(x) - xs[0]) / (xs[-1] - xs[0]) * (WIDTH - LEFT - RIGHT)
        up = (log10(y) - ys[0]) / (ys[-1] - ys[0]) * (HEIGHT - BOTTOM - 10)
        return round(LEFT + across, 1), round(HEIGHT - BOTTOM - up, 1)

    (left, bottom), (right, top) = at(10 ** xs[0], 10 ** ys[0]), at(10 ** xs[-1], 10 ** ys[-1])
    drawn = []
    for power in xs:
        x, _ = at(10**power, 10 ** ys[0])
        drawn += [stroke(f"M{x} {top}V{bottom}", opacity=0.15), label(x, bottom + 16, short(power), "middle")]
    for power in ys:
        _, y = at(10 ** xs[0], 10**power)
        drawn += [stroke(f"M{left} {y}H{right}", opacity=0.15), label(left - 6, y + 4, short(power), "end")]
    for mode, line in lines.items():
        points = [at(*point) for point in line]
        drawn.append(stroke("M" + "L".join(f"{x} {y}" for x, y in points)))
        drawn += [f'<circle cx="{x}" cy="{y}" r="3" fill="currentColor"/>' for x, y in points]
        drawn.append(label(points[-1][0] + 8, points[-1][1] + 4, mode, "start"))
    return page.add_plot(column, f"{known.head(column)}, by tokens", HEIGHT, drawn)


def bars(arguments: str, page: Page) -> str:
    """A plot of a figure, one bar a mode, grey if it was published: `<!-- bars: SET:METRIC | NAME, NAME, … -->`."""
    known = Figures.load()
    column, _, names = arguments.partition(" | ")
    found = {name: known.found[*column.split(":"), name, ""] for name in names.split(", ")}
    return draw_bars(page, column, known.head(column), found)


def bars_of_variants(arguments: str, page: Page) -> str:
    """The same of the variants of a mode: `<!-- bars_of_variants: SET:METRIC | MODE | VARIANT, VARIANT, … -->`."""
    known = Figures.load()
    column, mode, names = arguments.split(" | ")
    found = {name: known.found[*column.split(":"), mode, name] for name in names.split(", ")}
    return draw_bars(page, f"{column} {mode}", f"{known.head(column)}, {mode}", found)


def draw_bars(page: Page, column: str, title: str, found: Mapping[str, Mapping[str, Any]]) -> str:
    left, row, most = 170, 24, max(one["value"] for one in found.values())
    drawn = []
    for at, (name, one) in enumerate(found.items()):
        width, opacity = round(one["value"] / most * (WIDTH - left - 80), 1), 0.55 if "source" in one else 1
        drawn += [
            label(left - 8, at * row + 16, name, "end"),
            f'<rect x="{left}" y="{at * row + 4}" width="{width}" height="{row - 8}" fill="currentColor" '
            f'fill-opacity="{opacity}"/>',
            label(left + width + 6, at * row + 16, number(one["value"]), "start"),
        ]
    told = "; " + ", ".join(f"{name} {number(one['value'])}" for name, one in found.items())
    return page.add_plot(column, title, row * len(found), drawn, told)


def differences(arguments: str, page: Page) -> str:
    """A plot of paired differences with their intervals: `<!-- differences: SET:METRIC, … | MODE BASE -->`."""
    known = Figures.load()
    columns, _, names = arguments.partition(" | ")
    mode, base = names.split()
    found = {column: known.found[*f"{column} - {base}".split(":"), mode, ""] for column in columns.split(", ")}
    low, high = min(one["interval"][0] for one in found.values()), max(one["interval"][1] for one in found.values())
    left, row = 270, 24

    def at(value: float) -> float:
        return round(left + (value - low) / (high - low) * (WIDTH - left - 60), 1)

    drawn = [stroke(f"M{at(0)} 0V{row * len(found)}", opacity=0.5)]
    for place, (column, one) in enumerate(found.items()):
        y = place * row + 12
        drawn += [
            label(left - 8, y + 4, known.head(column), "end"),
            stroke(f"M{at(one['interval'][0])} {y}H{at(one['interval'][1])}"),
            f'<circle cx="{at(one["value"])}" cy="{y}" r="4" fill="currentColor"/>',
            label(WIDTH - 50, y + 4, write_signed(one["value"]), "start"),
        ]
    return page.add_plot(f"{mode}-{base}", f"{mode} minus {base}, with 95 % intervals", row * len(found), drawn)


def axis(values: Iterable[float]) -> range:
    """Return the powers of ten from below the values to above them."""
    values = list(values)
    low = floor(log10(min(values)))
    return range(low, max(ceil(log10(max(values))), low + 1) + 1)


def short(power: int) -> str:
    """Return a power of ten as in .1, 10, 100k and 10M."""
    for unit, letter in ((6, "M"), (3, "k")):
        if power >= unit:
            return f"{10 ** (power - unit)}{letter}"
    return number(10.0**power)


def stroke(line: str, *, opacity: float = 1) -> str:
    return f'<path d="{line}" fill="none" stroke="currentColor" stroke-opacity="{opacity}"/>'


def label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="currentColor">{escape(text.replace("*", ""))}</text>'


def sizes(arguments: str, page: Page) -> str:
    """The figures of several sizes, by their tokens: `<!-- sizes: SET | MODE METRIC, MODE METRIC, … -->`."""
    known = Figures.load()
    name, _, columns = arguments.partition(" | ")
    listed = [tuple(column.split(" ", 1)) for column in columns.split(", ")]
    tokens = {key[3]: one["value"] for key, one in known.found.items() if key[:3] == (name, "tokens", "index")}
    rows = []
    for variant in sorted(tokens, key=tokens.__getitem__):
        cells = [known.found.get((name, metric, mode, variant)) for mode, metric in listed]
        if any(cells[1:]):
            rows.append([variant, *(f"{one['value']:,}" if one else "" for one in cells)])
    return table(("", *(" ".join(column) for column in listed)), rows)
