"""What chunks refer to, on the real server."""

from __future__ import annotations

import random
from typing import Any

import libraries
import pytest
from libraries import driven, performing, small_document, write
from neo4j import Driver
from tiers import at_length

from e2g_neo4j.graph.writer import delete
from e2g_neo4j.indexing import references
from e2g_neo4j.indexing.references import update_references
from e2g_neo4j.runtime.requests import Operation, Read, Write


def found(driver: Driver, corpus: str) -> dict[tuple[str, str], tuple[str, list[int]]]:
    """What refers to what, with the words and the windows."""
    rows = driver.execute_query(
        "MATCH (c:Chunk {corpus: $corpus})-[r:REFERS_TO]->(d:Document) "
        "RETURN c.document AS source, d.id AS target, r.text AS text, r.windows AS windows",
        corpus=corpus,
    ).records
    return {(row["source"], row["target"]): (row["text"], row["windows"]) for row in rows}


def titled(patch: pytest.MonkeyPatch, **titles: str) -> None:
    patch.setattr(libraries, "title_of", lambda document: titles[document.id])


def taken(driver: Driver, corpus: str, *ids: str) -> None:
    driven(performing(driver), delete(corpus, list(ids)))
    driven(performing(driver), update_references(corpus))


def test_a_title_is_found_in_texts_before_and_after_it(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora.append(corpus)
    titled(monkeypatch, a="Something else", b="Miss Lucy Westenra (novel)", c="Miss Lucy")
    a, b = small_document("a", ["miss lucy westenra"]), small_document("b", ["ann", "bob"])
    write(driver, corpus, [a])
    assert found(driver, corpus) == {}
    write(driver, corpus, [b])
    assert found(driver, corpus) == {("a", "b"): ("miss lucy westenra", [0])}
    write(driver, corpus, [small_document("c", ["miss lucy westenra"])])
    assert found(driver, corpus).keys() == {("a", "b"), ("c", "b")}, "the longest title alone"
    taken(driver, corpus, "b")
    assert found(driver, corpus) == {("a", "c"): ("miss lucy", [0])}, "the shorter one, and none to itself"
    taken(driver, corpus, "c")
    assert found(driver, corpus) == {}


def test_a_renamed_document_is_referred_to_by_its_new_title(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora.append(corpus)
    titled(monkeypatch, a="A text", b="Mina Harker")
    write(driver, corpus, [small_document("a", ["mina harker"], ["lucy westenra"]), small_document("b", ["ann"])])
    assert found(driver, corpus) == {("a", "b"): ("mina harker", [0])}
    titled(monkeypatch, a="A text", b="Lucy Westenra")
    write(driver, corpus, [small_document("b", ["ann"])])
    assert found(driver, corpus) == {("a", "b"): ("lucy westenra", [0])}


def test_a_title_of_many_documents_refers_to_a_bounded_number_of_them(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora.append(corpus)
    monkeypatch.setattr(references, "MOST_BEARERS", 3)
    monkeypatch.setattr(
        libraries, "title_of", lambda document: "Mina Harker" if document.id.startswith("d") else "Another"
    )
    library = [small_document(name, ["mina harker"]) for name in ("d0", "d1", "d2", "d3", "d4", "d5", "other")]
    write(driver, corpus, library)
    assert {source for source, _ in found(driver, corpus)} == {"other"}, "no text names others by its own title"
    assert len(found(driver, corpus)) == 3
    for number in (0, 1):
        taken(driver, corpus, f"d{number}")
    fresh = f"{corpus}-fresh"
    corpora.append(fresh)
    write(driver, fresh, library[2:])
    assert found(driver, corpus) == found(driver, fresh)


HOSTILE = (
    "The", "And", "Introduction", "Home", "Index", "Chapter 1", "AND OR NOT", "Night AND Day", 'OR "(*?:\\/ fog',
    "a.*[b-]+$ fog", "fog~2 lamp^9", "corpus_key:* lamp", "/.*/ lamp", "__", "____ __", "_ fog _", "...", "?!",
    "\x01\x7f", "fog\x02lamp", "🦆", "🦆 lamp", "\u202efog lamp\u202c", "e\u0301lise fog", "\u0301\u0301",
    "שלום עולם", "夜霧", "İstanbul fog", "x" * 255 + "'s fog", "x" * 5000, "fog " * 1250, "(film)", "((((", " ", "",
)  # fmt: skip


def test_no_title_breaks_the_search_for_it(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts of nothing but titles, some with the same; what is found does not depend on the order."""
    monkeypatch.setattr(libraries, "title_of", lambda document: HOSTILE[int(document.id[1:]) % len(HOSTILE)])
    library = [small_document(f"d{number:03}", *([title] for title in HOSTILE)) for number in range(len(HOSTILE) + 9)]
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    for number in range(0, len(library), 23):
        write(driver, corpus, library[::-1][number : number + 23])
    write(driver, corpus, library[10:20])
    write(driver, fresh, library)
    there = found(driver, corpus)
    assert there == found(driver, fresh)
    named = {HOSTILE[int(target[1:]) % len(HOSTILE)] for _, target in there}
    assert named >= {"Introduction", "Chapter 1", "Night AND Day", "夜霧", "fog~2 lamp^9", "שלום עולם"}
    assert not named & {"The", "And", "__", "____ __", "...", "🦆", "x" * 5000, "fog " * 1250}


def test_a_chunk_refers_to_a_bounded_number_of_documents_after_any_history(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first ones that it names stay, whatever comes and goes; where a longer title goes, a shorter one counts."""
    monkeypatch.setattr(references, "MOST_REFERENCES", 3)
    monkeypatch.setattr(references, "MOST_BEARERS", 2)
    titles = (
        "Mina Harker",
        "Mina Harker",
        "Mina Harker",
        "Lucy",
        "Lucy Westenra",
        "Count Dracula",
        "Miss Lucy",
        "Other",
    )
    monkeypatch.setattr(libraries, "title_of", lambda document: titles[int(document.id[1:])])
    names = ["Mina Harker", "Lucy Westenra", "Count Dracula", "Miss Lucy", "Mina Harker"]
    library = {f"d{number}": small_document(f"d{number}", names) for number in range(len(titles))}
    corpora.append(corpus)
    draw, there = random.Random(7), dict[str, Any]()
    for step in range(at_length(30, 6)):
        if there and draw.random() < 0.4:
            gone = draw.sample(sorted(there), draw.randint(1, min(2, len(there))))
            taken(driver, corpus, *gone)
            there = {id: one for id, one in there.items() if id not in gone}
        else:
            come = {id: library[id] for id in draw.sample(sorted(library), 3)}
            write(driver, corpus, list(come.values()))
            there |= come
        corpora.append(fresh := f"{corpus}-{step}")
        if there:
            write(driver, fresh, [there[id] for id in sorted(there)])
        assert found(driver, corpus) == found(driver, fresh)
        assert all(len([one for one in found(driver, corpus) if one[0] == id]) <= 3 for id in there)


def without_references(corpus: str) -> Operation[None]:
    yield from ()


def test_what_a_killed_run_has_left_is_done_by_the_next(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora.append(corpus)
    titled(monkeypatch, a="A text", b="Mina Harker", c="Another")
    monkeypatch.setattr(libraries, "update_references", without_references)
    write(driver, corpus, [small_document("a", ["mina harker"]), small_document("b", ["ann"])])
    steps = update_references(corpus)
    perform: Any = performing(driver)
    reply = None
    for _ in range(2):  # titles are known, no chunk was read
        reply = perform(steps.send(reply))
    assert found(driver, corpus) == {}
    monkeypatch.undo()
    titled(monkeypatch, c="Another")
    write(driver, corpus, [small_document("c", ["bob"])])
    assert found(driver, corpus) == {("a", "b"): ("mina harker", [0])}


def test_a_change_of_others_meanwhile_begins_it_again(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run publishes a document between a read and the write that depends on it."""
    corpora.append(corpus)
    titled(monkeypatch, a="A text", b="Mina Harker")
    write(driver, corpus, [small_document("a", ["mina harker"])])
    driver.execute_query("MATCH (d:Document {corpus: $corpus}) REMOVE d.title_key", corpus=corpus)
    perform, changed = performing(driver), False

    def interfering(request: Read | Write) -> Any:
        nonlocal changed
        if isinstance(request, Write) and request.statements[0][0] == "references/set_references" and not changed:
            changed = True
            write(driver, corpus, [small_document("b", ["ann"])])
        return perform(request)

    driven(interfering, update_references(corpus))
    assert changed
    assert found(driver, corpus) == {("a", "b"): ("mina harker", [0])}
