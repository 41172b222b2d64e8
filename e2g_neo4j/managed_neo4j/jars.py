"""Download the jars of the server by Maven coordinates, and verify the SHA-256 checksums in `jars.lock`.

`python -m e2g_neo4j.managed_neo4j.jars` updates the lock file for the coordinates below, with the resolver of jgo.
`python -m e2g_neo4j.managed_neo4j.jars COORDINATES FILE` writes another lock file.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import jgo
from jgo.maven import MavenContext

from e2g_neo4j.errors import LocalServerError
from e2g_neo4j.runtime.maven import Artifact, download, load_context

VERSION = "2026.09.0"
COORDINATES = f"org.neo4j:neo4j:{VERSION}+org.neo4j.client:neo4j-browser:5.24.0"
LOCK = Path(__file__).with_name("jars.lock")

PARALLEL = 8


def fetch(
    progress: Callable[[int, int], None] = lambda done, total: None, *, context: MavenContext | None = None
) -> list[Path]:
    """Return the jars in the order of the lock file, and download missing ones in parallel, with the repositories of
    jgo's configuration unless others are given.

    Jars are stored in the local Maven repository, which Maven and jgo share. Existing jars are reused, so that an
    interrupted download continues with the missing jars. Raises LocalServerError if one cannot be downloaded, or its
    checksum is wrong.
    """
    jars = read_lock()
    context = context or load_context()
    found: dict[Artifact, Path] = {}
    with ThreadPoolExecutor(PARALLEL) as pool:
        pending = {pool.submit(_fetch, context, jar): jar for jar in jars}
        try:
            for done in as_completed(pending):
                found[pending[done]] = done.result()
                progress(len(found), len(jars))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [found[jar] for jar in jars]


def read_lock() -> list[Artifact]:
    lines = (line.split() for line in LOCK.read_text(encoding="utf-8").splitlines())
    return [Artifact(coordinates, sha256) for coordinates, sha256 in lines]


def _fetch(context: MavenContext, jar: Artifact) -> Path:
    try:
        return download(jar, context)
    except OSError as error:
        raise LocalServerError(
            f"Cannot download the Neo4j jar {jar.coordinates}: {error}. Check the network and the disk, and run "
            "`e2g db start` again, or set NEO4J_URI to your own server."
        ) from error


def write_lock(coordinates: str, lock: Path) -> None:
    """Resolve Maven coordinates and write all jars with their checksums to a lock file."""
    environment = jgo.build(coordinates)
    resolved = tomllib.loads((Path(environment.path) / "jgo.lock.toml").read_text(encoding="utf-8"))
    lines = []
    for one in resolved["dependencies"]:
        parts = [one["groupId"], one["artifactId"], one["version"], one.get("classifier", "")]
        lines.append(f"{':'.join(part for part in parts if part)} {one['sha256']}")
    lock.write_text("\n".join(sorted(lines)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_lock(*((sys.argv[1], Path(sys.argv[2])) if sys.argv[1:] else (COORDINATES, LOCK)))
