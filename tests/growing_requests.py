"""Requests of a service whose description is given, in which one field at a time grows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote

MARK = "\ue000"
"""Stands for the value that grows."""

VALUES: dict[str, Callable[[int], str]] = {
    "letters": lambda n: json.dumps("x" * n),
    "spaces": lambda n: json.dumps("x" + " " * (n - 2) + "y"),
    "words": lambda n: json.dumps("Ann met " * (n // 8)),
    "marks": lambda n: json.dumps("a." * (n // 4) + "?!" * (n // 8) + "+%" * (n // 8)),
    "digits": lambda n: "1" * n,
    "digits of a text": lambda n: json.dumps("1" * n),
    "halves of surrogate pairs": lambda n: '"' + "\\ud800" * (n // 6) + '"',
    "list": lambda n: json.dumps(["x"] * (n // 5)),
    "list of objects": lambda n: json.dumps([{}] * (n // 4)),
    "deep list": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "object": lambda n: json.dumps({f"k{number}": number for number in range(n // 16)}),
    "deep object": lambda n: '{"a":' * (n // 6) + "1" + "}" * (n // 6),
}
"""JSON of about n characters."""


def _fields(n: int) -> str:
    """Fields of an object, without its braces."""
    return VALUES["object"](n)[1:-1]


TEXTS: dict[str, Callable[[int], str]] = {
    "letters": lambda n: "x" * n,
    "spaces": lambda n: "x" + "%20" * (n // 3) + "y",
    "digits": lambda n: "1" * n,
    "marks": lambda n: ".,;:~*"[:6] * (n // 6),
    "slashes": lambda n: "%2F" * (n // 3),
}
"""Texts of an address or a header."""

LONGEST_ADDRESS = 50_000


@dataclass(frozen=True)
class Request:
    """A request in which one value grows."""

    method: str
    path: str
    field: str
    kind: str
    make: Callable[[int], dict[str, Any]]

    def of_size(self, size: int) -> dict[str, Any]:
        """The arguments of `httpx.Client.build_request`."""
        return {"method": self.method, **self.make(size)}

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.field} ({self.kind})"


def requests_of(description: dict[str, Any], corpus: str) -> Iterator[Request]:
    """All requests of an OpenAPI description, once for each field and kind of growth."""
    schemas = description["components"]["schemas"]
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            parameters = operation.get("parameters", ())
            bodies = operation.get("requestBody", {}).get("content", {})
            body = bodies.get("application/json", {}).get("schema")
            sent = json.dumps(example(body, schemas, corpus)) if body else None
            for parameter in parameters:
                yield from _of_parameter(method.upper(), path, parameter, parameters, sent, corpus)
            address = _address(path, {}, corpus)
            for field, text in _with_mark(body, schemas, corpus) if body else ():
                yield from _of_body(method.upper(), path, address, field, text)
            form = bodies.get("multipart/form-data", {}).get("schema")
            if form:
                form = _resolved(form, schemas)
                for field in form["properties"]:
                    yield from _of_form(method.upper(), path, address, field, form)


def tool_calls(tools: list[dict[str, Any]], corpus: str) -> Iterator[Request]:
    """Calls of MCP tools, once for each argument and kind of growth."""
    for tool in tools:
        schema = tool["inputSchema"]
        for field, arguments in _with_mark(schema, schema.get("$defs", {}), corpus):
            call = json.dumps({"name": tool["name"], "arguments": "ARGUMENTS"}).replace('"ARGUMENTS"', arguments)
            text = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {call}}}'
            yield from _of_body("POST", f"/mcp {tool['name']}", "/mcp", field, text)


def example(schema: dict[str, Any], schemas: dict[str, Any], corpus: str, name: str = "") -> Any:
    """A small value that a schema admits."""
    schema = _resolved(schema, schemas)
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    if name in ("corpora", "corpus"):
        return [corpus] if schema.get("type") == "array" else corpus
    if name == "model":
        return f"e2g/{corpus}"
    if name == "role":
        return "user"
    match schema.get("type"):
        case "object":
            wanted = schema.get("required", ())
            return {one: example(schema["properties"][one], schemas, corpus, one) for one in wanted}
        case "array":
            return [example(schema.get("items", {}), schemas, corpus)] if schema.get("minItems") else []
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case "null":
            return None
    return "Who kept the light?"


def _resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """A schema without a reference; of several, the first that is not null."""
    while True:
        if "$ref" in schema:
            schema = schemas[schema["$ref"].rpartition("/")[2]]
        elif "anyOf" in schema:
            schema = {**schema, **next(one for one in schema["anyOf"] if one.get("type") != "null")}
            del schema["anyOf"]
        else:
            return schema


def _with_mark(schema: dict[str, Any], schemas: dict[str, Any], corpus: str) -> Iterator[tuple[str, str]]:
    """The JSON of an example with MARK in the place of one field, for each field, also of objects in lists."""
    schema = _resolved(schema, schemas)
    small = example(schema, schemas, corpus)
    for name, field in schema.get("properties", {}).items():
        yield name, json.dumps({**small, name: MARK}, ensure_ascii=False)
        inner = _resolved(field, schemas)
        if inner.get("type") == "array":
            item = _resolved(inner.get("items", {}), schemas)
            yield f"{name}[]", json.dumps({**small, name: [MARK]}, ensure_ascii=False)
            for below, text in _with_mark(item, schemas, corpus) if item.get("type") == "object" else ():
                whole = json.dumps({**small, name: ["INNER"]}, ensure_ascii=False)
                yield f"{name}[].{below}", whole.replace('"INNER"', text)
        elif inner.get("type") == "object":
            for below, text in _with_mark(inner, schemas, corpus):
                whole = json.dumps({**small, name: "INNER"}, ensure_ascii=False)
                yield f"{name}.{below}", whole.replace('"INNER"', text)
    yield "another field", json.dumps({**small, "another": MARK}, ensure_ascii=False)
    yield "other fields", json.dumps({**small, "others": MARK}, ensure_ascii=False)


def _of_body(method: str, path: str, address: str, field: str, text: str) -> Iterator[Request]:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    before, _, after = text.partition(f'"{MARK}"')
    if field.endswith("other fields"):
        before = before.removesuffix('"others": ')

    def make(n: int, value: Callable[[int], str]) -> dict[str, Any]:
        return {"url": address, "headers": headers, "content": before + value(n) + after}

    for kind, value in (VALUES if not field.endswith("other fields") else {"fields": _fields}).items():
        yield Request(method, path, field, kind, partial(make, value=value))


def _of_parameter(
    method: str, path: str, parameter: dict[str, Any], others: Any, body: str | None, corpus: str
) -> Iterator[Request]:
    name, place = parameter["name"], parameter["in"]
    headers = {"Content-Type": "application/json"} if body else {}

    def make(n: int, value: Callable[[int], str]) -> dict[str, Any]:
        text = value(min(n, LONGEST_ADDRESS) if n > 200_000 else min(n, LONGEST_ADDRESS // 4))
        if place == "header":
            return {"url": _address(path, {}, corpus), "headers": {**headers, name: text}, "content": body}
        if place == "query":
            return {"url": f"{_address(path, {}, corpus)}?{name}={text}", "headers": headers, "content": body}
        return {"url": _address(path, {name: text}, corpus), "headers": headers, "content": body}

    for kind, value in TEXTS.items():
        yield Request(method, path, name, kind, partial(make, value=value))


def _address(path: str, values: dict[str, str], corpus: str) -> str:
    for part in path.split("/"):
        if part.startswith("{"):
            name = part.strip("{}").removesuffix(":path")
            path = path.replace(part, values.get(name) or quote(corpus if name == "corpus" else "none"))
    return path


def _of_form(method: str, path: str, address: str, field: str, form: dict[str, Any]) -> Iterator[Request]:
    def make(n: int, shape: Callable[[int], list[tuple[str, str, str]]]) -> dict[str, Any]:
        parts = "".join(
            f'--xx\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{text}\r\n'
            for name, more, text in [*others, *shape(n)]
        )
        headers = {"Content-Type": "multipart/form-data; boundary=xx"}
        return {"url": address, "headers": headers, "content": parts + "--xx--\r\n"}

    is_file = _is_file(form["properties"][field])
    required = [name for name in form.get("required", ()) if name != field]
    others = [(name, '; filename="a.txt"' if _is_file(form["properties"][name]) else "", "x") for name in required]
    shapes: dict[str, Callable[[int], list[tuple[str, str, str]]]] = {
        "letters": lambda n: [(field, "", "x" * n)],
        "digits": lambda n: [(field, "", "1" * n)],
        "JSON": lambda n: [(field, "", VALUES["object"](n))],
        "deep JSON": lambda n: [(field, "", VALUES["deep object"](n))],
        "line ends": lambda n: [(field, "", "\r\n-" * (n // 3))],
        "many": lambda n: [(field, "", "x")] * (n // 70),
        "headers": lambda n: [(field, "\r\nX-A: b" * (n // 8), "x")],
        "a long header": lambda n: [(field, "\r\nX-A: " + "b" * n, "x")],
    }
    if is_file:
        shapes |= {
            "file name": lambda n: [(field, f'; filename="{"x" * n}.txt"', "x")],
            "escaped file name": lambda n: [(field, '; filename="' + '\\"' * (n // 2) + '.txt"', "x")],
            "files": lambda n: [(field, f'; filename="{number}.txt"', "x") for number in range(n // 90)],
        }
    for kind, shape in shapes.items():
        yield Request(method, path, field, kind, partial(make, shape=shape))


def _is_file(schema: dict[str, Any]) -> bool:
    return "contentMediaType" in json.dumps(schema) and "application/octet-stream" in json.dumps(schema)
