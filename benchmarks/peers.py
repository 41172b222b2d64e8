"""Compare indexing and questions with LightRAG, nano-graphrag and a script in memory, on one text.

    python benchmarks/peers.py BOOK.txt QUESTIONS.jsonl [--only NAMES] [--environments peers] [--tokens N]

Each program runs in a process of its own, the peers each in an environment of its own below `--environments`:

    python -m venv peers/lightrag && peers/lightrag/bin/pip install lightrag-hku==1.5.7
    python -m venv peers/nano-graphrag && peers/nano-graphrag/bin/pip install nano-graphrag==0.0.8.2

Those without an environment are left out. Without a network, set TIKTOKEN_CACHE_DIR to tiktoken's files. All use the
chat model of `peer_programs/stand_in.py`, which answers with a fixed latency, and the same embedding model: the peers
over HTTP, this project and the script in their process. Calls and tokens do not depend on the latency; seconds do. What
is found with the peers' graphs depends on the replies, which are mechanical.

With `--ollama URL MODEL`, a real chat model replies, one call at a time; record its figures with another `--set`.

`--timed` questions are timed, in a second turn with the evidence alone, then with an answer. Evidence is located in the
text for all questions of the file about this book. Without NEO4J_URI, a managed server is started for the comparison;
otherwise the database must not have the corpus `benchmark-peers`. Records its figures in results.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from record import Figure, add_option, record

from e2g_neo4j.evaluation.gold import Gold, Piece, Question, Span, find_quote, read_questions
from e2g_neo4j.evaluation.scoring import fraction_found
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.settings import Settings

PROGRAMS = Path(__file__).with_name("peer_programs")
BUDGET = 6000
"""Tokens of evidence."""


@dataclass(frozen=True)
class Program:
    """A program that is compared.

    Attributes:
        name: Its name in the results.
        script: Its file in `peer_programs`.
        package: What its environment must have; None: it runs in this one.
        arguments: Further arguments.
    """

    name: str
    script: str
    package: str | None = None
    arguments: tuple[str, ...] = ()

    def python(self, environments: Path) -> Path:
        return Path(sys.executable) if self.package is None else environments / self.name / "bin" / "python"


COMPARED = (
    Program("in-memory", "run_in_memory.py"),
    Program("e2g-neo4j", "run_e2g.py"),
    Program("e2g-neo4j-summaries", "run_e2g.py", arguments=("summaries",)),
    Program("lightrag", "run_lightrag.py", "lightrag-hku==1.5.7"),
    Program("nano-graphrag", "run_nano_graphrag.py", "nano-graphrag==0.0.8.2"),
)


@dataclass
class Text:
    """The text, with its tokens."""

    path: Path
    text: str
    tokens: Sequence[Span]

    def located(self, passage: str | Sequence[int]) -> Span | None:
        """Return where a passage is, given as it is or by its place."""
        if not isinstance(passage, str):
            return passage[0], passage[1]
        at = self.text.find(passage)
        return (at, at + len(passage)) if at >= 0 else find_quote(passage, self.text, 0, len(self.text))

    def within(self, passages: Sequence[str | Sequence[int]], budget: int) -> list[Span]:
        """Return the places of passages in order, up to a number of tokens. The last is cut."""
        spans = []
        for start, end in filter(None, map(self.located, passages)):
            inside = [one for one in self.tokens if start <= one[0] and one[1] <= end][:budget]
            if inside:
                spans.append((start, inside[-1][1]))
                budget -= len(inside)
        return spans


@contextmanager
def stand_in(*options: str) -> Iterator[tuple[str, int]]:
    """Run the stand-in, and yield its address and pid."""
    command = [sys.executable, str(PROGRAMS / "stand_in.py"), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()


@dataclass
class Watched:
    """The memory and processor time of a program: its process and children, and the stand-in, which embeds for some.

    Attributes:
        pid: The process of the program.
        other: That of the stand-in.
        mib: The greatest memory of the program, without a Neo4j server. What its processes share counts once.
        seconds: The processor time by Unix time.
    """

    pid: int
    other: int
    mib: float = 0.0
    seconds: list[tuple[float, float]] = field(default_factory=list)
    _of: dict[int, float] = field(default_factory=dict)

    def look(self) -> None:
        memory = 0
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(self.pid)
            for one in (process, *process.children(recursive=True), psutil.Process(self.other)):
                with suppress(psutil.NoSuchProcess):
                    times = one.cpu_times()
                    self._of[one.pid] = times.user + times.system
                    if one.pid != self.other and one.name() != "java":
                        memory += one.memory_full_info().pss
        self.mib = max(self.mib, memory / 2**20)
        self.seconds.append((time.time(), sum(self._of.values())))

    def between(self, phase: dict[str, Any]) -> float:
        """Return the processor time of a phase."""
        times, used = np.array(self.seconds).T
        began, ended = np.interp([phase["began"], phase["ended"]], times, used)
        return float(ended - began)


def run(program: Program, python: Path, job: dict[str, Any], other: int) -> tuple[dict[str, Any], Watched]:
    """Run a program, and return its result and what it used."""
    file = Path(job["folder"]).with_suffix(".json")
    file.write_text(json.dumps(job), encoding="utf-8")
    Path(job["folder"]).mkdir()
    command = [str(python), str(PROGRAMS / program.script), str(file), *program.arguments]
    log = file.with_suffix(".log")
    with log.open("w", encoding="utf-8") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        watched = Watched(process.pid, other)
        while process.poll() is None:
            watched.look()
            time.sleep(0.5)
    lines = log.read_text(encoding="utf-8").splitlines()
    if process.returncode:
        said = "\n".join(lines[-20:])
        sys.exit(f"{said}\n{program.name} failed with exit code {process.returncode}: {' '.join(command)}")
    return json.loads(next(line for line in reversed(lines) if line.startswith('{"index"'))), watched


def figures(
    set: str, name: str, result: dict[str, Any], watched: Watched, text: Text, evidence: Sequence[Question]
) -> Iterator[Figure]:
    """Yield the figures of a program. Those of a mode are named after both."""
    index, tokens = result["index"], len(text.tokens) / 1000
    counts = index["counts"]
    yield Figure(f"{set}-index", name, "seconds", round(index["ended"] - index["began"]))
    yield Figure(f"{set}-index", name, "processor seconds", round(watched.between(index)))
    yield Figure(f"{set}-index", name, "calls per 1,000 tokens", round(counts["calls"] / tokens, 2))
    yield Figure(f"{set}-index", name, "prompt tokens per 1,000", round(counts["prompt_tokens"] / tokens))
    yield Figure(f"{set}-index", name, "reply tokens per 1,000", round(counts["reply_tokens"] / tokens))
    yield Figure(f"{set}-index", name, "failed calls", round(counts["unknown"] / max(counts["calls"], 1), 3))
    yield Figure(f"{set}-index", name, "MiB of memory", round(watched.mib))
    if result.get("bytes"):
        yield Figure(f"{set}-index", name, "MiB stored", round(result["bytes"] / 2**20, 1))
    if result.get("server_mib"):
        yield Figure(f"{set}-index", name, "MiB of the server", round(result["server_mib"]))
    for mode, phase in result["questions"].items():
        shown = f"{name}-{mode}" if mode else name
        yield from asked(f"{set}-question", shown, phase, watched)
        scores = [
            fraction_found(
                [Piece("", "", tuple(text.within(result["found"][mode][one.question], BUDGET)))],
                Gold(frozenset(), tuple(("", start, end) for _, start, end in one.spans), ()),
            )
            for one in evidence
        ]
        if scores:
            mean = round(statistics.mean(scores), 3)
            yield Figure(f"{set}-question", shown, "evidence", mean, budget=f"{BUDGET // 1000}k tokens")
    yield from asked(f"{set}-answer", name, result["answer"], watched)


def asked(set: str, name: str, phase: dict[str, Any], watched: Watched) -> Iterator[Figure]:
    number, counts = len(phase["each"]), phase["counts"]
    yield Figure(set, name, "median ms", round(1000 * statistics.median(phase["each"]), 1))
    yield Figure(set, name, "processor ms", round(1000 * watched.between(phase) / number))
    yield Figure(set, name, "calls", round(counts["calls"] / number, 2))
    yield Figure(set, name, "prompt tokens", round(counts["prompt_tokens"] / number))
    yield Figure(set, name, "reply tokens", round(counts["reply_tokens"] / number))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("book", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--only", help="programs to run, separated by commas: " + ", ".join(p.name for p in COMPARED))
    parser.add_argument("--environments", type=Path, default=Path("peers"), help="folder with the peers' environments")
    parser.add_argument("--tokens", type=int, help="index the beginning of the text only")
    parser.add_argument("--timed", type=int, default=12, help="number of questions that are timed")
    parser.add_argument("--wait", type=float, default=0.2, help="seconds of every call of the chat model")
    parser.add_argument("--rate", type=float, default=100.0, help="tokens of a reply per second")
    parser.add_argument("--ollama", nargs=2, metavar=("URL", "MODEL"), help="a chat model that replies instead")
    parser.add_argument("--set", default="peers", help="beginning of the names of the sets of figures")
    add_option(parser)
    given = parser.parse_args(argv)
    wanted = given.only.split(",") if given.only else [program.name for program in COMPARED]
    asked_about = [one for one in read_questions(given.questions) if one.book == given.book.name]
    if not asked_about:
        sys.exit(f'No question of {given.questions} has "book": "{given.book.name}".')
    options = ["--wait", str(given.wait), "--rate", str(given.rate)]
    if given.ollama:
        options = ["--at-once", "1", "--ollama", *given.ollama]
    with tempfile.TemporaryDirectory() as scratch, stand_in(*options) as (host, pid):
        text = read_text(given.book, given.tokens, Path(scratch))
        evidence = [one for one in asked_about if all(end <= len(text.text) for _, _, end in one.spans)]
        job: dict[str, Any] = {
            "text": str(text.path),
            "host": host,
            "questions": [one.question for one in asked_about[: given.timed]],
            "evidence": [one.question for one in evidence if one.spans],
            "budget": BUDGET,
        }
        print(f"{given.book.name}: {len(text.tokens)} tokens, {len(job['questions'])} questions timed", flush=True)
        for program in COMPARED:
            python = program.python(given.environments)
            if program.name not in wanted:
                continue
            if not python.exists():
                print(
                    f"{program.name} is left out, because {python} does not exist: make the environment with "
                    f"`python -m venv {python.parents[1]} && {python.parent / 'pip'} install {program.package}`.",
                    flush=True,
                )
                continue
            result, watched = run(program, python, job | {"folder": str(Path(scratch) / program.name)}, pid)
            print(f"{program.name}  {result.get('notes', '')}", flush=True)
            found = list(
                figures(given.set, program.name, result, watched, text, [one for one in evidence if one.spans])
            )
            for one in found:
                print(f"    {one.set:14} {one.mode:26} {one.metric:24} {one.value:g}", flush=True)
            record(found, given.results)


def read_text(book: Path, most: int | None, scratch: Path) -> Text:
    """Read a text, or copy and read its beginning."""
    embedder = Models(Settings()).embedder
    text = book.read_text(encoding="utf-8")
    tokens = embedder.token_spans(text)
    if most is not None and most < len(tokens):
        text, tokens = text[: tokens[most][0]], tokens[:most]
        book = scratch / book.name
        book.write_text(text, encoding="utf-8")
    return Text(book.absolute(), text, tokens)


if __name__ == "__main__":
    main()
