"""Draw the evidence of a question in a standalone HTML page with neo4j-viz."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from neo4j.graph import Node, Relationship
from neo4j.graph import Path as GraphPath

from e2g_neo4j.managed_neo4j.config import read_style
from e2g_neo4j.runtime.lazy_imports import needs

CAPTION = 40
"""Maximum characters of the text in a circle."""
TEXT = 600
"""Maximum characters of a text in a tooltip."""

TYPE_COLOURS = {"person": "#DA7194", "place": "#569480", "organisation": "#C990C0", "noun": "#B5A7AD"}
"""Colours of entities by type. The style of Neo4j Browser only knows labels, so there all entities have one colour."""


def page(paths: Iterable[GraphPath]) -> str:
    """Render the nodes and relationships of paths as HTML, in the colours of `e2g.grass`.

    Vectors are omitted and texts are truncated.

    Raises:
        ConfigurationError: neo4j-viz is not installed.
    """
    with needs("Drawing the graph", "viz", "or use Neo4j Browser with `e2g query QUESTION --browser`"):
        import neo4j_viz

    nodes: dict[str, Node] = {}
    relationships: dict[str, Relationship] = {}
    for path in paths:
        nodes |= {node.element_id: node for node in path.nodes}
        relationships |= {one.element_id: one for one in path.relationships}
    graph = neo4j_viz.VisualizationGraph(
        nodes=[_node(neo4j_viz.Node, node) for node in nodes.values()],
        relationships=[_relationship(neo4j_viz.Relationship, one) for one in relationships.values()],
    )
    return str(graph.render(width="100%", height="100vh").data)


def _node(kind: Any, node: Node) -> Any:
    styles = read_style()
    [label] = [one for one in node.labels if f"node.{one}" in styles]  # entities may have one of the typed graph too
    style = styles[f"node.{label}"]
    properties = {name: _short(value, TEXT) for name, value in node.items() if not isinstance(value, list)}
    return kind(
        id=node.element_id,
        caption=_short(_caption(style["caption"], node) or label, CAPTION),
        size=float(style["diameter"].removesuffix("px")) / 2,
        color=TYPE_COLOURS.get(node.get("type", ""), style["color"]) if label == "Entity" else style["color"],
        properties=properties,
    )


def _relationship(kind: Any, one: Relationship) -> Any:
    style = read_style()[f"relationship.{one.type}"]
    start, end = one.nodes
    return kind(
        id=one.element_id,
        source=start.element_id if start else None,
        target=end.element_id if end else None,
        caption=_caption(style["caption"].replace("<type>", one.type), one),
        color=style["color"],
        width=float(style["shaft-width"].removesuffix("px")),
        properties={name: value for name, value in one.items() if not isinstance(value, list)},
    )


def _caption(pattern: str, of: Node | Relationship) -> str:
    """Fill the properties into the caption of a style, as Neo4j Browser does. A missing property is empty."""
    return re.sub(r"\{(\w+)\}", lambda name: str(of.get(name[1], "")), pattern).strip()


def _short(value: Any, characters: int) -> Any:
    return value[:characters] + "…" if isinstance(value, str) and len(value) > characters else value
