"""Cypher templates: statements with typed parameters, in files.

The bundled ones are in `cypher/templates`, those of the user in the folder `E2G_TEMPLATES`. A file of the user replaces
the bundled one of its name.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast, get_args

from e2g_neo4j.errors import ConfigurationError, CorpusNotFoundError, InputError, NotFoundError
from e2g_neo4j.graph.read_only import Rows as PlainRows
from e2g_neo4j.graph.read_only import run_read_only
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.runtime.cypher import folder
from e2g_neo4j.runtime.requests import CallDriver, Operation, Read, Rows
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.statements import ParameterType, StatementResult, Template, TemplateParameter

BUNDLED = (
    *("chunks_with_both", "count_mentions", "count_of_type", "count_together", "documents_about", "entities_of_type"),
    *("first_and_last_mention", "mentioned_with", "most_mentioned", "neighbours_of"),
    "related_by_type",
)
"""The bundled templates."""

ROWS = 1000
"""Maximum number of rows."""

LONGEST = 10_000
"""Maximum characters of a text parameter."""

CORPUS = "corpus"
"""The parameter that every template may use. It is always the corpus of the call."""

_NAME = re.compile(r"[A-Za-z][\w-]*")
_PARAMETER = re.compile(r"\$(\w+)\s*:\s*(\w+)\s*(?:[-–]\s*(.*))?")
_USED = re.compile(r"\$(\w+)")
_QUOTED = re.compile(r"""'(?:\\.|[^\\'])*'|"(?:\\.|[^\\"])*"|`(?:``|[^`])*`|/\*.*?\*/|//[^\n]*""", re.DOTALL)
_TRUTH = {"true": True, "false": False}


def templates(settings: Settings) -> list[Template]:
    """Return the templates by name.

    Raises:
        ConfigurationError: The folder `E2G_TEMPLATES` cannot be read, or a file in it is no template.
    """
    found = {name: read(folder("cypher") / "templates" / f"{name}.cypher", bundled=True) for name in BUNDLED}
    own = settings.templates
    if own is not None:
        if not own.is_dir():
            raise ConfigurationError(f"E2G_TEMPLATES {str(own)!r} is not a folder: create it, or unset E2G_TEMPLATES.")
        found |= {path.stem: read(path, bundled=False) for path in sorted(own.glob("*.cypher"))}
    return [found[name] for name in sorted(found)]


def read(path: Path, *, bundled: bool) -> Template:
    """Read a template from a file.

    Its header are the lines at the beginning with `//`: lines with `$name: type - description` declare a parameter, one
    with `→` lists the columns, the others are the description.

    Raises:
        ConfigurationError: The file is no template. The message says why.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise _invalid(path, f"it cannot be read ({error})") from error
    if not _NAME.fullmatch(path.stem):
        raise _invalid(path, "its name has other characters than letters, digits, - and _")
    description: list[str] = []
    parameters: list[TemplateParameter] = []
    end = next((at for at, line in enumerate(lines) if not line.startswith("//")), len(lines))
    for line in (one.removeprefix("//").strip() for one in lines[:end]):
        if line.startswith("$") and line != f"${CORPUS}":
            parameters.append(_parameter(path, line))
        elif not line.startswith(("$", "→")):
            description.append(line)
    statement = "\n".join(lines[end:]).strip().rstrip(";")
    if not statement:
        raise _invalid(path, "it has no statement")
    if not any(description):
        raise _invalid(path, "its header has no description")
    declared = [one.name for one in parameters]
    if len(set(declared)) < len(declared) or CORPUS in declared:
        raise _invalid(path, f"it declares a parameter twice, or ${CORPUS}")
    used = set(_USED.findall(_QUOTED.sub(" ", statement))) - {CORPUS}
    if different := used.symmetric_difference(declared):
        raise _invalid(path, f"${min(different)} is not both declared and used")
    return Template(path.stem, " ".join(description), tuple(parameters), statement, path, bundled)


def run_template(
    settings: Settings, name: str, parameters: Mapping[str, Any], corpus: str
) -> Operation[StatementResult]:
    """Run a template. `E2G.run_template` executes this operation.

    Args:
        parameters: Its parameters. Texts are converted to the type of the parameter.

    Raises:
        NotFoundError: There is no such template, corpus or entity.
        InputError: A parameter is missing, unknown or of another type, or the statement does not only read.
    """
    template = template_of(settings, name)
    values = convert_parameters(template, parameters)
    [row] = yield Read("query/corpus", {"corpus": corpus, "terms": []})
    if not row["found"]:
        raise CorpusNotFoundError(corpus)
    entities = {one.name: entity_key(values[one.name]) for one in template.parameters if one.type == "entity"}
    if entities:
        rows: Rows = yield Read("query/resolve", {"corpus": corpus, "names": sorted(set(entities.values()))})
        keys = {row["name"]: row["entity"] for row in rows}
        for parameter, key in entities.items():
            if keys.get(key) is None:
                raise NotFoundError(
                    f"The corpus {corpus!r} has no entity {values[parameter]!r}: list them with `e2g entities --corpus "
                    f"{shlex.quote(corpus)}`."
                )
            values[parameter] = keys[key]
    values[CORPUS] = corpus
    where = f"The template {name} ({template.path})"
    found: PlainRows = yield CallDriver(run_read_only(template.statement, values, ROWS, where=where))
    return StatementResult(template.statement, values, found.columns, found.rows, found.more, template=name)


def template_of(settings: Settings, name: str) -> Template:
    """Return a template.

    Raises:
        NotFoundError: There is none of this name.
    """
    by_name = {one.name: one for one in templates(settings)}
    if name not in by_name:
        raise NotFoundError(f"There is no template {name!r}: choose one of {', '.join(by_name)}.")
    return by_name[name]


def convert_parameters(template: Template, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a template's parameters. Raise InputError if one is missing, unknown or of another type."""
    types = {one.name: one.type for one in template.parameters}
    takes = ", ".join(f"{name} ({type})" for name, type in types.items()) or "none"
    if unknown := parameters.keys() - types.keys():
        raise InputError(f"The template {template.name} has no parameter {min(unknown)!r}. Its parameters: {takes}.")
    if missing := types.keys() - parameters.keys():
        raise InputError(f"The template {template.name} needs the parameter {min(missing)!r}. Its parameters: {takes}.")
    return {name: _convert(template, name, type, parameters[name]) for name, type in types.items()}


def _convert(template: Template, name: str, type: ParameterType, value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    text = value if isinstance(value, str) else None
    try:
        match type:
            case "string" | "entity" if (
                text is not None and len(text) <= LONGEST and (type == "string" or text.strip())
            ):
                text.encode()
                return text
            case "integer" if text is not None or (number and isinstance(value, int)):
                if -(2**63) <= (whole := int(value)) < 2**63:
                    return whole
            case "number" if (text is not None or number) and math.isfinite(float(value)):
                return float(value)
            case "boolean" if isinstance(value, bool):
                return value
            case "boolean" if text is not None and text.lower() in _TRUTH:
                return _TRUTH[text.lower()]
    except (ValueError, OverflowError):
        pass
    raise InputError(f"The parameter {name!r} of the template {template.name} is of type {type}, not {value!r}.")


def _parameter(path: Path, line: str) -> TemplateParameter:
    found = _PARAMETER.fullmatch(line)
    if not found or found[2] not in get_args(ParameterType):
        types = "|".join(get_args(ParameterType))
        raise _invalid(path, f"its line “{line}” is not like `$name: {types} - description`")
    return TemplateParameter(found[1], cast(ParameterType, found[2]), found[3] or "")


def _invalid(path: Path, why: str) -> ConfigurationError:
    return ConfigurationError(f"{path} is no Cypher template: {why}. Correct it, or remove it from E2G_TEMPLATES.")
