"""Download the jars of the server by Maven coordinates, and verify the SHA-256 checksums in `jars.lock`.

`python -m e2g_neo4j.managed_neo4j.jars` updates the lock file for the coordinates below, with the resolver of jgo.
`python -m e2g_neo4j.managed_neo4j.jars COORDINATES FILE` writes another lock file.
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
        """The path in a remote or local Maven repository."""
        group, artifact, version, *classifier = self.coordinates.split(":")
        return f"{group.replace('.', '/')}/{artifact}/{version}/{'-'.join([artifact, version, *classifier])}.jar"


def fetch(
    progress: Callable[[int, int], None] = lambda done, total: None, *, context: MavenContext | None = None
) -> list[Path]:
    """Return the jars in the order of the lock file, and download missing ones in parallel.

    Jars are stored in the local Maven repository, which Maven and jgo share. Existing jars are reused, so that an
    interrupted download continues with the missing jars.

    Args:
        progress: Called with (done, total) jars.
        context: The repositories. Default: those of jgo's configuration.

    Raises:
        LocalServerError: A jar cannot be downloaded, or its checksum is wrong.
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
    """Return the repositories of jgo's configuration file, such as mirrors, followed by Maven Central.

    A repository named `central` in that file replaces Maven Central.
    """
    settings = GlobalSettings.load()
    remotes = dict(settings.repositories)
    for name, address in MavenContext().remote_repos.items():
        remotes.setdefault(name, address)
    return MavenContext(repo_cache=settings.repo_cache, remote_repos=remotes)


def read_lock() -> list[Jar]:
    """Read the lock file."""
    lines = (line.split() for line in LOCK.read_text(encoding="utf-8").splitlines())
    return [Jar(coordinates, sha256) for coordinates, sha256 in lines]


def _fetch(context: MavenContext, jar: Jar) -> Path:
    """Download a jar. The file gets its name only after verification, so that no incomplete jar is ever used."""
    path: Path = context.repo_cache / jar.path
    if path.is_file() and _sha256(path) == jar.sha256:
        return path
    faults: dict[str, None] = {}
    for _ in range(ATTEMPTS):
        for remote in context.remote_repos.values():
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryDirectory(prefix=".e2g-", dir=path.parent) as folder:
                    file = _download(f"{remote.rstrip('/')}/{jar.path}", Path(folder) / path.name)
                    if _sha256(file) == jar.sha256:
                        return file.replace(path)
                    faults[f"{remote} sent a file with the SHA-256 sum {_sha256(file)} instead of {jar.sha256}"] = None
            except OSError as error:  # the errors of requests are OSErrors too
                faults[f"{type(error).__name__}: {error}"] = None
    raise LocalServerError(
        f"Cannot download the Neo4j jar {jar.coordinates}: {'; '.join(faults)}. Check the network and the disk, and "
        "run `e2g db start` again, or set NEO4J_URI to your own server."
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
