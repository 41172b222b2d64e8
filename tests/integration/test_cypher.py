"""The files of cypher/: the server understands each, its header is true, and callers give what it asks for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from libraries import REAL_DIMENSIONS, Staged, driven, find_evidence, indexed, published, service_life, stage, text_of
from naive import NaiveChunk, NaiveDocument, NaiveSummary, NaiveWindow
from neo4j import Driver, GraphDatabase, Transaction

import e2g_neo4j
from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.graph.lease import Lease
from e2g_neo4j.graph.rows import StoredDocument, mentions_hash
from e2g_neo4j.graph.writer import claim, delete, rewrite_mentions
from e2g_neo4j.indexing.asking import SummaryCache
from e2g_neo4j.indexing.merge_overrides import join, merge, split
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.retrieval.options import RetrievalOptions, Unit
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.retrieval.where import Where
from e2g_neo4j.runtime import cypher
from e2g_neo4j.runtime.cypher import Variant, folder, load, statement_names, variant_for
from e2g_neo4j.runtime.requests import Embed, EmbedAll, Execute, Read, Rows, Write
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.documents import Section
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.mentions import NameMerge, Overrides

PACKAGE = Path(e2g_neo4j.__file__).parent
FILES = statement_names()
FRAGMENTS = folder("cypher") / "fragments"


def texts(variants: tuple[Variant, ...]) -> list[Any]:
    """The names of the statements with each variant of which the text is another one. Without a fragment for filters, a
    statement is never sent for one."""
    return [
        pytest.param(
            name,
            variant,
            id=f"{name}-{variant.name.lower()}",
            marks=[pytest.mark.full] if variant is Variant.FILTERED else [],
        )
        for name in FILES
        for number, variant in enumerate(variants)
        if load(name, variant) not in {load(name, before) for before in variants[:number]}
        and (number == 0 or load(name, variant) != load(name))
    ]


TEXTS = texts((Variant.SEARCH, Variant.FILTERED))
"""What this server is sent. For 5.26, see test_lts.py."""

MODELS = Fingerprint("MiniLM", 8, "mean", "en_test-1")

VALUES: dict[str, Any] = {
    "name": "e2g_embedding",
    "seconds": 1,
    "k": 5,
    "limit": 5,
    "most": 5,
    "visible": 5,
    "words": "text:a",
    "type": "text:person",
    "vector": [1.0] + [0.0] * 383,
    "statement_vector": [1.0] + [0.0] * 383,
    "names": ["a"],
    "unknown": [{"key": "b", "vector": [1.0] + [0.0] * 383}],
    "by_name": True,
    "name_words": ["a"],
    "wholes": ["a"],
    "people": ["person"],
    "members": 10,
    "other_names": ["b"],
    "ids": ["a"],
    "depth": 20,
    "matches": 200,
    "seeds": 3,
    "seed_words": 0.5,
    "temperature": 0.25,
    "own": 0.3,
    "active": 50,
    "entry": 10,
    "candidates": 100,
    "neighbours": 10,
    "compared": 100,
    "around": 200,
    "sample": 5,
    "tested": 100,
    "decay": 0.5,
    "overfetch": 2,
    "documents": ["d"],
    "many": 5,
    "reach": 2000,
    "hub": 1000,
    "best": 10,
    "windows": 200,
    "nearest": 20,
    "relations": 40,
    "revision": 1,
    "layer": "communities",
    "made_from": 1,
    "staged": 0,
    "meanings": 3,
    "proper": [{"name": "a", "words": [["a", "a~1", "a~2"]], "terms": ["a"]}],
    "forms": 20,
    "similar": 3,
    "threshold": 0.9,
    "key": "a",
    "document": "d",
    "title": "d",
    "index": 0,
    "a": "a",
    "b": "b",
    "hops": 3,
    "start": 0,
    "end": 9,
    "first": "d",
    "referred": "d",
    "second": "d",
    "label": "Entity",
    "labels": ["Entity"],
    "aliases": "aliases",
    "after": "",
    "text": "text",
    "texts": ["text"],
    "order": "index",
    "part_of": "PART_OF",
    "unsuffixed": True,
    **dict.fromkeys(("before", "added", "removed"), ""),
    "fulltext": True,
    "analyzer": "german",
    "database": "neo4j",
    **dict.fromkeys(("task", "worker", "kind", "body_sha256", "idempotency", "parameters", "found", "step"), "a"),
    **dict.fromkeys(("state", "result", "error", "stage", "sha256", "corpus"), "a"),
    **dict.fromkeys(("file", "part", "parts", "milliseconds", "attempts", "age", "days"), 1),
    **dict.fromkeys(("number", "most_turns", "most_characters"), 1),
    **dict.fromkeys(("conversation", "turn", "same"), "a"),
    **dict.fromkeys(("done", "total", "tokens", "prompt_tokens", "completion_tokens", "cost"), 1),
    **dict.fromkeys(("created", "at", "keys", "states", "expires")),
}
"""Parameters that EXPLAIN wants a sensible value for; the others get an empty list."""

OF_THE_SERVER = {
    ("managed_neo4j/server.py", "RETURN 1"),
    ("managed_neo4j/server.py", "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password"),
}
"""The statements outside cypher/: does the managed server answer, and its first password."""

HANDED_ON = {("runtime/sync_driver.py", "*arguments")}
"""What the synchronous face of an async driver is given, it gives to the driver."""


def header(name: str) -> list[str]:
    return [line.removeprefix("//").strip() for line in cypher.header(name).splitlines()]


def parameters_told(name: str) -> set[str]:
    return {found for line in header(name) if line.startswith("$") for found in re.findall(r"\$(\w+)", line)}


def columns_told(name: str) -> list[str]:
    """The names after the arrow, without what stands in brackets behind some of them."""
    mentions_hash = " ".join(header(name))
    if "→" not in mentions_hash:
        return []
    columns = mentions_hash.split("→", 1)[1]
    columns = re.split(r"\.\s", columns + " ", maxsplit=1)[0]
    while re.search(r"\[[^\[\]]*\]|\{[^{}]*\}", columns):
        columns = re.sub(r":?\s*(\[[^\[\]]*\]|\{[^{}]*\})", "", columns)
    return [column.strip() for column in columns.split(",")]


def whole(name: str, variant: Variant) -> str:
    """The statement; before one that others begin, a beginning such as theirs."""
    text = load(name, variant)
    return f"MATCH (node:Chunk) WITH node, 1.0 AS score {text}" if name.startswith("interop/") else text


def parameters_of(statement: str) -> set[str]:
    return set(re.findall(r"\$(?!any\()(\w+)", statement))


def parameters_of_all(name: str) -> set[str]:
    """The parameters of a statement in all variants."""
    return set().union(*(parameters_of(load(name, variant)) for variant in Variant))


def explained(statement: str) -> str:
    language = "CYPHER 25" if statement.startswith("CYPHER 25") else ""
    return f"{language} EXPLAIN {statement.removeprefix(language)}"


def values_of(statement: str) -> dict[str, Any]:
    return {parameter: VALUES.get(parameter, []) for parameter in parameters_of(statement)}


@pytest.fixture(scope="module")
def watching(neo4j_connection: Connection, driver: Driver) -> Iterator[Driver]:
    """A driver that is told what the server has to remark, on a database that has seen all of our names.

    Names stay known when what they named is gone: so a remark about an unknown one is a spelling mistake of ours.
    """
    corpus = uuid4().hex
    documents = [complete_document(corpus)]
    requests = [*writes(corpus, documents)]
    with driver.session() as session, session.begin_transaction() as transaction:
        for request in requests:
            for statement, parameters in (*([request.condition] if request.condition else []), *request.statements):
                transaction.run(load(statement), parameters).consume()
        models = {"corpus": corpus, "vectors": "", "unsuffixed": True, **asdict(MODELS)}
        transaction.run(load("index/set_fingerprint"), models).consume()
        transaction.run(load("archive/begin"), corpus=corpus, archive="a hash", run="r").consume()
        transaction.run(
            "CREATE (:Entity)-[:REFERS_TO {method: 'exact', score: 1.0, property: ''}]->"
            "(:Entity {title: '', label: ''}), "
            "(:E2GLinkedNames {names: [''], type: '', version: '', changed: ['']}), "
            "(:Chunk)-[:STANDS_FOR {text: ['text'], key: 'id'}]->(:Chunk {path: '', fileName: ''})"
        ).consume()
        transaction.run(load("adopt/mark"), corpus=corpus, adopts="{}", properties=["id"]).consume()
        transaction.run(
            "CREATE (:Entity)-[:IN_COMMUNITY]->(c:Community:OutdatedCommunity:StagedCommunity {run: '', level: 1, "
            "title: '', text: '', entities: 3, rating: 1, sha256: '', report_sha256: '', sources: ['']})"
            "-[:QUOTES]->(:Chunk) "
            "CREATE (c)-[:PARENT]->(:Community) CREATE (:Corpus {communities: 1, clusters: 1, entity_vectors: 1}) "
            "CREATE (:Entity {embedded_name: '', description: '', description_chunk: ''}), "
            "(:Chunk {sentence_vectors: []}), (:Summary {notes_of: '', made_of: ''}), "
            "(:E2GIndex {unused: ['']}) "
            "CREATE (:Chunk)-[:IN_CLUSTER]->(:Cluster:OutdatedCluster:StagedCluster {run: '', level: 1, text: '', "
            "tokens: 1, chunks: 2, document: '', start: 0, end: 1, sha256: '', text_sha256: ''}) "
            "CREATE (s:Statement:StagedStatement {run: '', predicate: '', keywords: [''], strength: 5, "
            "subject_type: '', object_type: '', status: '', period: ''}), "
            "(s)-[:SUBJECT]->(:Entity), (s)-[:OBJECT]->(:Entity), (s)-[:STATED_IN]->(:Chunk), "
            "(:Corpus {statements: 1, descriptions: 1, statement_models: [''], report_models: [''], unread: ['']}), "
            "(:Entity {typed_label: ''})-[:TYPED {statements: [''], count: 1, valid_from: '', valid_to: ''}]"
            "->(:Entity), "
            "(:Corpus {typed: 1, typed_labels: [''], typed_types: [''], typed_patterns: [''], graph_schema: ''}), "
            "(:UnlinkedChunk)-[:REFERS_TO {kind: '', text: '', windows: [0]}]->"
            "(:Document {losses: [''], claimed_properties: '', title_key: '', link_starts: [0], link_ends: [1], "
            "link_targets: ['']})"
        ).consume()
        cached = {"key": "1", "corpus": corpus, "text": "", "model": "", "prompt_tokens": 0, "completion_tokens": 0}
        transaction.run(load("index/cache_summary"), cached).consume()
        service_life(lambda operation: driven(in_transaction(transaction), operation))
        transaction.rollback()
    auth = (neo4j_connection.username, neo4j_connection.password.get_secret_value())
    with GraphDatabase.driver(neo4j_connection.uri, auth=auth, warn_notification_severity="OFF") as driver:
        yield driver


def in_transaction(transaction: Transaction) -> Execute:
    """What does requests in a transaction of the caller's."""

    def perform(request: Read | Write) -> Rows:
        if isinstance(request, Read):
            return transaction.run(load(request.statement), request.parameters).data()
        rows: Rows = []
        if request.condition:
            rows = transaction.run(load(request.condition[0]), request.condition[1]).data()
        for statement, parameters in request.statements if rows or not request.condition else ():
            transaction.run(load(statement), parameters).consume()
        return rows

    return perform


SECTIONS = (Section("page", "1", 0), Section("heading", "One", 0))


def complete_document(corpus: str, there: StoredDocument | None = None) -> Staged:
    """A document that has everything a document can have: two chunks on pages, under headings, a summary, an alias."""
    text, sentences = text_of([["a", "b"], ["a"]], [" ", ""])
    spans = [(0, 8), (4, len(text))]
    vector = (1.0, *[0.0] * 7)
    chunks = tuple(
        NaiveChunk(f"c{n}", n, start, end, vector, (NaiveWindow(start, end, vector),))
        for n, (start, end) in enumerate(spans)
    )
    summary = NaiveSummary("s", 1, 0, "Summary.", ("c0", "c1"), vector)
    document = NaiveDocument("d", text, sentences, chunks, (summary,))
    one = indexed(document, corpus, dimensions=REAL_DIMENSIONS, there=there)
    joins = [NameMerge("b", "a", "The only one.", 1, "B")]
    return replace(
        one,
        indexed=replace(one.indexed, merges=joins),
        read=[replace(read, chunk=replace(read.chunk, sections=SECTIONS)) for read in one.read],
    )


def moved_document(corpus: str) -> Staged:
    """A version of it before which a chunk and the summary were there, elsewhere."""
    row: dict[str, Any] = dict.fromkeys(("index", "start", "end", "made_of", "notes", "next", "parent"), 7)
    row |= {
        "page": "7",
        "heading": "7",
        "window_pages": None,
        "window_headings": None,
        "windows": [[7, 11]],
    }
    [first, _] = complete_document(corpus).mentions
    there = StoredDocument({"c0": {**row, "id": "c0", "told": mentions_hash(first)}}, {"s": {**row, "id": "s"}})
    return complete_document(corpus, there)


def writes(corpus: str, documents: list[Staged]) -> Iterator[Write]:
    """All that a run writes, and a deletion."""
    seen: list[Write] = []

    def perform(request: Read | Write) -> Rows:
        assert isinstance(request, Write)
        seen.append(request)
        return []

    with Lease(perform, corpus) as lease:
        ids = [one.document.id for one in documents]
        seen += claim(corpus, lease.run, [one.document for one in documents])
        lease.record_failure(ids, ValueError("Too long."))
        seen += stage(corpus, lease.run, documents)
        seen.append(published(corpus, lease.run, documents))
    yield from seen
    for one in documents:
        yield rewrite_mentions(
            corpus,
            one.document.id,
            "sha",
            one.mentions,
            one.indexed.merges,
            unchanged=(),
            before={"a"},
            overrides=Overrides(),
            linked=(),
        )
    alias = dict.fromkeys(("name", "entity", "entity_name", "document", "title", "why")) | {"key": "b", "count": 0}
    merging: Any = merge("b", "a", corpus=corpus)
    merging.send(None)
    for reply in ([{"name": name, "entity": name} for name in "ab"], []):
        request = merging.send(reply)
    yield request
    override = {"key": "b", "decided": True, "into": None, "documents": [], "senses": []}
    document: dict[str, Any] = {
        **dict.fromkeys(("title", "source"), ids[0]), "id": ids[0], "state": "ready", "why": None, "visible": True,
        "chunks": 1, "characters": 1, "tokens": 1, "properties": {}, "losses": [],
    }  # fmt: skip
    replies: list[tuple[Any, list[Rows]]] = [
        (split("b", corpus=corpus), [[alias | {"apart": True}]]),
        (split("b", ids[0], corpus=corpus), [[document], [], [], [{"document": ids[0]}], [document]]),
        (join("b", corpus=corpus), [[override]]),
    ]
    for operation, given in replies:
        operation.send(None)
        for reply in given:
            request = operation.send(reply)
        yield request
    deletion: Any = delete(corpus, ids)
    yield from deletion


# --- each file ---------------------------------------------------------------------------------------


def test_there_are_statements() -> None:
    assert len(FILES) > 25


@pytest.mark.parametrize(("name", "variant"), TEXTS)
def test_the_server_understands_the_statement_and_its_header_tells_the_columns(
    name: str, variant: Variant, watching: Driver
) -> None:
    statement = whole(name, variant)
    with watching.session() as session:
        result = session.run(explained(statement), values_of(statement))
        columns, summary = list(result.keys()), result.consume()
    if not (name.startswith("migrate/") or "SHOW" in statement):
        assert columns_told(name) == columns
    remarks = {status.gql_status: status.status_description for status in summary.gql_status_objects}
    serious = {code: text for code, text in remarks.items() if code[:2] not in ("00", "02")}
    assert serious == {}


@pytest.mark.parametrize("name", FILES)
def test_the_header_tells_purpose_and_parameters(name: str) -> None:
    lines = header(name)
    assert lines, "there is no header"
    assert lines[0][0].isupper()
    assert lines[0][0] not in "$→", "the purpose comes first"
    assert parameters_told(name) == parameters_of_all(name)


@pytest.mark.parametrize(("name", "variant"), TEXTS)
def test_a_file_holds_one_statement_that_takes_parameters_only(name: str, variant: Variant) -> None:
    statement = load(name, variant)
    assert ";" not in statement
    assert "apoc." not in statement
    assert "// include" not in statement, "a line in a wrong form"
    assert not re.search(r"\{\}|%s|\{\w+\}|\$\{", statement), "no placeholders to be filled in by text"


# --- fragments ---------------------------------------------------------------------------------------

PARTS = sorted(str(path.relative_to(folder("cypher")).with_suffix("")) for path in FRAGMENTS.rglob("*.cypher"))

BEGINNINGS = {
    **{name: f"MATCH ({name})" for name in "abs"},
    "c": "MATCH (c:Chunk)",
    "d": "MATCH (d:Document)",
    "state": "WITH *, 'failed' AS state",
    "why": "WITH *, 'It was ended.' AS why",
    "e": "MATCH (e:Entity)",
    "about": "MATCH (about:Statement)",
    "corpus": "MATCH (corpus:Corpus)",
    "inside": "UNWIND [true] AS inside",
    "links": "UNWIND [1] AS links",
    "keyword": "UNWIND $keywords AS keyword",
    "theirs": "MATCH (theirs)",
    "r": "WITH *, {text: ['title', 'text']} AS r",
    "t": "MATCH (t:E2GTask)",
    "windows": "WITH *, [] AS windows",
    "relations": "MATCH (a:Entity) WITH [[a, a]] AS relations",
    "nearest": "MATCH (w:Window) WITH *, [w] AS nearest",
    "ids": "WITH *, [w.id] AS ids",
    "query": "WITH *, 'key:a' AS query",
    "parts": "WITH *, [['a']] AS parts",
}
"""How the variables that fragments read may have come."""


def variables_told(name: str, arrow: str) -> list[str]:
    """The variables that a fragment reads (←) or adds (→)."""
    [line] = [line for line in header(name) if line.startswith(arrow)] or [arrow]
    return re.findall(r"\w+", re.sub(r":.*|\{.*", "", line))


@pytest.mark.parametrize("name", PARTS)
def test_the_header_of_a_fragment_is_true(name: str, watching: Driver) -> None:
    text = load(name)
    lines = header(name)
    assert lines[0][0].isupper()
    assert parameters_told(name) == parameters_of(text)
    read, added = variables_told(name, "←"), variables_told(name, "→")
    is_expression = any(line.startswith("= ") for line in lines)
    assert read or added or (is_expression and parameters_told(name))
    language = "CYPHER 25" if text.startswith("CYPHER 25") else ""
    beginning = " ".join(BEGINNINGS[variable] for variable in read)
    ending = f"RETURN {text}" if is_expression else f"{text.removeprefix(language)} RETURN *"
    statement = f"{language} EXPLAIN {beginning} {ending}"
    with watching.session() as session:
        columns = session.run(statement, values_of(statement)).keys()
    assert set(added) <= set(columns)


@pytest.mark.parametrize("name", PARTS)
def test_a_fragment_has_the_same_name_and_variables_wherever_it_stands_and_is_included(name: str) -> None:
    *_, place, stem = name.split("/")
    plain = f"fragments/{stem}"
    for arrow in "←→":
        assert variables_told(name, arrow) == variables_told(plain, arrow)
    if place == "lts":
        assert load(plain).startswith("CYPHER 25"), "otherwise the fragment itself would do"
    if place != "fragments":
        assert load(name) != load(plain)
    files = [folder("cypher") / f"{statement}.cypher" for statement in FILES]
    included = {
        (one[0], *re.findall(r"for \$(\w+)", one[1]))
        for path in files
        for one in re.findall(r"// include: (\w+)(.*)", path.read_text(encoding="utf-8"))
    }
    assert stem in {one for one, *_ in included}
    renamed = {parameter for one, *parameters in included if one == stem for parameter in parameters}
    assert renamed <= parameters_told(plain), "a name that the fragment does not have"


def test_a_suffix_names_the_indexes_and_properties_of_a_corpus() -> None:
    for variant in Variant:
        text = load("query/signals", variant, "_0123abcd_cjk")
        assert "e2g_window_embedding_0123abcd" in text
        assert "w.embedding_0123abcd" in text
        assert "'e2g_window_words_cjk'" in text
        assert text.replace("_0123abcd", "").replace("_cjk", "") == load("query/signals", variant)
    staged = load("index/stage_windows", Variant.SEARCH, "_0123abcd")
    assert "'embedding_0123abcd', row.embedding)" in staged
    for suffix in ("_0123abc", "; DROP", "_cjk_0123abcd", "_0123ABCD"):
        with pytest.raises(ConfigurationError, match="no suffix of indexes"):
            load("query/signals", Variant.SEARCH, suffix)


def test_a_filter_and_the_server_choose_the_fragments() -> None:
    for old in (True, False):
        assert variant_for({"documents": ["d"]}, old) is Variant.FILTERED
        assert variant_for({"documents": []}, old) is Variant.FILTERED
    for parameters in ({}, {"documents": None}):
        assert variant_for(parameters, False) is Variant.SEARCH
        assert variant_for(parameters, True) is Variant.LTS


def test_what_is_included_is_indented_and_its_parameters_are_renamed() -> None:
    search, filtered, old = (load("query/lightrag_statements", variant) for variant in Variant)
    assert search.count("CYPHER 25") == 1
    assert search.startswith("CYPHER 25\nCALL () {\n  MATCH (w:Window)\n    SEARCH w IN")
    assert "FOR $statement_vector WHERE s.corpus = $corpus LIMIT $candidates" in search
    assert "CYPHER 25" not in filtered
    assert filtered == old
    assert load("query/raptor", Variant.FILTERED) != load("query/raptor", Variant.LTS)


@pytest.mark.parametrize("name", FILES)
def test_somebody_uses_the_file(name: str) -> None:
    short = name.split("/")[1]
    assert {name, short, f"migrate/{short}"} & named(), f"no module names {name}"


@cache
def named() -> set[str]:
    """The texts of the package, and the statements that Browser's guide includes."""
    guide = (PACKAGE / "browser" / "guide.adoc").read_text(encoding="utf-8")
    included = {f"explore/{one}" for one in re.findall(r"^include::(\w+)", guide, re.M)}
    return {text for _, _, text in strings()} | included


# --- who calls them ----------------------------------------------------------------------------------


class Recorded:
    """The requests of the operations, with what parameters each statement was given."""

    def __init__(self) -> None:
        self.given: dict[str, set[str]] = {}
        self.filtered: set[str] = set()

    def add(self, request: Any) -> None:
        if isinstance(request, Write):
            statements = [*([request.condition] if request.condition else []), *request.statements]
        else:
            statements = [(request.statement, request.parameters)]
        for statement, parameters in statements:
            assert self.given.setdefault(statement, set(parameters)) == set(parameters)
            if variant_for(parameters, False) is Variant.FILTERED:
                self.filtered.add(statement)

    def retrieve(
        self,
        mode: str,
        unit: Unit | None,
        shared: list[dict[str, Any]],
        where: Where = (),
        statements: bool | None = True,
    ) -> None:
        link = {
            "found": True,
            "adopts": None,
            "communities": True,
            "clusters": True,
            "entity_vectors": True,
            "sentence_vectors": True,
            "statements": statements,
            "made_with": asdict(MODELS),
            "named": [{"entity": name, "names": [name]} for name in "ab"],
            "left": [],
            "similar": [],
            "pairs": [{"a": "a", "b": "b", "hops": 1}],
            "shared": shared,
            "words": {"windows": 0, "index_windows": 0, "terms": []},
        }
        options = RetrievalOptions.of({"k": 1, "hops": 1, "mode": mode, "unit": unit, "where": where}).fill(Settings())
        operation: Any = find_evidence(
            "Who?", corpora=["novels"], names=["a", "b"], made_with=MODELS, options=options, token_spans=lambda text: []
        )
        replies = {
            "query/link": [link],
            "query/corpus": [link],
            "query/pagerank": [{"seeds": [["a", 1.0]], "edges": [["a", ["b"]]], "similar": []}],
            "query/matching_documents": [{"documents": ["d"], "of": 1, "windows": 1, "index_windows": 1}],
        }
        reply: Any = None
        while True:
            try:
                request = operation.send(reply)
            except StopIteration:
                return
            if isinstance(request, Embed):
                reply = [1.0]
                continue
            if isinstance(request, EmbedAll):
                reply = [[1.0] for _ in request.texts]
                continue
            self.add(request)
            reply = replies.get(request.statement, [])


def recorded() -> Recorded:
    """Drive stage, publish, the cache of summaries, retrieve in all modes and by both routes, and the fingerprint."""
    record = Recorded()
    for document in (complete_document("novels"), moved_document("novels")):
        for request in writes("novels", [document]):
            record.add(request)

    def perform(request: Read | Write) -> list[dict[str, Any]]:
        record.add(request)
        return []

    cache = SummaryCache(perform, "novels")
    cache.find("key")
    cache.keep("key", "A summary.")

    record.add(Read("index/fingerprint", {"corpus": "novels"}))
    record.add(
        Write((("index/set_fingerprint", {"corpus": "novels", "vectors": "", "unsuffixed": True, **asdict(MODELS)}),))
    )

    shared = {
        "chunk": "c",
        "document": "d",
        "index": 0,
        "end": 9,
        "counts": [{"entity": name, "count": 1} for name in "ab"],
    }
    for mode in STRATEGIES:
        units: tuple[Unit | None, ...] = (None, "chunk")
        for unit, chunks in product(units, ([], [shared])):
            record.retrieve(mode, unit, chunks)
            record.retrieve(mode, unit, chunks, {"year": 1897})
    record.retrieve("lightrag", None, [], statements=None)
    record.retrieve("lightrag", None, [], {"year": 1897}, statements=None)
    return record


def test_operations_give_each_statement_the_parameters_that_it_asks_for() -> None:
    record = recorded()
    given = record.given
    asked = {statement: parameters_of_all(statement) for statement in given}
    searching = {statement for statement, parameters in asked.items() if {"corpus", "documents"} <= parameters}
    for statement in searching - {name for name in given if name.startswith("index/")}:
        asked[statement] |= {"overfetch"}  # which all of them are told, as they are the documents
    assert given == asked
    assert {
        "query/link",
        "query/passages",
        "query/nearest",
        "query/signals",
        "query/routes",
        "query/lightrag",
        "query/lightrag_statements",
        "query/pagerank",
        "query/pagerank_windows",
        "query/activate",
        "query/e2g_code",
        "query/shares",
        "query/entity_windows",
        "query/sentence_vectors",
        "query/windows",
    } <= given.keys()
    assert {"query/corpus", "query/dense", "query/fulltext", "query/fulltext_chunks"} <= given.keys()
    other = {name for name in FILES if load(name, Variant.FILTERED) != load(name)}
    assert other - {"query/synonyms"} <= record.filtered, "but for the keywords, which are compared with all names"
    assert record.filtered <= searching | {"query/matching_documents"}
    writing = {name for name in FILES if name.startswith("index/")}
    elsewhere = {
        "index/documents",
        "index/known_files",
        "index/overrides",
        "index/properties",
        "index/set_properties",
        "index/stored_chunks",
        "index/stored_summaries",
        "index/window_vectors",
    }
    assert writing - elsewhere == {name for name in given if name.startswith("index/")}


def test_requests_in_the_source_give_the_parameters_that_their_statement_asks_for() -> None:
    """`Read("name", {"a": …})` wherever the parameters are written out."""
    checked = set()
    for path, node in calls_of("Read"):
        match node.args:
            case [ast.Constant(value=str(name)), ast.Dict(keys=keys)] if all(isinstance(k, ast.Constant) for k in keys):
                given = {key.value for key in keys if isinstance(key, ast.Constant)}
                assert given == parameters_of(load(name)), f"{path.name}:{node.lineno} {name}"
                checked.add(name)
    assert {
        "index/documents",
        "index/overrides",
        "index/stored_chunks",
        "index/stored_summaries",
        "index/window_vectors",
        "query/entities",
        "query/aliases",
        "query/stats",
        "query/documents",
        "query/corpora",
    } <= checked


def test_the_service_gives_each_statement_the_parameters_that_it_asks_for(driver: Driver) -> None:
    record = Recorded()
    with driver.session() as session, session.begin_transaction() as transaction:
        plain = in_transaction(transaction)

        def perform(request: Read | Write) -> Rows:
            record.add(request)
            return plain(request)

        service_life(lambda operation: driven(perform, operation))
        transaction.rollback()
    assert record.given == {name: parameters_of(load(name)) for name in FILES if name.startswith("service/")}


def test_requests_to_migrations_give_the_parameters_that_their_statement_asks_for() -> None:
    checked = set()
    for path, node in calls_of("run"):
        if path.name in ("schema.py", "indexes.py") and len(node.args) == 3 and isinstance(node.args[2], ast.Constant):
            name = f"migrate/{node.args[2].value!s}"
            given = {keyword.arg for keyword in node.keywords}
            assert given == parameters_of(load(name)), f"{path.name}:{node.lineno} {name}"
            checked.add(name)
    assert {"migrate/record", "migrate/lock", "migrate/unlock"} <= checked


def test_no_module_holds_cypher_of_its_own() -> None:
    """Cypher stands in cypher/ alone. A message may quote a command, but no text begins with one."""
    clause = re.compile(r"(MATCH|MERGE|CREATE|UNWIND|DETACH|CALL|REMOVE|SET|DELETE|RETURN|SHOW|ALTER|DROP|WITH)\s")
    held = {(str(path.relative_to(PACKAGE)), text) for path, _, text in strings() if clause.match(text.lstrip())}
    assert held == OF_THE_SERVER


def test_no_module_assembles_cypher() -> None:
    """What drivers, sessions and transactions are given to run is a name or a call, never text or a sum of texts."""
    ran = set()
    for path, node in calls():
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("run", "execute_query") and node.args:
            statement = node.args[0]
            if not isinstance(statement, (ast.Name, ast.Call, ast.List)):
                text = statement.value if isinstance(statement, ast.Constant) else ast.unparse(statement)
                ran.add((str(path.relative_to(PACKAGE)), text))
    assert ran == OF_THE_SERVER | HANDED_ON


def strings() -> Iterator[tuple[Path, int, str]]:
    """The string literals of the package, f-strings as their text, docstrings left out."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
                yield path, node.lineno, node.value
            if isinstance(node, ast.JoinedStr):
                parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
                yield path, node.lineno, "…".join(map(str, parts))


def calls() -> Iterator[tuple[Path, ast.Call]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield path, node


def calls_of(function: str) -> Iterator[tuple[Path, ast.Call]]:
    for path, node in calls():
        if isinstance(node.func, ast.Name) and node.func.id == function:
            yield path, node
