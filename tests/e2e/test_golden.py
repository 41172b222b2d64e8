"""Golden files in tests/golden: what users see of commands, signatures and data files.

Where a change is intended, write the files anew and read their diff:

    E2G_TEST_GOLDEN=write pytest -n 0 tests/e2e/test_golden.py
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

from golden_files import check
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

import e2g_neo4j

REPOSITORY = Path(__file__).parents[2]
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
