"""Commands that the program and its documentation tell people to run: find them, and check that they can be run.

They are in string constants of the package, in the texts of the page and of the guide, in headers of statements, and in
Markdown. What a message fills in at run time is a hole: one that is quoted for a shell gets one word, any other gets
what a shell splits. Words in capitals, such as PATH, are for people to replace.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from typer.core import TyperGroup
from typer.main import get_command

from e2g_neo4j.cli.app import app
from e2g_neo4j.settings import OTHER_VARIABLES, Settings, variable_of

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "e2g_neo4j"
PAGES = ("*.js", "*.html", "*.adoc", "*.txt")
OTHER_FILES = ("docker-compose.yml", "Dockerfile", "chart/templates/NOTES.txt")

QUOTED, PLAIN = "'two words'", "two --words"
HOLES = {
    "layer": "statements",
    "made": "statements",
    "code": "de",
    "passage.document_id": "0f3a9c1d2e4b5a67",
    "start": "3",
    "option": " -c 'two words'",
}
"""What fills holes that are no text of a user, by their expression."""
OF_NEO4J = "neo4j-mcp-server"
"""A package of Neo4j, on the index, that a page recommends."""
NUMBERS = {"N": "3"}
"""What placeholders stand for where an option takes numbers only."""

_IN_CODE = re.compile(r"`+((?:[A-Z_0-9]+=\S+ )*(?:\S*/)?(?:e2g|make|pip|docker) [^`]+)`")
_IN_TEXT = re.compile(r"(?<![`\w./-])(e2g (?:[a-z]+ )*?(?:--?[a-z]|db|keys|models|read)(?:[^`\n.,;:)]|[.,;:](?=\S))*)")
"""Without backquotes: at least an option or a subcommand, so that it is not a sentence about e2g. It ends with the
clause."""
_TO_RUN = re.compile(r"(\b(run|with|or|use|then|by)|:)\s$", re.IGNORECASE)


@dataclass(frozen=True)
class Advice:
    """A command.

    Attributes:
        place: File and line.
        text: The command.
        complete: It is to be run as it is, so whatever it requires must be there. Otherwise, it may be a mere mention.
    """

    place: str
    text: str
    complete: bool


def all_advice() -> list[Advice]:
    """Return every command in the package, its pages, and the documentation."""
    found: list[Advice] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for line, text in _strings(path):
            found += _commands(path, line, text)
    for path in sorted([*(page for kind in PAGES for page in PACKAGE.rglob(kind)), *ROOT.glob("cypher/**/*.cypher")]):
        text = re.sub(r"\$\{[^}]*\}", PLAIN, path.read_text(encoding="utf-8"))
        found += _commands(path, 1, re.sub(r"</?code>", "`", text))
    for path in sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - {ROOT / "CHANGELOG.md"}):  # it tells the past
        found += _in_markdown(path, path.read_text(encoding="utf-8"))
    for path in sorted(ROOT.glob("docs/*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            found += _in_markdown(path, "".join(cell["source"]))
    for name in OTHER_FILES:
        text = re.sub(r"\{\{.*?\}\}", "NAME", (ROOT / name).read_text(encoding="utf-8"))
        shown = (re.sub(r"^#?\s*(.*?)(\s{3,}.*)?$", r"\1", line) for line in text.splitlines())
        found += [one for one in _lines(ROOT / name, 1, "\n".join(shown)) if re.match("docker|kubectl|e2g", one.text)]
    return found


def all_texts() -> Iterator[tuple[Path, str]]:
    """Yield the strings of the package, and the texts of its pages and of the documentation."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for _, text in _strings(path):
            yield path, text
    kinds = (*(f"e2g_neo4j/**/{kind}" for kind in PAGES), "cypher/**/*.cypher", "*.md", "docs/**/*.md", *OTHER_FILES)
    for path in sorted(page for kind in kinds for page in ROOT.glob(kind)):
        yield path, path.read_text(encoding="utf-8")


def _strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each string of a module. Docstrings are among them: they are help."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(map(_filled, node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.value


def _filled(part: ast.expr) -> str:
    """Return a part of an f-string, with a value in a hole."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    hole = ast.unparse(part.value) if isinstance(part, ast.FormattedValue) else ""
    return HOLES.get(hole, QUOTED if "quote(" in hole else "NAME" if hole.isupper() else PLAIN)  # a constant


def _commands(path: Path, first: int, text: str) -> Iterator[Advice]:
    """Yield the commands in a text that begins at a line of a file."""
    without_code = re.sub("`[^`]*`", lambda code: "`" * len(code[0]), text)
    for found in [*_IN_CODE.finditer(text), *_IN_TEXT.finditer(without_code)]:
        before = text[: found.start()]
        command = " ".join(found[1].split())
        complete = path.suffix == ".py" and (" -" in command or bool(_TO_RUN.search(before)))
        yield Advice(_place(path, first + before.count("\n")), command, complete)


def _in_markdown(path: Path, text: str) -> Iterator[Advice]:
    """Yield the commands of a page: the lines of blocks of a shell, and inline code."""
    block = re.compile(r"^```(\w*)\n(.*?)^```$|<!--.*?-->", re.DOTALL | re.MULTILINE)
    for found in block.finditer(text):
        if found[1] in ("sh", "bash"):
            yield from _lines(path, text[: found.start(2)].count("\n") + 1, found[2])
        elif found[1] == "console":  # with what they print
            typed = [line.removeprefix("$ ") if line.startswith("$ ") else "" for line in found[2].splitlines()]
            yield from _lines(path, text[: found.start(2)].count("\n") + 1, "\n".join(typed))
    yield from _commands(path, 1, block.sub(lambda found: "\n" * found[0].count("\n"), text))


def _lines(path: Path, first: int, text: str) -> Iterator[Advice]:
    whole = re.sub(r"\\\n\s*", "", text)
    for number, line in enumerate(whole.splitlines()):
        if line.strip():
            yield Advice(_place(path, first + number), line.strip(), True)


def _place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


class CannotRunError(Exception):
    """A command cannot be run as it is printed."""


def check(advice: Advice) -> list[str]:
    """Return the programs whose calls were checked.

    Raises:
        CannotRunError: One of them would fail: a command, an option, an argument, a target, an extra or a setting does
            not exist, or something is missing.
    """
    return _check_line(advice.text, advice.complete)


def _check_line(line: str, complete: bool) -> list[str]:
    reader = shlex.shlex(line, posix=True, punctuation_chars=";&|")
    reader.whitespace_split = True
    checked: list[str] = []
    words: list[str] = []
    for word in [*reader, ";"]:
        if not set(word) <= set(";&|"):
            words.append(word)
        else:
            checked += _check_words(words, complete)
            words = []
    return checked


def _check_words(words: list[str], complete: bool) -> list[str]:
    """Check one command of a shell."""
    match words:
        case ["do" | "sudo" | "export" | "$", *rest]:
            return _check_words(rest, complete)
        case [first, *rest] if re.fullmatch(r"[A-Z][A-Z_0-9]*=.*", first, re.DOTALL):
            _check(known_variable(first.partition("=")[0]), f"no setting {first.partition('=')[0]}")
            return _check_words(rest, complete)
        case ["sh" | "bash", "-c", line]:
            return _check_line(line, complete)
        case [first, *rest] if Path(first).name == "e2g":
            check_e2g(rest, complete)
        case ["make", *targets]:
            _check(set(targets) <= _targets(), f"no target: {targets}")
        case ["pip" | "pip3", *rest] | [_, "-m", "pip", *rest]:
            _check_pip(rest, complete)
        case ["docker", *rest]:
            return ["docker", *_check_docker(rest, complete)]
        case ["kubectl", *rest] if "--" in rest:
            return _check_words(rest[rest.index("--") + 1 :], complete)
        case _:
            return []
    return [Path(words[0]).name]


def check_e2g(words: Sequence[str], complete: bool = True) -> None:
    """Let the command line read the arguments of `e2g`, without running anything."""
    command = _program(complete)
    above, rest, name = None, list(words), "e2g"
    while isinstance(command, TyperGroup) and rest and not rest[0].startswith("-"):
        _check(rest[0] in command.commands, f"no command {rest[0]!r} of {name}")
        above = command.context_class(command, info_name=name, parent=above)
        name, command, rest = rest[0], command.commands[rest[0]], rest[1:]
    if isinstance(command, TyperGroup) and not rest and not (complete and command.no_args_is_help and above):
        return
    replaced = [NUMBERS.get(word, word) for word in rest]
    for given in (rest, replaced):
        context = command.context_class(command, info_name=name, parent=above)
        if {"--help", "--version", "--install-completion"} & set(given):
            return
        try:
            command.parse_args(context, list(given))
        except Exception as error:  # its errors have no public base class
            message = str(error) or type(error).__name__
            if not complete and message.endswith("requires an argument."):
                return
            if given is replaced or rest == replaced:
                raise CannotRunError(message) from error
        else:
            return


@cache
def _program(complete: bool) -> Any:
    """Return the command line; that for mentions requires nothing."""
    program: Any = get_command(app)
    pending = [program]
    while pending and not complete:
        command = pending.pop()
        pending += command.commands.values() if isinstance(command, TyperGroup) else []
        for parameter in command.params:
            parameter.required = False
    return program


def known_variable(name: str) -> bool:
    """Return whether a variable is a setting, or none of this program's."""
    return not name.startswith("E2G_") or name.startswith(OTHER_VARIABLES) or name in _settings()


@cache
def _settings() -> set[str]:
    return {variable_of(field) for field in Settings.model_fields}


@cache
def _targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def _check_pip(words: list[str], complete: bool) -> None:
    """The package is on no index, so it is installed from a clone or a wheel that was built."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    _check(words[:1] == ["install"], "pip only installs")
    if (words == ["install"] and not complete) or words[1:] == [OF_NEO4J]:
        return
    found = re.fullmatch(r"install (?:-e \.|dist/e2g_neo4j-\S+\.whl)\[([a-z,0-9-]+)\]", " ".join(words))
    _check(found is not None, f"anybody could register {words[1:]}: advise with `runtime.lazy_imports`")
    _check(found is not None and set(found[1].split(",")) <= extras.keys(), f"no such extra: {words[1:]}")


def _check_docker(words: list[str], complete: bool) -> list[str]:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    match words:
        case ["compose", *rest]:
            profiles = [rest[at + 1] for at, word in enumerate(rest) if word == "--profile"]
            for profile in profiles:
                _check(any(profile in one.get("profiles", ()) for one in compose["services"].values()), profile)
            if "run" in rest:
                service, *call = [word for word in rest[rest.index("run") + 1 :] if word != "--rm"]
                _check(service in compose["services"], f"no service {service}")
                check_e2g(call, complete)
                return ["e2g"]
            _check(bool({"build", "up", "down"} & set(rest)), f"docker compose {rest}")
        case ["build", *rest]:
            _check(rest[-1] == "." and (ROOT / "Dockerfile").is_file(), "no Dockerfile")
        case ["run", *rest]:
            check_e2g(rest[rest.index("e2g-neo4j") + 1 :], complete)
            return ["e2g"]
        case ["buildx", "imagetools", "inspect", _]:
            pass
        case _:
            raise CannotRunError(f"docker {words}: not known to this check")
    return []


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise CannotRunError(message)
