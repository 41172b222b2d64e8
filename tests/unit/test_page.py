"""The page at /ui names every mode and every kind of task."""

from __future__ import annotations

import re
from typing import get_args

from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.service import page
from e2g_neo4j.service.task_handlers import TASK_HANDLERS
from e2g_neo4j.types.service import TaskKind


def test_every_mode_can_be_chosen() -> None:
    [modes] = re.findall(r'<select id="mode">(.*?)</select>', page.start_page(), re.DOTALL)
    assert tuple(re.findall(r'value="(\w+)"', modes)) == tuple(STRATEGIES)


def test_every_kind_of_task_is_named() -> None:
    [named] = re.findall(r"const KINDS = {(.*?)}", (page.FOLDER / "tasks.js").read_text())
    assert set(re.findall(r"(\w+): ", named)) == set(get_args(TaskKind)) == TASK_HANDLERS.keys()
