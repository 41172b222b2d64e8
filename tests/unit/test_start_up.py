"""What a command does not use it does not load: torch, spaCy and sentence-transformers take seconds."""

from __future__ import annotations

import subprocess
import sys

import pytest

from e2g_neo4j.models.embedding.base import DEFAULT
from e2g_neo4j.models.embedding.load import load_embedder
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.settings import Settings

LOCAL_ROUTE = """
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.options import RetrievalOptions
from e2g_neo4j.retrieval.retrieve import retrieve
from e2g_neo4j.settings import Settings
options = RetrievalOptions(k=5, hops=3, mode="e2g")
operation = retrieve(Models(Settings()), "Did Jonathan Harker meet Count Dracula?", ["novels"], options)
assert next(operation).statement == "index/fingerprint"
request = operation.send([])
assert "jonathan harker" in request.parameters["names"], request
"""

QUESTION = """
from e2g_neo4j.cli import hide_torch
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.options import RetrievalOptions
from e2g_neo4j.retrieval.retrieve import retrieve
from e2g_neo4j.runtime.requests import Embed
from e2g_neo4j.settings import Settings
hide_torch()
models, question = Models(Settings()), "Did Jonathan Harker meet Count Dracula?"
next(retrieve(models, question, ["novels"], RetrievalOptions()))
assert len(models.vector(Embed(question)).result()) == 384
"""


@pytest.mark.parametrize(
    ("code", "unused"),
    [
        ("import e2g_neo4j.cli.app", {"torch", "spacy", "sentence_transformers", "sklearn", "lxml", "pypdfium2"}),
        (LOCAL_ROUTE, {"sentence_transformers", "transformers", "sklearn"}),
        (QUESTION, {"torch", "sentence_transformers", "transformers", "sklearn", "openvino_telemetry"}),
    ],
)
def test_what_is_not_used_is_not_loaded(code: str, unused: set[str]) -> None:
    script = f"{code}\nimport sys\nprint(sorted({unused!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_numpy_has_one_thread_in_commands() -> None:
    script = """
import sys
from contextlib import suppress
from e2g_neo4j.cli import main
assert "numpy" not in sys.modules
sys.argv = ["e2g", "--version"]
with suppress(SystemExit):
    main()
import psutil
before = psutil.Process().num_threads()
import numpy
numpy.ones((500, 500)) @ numpy.ones((500, 500))
print(psutil.Process().num_threads() - before)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"


@pytest.mark.full
def test_spacy_finds_torch_in_processes_of_others() -> None:
    """thinc must not lose torch in a process that is not ours: pipelines with transformers need it."""
    script = "from e2g_neo4j.models.entities.pipeline import load_pipeline\nload_pipeline()\nimport thinc.compat\n"
    script += "print(thinc.compat.has_torch)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_the_fingerprint_known_without_the_model_is_the_models_own() -> None:
    embedder = load_embedder(DEFAULT)
    given = Models(Settings(), embedder=embedder)
    assert Models(Settings()).fingerprint == given.fingerprint
    assert given.fingerprint.dimensions == embedder.dimensions
