"""The documentation is true: what its pages show runs as it stands there, in order, its tables are those of the
program, and the site builds.

Each page is one sequence: its commands, in this process, and its Python, whose names stay for the next block.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from at_server import set_variables, settings_of
from libraries import remove
from nbclient import NotebookClient
from neo4j import Driver
from real_ollama import RealOllama
from running_service import RunningService, create_key, environment, running
from scripted_models import Says
from tiers import need
from typer.core import TyperGroup, TyperOption
from typer.main import get_command

from e2g_neo4j import E2G, Settings, cli, errors
from e2g_neo4j.cli.app import app
from e2g_neo4j.cli.setup import LIBRARY
from e2g_neo4j.graph import keys
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.settings import variable_of

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted({page.stem for page in DOCS.glob("*.md")} - {"scoring"}) + sorted(
    f"strategies/{page.stem}" for page in (DOCS / "strategies").glob("*.md")
)
"""All but the one whose commands need two chat models, and sets of questions from elsewhere."""
NOTEBOOK = DOCS / "first_questions.ipynb"
CORPORA = ("manuals", "papers", "papers-again", "drafts", "notes")
ELSEWHERE = {"db", "demo", "serve"}
"""Commands with tests of their own: one would stop the server of this one, one runs until Ctrl-C. Here they only say
how they are called."""


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and text of each block of a page."""
    return re.findall(
        r"^```(\w+)\n(.*?)^```$", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


@pytest.fixture(scope="module")
def place(neo4j_connection: Connection, driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with two papers, which are indexed already, and the questions of the page on tuning."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "papers").mkdir()
    for paper in ("theodora-quill.md", "court-of-inquiry.txt"):
        shutil.copy(LIBRARY / paper, folder / "papers")
    [questions] = [text for language, text in blocks("tuning") if language == "json"]
    (folder / "questions.jsonl").write_text(questions, encoding="utf-8")
    [schema] = [text for language, text in blocks("statements") if language == "json"]
    (folder / "schema.json").write_text(schema, encoding="utf-8")
    settings = settings_of(neo4j_connection, workers=1)
    remove(driver, CORPORA)
    with E2G(settings=settings) as e2g:
        e2g.index([folder / "papers"], corpus="papers")
    driver.execute_query(
        "CREATE (p:Person {name: 'Luke Farran', aliases: ['Old Luke']}), (f:Film {title: 'The Chronometer'}), "
        "(p)-[:ACTED_IN]->(f), (p)-[:DIRECTED]->(f)"
    )
    driver.execute_query(
        "CREATE (:File {name: 'Manual', year: 1908})<-[:PART_OF]-"
        "(:Page {id: 1, position: 1, text: 'Luke Farran carried the chronometer to Theodora Quill.'})"
    )
    yield folder
    remove(driver, CORPORA)
    driver.execute_query("MATCH (p:Page)-[:PART_OF]->(f:File) DETACH DELETE p, f")
    driver.execute_query("MATCH (p:Person {name: 'Luke Farran'})-[:ACTED_IN]->(f:Film) DETACH DELETE p, f")


@pytest.fixture
def here(place: Path, neo4j_connection: Connection, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(place)
    set_variables(monkeypatch, neo4j_connection, E2G_WORKERS="1")
    return place


@pytest.fixture
def service(here: Path, ollama_server: RealOllama, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The service for the papers, and a key."""
    ollama_server.create("docs-teller", Says("Theodora Quill made it. [1]"))
    settings = Settings(ollama_host=ollama_server.host, chat_model="ollama:docs-teller")
    with E2G(settings=settings) as e2g, running(settings) as url:
        _, key = e2g.runner.run(keys.create("docs", ["read", "ask"], ["papers"]))
        monkeypatch.setenv("E2G_SERVICE", url)
        monkeypatch.setenv("E2G_API_KEY", key)
        yield


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(language in ("sh", "python") for language, _ in blocks(page))]
)
def test_a_page_runs_as_it_stands(page: str, here: Path, request, monkeypatch, capsys) -> None:
    shown = blocks(page)
    if any("qwen3:8b" in text for _, text in shown):
        ollama: RealOllama = request.getfixturevalue("ollama_server")
        ollama.create("qwen3:8b", Says("Theodora Quill made it. [1]"))
        monkeypatch.setenv("OLLAMA_HOST", ollama.host)
    if any("E2G_SERVICE" in text for _, text in shown):
        request.getfixturevalue("service")
    names: dict[str, object] = {"__name__": "__main__", "__file__": str(here / "named.py")}
    for language, text in shown:
        if page == "strategies/own" and (ending := {"cypher": "cypher", "python": "py"}.get(language)):
            if not (file := here / f"named.{ending}").exists():
                file.write_text(text, encoding="utf-8")
            monkeypatch.syspath_prepend(here)
        if language == "sh":
            for line in text.splitlines():
                run(line, monkeypatch)
        elif language == "python":
            exec(compile(text, f"docs/{page}.md", "exec"), names)
            assert capsys.readouterr().out.strip(), text


def run(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of a shell. What cannot be done here is looked up: a target of make, an extra, another command."""
    match shlex.split(line):
        case ["e2g", *words]:
            monkeypatch.setattr(sys, "argv", ["e2g", *words, *(["--help"] if words[0] in ELSEWHERE else [])])
            with pytest.raises(SystemExit) as end:
                cli.main()
            assert end.value.code in (0, None), line
        case ["make", target]:
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), line
        case ["cp", "-r", folder, copy]:
            assert (ROOT / folder).is_dir(), line
            assert copy == "papers", line
        case ["export", setting]:
            monkeypatch.setenv(*setting.split("=", 1))
        case ["pip", "install", "-e", what]:
            project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            assert what.removeprefix(".[").removesuffix("]") in project["optional-dependencies"], line
        case _:
            assert line == ". .venv/bin/activate"


def curl_commands(page: str) -> list[str]:
    """The calls of curl of a page, each in one line."""
    lines = [line for language, text in blocks(page) if language == "bash" for line in joined(text)]
    return [line for line in lines if line.startswith("curl ")]


def joined(text: str) -> list[str]:
    return re.sub(r"\\\n\s*", "", text).splitlines()


def test_curl_calls_only_what_a_test_runs() -> None:
    assert {page for page in PAGES if "curl " in (DOCS / f"{page}.md").read_text(encoding="utf-8")} == {"service"}
    assert len(curl_commands("service")) == 7
    assert "curl " not in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.full
def test_a_service_answers_the_calls_of_curl(scratch: Connection, ollama_server: RealOllama, tmp_path: Path) -> None:
    """They run as they stand there, but for the port and the id of the task."""
    need("curl")
    ollama_server.create("docs-curl", Says("He read of him in old books. [1]"))
    (tmp_path / ".curlrc").write_text("fail-with-body\nsilent\nshow-error\n", encoding="utf-8")
    (tmp_path / "dracula.txt").write_text("Van Helsing knew Dracula from old books of Buda-Pesth.", encoding="utf-8")
    variables = environment(
        scratch,
        E2G_CHAT_MODEL="ollama:docs-curl",
        E2G_OLLAMA_HOST=ollama_server.host,
        CURL_HOME=str(tmp_path),
    )
    variables["KEY"] = create_key(variables, scopes="read,ask,write", corpora="novels")
    service = RunningService(variables, tmp_path / "log")
    replies: list[str] = []
    try:
        for command in curl_commands("service"):
            task = json.loads(replies[0])["id"] if replies else ""
            line = command.replace("http://127.0.0.1:8000", service.url).replace("TASK", task)
            done = in_shell(line, tmp_path, variables)
            while "wait=" in line and json.loads(done)["state"] in ("queued", "running"):
                done = in_shell(line, tmp_path, variables)
            replies.append(done)
    finally:
        service.stop()
    _uploaded, ended, found, answered, kept, listed, rated = replies
    assert json.loads(ended)["state"] == "succeeded"
    assert [one["source"] for one in json.loads(found)["passages"]] == ["upload:dracula.txt"]
    names = re.findall(r"^event: (\w+)$", answered, re.MULTILINE)
    assert (names[0], names[-2:]) == ("evidence", ["citation", "done"])
    assert [(one["id"], one["title"]) for one in json.loads(listed)] == [("first-steps", json.loads(kept)["question"])]
    assert json.loads(rated)["answer"] == "A count."


def in_shell(line: str, folder: Path, variables: dict[str, str]) -> str:
    done = subprocess.run(["bash", "-c", line], cwd=folder, env=variables, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def rows(page: str) -> list[list[str]]:
    """The cells of the tables of a page."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return [re.split(r" \| ", row) for row in re.findall(r"^\| (.*) \|$", text, re.MULTILINE)]


def commands() -> dict[str, Any]:
    """Every command by its words, such as `db start`; a group that is a command of its own, too."""
    found: dict[str, Any] = {}
    program = get_command(app)
    assert isinstance(program, TyperGroup)
    for name, command in program.commands.items():
        if isinstance(command, TyperGroup):
            found |= {f"{name} {sub}": one for sub, one in command.commands.items()}
        if not isinstance(command, TyperGroup) or command.invoke_without_command:
            found[name] = command
    return {name: command for name, command in found.items() if not command.hidden}


def test_the_commands_and_their_options_are_those_of_the_program() -> None:
    """Both ways: what there is is documented, and what is documented is there. Hidden options are old names."""
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    documented = {}
    for name, text in re.findall(
        r"^### `e2g ([a-z -]+?)(?: [A-Z[][^`]*)?`$(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL
    ):
        shown = [re.findall(r"`(-[\w-]+)`", cell) for cell in re.findall(r"^\| (`-.*?) \|", text, re.MULTILINE)]
        documented[name] = {next((word for word in words if word.startswith("--")), words[0]) for words in shown}
    offered = {
        name: {
            next((option for option in one.opts if option.startswith("--")), one.opts[0])
            for one in command.params
            if isinstance(one, TyperOption) and not one.hidden
        }
        for name, command in commands().items()
    }
    assert documented == offered


def test_the_settings_are_those_of_the_program() -> None:
    """Every one with its default, and no other."""
    documented = {cells[0].strip("`"): cells[1] for cells in rows("settings") if cells[0].startswith("`")}
    fields = {variable_of(name): field for name, field in Settings.model_fields.items()}
    assert documented.keys() == fields.keys()
    for variable, field in fields.items():
        default = documented[variable].split()[0].strip("`")
        if field.default is None:
            assert default == "unset", variable
        elif not field.default_factory:
            value = f"{field.default:g}" if isinstance(field.default, float) else str(field.default)
            value = value.lower() if isinstance(field.default, bool) else value
            assert default == value, variable


def test_the_exit_codes_are_those_of_the_errors() -> None:
    documented = {(name, int(cells[0])) for cells in rows("errors") if cells[0].isdigit() for name in names(cells[1])}
    kinds = {
        name: one for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, errors.E2GError)
    }
    assert documented == {(name, one.exit_code) for name, one in kinds.items()}
    own = [one.exit_code for one in kinds.values() if "exit_code" in vars(one)]
    taken = {0, 2, errors.INCOMPLETE, errors.WORSE, 130}  # also success, usage and interrupted
    assert len({*own, *taken}) == len(own) + len(taken)


def names(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


@pytest.mark.full
def test_every_page_is_in_the_navigation_and_the_site_builds(tmp_path: Path) -> None:
    """With every warning an error; and nothing is fetched from elsewhere when a page is looked at."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    assert "not included in the" not in done.stderr, done.stderr
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        fetched = re.findall(
            r'<(?:script|img|iframe|source)[^>]+src="([^"]+)"|<link rel="(?!canonical)[^>]+href="([^"]+)"', text
        )
        assert not [one for one in fetched if "//" in "".join(one)], page
    assert "Number of chunks to return" in (tmp_path / "api" / "index.html").read_text(encoding="utf-8")


@pytest.mark.by_turns(3)
@pytest.mark.full
@pytest.mark.timeout(900)
def test_the_notebook_runs_from_top_to_bottom(here: Path, driver: Driver) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)
    remove(driver, ["sample"])
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(here)}}).execute()
    printed = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    assert "12 documents indexed" in printed
    assert "local - " in printed
    assert "global - " in printed
    remove(driver, ["sample"])
