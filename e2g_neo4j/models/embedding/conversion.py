"""Convert the bundled model to the format of OpenVINO, once, into the user's cache folder.

The conversion imports torch and sentence-transformers, which takes seconds. Using the converted model does not.
`python -m e2g_neo4j.models.embedding.conversion` converts ahead of the first use, for example in an image build.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import warnings
from hashlib import file_digest, sha256
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import platformdirs
from filelock import FileLock

from e2g_neo4j.models.embedding.base import bundled_folder
from e2g_neo4j.runtime.lazy_imports import hidden

if TYPE_CHECKING:
    from openvino import Model

MODEL = "model.xml"
_FORMAT = "1"
"""Part of the folder name. Increase it when `convert` changes."""


def import_openvino() -> ModuleType:
    """Import OpenVINO without its telemetry package, which would report each import."""
    with hidden("openvino_telemetry"):
        import openvino
    module: ModuleType = openvino
    return module


def converted_model() -> Path:
    """Return the file of the converted model, and convert the model if there is none.

    The name of its folder is a hash of the model's files.

    Raises:
        OSError: The cache folder is not writable.
    """
    folder = Path(platformdirs.user_cache_dir("e2g-neo4j", appauthor=False)) / "models" / _version()
    if not (folder / MODEL).exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            if not (folder / MODEL).exists():
                made = Path(tempfile.mkdtemp(dir=folder.parent))
                try:
                    import_openvino().save_model(convert(), made / MODEL, compress_to_fp16=False)
                    made.chmod(0o755)
                    made.rename(folder)
                finally:
                    shutil.rmtree(made, ignore_errors=True)
    return folder / MODEL


def _version() -> str:
    digest = sha256(_FORMAT.encode())
    root = Path(bundled_folder())
    for file in sorted(path for path in root.rglob("*") if path.is_file() and path.suffix in (".json", ".safetensors")):
        with file.open("rb") as content:
            digest.update(file.relative_to(root).as_posix().encode() + file_digest(content, "sha256").digest())
    return digest.hexdigest()[:16]


def convert() -> Model:
    """Convert the bundled model.

    Returns:
        A model. Inputs: token ids and attention mask, both of shape (texts, tokens). Outputs: vectors of the texts, of
        shape (texts, dimensions), and of their tokens, of shape (texts, tokens, dimensions).
    """
    openvino = import_openvino()
    import torch

    from e2g_neo4j.models.embedding.sentence_transformers import load_model

    model = load_model(bundled_folder(), local_files_only=True).to("cpu").float()

    class Traced(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            found = self.model(
                {
                    "input_ids": input_ids,
                    "attention_mask": attention_mask,
                    "token_type_ids": torch.zeros_like(input_ids),
                }
            )
            return found["sentence_embedding"], found["token_embeddings"]

    ids = torch.tensor([[101, 2000, 2001, 102], [101, 2002, 102, 0]])
    level = logging.getLogger("transformers").level
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")  # tracing warns; a test compares the result with the original model
        logging.getLogger("transformers").setLevel(logging.ERROR)
        try:
            found: Model = openvino.convert_model(Traced().eval(), example_input=(ids, (ids > 0).long()))
        finally:
            logging.getLogger("transformers").setLevel(level)
    return found


if __name__ == "__main__":
    print(converted_model())
