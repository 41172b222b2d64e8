"""Cypher templates: their files and their parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from e2g_neo4j.errors import ConfigurationError, InputError, NotFoundError
from e2g_neo4j.retrieval.templates import BUNDLED, convert_parameters, read, template_of, templates
from e2g_neo4j.runtime.cypher import folder
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.statements import TemplateParameter

SHIPS = """// Ships by their masts,
// the largest first.
// $corpus
// $masts: integer - How many masts.
// $of: entity – Their captain.
// $name: string
// → ship
MATCH (s:Ship) WHERE s.masts = $masts AND s.captain = $of AND s.name <> $name + '$x' // $y
RETURN s.name AS ship;
"""


def write(path: Path, text: str = SHIPS) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_a_file_is_a_template(tmp_path: Path) -> None:
    template = read(write(tmp_path / "ships.cypher"), bundled=False)
    assert (template.name, template.description) == ("ships", "Ships by their masts, the largest first.")
    assert template.parameters == (
        TemplateParameter("masts", "integer", "How many masts."),
        TemplateParameter("of", "entity", "Their captain."),
        TemplateParameter("name", "string", ""),
    )
    assert template.statement.startswith("MATCH")
    assert template.statement.endswith("AS ship")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no statement"),
        ("// Ships.\n", "no statement"),
        ("RETURN 1", "no description"),
        ("// Ships.\n// $masts: int\nRETURN $masts", "int"),
        ("// Ships.\n// $masts\nRETURN $masts", "masts"),
        ("// Ships.\nRETURN $masts", "masts"),
        ("// Ships.\n// $masts: integer\nRETURN '$masts'", "masts"),
        ("// Ships.\n// $a: integer\n// $a: string\nRETURN $a", "twice"),
        ("// Ships.\n// $corpus: string\nRETURN $corpus", "twice"),
    ],
)
def test_a_file_that_is_no_template_is_named_with_the_reason(tmp_path: Path, text: str, why: str) -> None:
    path = write(tmp_path / "ships.cypher", text)
    with pytest.raises(ConfigurationError, match=rf"ships\.cypher.*{why}"):
        read(path, bundled=False)


def test_other_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "ships.cypher").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match=r"ships\.cypher"):
        read(tmp_path / "ships.cypher", bundled=False)
    with pytest.raises(ConfigurationError, match="name"):
        read(write(tmp_path / "all ships.cypher"), bundled=False)
    with pytest.raises(ConfigurationError, match="E2G_TEMPLATES"):
        templates(Settings(templates=tmp_path / "none"))


def test_all_bundled_files_are_templates_and_those_of_the_user_replace_them(tmp_path: Path) -> None:
    assert {path.stem for path in (folder("cypher") / "templates").iterdir()} == set(BUNDLED)
    assert [one.name for one in templates(Settings())] == sorted(BUNDLED)
    assert all(one.bundled and one.parameters for one in templates(Settings()))
    write(tmp_path / "ships.cypher")
    write(tmp_path / f"{BUNDLED[0]}.cypher")
    found = {one.name: one for one in templates(Settings(templates=tmp_path))}
    assert list(found) == sorted([*BUNDLED, "ships"])
    assert not found[BUNDLED[0]].bundled
    with pytest.raises(NotFoundError, match="ships"):
        template_of(Settings(templates=tmp_path), "boats")


TYPED = """// Typed.
// $s: string
// $i: integer
// $n: number
// $b: boolean
// $e: entity
RETURN $s, $i, $n, $b, $e
"""
GIVEN: dict[str, Any] = {"s": "", "i": 3, "n": 2, "b": False, "e": "Ann"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"s": "", "i": 3, "n": 2.0, "b": False, "e": "Ann"}),
        ({"i": "-7", "n": "2.5", "b": "True"}, {"s": "", "i": -7, "n": 2.5, "b": True, "e": "Ann"}),
    ],
)
def test_parameters_are_converted_to_their_types(
    tmp_path: Path, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    template = read(write(tmp_path / "typed.cypher", TYPED), bundled=False)
    assert convert_parameters(template, GIVEN | given) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("s", value) for value in (1, None, ["x"], "x" * 10_001, "\ud800")),
        *(("i", value) for value in (2.0, True, "2.5", "", 2**63, "nan")),
        *(("n", value) for value in (True, "x", float("inf"), "nan", None)),
        *(("b", value) for value in (1, "yes", None)),
        *(("e", value) for value in (1, " ", None)),
    ],
)
def test_a_value_of_another_type_is_refused(tmp_path: Path, name: str, value: Any) -> None:
    template = read(write(tmp_path / "typed.cypher", TYPED), bundled=False)
    with pytest.raises(InputError, match=f"parameter '{name}'"):
        convert_parameters(template, GIVEN | {name: value})


def test_missing_and_unknown_parameters_are_refused(tmp_path: Path) -> None:
    template = read(write(tmp_path / "typed.cypher", TYPED), bundled=False)
    with pytest.raises(InputError, match="needs the parameter 'i'"):
        convert_parameters(template, {name: value for name, value in GIVEN.items() if name != "i"})
    for unknown in ("x", "corpus"):
        with pytest.raises(InputError, match=f"no parameter '{unknown}'"):
            convert_parameters(template, GIVEN | {unknown: "other"})
