"""What the program and its documentation tell people to run can be run."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from advice import ROOT, Advice, CannotRunError, all_advice, all_texts, check, known_variable

from e2g_neo4j.runtime import lazy_imports
from e2g_neo4j.runtime.lazy_imports import pip_install, requirements


def test_every_command_that_is_printed_or_documented_can_be_run() -> None:
    checked: Counter[str] = Counter()
    failed = []
    for advice in all_advice():
        try:
            checked.update(check(advice))
        except CannotRunError as error:
            failed.append(f"{advice.place}: `{advice.text}`: {error}")
    assert not failed, "\n".join(failed)
    assert checked["e2g"] > 300
    assert {"make", "pip", "docker"} < checked.keys()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("e2g querry 'Who?'", "no command 'querry'"),
        ("e2g db restart", "no command 'restart'"),
        ("e2g query", "Missing parameter"),
        ("e2g query 'Who?' --korpus c", "No such option"),
        ("e2g query 'Who?' --mode nonsense", "nonsense"),
        ("e2g query 'Who?' -k many", "valid integer"),
        ("e2g delete --corpus two words --yes surplus --with", "No such option"),
        ("e2g keys surplus", "no command 'surplus'"),
        ("E2G_CHATMODEL=ollama:x e2g ask 'Who?'", "no setting E2G_CHATMODEL"),
        ("echo text | e2g read", "Missing parameter"),
        ("sudo sh -c 'cd /; /opt/bin/e2g key list'", "no command 'key'"),
        ("kubectl exec pod -- e2g keys make", "no command 'make'"),
        ("make everything", "no target"),
        ("pip install 'e2g-neo4j[viz]'", "anybody could register"),
        ("pip install -e '.[vizz]'", "no such extra"),
        ("docker compose --profile services up", "services"),
        ("docker compose run --rm service key create", "no command 'key'"),
        ("docker run --rm e2g-neo4j indexes books", "no command 'indexes'"),
    ],
)
def test_the_check_finds_what_cannot_be_run(text: str, says: str) -> None:
    with pytest.raises(CannotRunError, match=re.escape(says)):
        check(Advice("here", text, complete=True))


def test_every_setting_that_is_named_exists() -> None:
    unknown = {
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in all_texts()
        for name in re.findall(r"\bE2G_[A-Z]+(?:_[A-Z]+)*\b(?!_)", text)
        if not known_variable(name)
    }
    assert not unknown


def test_a_clone_installs_its_extras_from_its_own_folder() -> None:
    assert (ROOT / "pyproject.toml").is_file()
    assert requirements("viz") == ["-e", f"{ROOT}[viz]"]


def test_an_installation_without_a_clone_installs_what_the_extra_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy_imports, "_PROJECT", Path("/nowhere"))
    assert [re.split("[<>=]", one)[0] for one in requirements("viz")] == ["neo4j-viz"]
    serve = requirements("serve,otel")
    assert not [one for one in serve if "extra" in one or one.startswith("e2g")]
    assert any(one.startswith("uvloop>=") and "sys_platform" in one for one in serve)
    assert any(one.startswith("opentelemetry-sdk") for one in serve)
    assert any(one.startswith("fastapi") for one in serve)


def test_the_command_names_the_interpreter_and_works_where_uv_has_left_out_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/an environment/bin/python")
    assert pip_install("a<2") == "'/an environment/bin/python' -m pip install 'a<2'"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert pip_install("a<2") == "uv pip install --python '/an environment/bin/python' 'a<2'"
