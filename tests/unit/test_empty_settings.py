"""A variable that is set to nothing is not set, but for those where nothing is a value."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2g_neo4j.settings import Settings, load_settings, variable_of

PREFIXES = {"query_prefix", "passage_prefix"}


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(variable_of(name), raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
@pytest.mark.parametrize("in_file", [False, True], ids=["environment", "file"])
def test_an_empty_value_is_unset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, in_file: bool) -> None:
    expected = "" if name in PREFIXES else getattr(load_settings(), name)
    if in_file:
        (tmp_path / ".env").write_text(f"{variable_of(name)}=\n", encoding="utf-8")
    else:
        monkeypatch.setenv(variable_of(name), "")
    assert getattr(load_settings(), name) == expected


def test_an_empty_variable_hides_the_value_in_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("E2G_CHAT_MODEL=ollama:small\n", encoding="utf-8")
    assert load_settings().chat_model == "ollama:small"
    monkeypatch.setenv("E2G_CHAT_MODEL", "")
    assert load_settings().chat_model is None
