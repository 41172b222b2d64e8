"""Write the tables and plots of README.md and docs/ from the program and the measured figures.

    python scripts/docs_pages.py [--check] [FILE.md …]

A table stands in the Markdown between two comments, the recipe `<!-- NAME: ARGUMENTS -->` and `<!-- /NAME -->`. The
functions in TABLES make what is between them. Plots are files in docs/images. Unknown names, and figures that were not
recorded, are errors. `--check` writes nothing, and fails if a file differs.
"""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log10
from os.path import relpath
from pathlib import Path
from typing import Any, cast

from typer.core import TyperArgument, TyperGroup, TyperOption
from typer.main import get_command

from e2g_neo4j import AsyncE2G, Settings, errors
from e2g_neo4j.cli.app import COMMANDS, app
from e2g_neo4j.retrieval.requirements import mode_info
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.service.app import create_app
from e2g_neo4j.settings import variable_of

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
IMAGES = DOCS / "images"
RECIPE = re.compile(r"^<!-- ([a-z_]+)(?:: (.+))? -->$", re.MULTILINE)
TABLE = re.compile(RECIPE.pattern + r"\n(?:(?!<!-- ).*\n)*<!-- /\1 -->$", re.MULTILINE)


def main(argv: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, help="pages to write (default: README.md and docs/)")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a file differs")
    given = parser.parse_args(argv)
    files: dict[Path, str | None] = {} if given.files else dict.fromkeys(IMAGES.glob("*.svg"))
    for file in given.files or [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]:
        page = Page(file)
        files |= {file: page.fill(file.read_text(encoding="utf-8")), **page.plots}
    stale = [file for file, text in files.items() if not file.exists() or text != file.read_text(encoding="utf-8")]
    if given.check and stale:
        named = ", ".join(relpath(file, ROOT) for file in stale)
        sys.exit(f"Not what the program and benchmarks/results.json say: {named}. To write them: make figures")
    for file in stale:
        if (text := files[file]) is None:
            file.unlink()
        else:
            file.write_text(text, encoding="utf-8")


@dataclass
class Page:
    """A page, and the plots on it."""

    file: Path
    plots: dict[Path, str] = field(default_factory=dict)

    def fill(self, markdown: str) -> str:
        """Return the text of the page with its tables anew."""
        if lost := [one[0] for one in RECIPE.finditer(TABLE.sub("", markdown))]:
            sys.exit(f"{self.file}: no `<!-- /NAME -->` ends {lost[0]}")
        return TABLE.sub(self.write_table, markdown)

    def write_table(self, found: re.Match[str]) -> str:
        if found[1] not in TABLES:
            sys.exit(f"{self.file}: no table is called {found[1]}, only {', '.join(TABLES)}")
        recipe, _, _ = found[0].partition("\n")
        return f"{recipe}\n\n{TABLES[found[1]](found[2] or '', self)}\n\n<!-- /{found[1]} -->"

    def link(self, target: Path) -> str:
        return relpath(target, self.file.parent).replace("\\", "/")

    def add_plot(self, column: str, title: str, height: int, drawn: Iterable[str]) -> str:
        """Draw a plot under its title, and return the Markdown that shows it."""
        file = IMAGES / (re.sub(r"[^a-z0-9]+", "-", column.lower()) + ".svg")
        self.plots[file] = (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 -30 {WIDTH} {height + 40}" '
            f'width="{WIDTH}">\n'
            f"<title>{escape(title)}</title>\n"
            "<style>svg { color: #1f2328; background: #fff; font: 12px sans-serif }\n"
            "@media (prefers-color-scheme: dark) { svg { color: #e6edf3; background: #0d1117 } }</style>\n"
            + "\n".join([label(10, -10, title, "start"), *drawn])
            + "\n</svg>\n"
        )
        return f"![{title}]({self.link(file)})"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(" ".join(cell.split()) for cell in line) + " |" for line in lines)


# --- command line ------------------------------------------------------------------------------------


def commands(_: str, page: Page) -> str:
    """Every command by group, with its arguments and options."""
    program = cast(TyperGroup, get_command(app))
    groups: dict[str, list[str]] = {group: [] for group in COMMANDS}
    for name, command in program.commands.items():
        if not command.hidden:
            groups[command.rich_help_panel].extend(described(f"e2g {name}", command))
    return "\n\n".join(f"## {group}\n\n" + "\n\n".join(texts) for group, texts in groups.items())


def described(name: str, command: Any) -> Iterator[str]:
    """Yield the description of a command, or those of the commands of a group."""
    if not isinstance(command, TyperGroup) or command.invoke_without_command:
        arguments = [one for one in command.params if isinstance(one, TyperArgument)]
        rows = [[f"`{shown(one)}`", help_of(one)] for one in arguments]
        rows += [
            [", ".join(f"`{word}`" for word in (*one.opts, *one.secondary_opts)), help_of(one)]
            for one in command.params
            if isinstance(one, TyperOption) and not one.hidden
        ]
        usage = " ".join([name, *map(shown, arguments)])
        yield f"### `{usage}`\n\n" + "\n\n".join(
            part
            for part in (
                " ".join((command.help or "").split()),
                table(("option", "effect"), rows) if rows else "",
            )
            if part
        )
    if isinstance(command, TyperGroup):
        for sub, one in command.commands.items():
            yield from described(f"{name} {sub}", one)


def shown(argument: TyperArgument) -> str:
    name = (argument.metavar or argument.name or "").strip("[].").upper().removesuffix("…")
    name += "…" if argument.nargs == -1 else ""
    return name if argument.required else f"[{name}]"


def help_of(parameter: TyperOption | TyperArgument) -> str:
    """Return the help of a parameter with its default, if the help does not say it and there is one."""
    text = (parameter.help or "").replace("|", "\\|")
    default = parameter.default
    if parameter.required:
        return f"{text} Required."
    if "(default" in text or default is None or callable(default) or default is False or default in ((), "", []):
        return text
    return f"{text} Default: `{default}`."


# --- settings, errors, HTTP --------------------------------------------------------------------------


def settings(_: str, page: Page) -> str:
    """Every setting with its default."""

    def default(field: Any) -> str:
        if field.default_factory is not None or field.default is None:
            return "unset"
        if isinstance(field.default, bool):
            return f"`{str(field.default).lower()}`"
        return f"`{field.default:g}`" if isinstance(field.default, float) else f"`{field.default}`"

    return table(
        ("variable", "default", "meaning"),
        (
            [f"`{variable_of(name)}`", default(field), field.description or ""]
            for name, field in Settings.model_fields.items()
        ),
    )


def exceptions(_: str, page: Page) -> str:
    """Every error with its exit code, and what its docstring says."""
    kinds = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.E2GError)]
    return table(
        ("exit code", "error", "meaning"),
        (
            [str(one.exit_code), f"`{one.__name__}`", (one.__doc__ or "").split("\n\n")[0]]
            for one in sorted(kinds, key=lambda one: one.exit_code)
        ),
    )


def http(_: str, page: Page) -> str:
    """Every route of the service."""
    client = AsyncE2G(settings=Settings.model_construct(neo4j_uri="bolt://localhost"))  # whatever the environment says
    paths = create_app(client, as_ollama=True).openapi()["paths"]
    by_tag: dict[str, list[list[str]]] = {}
    for route, calls in paths.items():
        for method, call in calls.items():
            first = (call.get("description") or call.get("summary") or "").split("\n\n")[0]
            by_tag.setdefault((call.get("tags") or ["other"])[0], []).append([f"`{method.upper()} {route}`", first])
    return "\n\n".join(f"### {tag}\n\n" + table(("call", "does"), rows) for tag, rows in by_tag.items())


# --- modes -------------------------------------------------------------------------------------------


PAGES = {
    "diffusion": "auto",
    **dict.fromkeys(("dense", "fulltext", "hybrid"), "baselines"),
    **dict.fromkeys(("e2g_code", "e2g_normalised"), "e2g"),
    **dict.fromkeys((f"lightrag_{one}" for one in ("hybrid", "local", "global", "naive")), "lightrag"),
}
"""Modes that share the page of another one."""


def modes(_: str, page: Page) -> str:
    """Every mode, with what it needs."""

    def link(name: str) -> str:
        file = "communities" if name == "communities" else f"strategies/{PAGES.get(name, name).replace('_', '-')}"
        return f"[`{name}`]({page.link(DOCS / f'{file}.md')})"

    return table(
        ("mode", "ranks", "strategy of", "needs", "uses if there", "`--llm`"),
        (
            [
                link(one.name),
                one.summary,
                one.source,
                ", ".join(f"`{need}`" for need in one.needs),
                ", ".join(f"`{layer}`" for layer in one.uses),
                "yes" if one.calls_model else "",
            ]
            for one in map(mode_info, STRATEGIES.values())
        ),
    )


# --- statements --------------------------------------------------------------------------------------


def header(file: Path) -> tuple[str, list[str]]:
    """Return the description in the header of a statement, and the names of its parameters."""
    lines = [line[2:].strip() for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("//")]
    description, _, rest = " ".join(lines).partition(" $")
    names = re.findall(r"\$(\w+)", "$" + rest.partition("→")[0]) if rest else []
    return description.partition("→")[0].strip(), list(dict.fromkeys(names))


def statements(folder: str, page: Page) -> str:
    """The statements of a folder of cypher/, with their parameters."""
    rows = []
    for file in sorted((ROOT / "cypher" / folder).glob("*.cypher")):
        text, names = header(file)
        rows.append([f"`{file.stem}`", text, ", ".join(f"`{name}`" for name in names)])
    return table(("name", "result", "parameters"), rows)


# --- figures -----------------------------------------------------------------------------------------


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


def signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)


def figures(arguments: str, page: Page, variant: str = "") -> str:
    """The figures of modes (rows) by `SET:METRIC` (columns): `<!-- figures: SET:METRIC, … | MODE MODE … -->`."""
    heads, *rows = zip(*by_set(arguments, variant), strict=True)
    return table(heads, rows)


def figures_by_set(arguments: str, page: Page) -> str:
    """The same with a row for each `SET:METRIC`."""
    heads, *rows = by_set(arguments)
    return table(heads, rows)


def figures_of_variant(arguments: str, page: Page) -> str:
    """The same of a variant: `<!-- figures_of_variant: VARIANT | SET:METRIC, … | MODE MODE … -->`."""
    variant, _, others = arguments.partition(" | ")
    return figures(others, page, variant)


def by_set(arguments: str, variant: str = "") -> Iterator[list[str]]:
    known = Figures.load()
    columns, _, names = arguments.partition(" | ")
    yield ["", *(f"`{name}`" for name in names.split())]
    for column in columns.split(", "):
        entries = [known.found.get((*column.split(":"), name, variant)) for name in names.split()]
        if not any(entries):
            raise KeyError(f"No figure of {column} is recorded for {names}.")
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
        one = next(filter(None, entries))
        label = f"[{name}]({one['source']})" if "source" in one else f"`{name}`"
        rows.append([label, one["model"], one.get("chat_model", "none"), *(cell(each, bold=False) for each in entries)])
    return table(("", "embedding model", "language model", *map(known.head, columns.split(", "))), rows)


def cell(one: dict[str, Any] | None, *, bold: bool) -> str:
    """Return a figure, with its interval or its spread."""
    if one is None:
        return ""
    if "against" in one:
        low, high = (f"{bound:.2f}".replace("0.", ".", 1) for bound in one["interval"])
        return f"{signed(one['value'])} ({low} to {high})"
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
                change = signed(one["difference"])
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
        drawn += [stroke(f"M{x} {top}V{bottom}", faint=True), label(x, bottom + 16, short(power), "middle")]
    for power in ys:
        _, y = at(10 ** xs[0], 10**power)
        drawn += [stroke(f"M{left} {y}H{right}", faint=True), label(left - 6, y + 4, short(power), "end")]
    for mode, line in lines.items():
        points = [at(*point) for point in line]
        drawn.append(stroke("M" + "L".join(f"{x} {y}" for x, y in points)))
        drawn += [f'<circle cx="{x}" cy="{y}" r="3" fill="currentColor"/>' for x, y in points]
        drawn.append(label(points[-1][0] + 8, points[-1][1] + 4, mode, "start"))
    return page.add_plot(column, f"{known.head(column)}, by tokens", HEIGHT, drawn)


def bars(arguments: str, page: Page) -> str:
    """A plot of a figure, one bar a mode: `<!-- bars: SET:METRIC | MODE MODE … -->`."""
    known = Figures.load()
    column, _, modes = arguments.partition(" | ")
    values = {mode: known.found[*column.split(":"), mode, ""]["value"] for mode in modes.split()}
    left, row, most = 170, 24, max(values.values())
    drawn = []
    for at, (mode, value) in enumerate(values.items()):
        width = round(value / most * (WIDTH - left - 80), 1)
        drawn += [
            label(left - 8, at * row + 16, mode, "end"),
            f'<rect x="{left}" y="{at * row + 4}" width="{width}" height="{row - 8}" fill="currentColor"/>',
            label(left + width + 6, at * row + 16, number(value), "start"),
        ]
    return page.add_plot(column, known.head(column), row * len(values), drawn)


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

    drawn = [stroke(f"M{at(0)} 0V{row * len(found)}", faint=True)]
    for number_of_row, (column, one) in enumerate(found.items()):
        y = number_of_row * row + 12
        drawn += [
            label(left - 8, y + 4, known.head(column), "end"),
            stroke(f"M{at(one['interval'][0])} {y}H{at(one['interval'][1])}"),
            f'<circle cx="{at(one["value"])}" cy="{y}" r="4" fill="currentColor"/>',
            label(WIDTH - 50, y + 4, signed(one["value"]), "start"),
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


def stroke(line: str, *, faint: bool = False) -> str:
    return f'<path d="{line}" fill="none" stroke="currentColor" stroke-opacity="{0.15 if faint else 1}"/>'


def label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="currentColor">{escape(text)}</text>'


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


TABLES: dict[str, Callable[[str, Page], str]] = {
    "commands": commands,
    "settings": settings,
    "errors": exceptions,
    "http": http,
    "modes": modes,
    "statements": statements,
    "figures": figures,
    "figures_by_set": figures_by_set,
    "figures_of_variant": figures_of_variant,
    "systems": systems,
    "variants": variants,
    "growth": growth,
    "sizes": sizes,
    "bars": bars,
    "differences": differences,
}
"""By name: the function that makes a table or plot from the arguments of its recipe, for a page."""

if __name__ == "__main__":
    main()
