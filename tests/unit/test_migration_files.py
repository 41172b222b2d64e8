"""Migration files and what they are compared with; no database."""

from __future__ import annotations

import zlib
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from neo4j.time import DateTime

from e2g_neo4j.errors import MigrationError
from e2g_neo4j.graph import schema
from e2g_neo4j.runtime.cypher import folder


def write(place: Path, name: str, text: str = "CREATE INDEX e2g_a IF NOT EXISTS FOR (n:A) ON n.a;\n") -> None:
    (place / name).write_text(text, encoding="utf-8")


def recorded(script: schema.Script, **changes: Any) -> dict[str, Any]:
    row = {
        "version": script.version,
        "source": script.source,
        "checksum": schema.checksum(script.text),
        "at": DateTime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    }
    return row | changes


@pytest.fixture
def scripts(tmp_path: Path) -> list[schema.Script]:
    for number in ("001", "002", "003"):
        write(tmp_path, f"V{number}__Step_{number}.cypher", f"CREATE (n:Step {{number: {number}}});\n")
    return schema.read_scripts(tmp_path)


def test_versions_and_descriptions_come_from_file_names(tmp_path: Path) -> None:
    for name in ("V10__Last.cypher", "V2__Second_step.cypher", "V1_5__Inserted.cypher", "V1__First.cypher"):
        write(tmp_path, name)
    found = [(s.version, s.description, s.source) for s in schema.read_scripts(tmp_path)]
    assert found == [
        ("1", "First", "V1__First.cypher"),
        ("1.5", "Inserted", "V1_5__Inserted.cypher"),
        ("2", "Second step", "V2__Second_step.cypher"),
        ("10", "Last", "V10__Last.cypher"),
    ]


@pytest.mark.parametrize("name", ["001__No_letter.cypher", "V1_One_underscore.cypher", "V__No_number.cypher"])
def test_a_file_that_is_not_named_like_a_migration_is_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path, name)
    with pytest.raises(MigrationError, match=name):
        schema.read_scripts(tmp_path)


def test_two_files_of_one_version_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "V1__One.cypher")
    write(tmp_path, "V001__Other.cypher")
    with pytest.raises(MigrationError, match="same version"):
        schema.read_scripts(tmp_path)


def test_statements_end_at_a_semicolon_before_a_line_break() -> None:
    text = "// a; b\nCREATE (a {text: 'x;y'});\n\nCREATE (b);\r\n  ;\nCREATE (c);"
    assert schema.split(text) == ["// a; b\nCREATE (a {text: 'x;y'})", "CREATE (b)", "CREATE (c)"]


def test_the_checksum_is_that_of_the_trimmed_statements_in_turn() -> None:
    text = "  CREATE (a);\n\n\nCREATE (é)\n;\n"
    assert schema.checksum(text) == str(zlib.crc32("CREATE (a)CREATE (é)".encode()))


@given(st.lists(st.text(alphabet="ab é\n", min_size=1).filter(str.strip), min_size=1, max_size=4), st.integers(0, 3))
def test_blank_lines_between_statements_do_not_change_the_checksum(parts: list[str], blanks: int) -> None:
    close = ";\n".join(parts) + ";\n"
    loose = (";\n" + "\n" * blanks).join(parts) + ";\n"
    assert schema.checksum(close) == schema.checksum(loose)
    assert schema.checksum(close) != schema.checksum(close.replace(parts[0], parts[0] + "c", 1))


def test_line_endings_of_the_checkout_do_not_change_the_checksum(tmp_path: Path) -> None:
    (tmp_path / "V1__A.cypher").write_bytes(b"CREATE\n(a);\nCREATE (b);\n")
    (tmp_path / "V2__B.cypher").write_bytes(b"CREATE\r\n(a);\r\nCREATE (b);\r\n")
    first, second = (schema.checksum(script.text) for script in schema.read_scripts(tmp_path))
    assert first == second


def test_a_definition_has_its_placeholder_filled_and_belongs_to_the_part_above_it() -> None:
    index = "CREATE INDEX e2g_{} IF NOT EXISTS FOR (n:A) ON n.a OPTIONS {{d: {}}}"
    size = "${nm:embedding_dimensions}"
    texts = [index.format("a", size), f"// part: links\n{index.format('b', 1)}", index.format("c", 1)]
    script = schema.Script("1", "A", "V1__A.cypher", "// A file.\n" + ";\n\n".join(texts) + ";\n")
    found = script.definitions(3)
    assert [(one.name, one.part) for one in found] == [("e2g_a", "core"), ("e2g_b", "links"), ("e2g_c", "links")]
    assert found[0].statement == f"// A file.\n{index.format('a', 3)}"


def test_what_the_database_recorded_decides_the_state(scripts: list[schema.Script]) -> None:
    history = [recorded(scripts[0]), recorded(scripts[1], checksum="1")]
    found = schema.compare(scripts, history, None)
    assert [m.state for m in found] == ["applied", "changed", "pending"]


def test_an_edited_file_is_named(scripts: list[schema.Script]) -> None:
    found = schema.compare(scripts, [recorded(scripts[0], checksum="1")], None)
    assert [text.split(" ")[0] for text in schema.conflicts(found)] == ["V001__Step_001.cypher"]


def test_a_migration_without_its_file_is_named(scripts: list[schema.Script]) -> None:
    found = schema.compare(scripts[:2], [recorded(script) for script in scripts], None)
    assert [m.state for m in found] == ["applied", "applied", "missing"]
    assert [text.split(" ")[0] for text in schema.conflicts(found)] == ["V003__Step_003.cypher"]


def test_a_gap_is_named_and_what_follows_the_last_applied_one_is_not(scripts: list[schema.Script]) -> None:
    gap = schema.compare(scripts, [recorded(scripts[0]), recorded(scripts[2])], None)
    assert [text.split(" ")[0] for text in schema.conflicts(gap)] == ["V002__Step_002.cypher"]
    assert schema.conflicts(schema.compare(scripts, [recorded(scripts[0])], None)) == []
    assert schema.conflicts(schema.compare(scripts, [], None)) == []


def test_a_file_applied_with_its_placeholder_filled_in_counts_as_applied() -> None:
    script = schema.Script("1", "A", "V1__A.cypher", "CREATE (n {d: ${nm:embedding_dimensions}});\n")
    row = recorded(script, checksum=schema.checksum("CREATE (n {d: 384});\n"))
    assert schema.compare([script], [row], 384)[0].state == "applied"
    assert schema.compare([script], [row], 768)[0].state == "changed"
    assert schema.compare([script], [recorded(script)], 768)[0].state == "applied"


# --- our own files -----------------------------------------------------------------------------------


def own_statements() -> list[tuple[str, str]]:
    return [
        (script.source, one.statement)
        for old in (False, True)
        for script in schema.read_scripts(old=old)
        for one in script.definitions(384)
    ]


@pytest.mark.parametrize(("source", "statement"), own_statements())
def test_our_migrations_hold_repeatable_changes_only(source: str, statement: str) -> None:
    code = " ".join(line for line in statement.splitlines() if not line.startswith("//")).strip()
    assert code.removeprefix("CYPHER 25 ").split("IF NOT EXISTS")[0].startswith("CREATE "), source
    assert "IF NOT EXISTS FOR" in " ".join(code.split())
    assert len(schema._CREATED.findall(code)) == 1, "every name begins with e2g_"
    assert all(word not in code.split() for word in ("MERGE", "SET", "DELETE", "MATCH", "DROP"))


def test_the_parts_are_those_that_the_program_knows_and_each_but_the_core_is_created_by_itself() -> None:
    scripts = schema.read_scripts()
    parts = {one.name: one.part for script in scripts for one in script.definitions(384)}
    without = {"sentences", "entities", "descriptions", "typed"}
    assert set(parts.values()) == {"core", *schema.ALL_PARTS} - without
    core = schema.find_missing_indexes(scripts, (), ())
    assert core == {name for name, part in parts.items() if part == "core"}
    for part in schema.ALL_PARTS:
        assert {parts[name] for name in schema.find_missing_indexes(scripts, core, [part])} == {part} - without
    assert schema.find_missing_indexes(scripts, core | {"e2g_task_id"}, ()) == {
        name for name, part in parts.items() if part == "service"
    } - {"e2g_task_id"}, "what exists of a part is completed"


def test_the_first_line_alone_tells_neo4j_migrations_which_servers_a_file_is_for() -> None:
    for place, condition in (("", "ge"), ("5.26", "lt")):
        for path in (folder("migrations") / place).glob("*.cypher"):
            first, *others = path.read_text("utf-8").splitlines()
            assert first == f"// assume that version is {condition} 2026.1"
            comments = [line.removeprefix("//").strip().lower() for line in others if line.startswith("//")]
            assert not [text for text in comments if text.startswith(("assert", "assume"))]


def test_both_server_lines_have_the_same_schema_but_for_vector_indexes() -> None:
    def code(*, old: bool) -> list[tuple[str, str, str]]:
        found = [one for script in schema.read_scripts(old=old) for one in script.definitions(384)]
        texts = [(name, part, text[text.index("CREATE") :]) for name, part, text in found]
        return [one for one in texts if "VECTOR INDEX" not in one[2]]

    assert code(old=True) == code(old=False)


def test_the_only_placeholder_is_the_length_of_embeddings() -> None:
    found = {name for script in schema.read_scripts() for name in schema._PLACEHOLDER.findall(script.text)}
    assert found == {"embedding_dimensions"}
