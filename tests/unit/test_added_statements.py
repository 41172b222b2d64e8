"""Graph documents of LangChain and neo4j-graphrag: what they state, and the parts of a corpus that it is about."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship
from neo4j_graphrag.components.entity_relation_extractor import LLMEntityRelationExtractor
from neo4j_graphrag.components.types import LexicalGraphConfig, TextChunk, TextChunks
from neo4j_graphrag.llm import LLMInterface, LLMResponse

from e2g_neo4j.indexing.statements.added import PROBE, WHOLE, AddedText, chunk_ids, claims_of, place, readable
from e2g_neo4j.indexing.statements.chunks import ChunkParts, Part
from e2g_neo4j.indexing.statements.replies import STRENGTH, Claim
from e2g_neo4j.integrations.neo4j_graphrag import graph_documents

ANN, BOB = Node(id="Ann", type="Person", properties={"description": " Ann is a sailor. "}), Node(id="Bob")


def related(a: Node, kind: str, b: Node, /, **properties: object) -> Relationship:
    return Relationship(source=a, target=b, type=kind, properties=properties)


def claim(subject: str, object: str = "") -> Claim:
    return Claim(subject, "is near", object, "They are near.", (), STRENGTH)


def chunks(*documents: list[list[str]]) -> list[ChunkParts]:
    """Documents, of chunks, of parts. A later chunk comes first, as ids may have it."""
    found = [
        ChunkParts(f"d{number}-{index}", f"d{number}", index, frozenset(), [Part(text, []) for text in parts])
        for number, document in enumerate(documents)
        for index, parts in enumerate(document)
    ]
    return found[::-1]


def placed(texts: dict[str, list[Claim]], *documents: list[list[str]]) -> tuple[dict[str, list[Claim]], int]:
    found = place(chunks(*documents), [AddedText.of(text, tuple(claims)) for text, claims in texts.items()])
    return {part: list(claims) for part, claims in found.claims.items()}, len(found.missing)


@pytest.mark.parametrize(
    ("type", "words"),
    [
        ("MARRIED_TO", "married to"),
        ("marriedTo", "married to"),
        ("CEO_OF", "ceo of"),
        ("is the  mate of", "is the mate of"),
        ("ГОРОД_В", "город в"),
        ("_", ""),
    ],
)
def test_a_type_is_read_as_words(type: str, words: str) -> None:
    assert readable(type) == words


def test_relationships_and_descriptions_are_statements() -> None:
    document = GraphDocument(
        nodes=[ANN, BOB],
        relationships=[
            related(ANN, "MARRIED_TO", BOB, description="Ann married Bob.", keywords=["love", "law"], strength=9),
            related(BOB, "knows", ANN, description=7, type="PERSON"),
            related(Node(id=""), "KNOWS", BOB),
            related(ANN, "_", BOB),
            related(Node(id="x" * 201), "KNOWS", BOB),
            related(ANN, "COUNTED", Node(id=3)),
        ],
        source=Document("Ann married Bob."),
    )
    assert claims_of(document) == [
        Claim("Ann", "married to", "Bob", "Ann married Bob.", ("love", "law"), 9, "Person"),
        Claim("Bob", "knows", "Ann", "Bob knows Ann", (), STRENGTH, "", "Person"),
        None,
        None,
        None,
        Claim("Ann", "counted", "3", "Ann counted 3", (), STRENGTH, "Person"),
        Claim("Ann", "is", "", "Ann is a sailor.", (), STRENGTH, "Person"),
    ]


def test_other_names_and_dates_are_taken() -> None:
    ann = Node(id="person 1", properties={"name": "Ann", "aliases": ["Miss  Ann", 3, "person 1", "x" * 201]})
    bob = Node(id="Bob", properties={"aliases": "Robert; Bobby,"})
    document = GraphDocument(
        nodes=[],
        relationships=[
            related(ann, "KNOWS", bob, period="in May", year=1890),
            related(ann, "KNOWS", bob, year=1890),
            related(ann, "KNOWS", bob, start_date="1890", until="1893"),
            related(ann, "KNOWS", bob, valid_to="1893"),
        ],
        source=Document(""),
    )
    claims = [one for one in claims_of(document) if one]
    assert [one.period for one in claims] == ["in May", "1890", "from 1890 until 1893", "until 1893"]
    assert {(one.subject_names, one.object_names) for one in claims} == {(("Ann", "Miss Ann"), ("Robert", "Bobby"))}
    assert AddedText.load(AddedText.of("text", tuple(claims)).dump()).claims == tuple(claims)


def test_the_source_may_name_a_chunk() -> None:
    def ids(**fields: Any) -> list[str]:
        return chunk_ids(GraphDocument(nodes=[], relationships=[], source=Document("text", **fields)))

    assert ids(id="a", metadata={"chunk_id": "b", "id": 7}) == ["a", "b"]
    assert ids() == []
    assert chunk_ids(GraphDocument(nodes=[], relationships=[])) == []


def test_what_is_kept_of_a_text_is_read_again() -> None:
    text = AddedText.of("one 1 2 3 4 two \ud800 three four", (Claim("A", "b", "C", "A\nb\u0000C", ("d",), 3),))
    assert AddedText.load(text.dump()) == text
    assert "\0" not in text.dump()
    assert (text.before, text.probe, text.after) == (3, "1234two\ud800three", 4)
    assert AddedText.of(" a b  c", ()).probe == "abc"


def test_a_statement_goes_to_the_part_that_mentions_its_names() -> None:
    """The last word of a name counts: it says what it is."""
    texts = [["Here Ann’s boat was.", "Here were old Bob, Cid."], ["Then Ann met “Bob” again."]]
    whole = " ".join(part for parts in texts for part in parts)
    said = [claim("Ann", "Bob"), claim("Ann", "Dan"), claim("the Cid"), claim("Eve", "Bob"), claim("Eve")]
    assert placed({whole: said}, texts) == (
        {
            texts[0][0]: [said[1], said[4]],
            texts[0][1]: [said[2], said[3]],
            texts[1][0]: [said[0]],
        },
        0,
    )


def test_white_space_and_cut_words_do_not_matter() -> None:
    part = "The wind was in the north and Ann counted the sails."
    for text in (part, "\n The  wind was in\tthe north and Ann counted the sails. ", part[1:-3], part[4:]):
        assert placed({text: [claim("Ann")]}, [[part]]) == ({part: [claim("Ann")]}, 0), text
    for text in (
        "The wind was in the south and Ann counted the sails.",
        "win",
        "was in a",
        f"Oh yes. {part} So it was.",
        "",
        "wind",
        "That wind was not.",
    ):
        assert placed({text: [claim("Ann")]}, [[part]])[1] == (text != "wind"), text


def test_parts_may_begin_within_words() -> None:
    parts = ["The wind was in the nor", "th and Ann cou", "nted the sails."]
    whole = "The wind was in the north and Ann counted the sails."
    assert placed({whole: [claim("Ann")], "north and Ann counted": [claim("Bob")]}, [parts]) == (
        {parts[0]: [claim("Bob")], parts[1]: [claim("Ann")], parts[2]: []},
        0,
    )


def test_only_parts_that_a_text_has_as_a_whole_have_no_other_statements() -> None:
    parts = ["It was a cold day in the north.", "Nothing was there to be seen.", "So they all went home again."]
    assert placed({"cold day in the north. Nothing was there to be seen. So they all": []}, [parts]) == (
        {parts[1]: []},
        0,
    )
    assert placed({" ".join(parts): []}, [parts[:2], parts[2:]]) == ({part: [] for part in parts}, 0)


def test_a_text_is_found_wherever_it_is() -> None:
    part, other = "Ann and Bob went to sea together.", "Cid and Dan stayed at home together."
    said = [claim("Ann", "Bob")]
    for documents in ([[part], [other]], [[other, part]]), ([[part]], [[part, other]]):
        assert placed({part: said}, *documents) == ({part: said}, 0)


@given(st.data())
def test_every_slice_of_a_document_is_found_and_nothing_else(data: st.DataObject) -> None:
    """Words repeat, so that there are many places to begin: the naive search compares all words everywhere."""
    words = data.draw(st.lists(st.sampled_from("ab"), min_size=1, max_size=99))
    borders = sorted(data.draw(st.sets(st.integers(1, len(words)), max_size=4)) | {0, len(words)})
    parts = [" ".join(words[a:b]) + f" {a}" for a, b in pairwise(borders)]
    document = " ".join(parts).split()
    text = data.draw(st.lists(st.sampled_from([*"ab", "0"]), min_size=1, max_size=PROBE + 9))
    start = data.draw(st.integers(0, len(document) - 1))
    wanted = data.draw(st.sampled_from([text, document[start : start + len(text)]]))
    inner = wanted if len(wanted) < WHOLE else wanted[1:-1]
    there = any(document[at : at + len(inner)] == inner for at in range(len(document) - len(inner) + 1))
    assert placed({" ".join(wanted): [claim("Ann")]}, [parts])[1] == (not there)


# --- neo4j-graphrag ----------------------------------------------------------------------------------


class Scripted(LLMInterface):
    """Replies in the form that the prompt of the extractor asks for."""

    supports_structured_output = False

    def invoke(self, input: Any, *arguments: Any, **options: Any) -> LLMResponse:
        raise NotImplementedError

    async def ainvoke(self, input: Any, *arguments: Any, **options: Any) -> LLMResponse:
        if "Ann" not in str(input):
            return LLMResponse(content='{"nodes": [], "relationships": []}')
        return LLMResponse(
            content='{"nodes": [{"id": "0", "label": "Person", '
            '"properties": {"name": "Ann", "description": "A sailor."}}, '
            '{"id": "Bob", "label": "Person", "properties": {}}],'
            '"relationships": [{"type": "KNOWS", "start_node_id": "0", "end_node_id": "Bob", '
            '"properties": {"description": "Ann knows Bob."}}]}'
        )


SAID = [
    Claim("Ann", "knows", "Bob", "Ann knows Bob.", (), STRENGTH, "Person", "Person"),
    Claim("Ann", "is", "", "A sailor.", (), STRENGTH, "Person"),
]


@pytest.mark.parametrize("config", [None, LexicalGraphConfig(chunk_node_label="Page", chunk_text_property="content")])
def test_the_graph_of_an_extractor_is_read_by_chunk(config: LexicalGraphConfig | None) -> None:
    texts = TextChunks(
        chunks=[TextChunk(text=text, index=n) for n, text in enumerate(["Ann knows Bob.", "It rained."])]
    )
    extractor = LLMEntityRelationExtractor(Scripted("scripted"))
    graph = asyncio.run(extractor.run(chunks=texts, lexical_graph_config=config))
    first, second = graph_documents(graph, config)
    assert first.source
    assert first.source.page_content == "Ann knows Bob."
    assert claims_of(first) == SAID
    assert second.source
    assert (second.source.page_content, claims_of(second)) == ("It rained.", [])


def test_without_a_lexical_graph_the_ids_of_chunks_count() -> None:
    texts = TextChunks(chunks=[TextChunk(text="Ann knows Bob.", index=0, uid="d-0:c")])
    extractor = LLMEntityRelationExtractor(Scripted("scripted"), create_lexical_graph=False)
    [document] = graph_documents(asyncio.run(extractor.run(chunks=texts)))
    assert chunk_ids(document) == ["d-0:c"]
    assert claims_of(document) == SAID
