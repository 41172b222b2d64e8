"""References of many documents, on the real server: their time grows with the number of links, documents and chunks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from libraries import driven, performing
from neo4j import Driver

from e2g_neo4j.documents.links import MOST_LINKS
from e2g_neo4j.indexing.references import MOST_BEARERS, MOST_REFERENCES, update_references
from e2g_neo4j.runtime.requests import Read
from e2g_neo4j.types.ids import corpus_key

pytestmark = [pytest.mark.timeout(900), pytest.mark.full]

STAGE = """
MERGE (:Corpus {corpus: $corpus, revision: 1})
WITH * UNWIND $rows AS row
CREATE (d:Document {corpus: $corpus, id: row.id, title: row.title, source: row.id, state: 'ready'})
SET d.link_starts = row.starts, d.link_ends = row.ends, d.link_targets = row.targets
WITH d, row UNWIND range(0, size(row.texts) - 1) AS i
CREATE (:Chunk {corpus: $corpus, corpus_key: $key, id: row.id + '-' + i, document: row.id, index: i, text: row.texts[i],
                start: 100 * i, end: 100 * i + 100})-[:FROM_DOCUMENT]->(d)
"""


REMOVE = "MATCH (n) WHERE n.corpus = $corpus CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 200 ROWS"


def document(id: str, title: str, texts: list[str], links: int = 0, targets: list[str] | None = None) -> dict[str, Any]:
    """A row of `STAGE`: each chunk has 100 characters, the links are spread over them."""
    starts = [100 * len(texts) * number // links for number in range(links)]
    found = targets or [f"http://a.b/{number}" for number in range(links)]
    return {
        "id": id, "title": title, "texts": texts,
        "starts": starts, "ends": [one + 1 for one in starts], "targets": found,
    }  # fmt: skip


def same_titles(size: int) -> Iterator[dict[str, Any]]:
    for number in range(2_500 * size):
        yield document(f"d{number:06}", "Night Train", ["See Night Train, then Night Train. " * 2])
    for number in range(250 * size):
        yield document(f"e{number:06}", f"Lamp {number}", ["See Night Train, then Night Train. " * 2])


def many_links(size: int) -> Iterator[dict[str, Any]]:
    yield document("d", "Fog", ["lamp " * 20] * 250 * size, MOST_LINKS)


def all_to_first(size: int) -> Iterator[dict[str, Any]]:
    targets = [f"d{number}" for number in range(300)]
    for number in range(150 * size):
        yield document(f"d{number}", f"Fog {number}", ["lamp " * 20] * 2, 300, targets)


def only_titles(size: int) -> Iterator[dict[str, Any]]:
    words = [f"{a}{b}" for a in "bdfgklmnprstvz" for b in ("amo", "elu", "iro", "onu")]
    for number in range(500 * size):
        yield document(f"d{number:06}", f"Fog {words[number % len(words)]}", [" ".join(f"Fog {one}" for one in words)])


@pytest.mark.parametrize("rows", [same_titles, many_links, all_to_first, only_titles])
def test_time_grows_with_the_number(driver: Driver, corpus: str, rows: Any) -> None:
    seconds: list[float] = []
    for size in (1, 1, 2, 4):
        name = f"{corpus}-{len(seconds)}"
        staged = list(rows(size))
        for first in range(0, len(staged), 500):
            given = {"corpus": name, "key": corpus_key(name), "rows": staged[first : first + 500]}
            driver.execute_query(STAGE, given)
        began = time.perf_counter()
        driven(performing(driver), update_references(name))
        seconds.append(time.perf_counter() - began)
        most = "MATCH (c:Chunk {corpus: $corpus}) RETURN max(COUNT { (c)-[:REFERS_TO]->() }) AS most"
        assert driver.execute_query(most, corpus=name).records[0]["most"] <= MOST_REFERENCES
        assert driven(performing(driver), update_references(name)) == 0, "all is done"
        listed = {"corpus": name, "document": None, "limit": 50}
        began = time.perf_counter()
        assert len(performing(driver)(Read("query/references", listed))) <= 50
        assert time.perf_counter() - began < 10
        with driver.session() as session:
            session.run(REMOVE, corpus=name).consume()
    assert seconds[-1] < 8 * seconds[1] + 5, seconds


def test_a_title_of_many_costs_nothing_more(driver: Driver, corpora: list[str], corpus: str) -> None:
    """Nothing is read again for another document of the title, if others come before it."""
    corpora.append(corpus)
    staged = list(same_titles(1))
    more = document("x", "Night Train", ["nothing"])
    for rows in (staged, [more]):
        driver.execute_query(STAGE, corpus=corpus, key=corpus_key(corpus), rows=rows)
        read: list[int] = []
        perform = performing(driver)

        def counting(request: Any, perform: Any = perform, read: list[int] = read) -> Any:
            reply = perform(request)
            if isinstance(request, Read) and request.statement == "references/chunks":
                read.append(len(reply))
            return reply

        driven(counting, update_references(corpus))
    assert sum(read) == 1
    most = "MATCH (c:Chunk {corpus: $corpus}) RETURN max(COUNT { (c)-[:REFERS_TO]->() }) AS most"
    assert driver.execute_query(most, corpus=corpus).records[0]["most"] == MOST_BEARERS
