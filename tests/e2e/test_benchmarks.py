"""Every file of benchmarks/ runs, on texts of the sample library. The figures are not looked at."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from at_server import connected, set_variables
from libraries import empty
from real_ollama import RealOllama
from record import Figure, record
from scripted_models import Says

from e2g_neo4j import E2G
from e2g_neo4j.cli.setup import LIBRARY
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.models.chat import retry

pytestmark = pytest.mark.by_turns(3)

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
BOOK = LIBRARY / "theodora-quill.md"
QUESTION = "Who made the chronometer that Luke Farran saved?"
CORPORA = (
    "benchmark-first-light",
    "benchmark-llm",
    "benchmark-papers",
    "benchmark-peers",
    "benchmark-scale",
    "llm-check",
    "llm-check-gleaned",
    "ablation-length",
    *(f"ablation-g{size}" for size in (2, 3, 5, 10)),
)
KINDS = ("entity", "relation")


def benchmark(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recorded(results: Path) -> set[tuple[str, str]]:
    """What was measured, of which mode."""
    return {(one["mode"], one["metric"]) for one in json.loads(results.read_text(encoding="utf-8"))["figures"]}


def environment(connection: Connection, patch: pytest.MonkeyPatch) -> None:
    set_variables(patch, connection, E2G_WORKERS="1", E2G_CHUNK_TOKENS="100", E2G_CHUNK_OVERLAP="20")


@pytest.fixture
def empty_server(scratch: Connection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A server of its own for one test: the test before it may have left another fingerprint in it."""
    monkeypatch.chdir(tmp_path)
    environment(scratch, monkeypatch)
    with connected(scratch) as driver:
        empty(driver)


@pytest.fixture
def server(neo4j_connection: Connection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The server that a benchmark finds in the environment, without what it leaves there."""
    monkeypatch.chdir(tmp_path)
    environment(neo4j_connection, monkeypatch)
    yield
    with E2G() as e2g:
        for corpus in e2g.corpora().keys() & set(CORPORA):
            e2g.delete(corpus=corpus)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    lines = [
        {"id": "1", "question": QUESTION, "answer": "Theodora Quill", "book": BOOK.name, "gold_passages": [BOOK.name]},
        {"id": "2", "question": "Who was Theodora Quill?", "answer": "A clockmaker", "gold_passages": [BOOK.name]},
        {"id": "3", "question": "Who is Dracula?", "answer": "A count", "book": "another.txt", "gold_passages": ["x"]},
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


def test_every_benchmark_is_run_here() -> None:
    run = set(re.findall(r'(?:benchmark\(|BENCHMARKS / )"(\w+)(?:\.py)?"', Path(__file__).read_text(encoding="utf-8")))
    assert {file.stem for file in BENCHMARKS.glob("*.py") if "def main(" in file.read_text(encoding="utf-8")} == run


def test_convert_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What it converts: test_question_formats.py."""
    source, out = tmp_path / "questions.jsonl", tmp_path / "out"
    source.write_text(json.dumps({"context": "Ann rang.", "input": "Who rang?", "answer": "Ann"}), encoding="utf-8")
    benchmark("convert_questions").main([str(source), "--out", str(out)])
    assert "questions=1, books=1" in capsys.readouterr().out
    assert (out / "questions.jsonl").is_file()


def test_bind_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The evidence of a question about the second text is found in the volume."""
    first, second = LIBRARY / "averil-mercury-1878.md", BOOK
    text = second.read_text(encoding="utf-8")
    asked = {"id": "1", "question": QUESTION, "book": BOOK.name, "evidence": [[10, 60]]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(asked), encoding="utf-8")
    volume = tmp_path / "volume.md"
    benchmark("bind_texts").main([str(tmp_path / "questions.jsonl"), str(first), str(second), "--out", str(volume)])
    [bound] = [json.loads(line) for line in volume.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]
    [[start, end]] = bound["evidence"]
    assert volume.read_text(encoding="utf-8")[start:end] == text[10:60]
    assert "2 texts" in capsys.readouterr().out


def test_record(tmp_path: Path) -> None:
    """A figure replaces the one of the same name, and no other; the file stays the same if nothing is new."""
    module = benchmark("record")
    results, scores = tmp_path / "results.json", tmp_path / "scores.json"
    results.write_bytes(module.RESULTS.read_bytes())
    module.record([], results)
    assert results.read_bytes() == module.RESULTS.read_bytes()
    mean = {"mean": 0.8, "low": 0.75, "high": 0.85, "questions": 9}
    more = {"mean": 0.1, "low": 0.05, "high": 0.15, "questions": 9}
    overall = {"questions": 9, "scores": {"R@5": mean, "evidence@6k tokens": mean}, "differences": {"R@5": more}}
    multi = {"questions": 4, "scores": {"R@5": mean}, "differences": {"R@5": more}}
    auto = {"overall": overall, "by_type": {"multi": multi}, "median_ms": 31.04}
    scores.write_text(json.dumps({"modes": {"auto": auto}, "against": "hybrid"}), encoding="utf-8")
    module.main([str(scores), "--set", "musique", "--date", "2026-11-25", "--results", str(results)])
    before, after = (json.loads(file.read_text(encoding="utf-8"))["figures"] for file in (module.RESULTS, results))
    changed = [one for one in after if one not in before]
    assert {(one["set"], one["metric"], one.get("budget"), one.get("against"), one["value"]) for one in changed} == {
        ("musique", "R@5", None, None, 0.8),
        ("musique", "R@5", None, "hybrid", 0.1),
        ("musique", "evidence", "6k tokens", None, 0.8),
        ("musique", "median ms", None, None, 31.0),
        ("musique-multi", "R@5", None, None, 0.8),
    }
    assert {one["date"] for one in changed} == {"2026-11-25"}
    assert len(after) == len(before) + 2, "those that were not there"


@pytest.mark.full
def test_llm_check(server: None, ollama_server: RealOllama, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a model that always says the same: it summarises, and names no keywords."""
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.01)
    ollama_server.create("checked", Says("Theodora Quill made clocks in Lantry."), window=16384)
    for name, value in (("CHAT_MODEL", "ollama:checked"), ("OLLAMA_HOST", ollama_server.host), ("TOP_K", "2")):
        monkeypatch.setenv(f"E2G_{name}", value)
    results = tmp_path / "results.json"
    given = ["--papers", "1", "--questions", "1", "--only", "summaries,gleaning,lightrag", "--results", str(results)]
    benchmark("llm_check").main(given)
    figures = json.loads(results.read_text(encoding="utf-8"))["figures"]
    usable = {one["mode"]: one["value"] for one in figures if one["metric"] == "usable at once"}
    assert usable == {"answer": 1.0, "keywords": 0.0, "statements": 0.0, "summary": 1.0}


@pytest.mark.full
def test_first_light(server: None, questions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = questions.with_name("results.json")
    benchmark("first_light").main([str(BOOK), str(questions), "--turns", "2", "--results", str(results)])
    assert recorded(results) == {
        ("index", "ratio to plain"),
        *((mode, "median ms") for mode in ("e2g", "dense", "auto")),
    }
    told = capsys.readouterr().out
    assert f"{BOOK.name}: " in told
    assert "2 questions" in told
    for mode in ("e2g", "dense", "auto"):
        assert re.search(rf"^ +{mode} +database and ranking .* at most [1-3] round trips$", told, re.MULTILINE)


@pytest.mark.full
def test_scale(server: None, questions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = questions.with_name("results.json")
    books = [str(LIBRARY / name) for name in ("court-of-inquiry.txt", BOOK.name, "averil-mercury-1878.md")]
    arguments = [*books, "--questions", str(questions), "--one-corpus", "--results", str(results)]
    benchmark("scale").main(arguments)
    assert recorded(results) >= {("auto", "median ms"), ("add", "times alone"), ("index", "processor seconds")}
    assert "1 theodora-quill: " in capsys.readouterr().out, "first the book that questions are about"
    with pytest.raises(SystemExit, match="The corpus benchmark-scale exists"):
        benchmark("scale").main(arguments)


def test_indexing(server: None, tmp_path: Path) -> None:
    """In a process of its own, whose processes import the file by its path."""
    results, script = tmp_path / "results.json", BENCHMARKS / "indexing.py"
    books = [LIBRARY / "averil-mercury-1878.md", BOOK]
    command = [sys.executable, script, *books, "--documents", "6", "--processes", "1", "2", "--results", results]
    told = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
    assert recorded(results) >= {("pieces", "times the time of books per token"), ("together", "times as fast")}
    cut = {one["metric"]: one["value"] for one in json.loads(results.read_text())["figures"] if one["mode"] == "pieces"}
    assert 4 <= cut["documents"] <= 8, told
    with E2G() as e2g:
        assert not [corpus for corpus in e2g.corpora() if corpus.startswith("benchmark-indexing")]


def test_languages(server: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two texts in Spanish and in English, each with a question, which is asked in both languages."""
    texts = {
        "es": [("El barco llegó al puerto.", "¿Qué llegó al puerto?"), ("Ana vende pan.", "¿Qué vende Ana?")],
        "en": [("The ship reached the port.", "What reached the port?"), ("Ana sells bread.", "What does Ana sell?")],
    }
    for language, pairs in texts.items():
        paragraphs = [{"context": text, "qas": [{"question": asked}]} for text, asked in pairs]
        file = tmp_path / f"xquad.{language}.json"
        file.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}), encoding="utf-8")
    results, given = tmp_path / "results.json", ["--every", "1", "--modes", "auto", "--prefix", "benchmark-languages-"]
    benchmark("languages").main([str(tmp_path), *given, "--results", str(results)])
    benchmark("languages").main(
        [str(tmp_path), *given, "--languages", "es", "--questions", "en", "--results", str(results)]
    )
    assert recorded(results) == {("auto", "R@5")}
    sets = {one["set"]: one["value"] for one in json.loads(results.read_text())["figures"]}
    assert sets == {"xquad-es": 1.0, "xquad-en": 1.0, "xquad-es-asked-en": 1.0}
    with E2G() as e2g:
        for corpus in [one for one in e2g.corpora() if one.startswith("benchmark-languages-")]:
            e2g.delete(corpus=corpus)


def test_sizing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Chunks, time and disk in proportion to the tokens, entities to their square root."""
    results, module = tmp_path / "results.json", benchmark("sizing")
    grows = {"chunks": 1e-3, "summaries": 1e-4, "mentions": 1e-1, "co_occurrences": 1e-1, "seconds": 1.8e-4}
    figures = [
        Figure("s", "index", what, value, variant=size)
        for size, tokens in (("1 books", 1e4), ("10 books", 1e6), ("100 books", 1e8))
        for what, value in {
            "tokens": tokens,
            "entities": tokens**0.5,
            **{k: f * tokens for k, f in grows.items()},
        }.items()
    ]
    disk = [
        Figure("s", "server", "MiB stored", mib, variant=size) for size, mib in (("10 books", 1), ("100 books", 100))
    ]
    record([*figures, *disk], results)
    module.main(["1e10", "--set", "s", "--dimensions", "1408", "--results", str(results)])
    told = " ".join(capsys.readouterr().out.split())
    for line in (
        "10,000,000,000 tokens",
        "chunks 10,000,000",
        "entities 100,000",
        "processor hours of indexing 1,000.0",
    ):
        assert line in told
    vectors = 1e10 / 240 + 1e6
    gib = (1e4 * 2**20 + vectors * 1024 * 8) / 2**30
    assert f"vectors {vectors:,.0f} disk, and memory to cache all of it {gib:,.1f} GiB" in told


def test_questions(server: None, questions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with E2G() as e2g:
        e2g.index([BOOK], corpus="benchmark-papers")
    results = questions.with_name("results.json")
    arguments = ["--book", BOOK.name, "--turns", "1", "--clients", "3", "--seconds", "1", "--results", str(results)]
    benchmark("questions").main(["benchmark-papers", str(questions), *arguments])
    assert {("auto", "median ms"), ("auto", "busy median ms")} <= recorded(results)
    told = capsys.readouterr().out
    for name in ("idle", "beside a busy process"):
        assert re.search(rf"^{name}: [\d.]+ ms, .*reading [\d.]+, embedding", told, re.MULTILINE)
        assert re.search(rf"^{name}: 3 at once: [\d.]+ questions/s, longest gap", told, re.MULTILINE)


@pytest.mark.parametrize(
    ("book", "says"),
    [("absent.txt", "not a file"), ("third.txt", r'No question .* has "book": "third.txt".*another.txt')],
)
def test_first_light_looks_at_its_arguments_first(
    book: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = benchmark("first_light")
    monkeypatch.setattr(module, "E2G", None)
    (tmp_path / "third.txt").write_text("Text.")
    (tmp_path / "questions.jsonl").write_text(json.dumps({"question": "Who?", "book": "another.txt"}))
    with pytest.raises(SystemExit, match=says):
        module.main([str(tmp_path / book), str(tmp_path / "questions.jsonl")])


@pytest.mark.full
def test_ablations(server: None, questions: Path, tmp_path: Path) -> None:
    with E2G() as e2g:
        e2g.index([BOOK, LIBRARY / "court-of-inquiry.txt"], corpus="benchmark-papers")
    module = benchmark("ablations")
    results = tmp_path / "results.json"
    out = tmp_path / "out.md"
    module.main(questions, "benchmark-papers", limit=2, groups=BOOK, lengths=BOOK, out=out, results=results)
    assert {("e2g", "R@5"), ("auto", "MRR"), ("tree", "R@5"), ("index", "seconds"), ("entities", "mean")} <= recorded(
        results
    )
    told = (tmp_path / "out.md").read_text(encoding="utf-8")
    variants = {variant.name for variant in (*module.PAPER, *module.FUSION)}
    rows = {row for row in re.findall(r"^\| ([^|]+) \|", told, re.MULTILINE) if not row.isdigit()}
    sizes = {f"g = {size}" for size in module.GROUP_SIZES}
    lengths = {"1/8 of the text", "1/4 of the text", "1/2 of the text", "the whole text"}
    assert rows == variants | sizes | {f"indexed, {one}" for one in lengths | sizes} | {"entities"}
    indexed = {
        what: (int(tokens), int(summaries))
        for what, tokens, summaries in re.findall(r"indexed, ([^|]+) \| (\d+) \| \d+ \| (\d+) ", told)
    }
    assert indexed.keys() == sizes | lengths
    by_size = [indexed[f"g = {size}"][1] for size in sorted(module.GROUP_SIZES)]
    assert by_size == sorted(by_size, reverse=True), "larger groups need fewer summaries"
    assert by_size[0] > by_size[-1]
    assert indexed["1/8 of the text"][0] < indexed["1/2 of the text"][0] < indexed["the whole text"][0]
    assert sum(int(count) for count in re.findall(r"^\| \d+ \| (\d+) \|$", told, re.MULTILINE)) == 2, "questions"


def test_llm_throughput(server: None, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    arguments = [str(BOOK), "--latency", "0.01", "--concurrency", "2", "--results", str(results)]
    done = benchmark("llm_throughput").main(arguments)
    assert recorded(results) == {("index", "ratio to the longer of calls and reading")}
    told = capsys.readouterr().out
    assert done in (0, 1), "as fast as wanted or not"
    calls = re.search(r"1 documents, \d+ chunks, (\d+) calls, 0 cached", told)
    assert calls
    assert int(calls[1]) > 0


@pytest.mark.full
def test_peers(server: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The script in memory, and this project with the stand-in's summaries. The peers have no environment here."""
    text = BOOK.read_text(encoding="utf-8")
    asked = {
        "id": "1",
        "question": QUESTION,
        "book": BOOK.name,
        "evidence": [[10, 60], [len(text) - 90, len(text) - 9]],
    }
    questions, results = tmp_path / "questions.jsonl", tmp_path / "results.json"
    questions.write_text(json.dumps(asked), encoding="utf-8")
    programs = ["--only", "in-memory,e2g-neo4j-summaries,lightrag", "--environments", str(tmp_path / "none")]
    fast = ["--wait", "0", "--rate", "100000", "--results", str(results)]
    benchmark("peers").main([str(BOOK), str(questions), *programs, *fast])
    figures = json.loads(results.read_text(encoding="utf-8"))["figures"]
    value = {(one["set"], one["mode"], one["metric"]): one["value"] for one in figures}
    for mode in ("in-memory", "e2g-neo4j-summaries-auto", "e2g-neo4j-summaries-dense"):
        assert value["peers-question", mode, "evidence"] == 1, "the whole text is within the budget"
        assert value["peers-question", mode, "calls"] == 0
    for name in ("in-memory", "e2g-neo4j-summaries"):
        assert value["peers-answer", name, "calls"] == 1
        assert value["peers-answer", name, "prompt tokens"] > 100
        assert value["peers-index", name, "failed calls"] == 0
    assert value["peers-index", "in-memory", "calls per 1,000 tokens"] == 0
    assert value["peers-index", "e2g-neo4j-summaries", "calls per 1,000 tokens"] > 0
    assert "lightrag is left out, because" in capsys.readouterr().out


def test_stand_in_replies() -> None:
    """It replies in the form that each prompt asks for, with what the text says, and knows no other prompt."""
    module = benchmark("peer_programs/stand_in")
    text = "One day old Ada Venn met Tom Quay in Lantry. It rained. Nobody saw Tom Quay again."

    def reply(prompt: str) -> str | None:
        found: str | None = module.reply_to([{"content": prompt}])
        return found

    *rows, end = (reply(f"---Task---\n---Input Text---\n```\n{text}\n```") or "").split("\n")
    kinds = {
        kind: [row for kind_of, *row in (line.split("<|#|>") for line in rows) if kind_of == kind] for kind in KINDS
    }
    assert {row[0] for row in kinds["entity"]} == {"Ada Venn", "Tom Quay", "Lantry"}
    assert {len(row) for row in kinds["entity"]} == {3}
    assert {(row[0], row[1], len(row)) for row in kinds["relation"]} >= {("Tom Quay", "Ada Venn", 4)}
    assert end == "<|COMPLETE|>"
    records = (reply(f"-Real Data-\n######\nEntity_types: [person]\nText: {text}\n######\nOutput:") or "").split("##\n")
    assert all(
        re.fullmatch(r'\("(entity"(<\|>"[^"]+"){3}|relationship"(<\|>"[^"]+"){3}<\|>5)\)(<\|COMPLETE\|>)?', one)
        for one in records
    )
    report = json.loads(reply(f"# Real Data\n\nText:\n```\n{text}\n```\nThe report should include") or "")
    assert len(report["findings"]) == 5
    keywords = json.loads(reply("---Real Data---\nUser Query: Where did Ada Venn meet Tom?\n\n---Output---") or "")
    assert keywords["low_level_keywords"] == ["Ada Venn", "Tom"]
    summary = reply(f"You summarise a part of a longer text\n\n<text-1>\n{text}\n</text-1>")
    assert summary == "It rained. Nobody saw Tom Quay again."
    assert reply("Tell me a story.") is None


@pytest.mark.full
@pytest.mark.usefixtures("empty_server")
def test_memory(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """On a server of its own, because its models are others than the tests'."""
    results = tmp_path / "results.json"
    done = benchmark("memory").main([str(BOOK), "--tokens", "1000", "--documents", "2", "--results", str(results)])
    assert recorded(results) == {("index", "MiB, 1000 tokens, client")}
    told = capsys.readouterr().out.splitlines()
    assert done == 0
    assert re.search(r"chunks, \d+ edges, \d+ mentions: peak \d+ MiB", told[0])
    assert told[1] == "the largest needs 1.00 times the memory of the smallest"


@pytest.mark.full
@pytest.mark.usefixtures("empty_server")
def test_service(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a server of its own: its worker would take the tasks of other tests."""
    with E2G() as e2g:
        e2g.index([BOOK], corpus="benchmark-papers")
    questions = tmp_path / "questions.txt"
    questions.write_text(f"{QUESTION}\nWho was Theodora Quill?\n", encoding="utf-8")
    results = tmp_path / "results.json"
    arguments = [str(questions), "--corpus", "benchmark-papers", "--book", str(BOOK), "--results", str(results)]
    benchmark("service").main([*arguments, "--seconds", "2", "--clients", "2", "--repeat", "1"])
    assert ("serve", "ms added to a question") in recorded(results)
    alone, together = map(json.loads, capsys.readouterr().out.splitlines())
    assert alone["alone"]["questions"] == 2
    assert together["clients"] == 2
    assert set(together["statuses"]) <= {"200", "429"}
    with E2G() as e2g:
        assert list(e2g.corpora()) == ["benchmark-papers"], "it removes what it made"
