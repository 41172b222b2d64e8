"""Behaviour frozen in tests/golden: the statements sent to Neo4j over the life of a corpus, the graph that they make,
the scores of an evaluation, and what users see of commands, signatures and data files.

Where a change is intended, write the files anew and read their diff:

    E2G_TEST_GOLDEN=write E2G_TEST_TIER=full pytest -n 0 tests/e2e/test_golden.py

The database is empty at first, because full-text scores depend on everything in it.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from golden_files import check, check_rows, digest, plain
from graphs import snapshot
from neo4j import GraphDatabase
from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from recording import files, recorded

import e2g_neo4j
from e2g_neo4j import E2G, Settings, SourceDocument
from e2g_neo4j.indexing.sources.files import from_text, read

pytestmark = pytest.mark.timeout(900)

REPOSITORY = Path(__file__).parents[2]
SAMPLE = Path(e2g_neo4j.__file__).parent / "sample"
CORPUS, SECOND = "golden", "golden-second"
MODES: tuple[Any, ...] = (
    "auto",
    "e2g",
    "diffusion",
    "routes",
    "lightrag",
    "pagerank",
    "hipporag",
    "linear",
    "dense",
    "fulltext",
    "hybrid",
    "tree",
)
QUESTIONS = (
    "Who really made the chronometer that Luke Farran saved?",
    "What did Hester Pendry write to Josiah Quill?",
    "What is the sea like in winter?",
)
NEW_PARAGRAPH = "Captain Amos Trelawney bought the clock of Theodora Quill. Trelawney gave it to Luke Farran."
UNORDERED = {"index/renew_run.cypher", "migrate/await_index.cypher"}
"""Statements that depend on time: sent by a thread on its own schedule, or while an index is not populated yet."""

BY_SCORES = {
    "query/windows.cypher": ("ids",),
    "query/activate.cypher": ("sentences", "known"),
    "query/entity_windows.cypher": ("keys", "weights"),
}
"""Parameters that are chosen by scores: near ties are chosen and ordered differently on another processor."""

LONGEST = 120
"""Characters of a parameter that is kept in full; of a longer one its size, its columns and a hash are kept."""


def documents(corpus: str) -> list[SourceDocument]:
    """The sample library. Sources are file names, so that ids do not depend on where the checkout is."""
    found = [read(path, corpus, 2**20) for path in sorted((SAMPLE / "library").iterdir())]
    return [from_text(one.text, corpus=corpus, source=Path(one.source).name, title=one.title) for one in found]


def changed() -> SourceDocument:
    before = documents(CORPUS)[-1]
    first, second, rest = before.text.split("\n\n", 2)
    text = "\n\n".join([first, second, NEW_PARAGRAPH, rest])
    return from_text(text, corpus=CORPUS, source=before.source, title=before.title)


def ask(e2g: E2G, mode: Any, corpora: Sequence[str], questions: Sequence[str], **retrieval: Any) -> None:
    for question in questions:
        e2g.retrieve(question, corpora=corpora, mode=mode, **retrieval)


STEPS: dict[str, Callable[[E2G], Any]] = {
    "index again": lambda e2g: e2g.index(documents(CORPUS), corpus=CORPUS),
    **{f"retrieve, {mode}": partial(ask, mode=mode, corpora=[CORPUS], questions=QUESTIONS) for mode in MODES},
    **{
        f"retrieve whole chunks, {mode}": partial(
            ask, mode=mode, corpora=[CORPUS], questions=QUESTIONS[:1], unit="chunk", tokens=900
        )
        for mode in MODES[2:11]
    },
    "paths": lambda e2g: e2g.paths(e2g.retrieve(QUESTIONS[0], corpus=CORPUS)),
    "answer without a chat model": lambda e2g: e2g.answer(QUESTIONS[0], corpus=CORPUS),
    "plan": lambda e2g: e2g.plan([changed()], corpus=CORPUS),
    "index a second corpus": lambda e2g: e2g.index(documents(SECOND)[:3], corpus=SECOND),
    **{
        f"retrieve from both, {mode}": partial(ask, mode=mode, corpora=[CORPUS, SECOND], questions=QUESTIONS[:1])
        for mode in MODES
    },
    "change a document": lambda e2g: e2g.index([changed()], corpus=CORPUS),
    "merges": lambda e2g: e2g.merges(corpus=CORPUS),
    "split": lambda e2g: e2g.split("Trelawney", corpus=CORPUS),
    "join": lambda e2g: e2g.join("Trelawney", corpus=CORPUS),
    "entities": lambda e2g: e2g.entities("quill", corpus=CORPUS),
    "documents": lambda e2g: e2g.documents(CORPUS),
    "stats": lambda e2g: e2g.stats(CORPUS),
    "status": lambda e2g: e2g.status(CORPUS),
    "corpora": lambda e2g: e2g.corpora(),
    "resume": lambda e2g: e2g.resume(corpus=CORPUS),
    "delete a document": lambda e2g: e2g.delete([changed().source], corpus=CORPUS),
    "delete the corpora": lambda e2g: [e2g.delete(corpus=corpus) for corpus in (CORPUS, SECOND)],
}


def observed(name: str, step: Callable[[E2G], Any], e2g: E2G) -> list[Any]:
    """A row for each statement that a step sends: step, file, parameters, and the fractions in these."""
    ours, migrations = ({text: path for path, text in files(kind, 384).items()} for kind in ("cypher", "migrations"))
    with recorded() as sent:
        step(e2g)
    rows = []
    for text, parameters in zip(sent.statements, sent.parameters, strict=True):
        file = ours.get(text) or next(path for whole, path in migrations.items() if text in whole)
        if file == "migrate/record.cypher":
            parameters = {key: value for key, value in parameters.items() if key not in ("milliseconds", "by")}
        by_scores = BY_SCORES.get(file, ())
        if file == "query/passages.cypher" and "whole chunks" in name:
            by_scores = ("ids",)
        parameters = {**parameters, **dict.fromkeys(by_scores, "chosen by scores")}
        if file not in UNORDERED:
            numbers: list[float] = []
            short = {key: shortened(plain(parameters[key], numbers)) for key in sorted(parameters)}
            rows.append([name, file, short, *([numbers] if numbers else [])])
    return rows


def shortened(value: Any) -> Any:
    if len(json.dumps(value)) <= LONGEST:
        return value
    columns = ",".join(value[0]) if isinstance(value[0], dict) else type(value[0]).__name__
    return f"{type(value).__name__} of {len(value)}: {columns}: {digest(value)}"


@pytest.fixture(scope="module")
def e2g(scratch: Any) -> Iterator[E2G]:
    settings = Settings(
        neo4j_uri=scratch.uri,
        neo4j_username=scratch.username,
        neo4j_password=scratch.password,
        embedding_precision="float32",
        chunk_tokens=300,  # so that the short documents of the sample get summaries
        chunk_overlap=50,
        workers=1,
    )
    with E2G(settings=settings) as e2g:
        yield e2g


@pytest.fixture(scope="module")
def first_index(e2g: E2G) -> list[Any]:
    return observed("index", lambda e2g: e2g.index(documents(CORPUS), corpus=CORPUS), e2g)


def test_the_graph(first_index: list[Any], scratch: Any) -> None:
    """A row for all terms. A row for each other node: a hash of its properties, then count and hash of its outgoing
    relationships by type."""
    auth = (scratch.username, scratch.password.get_secret_value())
    with GraphDatabase.driver(scratch.uri, auth=auth) as driver:
        nodes, relationships = snapshot(driver, CORPUS)
    outgoing: dict[tuple[str, ...], dict[str, list[Any]]] = {key: {} for key in nodes}
    for key, properties in sorted(relationships.items()):
        outgoing[key[:2]].setdefault(key[2], []).append([key[3:], plain(properties)])
    counts = [Counter(key[0] for key in nodes), Counter(key[2] for key in relationships)]
    rows: list[Any] = [dict(sorted(count.items())) for count in counts]
    words = {key: properties for key, properties in nodes.items() if key[0] == "Term"}  # many, without relationships
    rows.append(["Term", digest(plain({term: properties for (_, term), properties in words.items()}))])
    for key, properties in sorted((key, one) for key, one in nodes.items() if key not in words):
        types = {type: f"{len(some)} {digest(some)}" for type, some in sorted(outgoing[key].items())}
        rows.append([*key, digest(plain(properties)), types])
    check_rows("snapshot.json", rows)


@pytest.mark.full
def test_the_evaluation(first_index: list[Any], scratch: Any, tmp_path: Path) -> None:
    environment = {
        "NEO4J_URI": scratch.uri,
        "NEO4J_USERNAME": scratch.username,
        "NEO4J_PASSWORD": scratch.password.get_secret_value(),
        "E2G_EMBEDDING_PRECISION": "float32",
    }
    arguments = ["eval", str(SAMPLE / "questions.jsonl"), "-c", CORPUS, "--json", "found.json"]
    run_python("from e2g_neo4j.cli import main; main()", arguments, environment, tmp_path)
    modes = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["modes"]
    scores = {mode: modes[mode]["overall"]["scores"] for mode in MODES}
    rows = [[mode, {name: round(score["mean"], 4) for name, score in scores[mode].items()}] for mode in MODES]
    check_rows("eval.json", rows, 0.02)


@pytest.mark.full
def test_the_statements(first_index: list[Any], e2g: E2G) -> None:
    """Last of the tests that use the corpus, because it deletes it."""
    rows = first_index + [row for name, step in STEPS.items() for row in observed(name, step, e2g)]
    assert {"index", *STEPS} == {name for name, *_ in rows}
    check_rows("statements.json", rows)


# --- what users see ----------------------------------------------------------------------------------

HELP = r"""
import contextlib, io, re, sys
from e2g_neo4j.cli import main
def show(*command):
    sys.argv = ["e2g", *command, "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        main()
    print("$", *sys.argv)
    print(*map(str.rstrip, printed.getvalue().strip().splitlines()), "", sep="\n")
    for name in re.findall(r"^│ ([a-z]\S*) ", printed.getvalue().partition("─ Commands ")[2], re.MULTILINE):
        show(*command, name)
show()
"""


def run_python(code: str, arguments: list[str], environment: dict[str, str], folder: Path) -> str:
    """What a script prints, in a process with this environment and no other variables that matter."""
    command = [sys.executable, "-c", code, *arguments]
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(command, cwd=folder, env=inherited | environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_help_of_every_command(tmp_path: Path) -> None:
    check("help.txt", run_python(HELP, [], {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONUTF8": "1"}, tmp_path))


def test_the_public_signatures() -> None:
    lines = [line for name in sorted(e2g_neo4j.__all__) for line in [*described(name), ""]]
    check("signatures.txt", "\n".join(lines))


def described(name: str) -> Iterator[str]:
    one = getattr(e2g_neo4j, name)
    if not inspect.isclass(one):
        yield f"def {name}{inspect.signature(one)}" if inspect.isfunction(one) else f"{name} = {one}"
        return
    yield f"class {name}({', '.join(base.__name__ for base in one.__bases__)})"
    if issubclass(one, BaseModel):
        for field, info in one.model_fields.items():
            yield f"    {field}: {info.annotation}" + (
                "" if info.default is PydanticUndefined else f" = {info.default!r}"
            )
        return
    for each in fields(one) if is_dataclass(one) else ():
        yield f"    {each.name}: {each.type}{default(each.default)}"
    shown = () if is_dataclass(one) else ("__init__",)
    for method, value in inspect.getmembers(one):
        if isinstance(value, property):
            yield f"    {method} (property)"
        elif inspect.isfunction(value) and (method in shown or not method.startswith("_")):
            awaited = inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value)
            yield f"    {'async ' * awaited}def {method}{inspect.signature(value)}"


def default(value: Any) -> str:
    return "" if value in (MISSING, PydanticUndefined) else f" = {value!r}"


def test_the_data_files_of_the_wheel(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, timeout=120)
    [wheel] = tmp_path.glob("*.whl")
    names = sorted(name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name)
    check("wheel.txt", "\n".join(name for name in names if not name.endswith(".py")) + "\n")
