"""The server's jars: from Maven Central by coordinates, each checked against the SHA-256 sum in `jars.lock`.

`python -m e2g_neo4j.local.jars` writes the lock file anew, for the coordinates below, by jgo's own resolver.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import jgo
from jgo.maven import MavenContext

from e2g_neo4j.errors import LocalServerError

VERSION = "2026.08.1"
COORDINATES = f"org.neo4j:neo4j:{VERSION}+org.neo4j.client:neo4j-browser:5.24.0"
LOCK = Path(__file__).with_name("jars.lock")

ATTEMPTS = 3
PARALLEL = 8
MEGABYTES = 170
"""What all jars take on disk."""


@dataclass(frozen=True, slots=True)
class Jar:
    """A line of the lock file: `group:artifact:version[:classifier] sha256`."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str

    @property
    def name(self) -> str:
        return ":".join(part for part in (self.group, self.artifact, self.version, self.classifier) if part)


def fetch(
    progress: Callable[[int, int], None] = lambda done, total: None, *, context: MavenContext | None = None
) -> list[Path]:
    """The jars on this machine, in the order of the lock file; what is missing is downloaded, several at once.

    They lie in the Maven repository that Maven and jgo use too. `progress` is called with (done, total) jars. Raises
    LocalServerError when one cannot be had or is not the one that the lock file names.
    """
    jars = read_lock()
    context = context or MavenContext(timeout=60)
    found: dict[Jar, Path] = {}
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


def read_lock() -> list[Jar]:
    jars = []
    for line in LOCK.read_text(encoding="utf-8").splitlines():
        coordinates, sha256 = line.split()
        group, artifact, version, *classifier = coordinates.split(":")
        jars.append(Jar(group, artifact, version, "".join(classifier), sha256))
    return jars


def _fetch(context: MavenContext, jar: Jar) -> Path:
    """A download that broke off leaves a file with another sum: it is removed and fetched again."""
    fault = ""
    for _ in range(ATTEMPTS):
        try:
            path = context.project(jar.group, jar.artifact).at_version(jar.version).artifact(jar.classifier).resolve()
            got = hashlib.sha256(path.read_bytes()).hexdigest()
        except Exception as error:  # jgo and requests raise many kinds; all mean that the jar is not there
            fault = f"it could not be downloaded ({type(error).__name__}: {error})"
            continue
        if got == jar.sha256:
            return path
        path.unlink(missing_ok=True)
        fault = f"its SHA-256 sum is {got} instead of {jar.sha256}; the file was removed"
    raise LocalServerError(
        f"Neo4j's jar {jar.name} cannot be used: {fault}. Check the network and run `e2g db start` again, or set "
        "NEO4J_URI to a server of your own."
    )


def write_lock() -> None:
    """Resolve the coordinates and record every jar with its sum."""
    environment = jgo.build(COORDINATES)
    resolved = tomllib.loads((Path(environment.path) / "jgo.lock.toml").read_text(encoding="utf-8"))
    lines = []
    for one in resolved["dependencies"]:
        parts = [one["groupId"], one["artifactId"], one["version"], one.get("classifier", "")]
        lines.append(f"{':'.join(part for part in parts if part)} {one['sha256']}")
    LOCK.write_text("\n".join(sorted(lines)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_lock()
