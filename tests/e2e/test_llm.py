"""Indexing and answering with chat models of a real Ollama server, on a real Neo4j."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import asdict

import pytest
from at_server import set_variables
from graphs import cached_replies, evidence, forget_replies
from ollama_build import BINARY
from real_ollama import RealOllama, settings_for, with_model
from scripted_models import Chooses, Says

from e2g_neo4j import E2G, Answer, AsyncE2G, Evidence, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import BudgetError, ModelError
from e2g_neo4j.models.chat import retry

pytestmark = pytest.mark.full

TALE = "Luke Farran took the brig Averil out of Port Hesk and met a gale."
ANSWER = "Luke Farran was at the helm [1]. He came from the moon [7, 1]."
PARAGRAPHS = [
    f"On day {day} of the voyage Luke Farran wrote in the log of the Averil. The wind was in the north and the mate, "
    f"Josiah Quill, counted {day + 3} sails. They spoke of Port Hesk and of the gale."
    for day in range(12)
]
TEXT = "\n\n".join(PARAGRAPHS)
REPLYING = tuple(f"ollama:{one}@" for one in ("writer", "silent", "mute", "wide-writer"))
"""How the names of the models begin whose replies are cached."""


@pytest.fixture(scope="module", autouse=True)
def models(ollama_server: RealOllama) -> None:
    """A summary's prompt ends with the fence, a question's with its question mark."""
    ollama_server.create("writer", {"": Says(TALE), "?": Says(ANSWER)})
    ollama_server.create("silent", {"": Says(TALE), "?": Says("[0] The papers do not say it.")})
    ollama_server.create("mute", Says(""))
    ollama_server.create("explainer", Says("It was Josiah Quill."))
    ollama_server.create("wide-writer", {"": Says(TALE), "?": Says(ANSWER)}, window=16384)
    ollama_server.create("wide-chooser", Chooses({"A": 0.1, "B": 0.3, "C": 0.6}), window=16384)
    ollama_server.create("chooser", {"": Says(TALE), "w": Chooses({"A": 0.1, "B": 0.3, "C": 0.6})})


@pytest.fixture
def settings(neo4j_connection, ollama_server, monkeypatch) -> Settings:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.01)
    return configured(neo4j_connection, ollama_server)


def configured(neo4j_connection, ollama_server) -> Settings:
    more = {"summary_tokens": 40, "group_size": 2, "chat_model": "ollama:writer", "price_completion": 2.0}
    return settings_for(neo4j_connection, ollama_server, **more)


@pytest.fixture(autouse=True)
def _no_summary_from_before(driver) -> None:
    forget_replies(driver, *REPLYING)


def document(corpus: str, text: str = TEXT, source: str = "memory:log"):
    return from_text(text, corpus=corpus, source=source, title="The log")


def cached(driver) -> int:
    return len(cached_replies(driver, *REPLYING))


def calls(report) -> int:
    return sum(one.calls for one in report.spending.values())


# --- indexing ----------------------------------------------------------------------------------------


def test_a_plan_says_what_indexing_then_does(settings, corpus, driver):
    with E2G(settings=settings) as e2g:
        e2g.migrate()
        plan = e2g.index([document(corpus)], corpus=corpus, dry_run=True)
        assert cached(driver) == 0
        assert corpus not in e2g.corpora()
        report = e2g.index([document(corpus)], corpus=corpus)
        assert (plan.documents, plan.chunks, plan.tokens) == (1, report.chunks, report.tokens)
        assert sorted(plan.spending) == sorted(report.summaries_by_level)
        # The text of the tiny model repeats itself, so that what is above level 1 may be known already.
        assert plan.spending[1].calls == report.spending[1].calls == report.summaries_by_level[1]
        assert plan.spending[1].completion_tokens >= report.spending[1].completion_tokens
        assert report.cost == pytest.approx(
            sum(one.prompt_tokens + 2 * one.completion_tokens for one in report.spending.values()) / 1e6
        )
        assert plan.cost > 0
        again = e2g.index([document(corpus)], corpus=corpus, dry_run=True)
        assert (again.documents, again.unchanged, again.spending) == (0, 1, {})


def test_the_same_text_is_never_paid_for_twice_in_a_corpus(settings, corpus):
    """Another corpus pays for itself, so that nobody's text or reply gets into it."""
    with E2G(settings=settings) as e2g:
        first = e2g.index([document(corpus), document(corpus, source="memory:copy")], corpus=corpus)
        assert first.spending[1].calls == first.spending[1].remembered == first.summaries_by_level[1] // 2
        elsewhere = f"{corpus}-2"
        plan = e2g.index([document(elsewhere)], corpus=elsewhere, dry_run=True)
        assert sum(one.calls for one in plan.spending.values()) > 0
        second = e2g.index([document(elsewhere)], corpus=elsewhere)
        assert calls(second) == sum(one.calls for one in plan.spending.values())


def test_a_budget_stops_and_another_run_goes_on(settings, corpus, driver):
    with E2G(settings=settings) as e2g:
        with pytest.raises(BudgetError, match="cached"):
            e2g.index([document(corpus)], corpus=corpus, budget_tokens=4_000)
        assert e2g.corpora()[corpus] == 0
        kept = cached(driver)
        assert kept > 0
        assert (
            sum(one["prompt_tokens"] + one["completion_tokens"] for one in cached_replies(driver, *REPLYING)) <= 4_000
        )
        report = e2g.index([document(corpus)], corpus=corpus)
        assert report.spending[1].remembered == kept
        assert report.spending[1].calls + kept == report.summaries_by_level[1]


@pytest.mark.full
def test_after_the_server_died_another_run_goes_on(settings, corpus, driver, tmp_path, monkeypatch):
    monkeypatch.setattr(retry, "ATTEMPTS", 2)
    server = RealOllama(BINARY, tmp_path)
    server.create("writer", Says(TALE))
    mine = settings.model_copy(update={"ollama_host": server.host})

    def stop_in_the_middle(stage: str, done: int, total: int) -> None:
        if stage == "summarising" and done == 1:
            server.stop()

    try:
        with E2G(settings=mine) as e2g:
            with pytest.raises(
                ModelError,
                match=r"Summary \d+ of level [12] of 'The log': .*(does not respond|connection to Ollama failed)",
            ):
                e2g.index([document(corpus)], corpus=corpus, progress=stop_in_the_middle)
            kept = cached(driver)
            assert kept >= 1
            server.start()
            report = e2g.index([document(corpus)], corpus=corpus)
            assert report.spending[1].remembered == kept
    finally:
        server.stop()


def test_a_model_that_says_nothing_is_reported_by_node_and_leaves_nothing(settings, corpus, driver):
    with E2G(settings=with_model(settings, "mute")) as e2g:
        with pytest.raises(ModelError, match=r"Summary \d+ of level 1 of 'The log': .*no text"):
            e2g.index([document(corpus)], corpus=corpus)
        assert e2g.corpora()[corpus] == 0
        assert cached(driver) == 0


# --- answers -----------------------------------------------------------------------------------------

QUESTION = "Who was at the helm of the Averil when Luke Farran met Josiah Quill?"


@pytest.fixture(scope="module")
def log(neo4j_connection, ollama_server) -> str:
    """The corpus that the log is in."""
    with pytest.MonkeyPatch.context() as patch, E2G(settings=configured(neo4j_connection, ollama_server)) as e2g:
        patch.setattr(retry, "FIRST_WAIT", 0.01)
        e2g.index([document("llm-answers")], corpus="llm-answers")
    return "llm-answers"


def test_citations_resolve_to_the_document_and_others_are_dropped(settings, log):
    with E2G(settings=settings) as e2g:
        answer = e2g.answer(QUESTION, corpus=log, k=3)
        assert answer.text == "Luke Farran was at the helm [1]. He came from the moon [1]."
        assert answer.dropped == (7,)
        [cited] = answer.citations
        assert cited.number == 1
        assert cited.passage == answer.given[0]
        assert cited.passage.text == TEXT[cited.passage.start : cited.passage.end]
        assert [one.start for one in answer.given] == sorted(one.start for one in answer.given)
        assert answer.found
        assert answer.finished


def unscored(answer):
    """An answer without scores: word statistics are those of the whole index, which may be tidied up meanwhile."""
    return json.loads(
        json.dumps(asdict(answer)), object_hook=lambda one: {k: v for k, v in one.items() if k != "score"}
    )


def test_an_answer_streams_sync_and_async(settings, log):
    async def listen():
        async with AsyncE2G(settings=settings) as client:
            return [piece async for piece in client.stream(QUESTION, corpus=log, k=3)]

    with E2G(settings=settings) as e2g:
        _, *pieces, answer = e2g.stream(QUESTION, corpus=log, k=3)
        assert len(pieces) > 3
        assert isinstance(answer, Answer)
        assert "".join(map(str, pieces)) == answer.text
        assert unscored(answer) == unscored(e2g.answer(QUESTION, corpus=log, k=3))
    found, *heard, told = asyncio.run(listen())
    assert isinstance(found, Evidence)
    assert heard == pieces
    assert unscored(told) == unscored(answer)


def test_one_of_several_options_with_its_probability(settings, log):
    with E2G(settings=with_model(settings, "chooser")) as e2g:
        options = ["Luke Farran", "Josiah Quill", "Theodora Quill, as we know"]
        answer = e2g.answer(QUESTION, corpus=log, choices=options)
        assert answer.choice == "C"
        assert answer.distribution == pytest.approx({"A": 0.1, "B": 0.3, "C": 0.6}, abs=0.01)


def test_a_model_of_a_provider_indexes_and_answers(settings, corpus, ollama_server, monkeypatch):
    """Ollama speaks OpenAI's interface too, so that any provider's name can be tried on a real server."""
    monkeypatch.setenv("OPENAI_BASE_URL", f"{ollama_server.host}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with E2G(settings=settings.model_copy(update={"chat_model": "openai:wide-writer"})) as e2g:
        report = e2g.index([document(corpus)], corpus=corpus)
        assert report.spending[1].calls == report.summaries_by_level[1]
        assert report.spending[1].prompt_tokens > len(TEXT)  # a byte is a token, and nothing was cut
        _, *pieces, answer = e2g.stream(QUESTION, corpus=corpus, k=3)
        assert len(pieces) > 3
        assert isinstance(answer, Answer)
        assert "".join(map(str, pieces)) == answer.text == "Luke Farran was at the helm [1]. He came from the moon [1]."
        assert answer.dropped == (7,)
        asked = e2g.answer(QUESTION, corpus=corpus, k=3)
        assert (asked.text, evidence(asked.citations)) == (answer.text, evidence(answer.citations))
    with E2G(settings=settings.model_copy(update={"chat_model": "openai:wide-chooser"})) as e2g:
        chosen = e2g.answer(QUESTION, corpus=corpus, choices=["Luke Farran", "Josiah Quill", "as we know"])
        assert chosen.choice == chosen.text  # drawn by lot, as its provider's temperature is not 0
        assert chosen.distribution == pytest.approx({"A": 0.1, "B": 0.3, "C": 0.6}, abs=0.01)


# --- the command line --------------------------------------------------------------------------------


@pytest.fixture
def run(settings, run, monkeypatch, tmp_path):
    for name in ("chunk_tokens", "chunk_overlap", "summary_tokens", "group_size", "ollama_host"):
        monkeypatch.setenv(f"E2G_{name.upper()}", str(getattr(settings, name)))
    set_variables(monkeypatch, settings, E2G_CHAT_MODEL="ollama:writer", E2G_PRICE_PROMPT="1")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.txt").write_text(TEXT)
    return run


def test_the_command_line_plans_stops_goes_on_and_answers(run, corpus):
    code, out, _ = run("index", "log.txt", "-c", corpus, "--dry-run")
    assert code == 0
    assert "Would index" in out
    assert "level 1" in out
    assert "cost" in out
    code, out, _ = run("index", "log.txt", "-c", corpus, "--dry-run", "--json")
    plan = json.loads(out)
    assert plan["spending"]["1"]["calls"] > 2
    code, _, err = run("index", "log.txt", "-c", corpus, "--budget-tokens", "4000")
    assert (code, err.count("Error: ")) == (13, 1)
    code, _, err = run("index", "--resume", "-c", corpus, "--budget-tokens", "1")
    assert (code, err.count("of the budget of 1 are used")) == (13, 1)
    code, out, _ = run("index", "--resume", "-c", corpus)
    assert code == 0
    assert "cached" in out
    assert (
        run("index", "--resume", "-c", corpus)[1] == f"Nothing to resume: every document of corpus {corpus} is ready.\n"
    )
    assert run("index", "log.txt", "-c", corpus, "--dry-run")[1].startswith("Nothing to do: 1 document ")
    code, out, _ = run("ask", QUESTION, "-c", corpus, "-k", "3")
    assert out.startswith("Luke Farran was at the helm [1]. He came from the moon [1].\n")
    assert re.search(r"^\[1\] .*characters \d+-\d+ \(.*log\.txt\)$", out, re.MULTILINE)
    assert "passages that do not exist: 7." in out
    code, out, _ = run("ask", QUESTION, "-c", corpus, "-k", "3", "--json")
    told = json.loads(out)
    assert told["dropped"] == [7]
    [cited] = told["citations"]
    assert TEXT[cited["passage"]["start"] : cited["passage"]["end"]] == cited["passage"]["text"]


def test_answers_to_a_question_file_are_scored(run, log, monkeypatch, tmp_path):
    """Right and wrong answers, letters and unreadable replies, and how often the model was called for them."""
    monkeypatch.setenv("E2G_EVIDENCE_TOKENS", "400")

    def score(model: str, *lines: dict) -> tuple[str, dict]:
        (tmp_path / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        monkeypatch.setenv("E2G_CHAT_MODEL", f"ollama:{model}")
        arguments = [
            "-c",
            log,
            "--modes",
            "dense,auto",
            "--answers",
            "--json",
            "all.json",
            "--html",
            "all.html",
            "--overwrite",
        ]
        code, out, err = run("eval", "questions.jsonl", *arguments)
        assert code == 0, err
        saved = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
        assert list(saved["modes"]) == ["dense", "auto"]
        assert saved["chat_model"].startswith(f"ollama:{model}@")
        assert f"<h2>Answers of {saved['chat_model']}</h2>" in (tmp_path / "all.html").read_text(encoding="utf-8")
        assert f"Answers of {saved['chat_model']}." in out
        return out, saved["modes"]["auto"]

    def means(result: dict) -> dict[str, float]:
        return {name: score["mean"] for name, score in result["overall"]["scores"].items()}

    said = "Luke Farran was at the helm. He came from the moon."
    out, result = score(
        "writer",
        {"id": "1", "question": QUESTION, "answer": "nobody", "aliases": [said]},
        {"id": "2", "question": QUESTION, "answer": "Farran, at the moon"},
        {"id": "3", "question": QUESTION, "gold_passages": ["memory:log"]},
    )
    # Normalised, the reply has 9 words and the second answer 3, all of them in the reply: F1 = 2 * 3 / (9 + 3).
    assert means(result)["exact match"] == 0.5
    assert means(result)["F1"] == means(result)["ROUGE-L"] == pytest.approx((1 + 0.5) / 2)
    first, second, third = (outcome["answer"] for outcome in result["outcomes"])
    assert first["text"] == second["text"] == ANSWER.replace("[7, 1]", "[1]")
    assert first["calls"] == second["calls"] == 1
    assert third is None
    assert 0 < first["evidence_tokens"] <= 400
    assert first["prompt_tokens"] > first["evidence_tokens"]  # its tokens are bytes
    costs = result["answers"]
    assert (costs["answers"], costs["unreadable"], costs["calls"]) == (2, 0, 1)
    assert costs["prompt_tokens"] == first["prompt_tokens"] == second["prompt_tokens"]
    assert re.search(rf"^auto +2 +0 +{costs['evidence_tokens']:.0f} +1.00 +{costs['prompt_tokens']:.0f}$", out, re.M)

    options = ["Luke Farran", "Josiah Quill", "nobody, as we know"]
    right, wrong = ({"id": n, "question": QUESTION, "options": options, "answer": options[n]} for n in (2, 0))
    _, result = score("chooser", right, wrong)
    assert means(result) == {"accuracy": 0.5}
    assert [outcome["answer"]["text"] for outcome in result["outcomes"]] == ["C", "C"]

    # The answer is readable to `e2g ask`, which finds the option in it, but it is no letter.
    _, result = score("explainer", right | {"answer": "Josiah Quill"})
    assert means(result) == {"accuracy": 0}
    assert result["answers"]["unreadable"] == 1
    assert result["outcomes"][0]["answer"]["calls"] == 1

    out, result = score("mute", right, {"id": "f", "question": QUESTION, "answer": said})
    assert means(result) == {"accuracy": 0, "exact match": 0, "F1": 0, "ROUGE-L": 0}
    assert [outcome["answer"]["text"] for outcome in result["outcomes"]] == [None, None]
    assert (result["answers"]["unreadable"], result["answers"]["calls"]) == (2, 3)
    assert result["answers"]["prompt_tokens"] > 2 * costs["prompt_tokens"]  # of all three calls


def test_answers_are_judged_in_both_orders(run, log, monkeypatch, tmp_path, ollama_server):
    """A judge that always prefers the first answer. Mode fulltext finds nothing, so its answer is another."""
    verdict = {"comprehensiveness": 1, "diversity": 1, "empowerment": 0, "directness": 1}
    ollama_server.create("first-is-best", Says(json.dumps(verdict)))
    question = {"id": "1", "question": "Warum?"}  # needs neither evidence nor an answer
    (tmp_path / "questions.jsonl").write_text(json.dumps(question) + "\n")

    def judge(model: str) -> tuple[str, dict]:
        monkeypatch.setenv("E2G_JUDGE_MODEL", f"ollama:{model}")
        asked = ["-c", log, "--modes", "dense", "--against", "fulltext", "--judge", "graphrag"]
        code, out, err = run(
            "eval", "questions.jsonl", *asked, "--json", "all.json", "--html", "all.html", "--overwrite"
        )
        assert code == 0, err
        assert f"Judged by ollama:{model}@" in (tmp_path / "all.html").read_text(encoding="utf-8")
        saved = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
        assert saved["judge_model"].startswith(f"ollama:{model}@")
        assert saved["modes"]["fulltext"]["judged"] is None
        return out, saved["modes"]["dense"]

    out, result = judge("first-is-best")
    [outcome] = result["outcomes"]
    assert outcome["judgement"]["wins"] == dict.fromkeys(verdict, 0.5)
    assert outcome["judgement"]["calls"] == 2
    judged = result["judged"]
    assert (judged["answers"], judged["not_judged"], judged["calls"]) == (1, 0, 2)
    assert re.search(rf"^dense +1 +0 +0.500.* +2.00 +{judged['prompt_tokens']:.0f}$", out, re.M)
    assert judged["wins"]["directness"] == {"mean": 0.5, "low": 0.5, "high": 0.5, "questions": 1}

    _, result = judge("explainer")
    assert (result["judged"]["not_judged"], result["judged"]["calls"], result["judged"]["wins"]) == (1, 3, {})


def test_methods_are_compared_by_their_answers(run, log, monkeypatch, tmp_path, ollama_server):
    """A model whose points are its answer too, and cite the first passage. Its evidence has the first paragraph."""
    point = {"text": "Luke Farran wrote in the log [1].", "score": 80, "passages": [1]}
    ollama_server.create("pointer", Says(json.dumps({"points": [point]})))
    monkeypatch.setenv("E2G_CHAT_MODEL", "ollama:pointer")
    lines = (
        {"id": "1", "question": QUESTION, "answer": "nobody", "evidence": [PARAGRAPHS[0][:60]]},
        {"id": "2", "question": QUESTION, "answer": "b", "options": ["a", "b"]},
    )
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    asked = ["-c", log, "--modes", "dense", "--methods", "all-text", "--answers", "--judge", "race"]
    code, out, err = run("eval", "questions.jsonl", *asked, "--json", "all.json")
    assert code == 0, err
    saved = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))["modes"]
    assert list(saved) == ["dense", "all_text"]
    assert [one["question"] for one in saved["all_text"]["outcomes"]] == ["1"], "a method writes no letters"
    assert saved["all_text"]["overall"]["scores"]["evidence cited"]["mean"] == 1
    assert "evidence@6k tokens" not in saved["all_text"]["overall"]["scores"]
    assert saved["all_text"]["answers"]["calls"] > saved["dense"]["answers"]["calls"]
    assert saved["all_text"]["judged"]["answers"] == 1
    assert saved["all_text"]["citations"]["answers"] == saved["dense"]["citations"]["answers"] == 1
    assert re.search(r"^all_text +1 ", out, re.M)
    code, _, err = run("eval", "questions.jsonl", "-c", log, "--methods", "direct", "--answers")
    assert (code, "leave it out of the methods" in err) == (4, True)


def test_answers_need_a_chat_model(run, log, monkeypatch, tmp_path):
    monkeypatch.delenv("E2G_CHAT_MODEL")
    (tmp_path / "questions.jsonl").write_text(json.dumps({"question": QUESTION, "answer": "nobody"}))
    code, _, err = run("eval", "questions.jsonl", "-c", log, "--answers")
    assert (code, err.count("none is configured: set E2G_CHAT_MODEL")) == (3, 1)
