"""Download files by Maven coordinates, and verify their SHA-256 checksums."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jgo.maven import MavenContext

ATTEMPTS = 3
READ_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Artifact:
    """A jar: `group:artifact:version[:classifier]`, and its checksum."""

    coordinates: str
    sha256: str

    @property
    def path(self) -> str:
        """The path in a remote or local Maven repository."""
        group, artifact, version, *classifier = self.coordinates.split(":")
        return f"{group.replace('.', '/')}/{artifact}/{version}/{'-'.join([artifact, version, *classifier])}.jar"


def load_context() -> MavenContext:
    """Return the repositories of jgo's configuration file, such as mirrors, followed by Maven Central.

    A repository named `central` in that file replaces Maven Central.
    """
    from jgo.config import GlobalSettings
    from jgo.maven import MavenContext

    settings = GlobalSettings.load()
    remotes = dict(settings.repositories)
    for name, address in MavenContext().remote_repos.items():
        remotes.setdefault(name, address)
    return MavenContext(repo_cache=settings.repo_cache, remote_repos=remotes)


def download(artifact: Artifact, context: MavenContext) -> Path:
    """Return the file of an artifact, and download it if it is not in the local Maven repository.

    Maven and jgo share that repository. A file gets its name only after verification, so that no incomplete one is ever
    used.

    Raises:
        OSError: No repository has the file, or its checksum is wrong. The message lists what each of them sent.
    """
    path: Path = context.repo_cache / artifact.path
    if path.is_file() and sha256_of(path) == artifact.sha256:
        return path
    faults: dict[str, None] = {}
    for _ in range(ATTEMPTS):
        for remote in context.remote_repos.values():
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryDirectory(prefix=".e2g-", dir=path.parent) as folder:
                    file = _copy(f"{remote.rstrip('/')}/{artifact.path}", Path(folder) / path.name)
                    if sha256_of(file) == artifact.sha256:
                        return file.replace(path)
                    faults[
                        f"{remote} sent a file with the SHA-256 sum {sha256_of(file)} instead of {artifact.sha256}"
                    ] = None
            except OSError as error:  # the errors of requests are OSErrors too
                faults[f"{type(error).__name__}: {error}"] = None
    raise OSError("; ".join(faults))


def _copy(address: str, target: Path) -> Path:
    from jgo.util import http

    with http.get(address, stream=True, timeout=READ_SECONDS) as response, target.open("wb") as file:
        response.raise_for_status()
        for block in response.iter_content(1 << 16):
            file.write(block)
    return target


def sha256_of(path: Path) -> str:
    """Return the SHA-256 checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
