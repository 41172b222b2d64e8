"""The reference of classes and functions, read from their source, for docs_pages.py. Nothing optional is imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from textwrap import dedent

from figure_tables import ROOT, Page, table

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
SECTIONS = {"Args": "argument", "Attributes": "attribute", "Raises": "error"}


def reference(arguments: str, page: Page) -> str:
    """Names of a module: `<!-- reference: MODULE | NAME, NAME: MEMBER MEMBER … -->`.

    After a colon are the members of a class, inherited ones too; `*`, or no colon, means all of its own that have a
    docstring.
    """
    module, _, names = arguments.partition(" | ")
    return "\n\n".join(part for name in names.split(", ") for part in describe(module, *name.split(":")))


def describe(module: str, name: str, members: str | None = None) -> Iterator[str]:
    node = find_definition(module, name)
    yield f"### `{name}`"
    if isinstance(node, tuple):
        yield f"```py\n{node[0]}\n```"
        yield node[1]
        return
    if not isinstance(node, ast.ClassDef):
        yield from write_documentation(node)
        return
    fields = getattr(getattr(import_module(module), name), "model_fields", {})
    yield from write_documentation(
        node, {one: str(field.description) for one, field in fields.items() if field.description}
    )
    own = [one for one in node.body if isinstance(one, Definition) and not one.name.startswith("_")]
    if members is not None:
        named = [own if member == "*" else [find_method(module, node, member)] for member in members.split()]
        own = [one for each in named for one in each]
    for one in {one.name: one for one in own if ast.get_docstring(one)}.values():
        yield f"#### `{name}.{one.name}`"
        yield from write_documentation(one)


def find_definition(module: str, name: str) -> Definition | tuple[str, str]:
    """Return the definition of a name, or of a constant or type the statement and its docstring."""
    file = ROOT / Path(*module.split(".")).with_suffix(".py")
    if not file.exists():
        found = getattr(import_module(module), name)
        package = ROOT / Path(*module.split("."))
        origin = ROOT / Path(*str(getattr(found, "__module__", "")).split(".")).with_suffix(".py")
        candidates = [origin] if origin.exists() else sorted(package.rglob("*.py"))
    else:
        candidates = [file]
    for one in candidates:
        source = one.read_text(encoding="utf-8")
        body = ast.parse(source).body
        for place, node in enumerate(body):
            if isinstance(node, Definition) and node.name == name:
                return node
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                text = ast.get_docstring(ast.Module(body[place + 1 :], []))
                return ast.get_source_segment(source, node) or "", text or ""
    raise KeyError(f"{module}.{name}")


def find_method(module: str, node: ast.ClassDef, name: str) -> Definition:
    """Return a method of a class or of its bases."""
    for kind in getattr(import_module(module), node.name).__mro__:
        inherited = find_definition(kind.__module__, kind.__name__)
        for one in getattr(inherited, "body", []):
            if isinstance(one, Definition) and one.name == name:
                return one
    raise KeyError(f"{node.name}.{name}")


def write_documentation(node: Definition, described: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the signature of a function, and the text and the tables of a docstring.

    Args:
        node: The function or class.
        described: What the fields of the class mean, by name, if they say it themselves.
    """
    decorators = {ast.unparse(one) for one in node.decorator_list}
    if not isinstance(node, ast.ClassDef) and not decorators & {"property", "cached_property"}:
        yield f"```py\n{write_signature(node)}\n```"
    types = {
        one.target.id: ast.unparse(one.annotation)
        for one in node.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and not one.target.id.startswith("_")
    }
    text, *sections = re.split(r"^(\w+):\n(?=    )", (ast.get_docstring(node) or "") + "\n", flags=re.MULTILINE)
    yield text.strip()
    if described and types:
        rows = ([f"`{name}`", f"`{kind}`", " ".join(described.get(name, "").split())] for name, kind in types.items())
        yield table(("attribute", "type", "meaning"), rows)
    elif types and not sections:
        yield table(("attribute", "type"), ([f"`{name}`", f"`{kind}`"] for name, kind in types.items()))
    for name, body in zip(sections[::2], sections[1::2], strict=True):
        entries = re.split(r"\n(?! )", dedent(body).strip())
        if name not in SECTIONS:
            yield f"{name}: {' '.join(body.split())}"
            continue
        rows = [(one, " ".join(meaning.split())) for one, _, meaning in (entry.partition(": ") for entry in entries)]
        if name == "Attributes":
            yield table(
                ("attribute", "type", "meaning"),
                ([f"`{one}`", f"`{types[one]}`" if one in types else "", meaning] for one, meaning in rows),
            )
        else:
            yield table((SECTIONS[name], "meaning"), ([f"`{one}`", meaning] for one, meaning in rows))


def write_signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the call of a function with its types, on several lines if it is long."""
    parts = re.split(r", (?=\*|\w+: )", re.sub(r"^(self|cls)(, |$)", "", ast.unparse(node.args)))
    parts = [re.sub(r"^(\w+: [^=]+)=", r"\1 = ", part) for part in parts]
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    if len(line := f"{node.name}({', '.join(parts)}){returned}") <= 100:
        return line
    return f"{node.name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){returned}"
