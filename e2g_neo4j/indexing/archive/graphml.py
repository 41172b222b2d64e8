"""Export a corpus as GraphML (http://graphml.graphdrawing.org) for Gephi, yEd, igraph and networkx."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_TYPES = {"BOOLEAN": "boolean", "INTEGER": "long", "FLOAT": "double"}
_LEFT_OUT = re.compile(
    r"(embedding|embedded_name|sentence_vectors)(_[0-9a-f]{8})?|fulltext(_corpus)?_[a-z]+|notes|notes_of|terms?|term_windows"
)
"""Properties that are only useful to this program."""
_NOT_IN_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_graphml(file: Path, rows: Callable[[str], Iterator[dict[str, Any]]]) -> tuple[int, int, int, int]:
    """Write nodes and relationships of a corpus.

    Labels and types of relationships become the attributes `labels` and `label`. Lists, and numbers of mixed types,
    become text. Embeddings, notes and the statistics of words are left out. Characters that are invalid in XML are
    replaced by U+FFFD.

    Returns:
        The number of documents, nodes and relationships, and 0.
    """
    types = {
        (row["edge"], row["name"]): _type(row["types"])
        for row in rows("archive/properties")
        if not _LEFT_OUT.fullmatch(row["name"])
    }
    documents = nodes = edges = 0
    with etree.xmlfile(str(file), encoding="utf-8") as xml:
        xml.write_declaration()
        with xml.element("graphml", nsmap={None: _NAMESPACE}):
            for (of_edge, name), kind in {(False, "labels"): "string", (True, "label"): "string", **types}.items():
                of = "edge" if of_edge else "node"
                valid_name = _NOT_IN_XML.sub("\ufffd", name)
                attributes = {"id": f"{of}_{valid_name}", "for": of, "attr.name": valid_name, "attr.type": kind}
                xml.write(etree.Element("key", attributes), pretty_print=True)
            with xml.element("graph", {"id": "corpus", "edgedefault": "directed"}):
                for row in rows("archive/nodes"):
                    documents += "Document" in row["labels"]
                    nodes += 1
                    node = etree.Element("node", {"id": row["key"]})
                    properties = {"labels": "".join(f":{label}" for label in row["labels"]), **row["properties"]}
                    xml.write(_with_data(node, "node", properties), pretty_print=True)
                for row in rows("archive/relationships"):
                    edges += 1
                    edge = etree.Element("edge", {"source": row["a"], "target": row["b"]})
                    xml.write(_with_data(edge, "edge", {"label": row["type"], **row["properties"]}), pretty_print=True)
    return documents, nodes, edges, 0


def _type(cypher_types: list[str]) -> str:
    kinds = {_TYPES.get(one.removesuffix(" NOT NULL"), "string") for one in cypher_types}
    return kinds.pop() if len(kinds) == 1 else "string"


def _with_data(element: Any, prefix: str, properties: dict[str, Any]) -> Any:
    for name, value in properties.items():
        if value is not None and not _LEFT_OUT.fullmatch(name):
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
