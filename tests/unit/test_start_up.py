"""What a command does not use it does not load: torch, spaCy and sentence-transformers take seconds."""

from __future__ import annotations

import subprocess
import sys

import pytest

from e2g_neo4j.embedding.embedder import BUNDLED, BUNDLED_DIMENSIONS, load_embedder
from e2g_neo4j.settings import Settings
from e2g_neo4j.stories import Stories

LOCAL_ROUTE = """
from e2g_neo4j.settings import Settings
from e2g_neo4j.stories import Stories
stories = Stories(Settings(), None)
story = stories.retrieve("Did Jonathan Harker meet Count Dracula?", ["novels"], 5, 3, "e2g")
request = next(story)
assert "jonathan harker" in request.parameters["names"], request
"""


@pytest.mark.parametrize(
    ("code", "unused"),
    [
        ("import e2g_neo4j.cli.app", {"torch", "spacy", "sentence_transformers", "sklearn", "markitdown", "pdfminer"}),
        (LOCAL_ROUTE, {"sentence_transformers", "transformers", "sklearn"}),
    ],
)
def test_what_is_not_used_is_not_loaded(code: str, unused: set[str]) -> None:
    script = f"{code}\nimport sys\nprint(sorted({unused!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_fingerprint_known_without_the_model_is_the_models_own() -> None:
    assert load_embedder(BUNDLED).dimensions == BUNDLED_DIMENSIONS
    stories = Stories(Settings(), None)
    assert stories.fingerprint == stories.tools.fingerprint
