"""What statements match is of their corpus, as far as their text tells. That it is, is tested on a server."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from e2g_neo4j.runtime.cypher import Variant, header, load, statement_names

OURS = re.compile(
    r"(?:Staged|Outdated|Uncounted)?(?:Document|Chunk|Window|Summary|Entity|Alias|Community|Cluster|Statement)"
    r"|Corpus|Term|E2GRetired|E2GLinkedNames|E2GLock"
)
"""Labels of nodes that belong to a corpus."""

OF_ALL = {
    ("query/corpus", "Term"),
    ("query/link", "Term"),
    ("query/matching_documents", "Corpus"),
    ("query/pagerank", "queryNodes"),
    ("query/synonyms", "queryNodes"),
}
"""Statements that count words or windows of all corpora, as the full-text index does, or that choose later on among
what an index has found."""

CLAUSE = re.compile(
    r"\b(?:MATCH|MERGE|queryNodes)\b.*?(?=\b(?:MATCH|MERGE|WITH|RETURN|CALL|UNWIND|CREATE|SET|REMOVE|DELETE|DETACH"
    r"|FOREACH|ORDER|UNION|ON)\b|\Z)",
    re.DOTALL,
)
"""What is matched, or found by an index, with its condition."""

NODE = re.compile(r"\((\w*)((?::!?[\w|]+)*) ?(\{[^}]*\})?\)")
KEEPS = re.compile(r"\bcorpus: (?:\$corpus|corpus)\b|\.corpus (?:(?:=|<>) \$corpus\b|IS NOT NULL)")
"""A node of the corpus, or outspokenly of any."""


def stray(name: str, statement: str) -> Iterator[str]:
    """Yield the clauses that may match nodes of other corpora: a node with properties has no corpus among them, or
    the clause has none at all and begins with no node that is known."""
    for clause in CLAUSE.finditer(statement):
        found, before = NODE.findall(clause[0]), statement[: clause.start()]
        labelled = [
            properties
            for _, labels, properties in found
            if any(OURS.fullmatch(label) and (name, label) not in OF_ALL for label in re.split("[:|!]", labels))
        ]
        bare = [variable for variable, labels, properties in found if variable and not labels + properties]
        known = any(re.search(rf"\b{variable}\b", before) for variable in bare)
        indexed = clause[0].startswith("queryNodes") and (name, "queryNodes") not in OF_ALL
        elsewhere = any(properties and not KEEPS.search(properties) for properties in labelled)
        if elsewhere or ((indexed or (labelled and not known)) and not KEEPS.search(clause[0])):
            yield clause[0]


@pytest.mark.parametrize("variant", Variant, ids=lambda one: one.name.lower())
def test_whatever_is_matched_is_of_the_corpus(variant: Variant) -> None:
    names = [name for name in statement_names() if re.search(r"\$corp(?:us|ora)\b", header(name))]
    texts = {name: load(name, variant) for name in names}
    assert len(texts) > 150
    assert {name: found for name, text in texts.items() if (found := list(stray(name, text)))} == {}
