"""The container image and docker-compose.yml, under a real Docker daemon. The first run takes minutes and 10 GB."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import docx
import numpy as np
import pytest
from containers import REPOSITORY, base_image, build_image, docker, neo4j_image
from pydantic import SecretStr
from tiers import need

from e2g_neo4j import E2G
from e2g_neo4j.managed_neo4j.config import free_port
from e2g_neo4j.models.embedding.load import load_embedder
from e2g_neo4j.remote_client import RemoteE2G
from e2g_neo4j.settings import Settings

pytestmark = pytest.mark.full

LIBRARY = REPOSITORY / "e2g_neo4j" / "sample" / "library"
QUESTION = "Who made the chronometer that Luke Farran saved?"
PASSWORD = "twelve-lanterns"
CONFINED = ("--rm", "--read-only", "--tmpfs", "/tmp", "--network", "none", "--cap-drop", "ALL")
EMBED = """
import json, sys
from e2g_neo4j.models.embedding.load import load_embedder
print(json.dumps(load_embedder().embed([sys.argv[1]])[0].tolist()))
assert "torch" not in sys.modules
"""


@pytest.fixture(scope="module")
def base() -> str:
    need("docker")
    return base_image()


@pytest.fixture(scope="module")
def image(base: str) -> str:
    return build_image(base)


@pytest.fixture(scope="module")
def neo4j(base: str) -> Iterator[str]:
    with neo4j_image(base) as image:
        yield image


def test_the_image_embeds_without_network_on_a_read_only_file_system(image: str) -> None:
    done = docker("run", *CONFINED, "--entrypoint", "python", image, "-c", EMBED, QUESTION)
    vector = load_embedder().embed([QUESTION])[0]
    assert np.dot(json.loads(done.stdout), vector) == pytest.approx(1, abs=1e-3)


def test_the_image_says_what_it_lacks(image: str) -> None:
    managed = docker("run", *CONFINED, image, "query", QUESTION, check=False)
    assert managed.returncode
    assert "Set NEO4J_URI" in managed.stderr
    other = docker(
        *("run", *CONFINED, "--entrypoint", "python", image, "-c"),
        "from e2g_neo4j.models.embedding.load import load_embedder as l; l('intfloat/e5-small-v2')",
        check=False,
    )
    assert "pip install 'sentence-transformers" in other.stderr


def test_the_image_is_small_and_has_a_user_without_rights(image: str) -> None:
    (found,) = json.loads(docker("image", "inspect", image).stdout)
    assert found["Config"]["User"] == "10001:10001"
    assert found["Size"] < 1.3e9, "1.1 GB when this was written"
    assert docker("run", *CONFINED, "--entrypoint", "id", image, "-u").stdout.strip() == "10001"
    history = docker("image", "history", "--no-trunc", image).stdout
    assert "certificates" not in history, "settings of pip are handed in while the image is built, and not kept"
    kept = docker("run", *CONFINED, "--entrypoint", "sh", image, "-c", "ls /etc/pip.conf /run/secrets", check=False)
    assert not kept.stdout


@pytest.fixture(scope="module")
def compose(image: str, neo4j: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    if docker("compose", "version", check=False).returncode:
        pytest.skip("needs docker compose: install its plugin")
    folder = tmp_path_factory.mktemp("compose")
    environment = {
        "NEO4J_PASSWORD": PASSWORD,
        "NEO4J_HTTP_PORT": str(free_port(0)),
        "NEO4J_BOLT_PORT": str(free_port(0)),
        "E2G_PORT": str(free_port(0)),
        "E2G_IMAGE": image,
    }
    (folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in environment.items()), encoding="utf-8")
    project = ("compose", "--file", REPOSITORY / "docker-compose.yml", "--project-directory", folder)

    def run(*arguments: str) -> str:
        return docker(*project, "--profile", "service", *arguments, timeout=300).stdout

    try:
        yield run
    finally:
        docker(*project, "--profile", "service", "down", "--volumes", "--timeout", "30", timeout=300)


def test_compose_serves_what_a_worker_indexed(
    compose: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compose("up", "--detach", "--wait", "neo4j")
    created = compose("run", "--rm", "service", "keys", "create", "--scopes", "read,ask,write,admin", "--json")
    key = json.loads(created)["key"]
    compose("up", "--detach", "--wait")

    word = tmp_path / "letter.docx"
    letter = docx.Document()
    letter.add_paragraph("Ignatius Pell mended the brass heliograph at Cold Harbour.")
    letter.save(str(word))
    port = json.loads(compose("ps", "--format", "json", "service"))["Publishers"][0]["PublishedPort"]
    with RemoteE2G(f"http://127.0.0.1:{port}", key) as remote:
        remote.index([*sorted(LIBRARY.glob("*.md"))[:4], word], corpus="papers")
        assert len(remote.documents("papers")) == 5
        evidence = remote.retrieve(QUESTION, corpus="papers", k=3)
        letters = remote.retrieve("Who mended the heliograph?", corpus="papers", k=1)
    assert "Ignatius Pell" in letters.passages[0].text

    monkeypatch.chdir(tmp_path)
    bolt = json.loads(compose("ps", "--format", "json", "neo4j"))["Publishers"]
    address = next(one["PublishedPort"] for one in bolt if one["TargetPort"] == 7687)
    with E2G(settings=Settings(neo4j_uri=f"bolt://127.0.0.1:{address}", neo4j_password=SecretStr(PASSWORD))) as local:
        same = local.retrieve(QUESTION, corpus="papers", k=3)
    assert [one.text for one in evidence.passages] == [one.text for one in same.passages]

    for name in ("service", "worker"):
        (state,) = json.loads(docker("inspect", compose("ps", "--quiet", name).strip()).stdout)
        assert state["HostConfig"]["ReadonlyRootfs"]
        assert state["HostConfig"]["CapDrop"] == ["ALL"]
        assert state["RestartCount"] == 0
    logs = compose("logs")
    assert '"level": "ERROR"' not in logs
    assert PASSWORD not in logs
    assert key.rpartition("_")[2] not in logs
    compose("stop")
    codes = [json.loads(line)["ExitCode"] for line in compose("ps", "--all", "--format", "json").splitlines()]
    assert codes[1:] == [0, 0], "the service and the worker end when they are told to"


def test_the_suite_runs_on_neo4j_in_a_container(neo4j: str) -> None:
    tests = "tests/integration/test_same_ids.py"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-q", tests],
        cwd=REPOSITORY,
        env={**os.environ, "E2G_TEST_NEO4J": "docker", "TESTCONTAINERS_RYUK_DISABLED": "true", "E2G_TEST_TIER": ""},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
