"""A corpus as GraphML (http://graphml.graphdrawing.org), which Gephi, yEd, igraph and networkx read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_TYPES = {"BOOLEAN": "boolean", "INTEGER": "long", "FLOAT": "double"}
_LEFT_OUT = ("embedding", "notes")  # numbers and bytes, which are for this program alone
_NOT_IN_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_graphml(file: Path, rows: Callable[[str], Iterator[dict[str, Any]]]) -> tuple[int, int, int, int]:
    """Write nodes and relationships of a corpus; return how many documents, nodes and relationships, and 0.

    Labels and types of relationships are the attributes `labels` and `label`. Lists, and numbers that are not always
    of one type, become text. Embeddings and notes are left out, and characters that XML cannot hold replaced by U+FFFD.
    """
    types = {
        (row["edge"], row["name"]): _type(row["types"])
        for row in rows("archive/properties")
        if row["name"] not in _LEFT_OUT
    }
    documents = nodes = edges = 0
    with etree.xmlfile(str(file), encoding="utf-8") as xml:
        xml.write_declaration()
        with xml.element("graphml", nsmap={None: _NAMESPACE}):
            for (of_edge, name), kind in {(False, "labels"): "string", (True, "label"): "string", **types}.items():
                of = "edge" if of_edge else "node"
                shown = _NOT_IN_XML.sub("\ufffd", name)
                declared = {"id": f"{of}_{shown}", "for": of, "attr.name": shown, "attr.type": kind}
                xml.write(etree.Element("key", declared), pretty_print=True)
            with xml.element("graph", {"id": "corpus", "edgedefault": "directed"}):
                for row in rows("archive/nodes"):
                    documents += "Document" in row["labels"]
                    nodes += 1
                    node = etree.Element("node", {"id": row["key"]})
                    properties = {"labels": "".join(f":{label}" for label in row["labels"]), **row["properties"]}
                    xml.write(_filled(node, "node", properties), pretty_print=True)
                for row in rows("archive/relationships"):
                    edges += 1
                    joint = etree.Element("edge", {"source": row["a"], "target": row["b"]})
                    xml.write(_filled(joint, "edge", {"label": row["type"], **row["properties"]}), pretty_print=True)
    return documents, nodes, edges, 0


def _type(found: list[str]) -> str:
    kinds = {_TYPES.get(one.removesuffix(" NOT NULL"), "string") for one in found}
    return kinds.pop() if len(kinds) == 1 else "string"


def _filled(element: Any, prefix: str, properties: dict[str, Any]) -> Any:
    for name, value in properties.items():
        if value is not None and name not in _LEFT_OUT:
            data = etree.SubElement(element, "data", {"key": _NOT_IN_XML.sub("\ufffd", f"{prefix}_{name}")})
            data.text = _NOT_IN_XML.sub("\ufffd", _text(value))
    return element


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case list():
            return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
