"""Options that several commands share. Those of retrieval are declared here once, for `query`, `ask` and `chat`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Annotated, Any

import typer

from e2g_neo4j.answering.methods import METHODS, MethodName
from e2g_neo4j.client import E2G
from e2g_neo4j.retrieval.options import RetrievalOptions, Unit
from e2g_neo4j.retrieval.strategies import DEFAULT_MODE, load_strategies
from e2g_neo4j.retrieval.strategy import unknown_mode

DEFAULT_CORPUS = "default"

MODES = load_strategies()
MODEL_MODES = ", ".join(mode.name for mode in MODES.values() if mode.calls_model)


def parse_mode(name: str) -> str:
    """Return the name of a mode, or suggest the one that was meant."""
    if name not in MODES:
        raise typer.BadParameter(unknown_mode(name, MODES))
    return name


def declare(name: str, type: Any, *flags: str, more: str = "", **how: Any) -> Any:
    """Declare an option of retrieval for the command line."""
    help = f"{RetrievalOptions.summary(name)} {more}".rstrip()
    return Annotated[type, typer.Option(*(flags or [f"--{name.replace('_', '-')}"]), help=help, **how)]


def spell_method(method: str) -> str:
    """Return the name of a method as options have it."""
    return method.replace("_", "-")


METHOD_NAMES: Mapping[str, MethodName] = {spell_method(one.name): one.name for one in METHODS.values()}


def parse_method(name: str) -> MethodName:
    if name not in METHOD_NAMES:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, METHOD_NAMES))}.")
    return METHOD_NAMES[name]


Corpus = Annotated[str, typer.Option("--corpus", "-c", help="The corpus: what you index and ask together.")]
ExistingCorpus = Annotated[
    str | None,
    typer.Option("--corpus", "-c", help="The corpus. (default: `default`, or the only one)", show_default=False),
]
Corpora = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        "-c",
        help="The corpus to ask. To ask several, repeat the option. (default: `default`, or the only one)",
        show_default=False,
    ),
]
CorporaToCheck = Annotated[
    list[str] | None,
    typer.Option("--corpus", "-c", help="Also tell whether this corpus has what a mode needs. Repeat for several."),
]
Question = Annotated[
    list[str], typer.Argument(help="The question, in quotes if it has signs of the shell.", metavar="QUESTION")
]
Budget = Annotated[
    int | None,
    typer.Option("--budget-tokens", min=1, help="Stop before hosted models cost more tokens."),
]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Print the address only.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

LlmWhereUsed = Annotated[bool, typer.Option("--llm", help=f"Let these modes call the chat model: {MODEL_MODES}.")]
Where = declare("where", list[str] | None, metavar="NAME=VALUE", more="Repeat for each.")


def choose_corpus(e2g: E2G, given: str | None) -> str:
    """Return the corpus that a command is for: the one given, else `default`, or the only corpus of the database."""
    if given is not None:
        return given
    names = list(e2g.corpora())
    return names[0] if len(names) == 1 else DEFAULT_CORPUS


def choose_corpora(e2g: E2G, given: Sequence[str] | None) -> list[str]:
    """Return the corpora that a question is for, as `choose_corpus` does."""
    return list(given) if given else [choose_corpus(e2g, None)]


def modes_named(names: str) -> list[str]:
    """Return the modes of a list that is separated by commas; `all` is every mode."""
    return list(MODES) if names == "all" else [name.strip() for name in names.split(",") if name.strip()]


RETRIEVAL: dict[str, tuple[Any, Any]] = {
    "k": (declare("k", int | None, "-k"), None),
    "tokens": (declare("tokens", int | None), None),
    "hops": (declare("hops", int | None), None),
    "mode": (
        declare("mode", str, metavar="<mode>", parser=parse_mode, autocompletion=lambda: list(MODES)),
        DEFAULT_MODE,
    ),
    "unit": (declare("unit", Unit | None), None),
    "relationship_types": (declare("relationship_types", str, more="Separated by commas."), ""),
    "llm": (declare("llm", bool, "--llm", more=f"These are {MODEL_MODES}."), False),
    "where": (Where, None),
    "without": (declare("without", list[str] | None, metavar="NAME", more="Repeat for each."), None),
}
"""By field of `RetrievalOptions`: the option on the command line, and its default."""


def with_retrieval_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the words of a question, and the options of retrieval, which it receives as its `**retrieval`."""
    signature = inspect.signature(command, eval_str=True)
    shown: list[inspect.Parameter] = []
    for one in signature.parameters.values():
        if one.kind is not inspect.Parameter.VAR_KEYWORD:
            annotation = Question if one.name == "question" else one.annotation
            shown.append(one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=annotation))
        if one.name == "corpora":
            shown += [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option)
                for name, (option, default) in RETRIEVAL.items()
            ]

    @wraps(command)
    def with_options(**values: Any) -> None:
        if "question" in values:  # `chat` has none
            values["question"] = " ".join(values["question"])
        retrieval = {name: values.pop(name) for name in RETRIEVAL}
        types = retrieval["relationship_types"]
        retrieval["relationship_types"] = [one.strip() for one in types.split(",")] if types else []
        retrieval |= {name: retrieval[name] or [] for name in ("where", "without")}
        command(**values, **retrieval)

    with_options.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    with_options.__annotations__ = {one.name: one.annotation for one in shown}
    return with_options
