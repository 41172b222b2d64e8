"""The server's jars: by their Maven coordinates, each checked against the SHA-256 sum in `jars.lock`.

`python -m e2g_neo4j.local.jars` writes the lock file anew, for the coordinates below, by jgo's own resolver;
`python -m e2g_neo4j.local.jars COORDINATES FILE` writes another one.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import jgo
from jgo.config import GlobalSettings
from jgo.maven import MavenContext
from jgo.util import http

from e2g_neo4j.errors import LocalServerError

VERSION = "2026.08.1"
COORDINATES = f"org.neo4j:neo4j:{VERSION}+org.neo4j.client:neo4j-browser:5.24.0"
LOCK = Path(__file__).with_name("jars.lock")

ATTEMPTS = 3
PARALLEL = 8
READ_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Jar:
    """A line of the lock file: `group:artifact:version[:classifier] sha256`."""

    coordinates: str
    sha256: str

    @property
    def path(self) -> str:
        """Where a Maven repository keeps it, remote or local."""
        group, artifact, version, *classifier = self.coordinates.split(":")
        return f"{group.replace('.', '/')}/{artifact}/{version}/{'-'.join([artifact, version, *classifier])}.jar"


def fetch(
    progress: Callable[[int, int], None] = lambda done, total: None, *, context: MavenContext | None = None
) -> list[Path]:
    """The jars on this machine, in the order of the lock file; what is missing is downloaded, several at once.

    They lie in the Maven repository that Maven and jgo use too, and those that are there already stay: a download
    that was broken off goes on where it was. `progress` is called with (done, total) jars. Raises LocalServerError
    when one cannot be had or is not the one that the lock file names.
    """
    jars = read_lock()
    context = context or configured()
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


def configured() -> MavenContext:
    """The repositories of jgo's configuration file first (so that a mirror is asked), then Maven Central.

    One that is named `central` there replaces it.
    """
    settings = GlobalSettings.load()
    remotes = dict(settings.repositories)
    for name, address in MavenContext().remote_repos.items():
        remotes.setdefault(name, address)
    return MavenContext(repo_cache=settings.repo_cache, remote_repos=remotes)


def read_lock() -> list[Jar]:
    lines = (line.split() for line in LOCK.read_text(encoding="utf-8").splitlines())
    return [Jar(coordinates, sha256) for coordinates, sha256 in lines]


def _fetch(context: MavenContext, jar: Jar) -> Path:
    """A file gets the jar's name only once its sum is right, so that nobody ever meets half a jar."""
    path: Path = context.repo_cache / jar.path
    if path.is_file() and _sha256(path) == jar.sha256:
        return path
    faults: dict[str, None] = {}
    for _ in range(ATTEMPTS):
        for remote in context.remote_repos.values():
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryDirectory(prefix=".e2g-", dir=path.parent) as folder:
                    got = _download(f"{remote.rstrip('/')}/{jar.path}", Path(folder) / path.name)
                    if _sha256(got) == jar.sha256:
                        return got.replace(path)
                    faults[f"{remote} sent a file with the SHA-256 sum {_sha256(got)} instead of {jar.sha256}"] = None
            except OSError as error:  # the errors of requests are OSErrors too
                faults[f"{type(error).__name__}: {error}"] = None
    raise LocalServerError(
        f"Neo4j's jar {jar.coordinates} cannot be had: {'; '.join(faults)}. Check the network and the disk and run "
        "`e2g db start` again, or set NEO4J_URI to a server of your own."
    )


def _download(address: str, target: Path) -> Path:
    with http.get(address, stream=True, timeout=READ_SECONDS) as response, target.open("wb") as file:
        response.raise_for_status()
        for block in response.iter_content(1 << 16):
            file.write(block)
    return target


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_lock(coordinates: str, lock: Path) -> None:
    """Resolve coordinates and record every jar with its sum."""
    environment = jgo.build(coordinates)
    resolved = tomllib.loads((Path(environment.path) / "jgo.lock.toml").read_text(encoding="utf-8"))
    lines = []
    for one in resolved["dependencies"]:
        parts = [one["groupId"], one["artifactId"], one["version"], one.get("classifier", "")]
        lines.append(f"{':'.join(part for part in parts if part)} {one['sha256']}")
    lock.write_text("\n".join(sorted(lines)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_lock(*((sys.argv[1], Path(sys.argv[2])) if sys.argv[1:] else (COORDINATES, LOCK)))
