"""Which nodes of somebody else's an entity is, by names alone; no database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from operations import outcome

from e2g_neo4j.errors import InputError
from e2g_neo4j.indexing import entity_linking
from e2g_neo4j.indexing.entity_linking import link, unlink
from e2g_neo4j.runtime.requests import Read, Write
from e2g_neo4j.types.documents import Vectors
from e2g_neo4j.types.reports import LinkReport


def entity(key: str, *forms: str, aliases: Sequence[str] = ()) -> dict[str, Any]:
    return {"key": key, "name": forms[0] if forms else key, "forms": list(forms) or [key], "aliases": list(aliases)}


def node(number: int, name: Any, aliases: Any = None) -> dict[str, Any]:
    return {"node": f"n{number:03}", "name": name, "aliases": aliases}


directions: dict[str, int] = {}
"""The axis of each name that `nothing_near` has seen."""


def nothing_near(names: list[str]) -> Vectors:
    """Every name at right angles to every other."""
    vectors = np.zeros((len(names), 1000), dtype=np.float32)
    for row, name in enumerate(names):
        vectors[row, directions.setdefault(name, len(directions))] = 1
    return vectors


def linked(
    ours: list[dict[str, Any]],
    theirs: list[dict[str, Any]],
    before: Sequence[dict[str, Any]] = (),
    embed: entity_linking.Embedding = nothing_near,
    dry_run: bool = False,
) -> tuple[LinkReport, list[Write]]:
    """What `link` reports and writes, with a database that answers from these rows."""
    operation = link("c", labels=["Person"], name="name", aliases="aliases", type=None, embed=embed, dry_run=dry_run)
    written: list[Write] = []

    def reply(request: Any) -> Sequence[dict[str, Any]]:
        match request:
            case Read("link/entities"):
                return ours
            case Read("adopt/adopted"):
                return [{"adopts": None}]
            case Read("link/nodes", {"after": after, "limit": limit}):
                return [row for row in theirs if row["node"] > after][:limit]
            case Read("link/links"):
                return before
        assert isinstance(request, Write)
        written.append(request)
        return []

    return outcome(operation, reply), written


def found(report: LinkReport) -> list[tuple[str, str, str, float]]:
    return [(one.key, one.node, one.method, round(one.score, 2)) for one in report.links]


@pytest.mark.parametrize(
    ("ours", "name", "aliases", "expected"),
    [
        (entity("ann harper", "Ann Harper"), "Ann Harper", None, ("exact", 1.0)),
        (entity("ann harper", "Ann Harper", "ANN HARPER"), "ANN HARPER", None, ("exact", 1.0)),
        (entity("ann harper", "Ann Harper"), "ánn  HARPER’s", None, ("folded", 0.95)),
        (entity("ann harper", "Ann Harper"), ["A. Harper", "Ann Harper"], None, ("exact", 1.0)),
        (entity("ann harper", "Ann Harper"), "Mrs. Miller", ["Ann Harper"], ("alias", 0.9)),
        (entity("ann harper", "Ann Harper"), "Mrs. Miller", "ann harper", ("alias", 0.9)),
        (entity("ann harper", "Ann Harper", aliases=["annie"]), "Annie", None, ("alias", 0.9)),
        (entity("ann harper", "Ann Harper"), "Dr. Ann Harper", None, ("words", 0.67)),
        (entity("ann mary harper", "Ann Mary Harper"), "Ann Harper", None, ("words", 0.67)),
        (entity("ann harper", "Ann Harper"), "Ann Miller", None, None),
        (entity("ann harper", "Ann Harper"), "Ann", None, None),
        (entity("ann harper", "Ann Harper"), "The house of Ann Harper in Leeds", None, None),
        (entity("letter"), "letter", None, ("exact", 1.0)),
        (entity("letter"), "Letter", None, ("folded", 0.95)),
        (entity("letter"), "The Letter", None, None),
        (entity("letter"), "Post", ["Letter"], None),
        (entity("ann harper", "Ann Harper"), 1900, [12], None),
    ],
)
def test_names_are_compared(ours: dict[str, Any], name: Any, aliases: Any, expected: tuple[str, float] | None) -> None:
    report, _ = linked([ours], [node(1, name, aliases), node(2, "Somebody Else")])
    assert found(report) == ([(ours["key"], "n001", *expected)] if expected else [])
    assert report.nodes == 2 - (name == 1900)


def test_all_nodes_of_one_name_are_linked_and_those_of_several_listed() -> None:
    ours = [entity("ann harper", "Ann Harper"), entity("bob", "Bob")]
    theirs = [node(1, "Ann Harper"), node(2, "Ann Harper"), node(3, "ANN HARPER"), node(4, "BOB"), node(5, "Bob")]
    report, _ = linked(ours, theirs)
    assert found(report) == [
        ("ann harper", "n001", "exact", 1.0),
        ("ann harper", "n002", "exact", 1.0),
        ("bob", "n005", "exact", 1.0),
    ]
    assert report.ambiguous == ()
    report, _ = linked(ours, [node(1, "Dr. Ann Harper"), node(2, "Mrs. Ann Harper")])
    [one] = report.ambiguous
    names = (("n001", "Dr. Ann Harper"), ("n002", "Mrs. Ann Harper"))
    assert (report.links, one.key, one.method, one.nodes) == ((), "ann harper", "words", names)


def test_a_name_that_stands_for_two_entities_says_nothing() -> None:
    ours = [
        entity("ann harper", "Ann Harper", aliases=["harper"]),
        entity("bob harper", "Bob Harper", aliases=["harper"]),
    ]
    report, _ = linked(ours, [node(1, "Harper")])
    assert (report.links, report.ambiguous) == ((), ())


def test_vectors_decide_where_names_do_not_and_one_is_nearest_by_far() -> None:
    places = {"Ann": (1.0, 0.0), "Anne": (0.95, 0.3122), "Anna": (0.0, 1.0)}

    def embed(names: list[str]) -> Vectors:
        return np.array([places[name] for name in names], dtype=np.float32)

    report, _ = linked([entity("ann", "Ann")], [node(1, "Anne"), node(2, "Anna")], embed=embed)
    assert found(report) == [("ann", "n001", "vector", 0.95)]
    places["Anna"] = (0.92, 0.3919)
    report, _ = linked([entity("ann", "Ann")], [node(1, "Anne"), node(2, "Anna")], embed=embed)
    assert (report.links, [one.method for one in report.ambiguous]) == ((), ["vector"])
    places["Anne"] = places["Anna"] = (0.8, 0.6)
    report, _ = linked([entity("ann", "Ann")], [node(1, "Anne")], embed=embed)
    assert (report.links, report.ambiguous) == ((), ())
    report, _ = linked([entity("ann")], [node(1, "Anne")], embed=embed)
    assert report.links == (), "a common noun is no name"


def test_names_are_embedded_up_to_a_number_of_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entity_linking, "MOST_EMBEDDED", 2)

    def fails(names: list[str]) -> Vectors:
        raise AssertionError(names)

    report, _ = linked([entity("ann", "Ann")], [node(n, f"X{n}") for n in range(3)], embed=fails)
    assert not report.vectors


def test_nodes_are_read_in_pages_and_links_written_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entity_linking, "PAGE", 3)
    monkeypatch.setattr(entity_linking, "ROWS", 4)
    ours = [entity(f"name {n}", f"Name {n}") for n in range(10)]
    report, written = linked(ours, [node(n, f"Name {n}") for n in range(10)])
    assert (report.nodes, report.added) == (10, 10)
    sizes = [len(statement[1]["rows"]) for write in written for statement in write.statements[1:]]
    assert sizes == [4, 4, 2]
    assert all(write.statements[0] == ("index/lock_corpus", {"corpus": "c"}) for write in written)


def test_only_differences_are_written() -> None:
    ours = [entity("ann", "Ann"), entity("bob", "Bob"), entity("cy", "Cy")]
    before = [
        {"key": "ann", "node": "n001", "method": "exact", "score": 1.0, "property": "name"},
        {"key": "bob", "node": "n002", "method": "vector", "score": 0.91, "property": "name"},
        {"key": "bob", "node": "n009", "method": "exact", "score": 1.0, "property": "name"},
        {"key": "cy", "node": "n003", "method": "exact", "score": 1.0, "property": "nickname"},
    ]
    theirs = [node(1, "Ann"), node(2, "Bob"), node(3, "Cy")]
    report, written = linked(ours, theirs, before)
    assert (report.added, report.removed) == (2, 1)
    released, referred = [write.statements[1] for write in written]
    assert (released[0], released[1]["rows"]) == ("link/delete_links", [{"key": "bob", "node": "n009"}])
    assert [row["key"] for row in referred[1]["rows"]] == ["bob", "cy"]
    rehearsed, written = linked(ours, theirs, before, dry_run=True)
    assert (rehearsed.links, rehearsed.added, written) == (report.links, 2, [])


def test_a_label_without_names_is_refused() -> None:
    with pytest.raises(InputError, match="Person"):
        linked([entity("ann", "Ann")], [node(1, None), node(2, 7)])


def test_unlink_releases_all_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entity_linking, "ROWS", 2)
    operation: Any = unlink("c", None)
    assert next(operation) == Read("link/links", {"corpus": "c", "labels": None})
    write = operation.send([{"key": str(n), "node": "x", "method": "exact", "score": 1.0} for n in range(3)])
    assert [statement for statement, _ in write.statements] == ["index/lock_corpus", "link/delete_links"]
    assert len(operation.send([]).statements[1][1]["rows"]) == 1
    with pytest.raises(StopIteration) as end:
        operation.send([])
    assert end.value.value == 3
