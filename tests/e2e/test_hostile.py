"""Questions, names and texts that want to be more than data: they find nothing of others, and break nothing."""

from __future__ import annotations

from uuid import uuid4

import pytest
from at_server import set_variables, settings_of
from graphs import snapshot
from hypothesis import given
from hypothesis import strategies as st
from libraries import few_examples, remove
from stated import state

from e2g_neo4j import E2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import InputError, NotFoundError, QueryError
from e2g_neo4j.evaluation import read_questions
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.types.ids import corpus_key

pytestmark = pytest.mark.full

CORPUS = f"hostile-{uuid4().hex[:8]}"
TEXTS = [
    'Alice met Bob `the Rat` O\'Neil in Paris. Bob said: "}) DETACH DELETE n //".',
    "Élise \u202eslleb\u202c rang in Łódź 🦆. Alice's brother {Bob} paid $corpus for it.",
]
PIECES = [
    "Alice", "Bob", "O'Neil", "`the Rat`", "Élise", "Łódź", "Who met", "?", " ", "\n", "\t", "'", '"', "`",
    "\\", "/", "{", "}", "$corpus", "${x}", "{{", "%s", "//", "/*", ";", "*/", "}) DETACH DELETE n //",
    "' OR 1=1 --", "RETURN 1", "+", "-", "&&", "!", "(", ")", "[", "]", "^", "~", "*", "?:", "AND", "OR", "NOT",
    "TO", "text:*", "~0.8", "corpus_key:*", "[* TO *]", "/.*/", 'text:"', "^1e999", "\x00", "\x01", "\x1b[2J",
    "\x7f", "\u202e", "\u2066", "\ufeff", "\u200d", "\u0301", "\ud800", "\udfff", "\uffff", "\U0010ffff",
    "\U0001f46a\u200d\U0001f466", "ﷺ", "ﬁ", "ａ", "½", "Ⅷ", "\u2028", "İ", "ß",
]  # fmt: skip


def hostile(longest: int = 12) -> st.SearchStrategy[str]:
    """Pieces of languages, or any characters at all, halves of surrogate pairs among them."""
    joined = st.lists(st.sampled_from(PIECES), max_size=longest).map("".join)
    return joined | st.text(st.characters(codec=None), max_size=longest) | st.builds(str.__add__, joined, joined)


@pytest.fixture(scope="module")
def client(neo4j_connection):
    chosen = settings_of(neo4j_connection, workers=1)
    with E2G(settings=chosen) as client:
        yield client


@pytest.fixture(scope="module")
def asked(client, driver):
    """A corpus to be asked, which is as it was in the end, and another that nobody may see."""
    other = f"{CORPUS}-other"
    client.index([from_text(text, corpus=CORPUS, source=f"{n}") for n, text in enumerate(TEXTS)], corpus=CORPUS)
    client.index([from_text(text + " Xanthippe.", corpus=other, source=text[:9]) for text in TEXTS], corpus=other)
    for corpus in (CORPUS, other):
        client.enrich(corpus=corpus)
        state(client, corpus)
    before = snapshot(driver, CORPUS, exact=True), snapshot(driver, other, exact=True)
    yield client
    assert (snapshot(driver, CORPUS, exact=True), snapshot(driver, other, exact=True)) == before
    remove(driver, [CORPUS, other])


def ask(client: E2G, question: str, mode: str, k: int = 5) -> None:
    """Passages are exact slices of the corpus' own texts, or else the error is ours."""
    try:
        found = client.retrieve(question, corpus=CORPUS, mode=mode, k=k)
    except QueryError:
        assert not question.strip() or any("\ud800" <= character <= "\udfff" for character in question)
        return
    for passage in found.passages:
        if passage.level:  # the summary of a cluster, of sentences of several texts
            assert mode == "raptor"
            assert set(passage.text.split()) <= {word for text in TEXTS for word in text.split()}
        else:
            assert passage.text == TEXTS[int(passage.source)][passage.start : passage.end]


@few_examples(50)
@given(question=hostile(), mode=st.sampled_from(list(STRATEGIES)))
def test_any_question_is_answered_or_refused(asked, question, mode):
    ask(asked, question, mode)


@pytest.mark.parametrize(
    ("piece", "mode"),
    [
        pytest.param('`Alice` {Bob} "O\'Neil" ', "auto", marks=pytest.mark.full),
        ("AND OR NOT ", "fulltext"),
        ("a", "auto"),
        ("ab.", "fulltext"),
        pytest.param("\N{DUCK}", "e2g", marks=pytest.mark.full),
        ("\u202e", "auto"),
        ("x'y ", "fulltext"),
    ],
)
def test_a_question_of_10_000_characters(asked, piece, mode):
    ask(asked, (piece * 10_000)[:10_000], mode)


@pytest.mark.parametrize("mode", ["auto", "fulltext", "hybrid"])
@pytest.mark.parametrize(
    "question",
    [
        'text:(*)" OR corpus_key:{other} OR "',
        "corpus_key:{other}",
        ") OR corpus_key:({other}",
        "{other} Xanthippe",
        '"\\") corpus_key:{other} (\\"',
    ],
)
def test_a_question_cannot_leave_its_corpus(asked, question, mode):
    ask(asked, question.replace("{other}", corpus_key(f"{CORPUS}-other")), mode, k=1000)


def test_a_question_beyond_the_limit_is_refused_before_anything_reads_it(asked):
    with pytest.raises(QueryError, match="maximum is 10000"):
        asked.retrieve("Alice " * 1_000_000, corpus=CORPUS)


@few_examples(12)
@given(name=hostile() | st.just("x" * 9000))
def test_any_corpus_can_be_named_or_is_refused(asked, name):
    calls = (
        lambda: asked.retrieve("Who is Alice?", corpus=name),
        lambda: asked.documents(name),
        lambda: asked.stats(name),
        lambda: asked.resume(corpus=name),
        lambda: asked.delete(corpus=name),
        lambda: asked.delete([name], corpus=CORPUS),
        lambda: asked.index([name], corpus=CORPUS, dry_run=True),
        lambda: asked.index([name], corpus=name),
    )
    for call in calls:
        with pytest.raises((NotFoundError, InputError)):
            call()


@few_examples(8)
@given(corpus=hostile(), title=hostile(), source=hostile(), text=hostile(40))
def test_what_is_indexed_is_found_as_it_was(client, driver, corpus, title, source, text):
    """All the way round: indexed, listed, asked for, deleted."""
    corpus = f"{CORPUS}-of-{corpus}"
    text = f"Alice and Bob. {text}"
    try:
        client.index([from_text(text, corpus=corpus, source=source, title=title)], corpus=corpus)
    except InputError:
        return
    [document] = client.documents(corpus)
    assert (document.source, document.state) == (source, "ready")
    found = client.retrieve("Who is Alice to Bob?", corpus=corpus, mode="e2g")
    assert found.route == "local"
    assert [passage.text for passage in found.passages] == [text.rstrip()]
    assert client.delete([document.id], corpus=corpus) == [document]
    assert snapshot(driver, corpus) == ({}, {})


@pytest.mark.parametrize("blob", ["Ab3d" * 8000, "é" * 9000, "x" * 300, "\u0301" * 9000, "A.B." * 4000])
def test_a_word_that_no_index_takes_is_no_entity(client, corpus, blob):
    client.index([from_text(f"Alice met Bob. She had {blob}.", corpus=corpus, source="x")], corpus=corpus)
    found = client.retrieve("Did Alice meet Bob?", corpus=corpus)
    assert set(found.entities) == {"alice", "bob"}
    client.delete(corpus=corpus)


@pytest.mark.parametrize("target", ["\ud800", "a\0b", "~nobody-at-all/x", "x" * 100_000, "", "*", "`"])
def test_a_strange_target_of_a_deletion_is_not_found(asked, target):
    with pytest.raises(NotFoundError, match="Nothing was deleted"):
        asked.delete([target], corpus=CORPUS)


@pytest.mark.parametrize(
    "line", ["[" * 50_000, '{"question": "\\ud800", "evidence": ["x y"]}', '{"question": "a\\u0000", "evidence": [[]]}']
)
def test_a_strange_question_file_is_refused(tmp_path, line):
    file = tmp_path / "questions.jsonl"
    file.write_text(line)
    with pytest.raises(InputError, match="line 1"):
        read_questions(file)


@pytest.mark.parametrize("argument", ["\udcff", "\u202e\x1b[2J", "`'\"{}$", "a\nb"])
@pytest.mark.parametrize("command", ["query", "ask", "documents", "delete"])
def test_commands_refuse_in_one_harmless_line(asked, neo4j_connection, monkeypatch, run, tmp_path, command, argument):
    monkeypatch.chdir(tmp_path)
    set_variables(monkeypatch, neo4j_connection)
    question = [argument] if command in ("query", "ask") else []
    code, _, err = run(command, *question, "--corpus", argument, *(["--yes"] if command == "delete" else []))
    assert code in (InputError.exit_code, NotFoundError.exit_code)
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert not {"\x1b", "\u202e"} & set(err)
