"""Write the tables, plots and references in README.md and docs/ from the program and the measured figures.

    python scripts/docs_pages.py [--check] [FILE.md …]

A table stands in the Markdown between two comments, the recipe `<!-- NAME: ARGUMENTS -->` and `<!-- /NAME -->`. The
functions in TABLES make what is between them. Plots are files in docs/images. Unknown names, and figures that were not
recorded, are errors. `--check` writes nothing, and fails if a file differs.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from os.path import relpath
from pathlib import Path
from typing import Any, cast

from api_reference import reference
from draw_rooms import rooms
from figure_tables import (
    DOCS,
    IMAGES,
    ROOT,
    Page,
    bars,
    bars_of_variants,
    differences,
    figures,
    figures_by_set,
    figures_of_variant,
    growth,
    sizes,
    systems,
    table,
    variants,
)
from typer.core import TyperArgument, TyperGroup, TyperOption
from typer.main import get_command

from e2g_neo4j import AsyncE2G, Settings, errors
from e2g_neo4j.answering.methods import METHODS, Method
from e2g_neo4j.cli.app import COMMANDS, app
from e2g_neo4j.cli.options import spell_method
from e2g_neo4j.documents.formats import FORMATS
from e2g_neo4j.retrieval.options import RetrievalOptions
from e2g_neo4j.retrieval.requirements import mode_info
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.service.app import create_app
from e2g_neo4j.settings import variable_of

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
        files |= {file: fill(file.read_text(encoding="utf-8"), page), **page.plots}
    stale = [file for file, text in files.items() if not file.exists() or text != file.read_text(encoding="utf-8")]
    if given.check and stale:
        named = ", ".join(relpath(file, ROOT) for file in stale)
        sys.exit(f"Not what the program and benchmarks/results.json say: {named}. To write them: make figures")
    for file in stale:
        if (text := files[file]) is None:
            file.unlink()
        else:
            file.write_text(text, encoding="utf-8")


def fill(markdown: str, page: Page) -> str:
    """Return the text of a page with its tables anew."""
    if lost := [one[0] for one in RECIPE.finditer(TABLE.sub("", markdown))]:
        sys.exit(f"{page.file}: no `<!-- /NAME -->` ends {lost[0]}")

    def write(found: re.Match[str]) -> str:
        name, arguments = found[1], found[2] or ""
        if name not in TABLES:
            sys.exit(f"{page.file}: no table is called {name}, only {', '.join(TABLES)}")
        recipe, _, _ = found[0].partition("\n")
        try:
            return f"{recipe}\n\n{TABLES[name](arguments, page)}\n\n<!-- /{name} -->"
        except KeyError as error:
            sys.exit(f"{page.file}: {recipe} names what benchmarks/results.json does not have: {error}")

    return TABLE.sub(write, markdown)


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
    text = parameter.help or ""
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
    paths = create_app(client).openapi()["paths"]
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


def methods(_: str, page: Page) -> str:
    """Every method of answers, with the options of retrieval that it takes."""
    everything = set(RetrievalOptions.model_fields)

    def taken(one: Method) -> str:
        return "all" if one.takes == everything else ", ".join(f"`{name}`" for name in sorted(one.takes, reverse=True))

    rows = ([f"`{spell_method(one.name)}`", one.summary, taken(one)] for one in METHODS.values())
    return table(("method", "answers from", "options of retrieval"), rows)


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


def formats(_: str, page: Page) -> str:
    """The formats of files that can be indexed."""
    rows = [
        [one.name, ", ".join(f"`{suffix}`" for suffix in one.suffixes), "" if one.in_folders else "only if named"]
        for one in FORMATS
    ]
    return table(("format", "suffixes", "in folders"), rows)


TABLES: dict[str, Callable[[str, Page], str]] = {
    "formats": formats,
    "commands": commands,
    "settings": settings,
    "errors": exceptions,
    "http": http,
    "reference": reference,
    "modes": modes,
    "rooms": rooms,
    "methods": methods,
    "statements": statements,
    "figures": figures,
    "figures_by_set": figures_by_set,
    "figures_of_variant": figures_of_variant,
    "systems": systems,
    "variants": variants,
    "growth": growth,
    "sizes": sizes,
    "bars": bars,
    "bars_of_variants": bars_of_variants,
    "differences": differences,
}
"""By name: the function that makes a table or plot from the arguments of its recipe, for a page."""

if __name__ == "__main__":
    main()
