"""Names of earlier versions keep working for one release, and say what they are called now."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import e2g_neo4j
from e2g_neo4j.cli.options import RETRIEVAL, with_retrieval_options
from e2g_neo4j.errors import QueryError
from e2g_neo4j.indexing.summaries.chat import PROMPTS
from e2g_neo4j.integrations.langchain import E2GRetriever
from e2g_neo4j.models.chat.prompts import load_prompt
from e2g_neo4j.retrieval.options import RetrievalOptions


@pytest.mark.parametrize(
    ("former", "name"),
    [("e2g_neo4j.reading", "from_text"), ("e2g_neo4j.model", "Evidence"), ("e2g_neo4j.embedding", "")],
)
def test_a_module_is_found_under_its_former_name(former: str, name: str) -> None:
    sys.modules.pop(former, None)
    with pytest.warns(DeprecationWarning, match=f"{former} is now"):
        module = importlib.import_module(former)
    assert not name or hasattr(e2g_neo4j, name)
    assert not name or hasattr(module, name)


def test_the_types_of_the_former_module_are_the_same() -> None:
    sys.modules.pop("e2g_neo4j.model", None)
    with pytest.warns(DeprecationWarning, match="e2g_neo4j.types"):
        module = importlib.import_module("e2g_neo4j.model")
    assert module.Evidence is e2g_neo4j.Evidence


def test_the_former_command_that_converts_the_model_works() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "e2g_neo4j.embedding.conversion"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().endswith("model.xml")


def test_through_is_now_relationship_types() -> None:
    with pytest.warns(DeprecationWarning, match="relationship_types"):
        assert RetrievalOptions.of({"through": ["ACTED_IN"]}) == RetrievalOptions(relationship_types=("ACTED_IN",))
    with (
        pytest.warns(DeprecationWarning, match="relationship_types"),
        pytest.raises(QueryError, match="1 to 1000 characters"),
    ):
        RetrievalOptions.of({"through": [""]})


def test_the_retriever_of_langchain_takes_through() -> None:
    with pytest.warns(DeprecationWarning, match="relationship_types"):
        retriever = E2GRetriever.model_validate({"corpus": "novels", "through": ["ACTED_IN"]})
    assert retriever.relationship_types == ("ACTED_IN",)
    with pytest.warns(DeprecationWarning, match="relationship_types"):
        assert retriever._options({"through": ["DIRECTED"]}).relationship_types == ("DIRECTED",)


def test_none_in_a_call_leaves_what_the_retriever_has() -> None:
    retriever: Any = E2GRetriever(corpus="novels", k=7, mode="dense")
    found = retriever._options({"k": None, "mode": None, "hops": 2})
    assert (found.k, found.mode, found.hops) == (7, "dense", 2)


def test_the_command_line_says_what_through_is_called_now(capsys: pytest.CaptureFixture[str]) -> None:
    given: list[Any] = []

    def command(corpora: list[str], **retrieval: Any) -> None:
        given.append(retrieval["relationship_types"])

    plain: dict[str, Any] = dict.fromkeys(RETRIEVAL) | {"corpora": [], "mode": "auto"}
    with_retrieval_options(command)(**plain | {"relationship_types": "", "through": "ACTED_IN, DIRECTED"})
    assert "--relationship-types" in capsys.readouterr().err
    with_retrieval_options(command)(**plain | {"relationship_types": "ACTED_IN", "through": ""})
    assert (given, capsys.readouterr().err) == ([["ACTED_IN", "DIRECTED"], ["ACTED_IN"]], "")


def test_a_prompt_is_found_under_its_former_name(tmp_path: Path) -> None:
    (tmp_path / "again.txt").write_text("Once more.")
    with pytest.warns(DeprecationWarning, match="retry.txt"):
        assert load_prompt(PROMPTS / "retry.txt", tmp_path, former="again.txt") == "Once more."
    (tmp_path / "retry.txt").write_text("Again.")
    assert load_prompt(PROMPTS / "retry.txt", tmp_path, former="again.txt") == "Again."
