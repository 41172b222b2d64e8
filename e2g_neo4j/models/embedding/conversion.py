"""Convert the bundled model to the format of OpenVINO, once, into the user's cache folder.

`python -m e2g_neo4j.models.embedding.conversion` converts ahead of the first use, for example in an image build.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from hashlib import file_digest, sha256
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import platformdirs
from filelock import FileLock
from numpy.typing import NDArray

from e2g_neo4j.models.embedding.base import bundled_folder
from e2g_neo4j.runtime.lazy_imports import hidden

if TYPE_CHECKING:
    from openvino import Model, Node

MODEL = "model.xml"
_FORMAT = "3"
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
    """Build the bundled model, BERT (arXiv 1810.04805), from its weights.

    Returns:
        A model. Inputs: token ids and attention mask, both of shape (texts, tokens). Output: vectors of the tokens, of
        shape (texts, tokens, dimensions).
    """
    openvino = import_openvino()
    folder = Path(bundled_folder())
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    bert = _Bert(_weights(folder / "model.safetensors"), config["num_attention_heads"], config["layer_norm_eps"])
    ids = bert.ops.parameter([-1, -1], np.int64, name="input_ids")
    mask = bert.ops.parameter([-1, -1], np.int64, name="attention_mask")
    vectors = bert.encode(ids, mask, config["num_hidden_layers"])
    model: Model = openvino.Model([vectors], [ids, mask], "bert")
    return model


def _weights(file: Path) -> dict[str, NDArray[np.float32]]:
    """Read a file of safetensors: the length of its header, the header in JSON, the numbers."""
    content = file.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    weights = {}
    for name, entry in header.items():
        if entry["dtype"] == "F32":
            first, last = entry["data_offsets"]
            numbers = np.frombuffer(content[start + first : start + last], np.float32)
            weights[name] = numbers.reshape(entry["shape"])
    return weights


class _Bert:
    """The layers of BERT as nodes of OpenVINO."""

    def __init__(self, weights: Mapping[str, NDArray[np.float32]], heads: int, epsilon: float) -> None:
        from openvino import opset13

        self.ops: Any = opset13
        self._weights = weights
        self._heads = heads
        self._epsilon = epsilon

    def encode(self, ids: Node, mask: Node, layers: int) -> Node:
        """Return the vectors of tokens, of shape (texts, tokens, dimensions)."""
        ops = self.ops
        length = ops.gather(ops.shape_of(ids), ops.constant(1), ops.constant(0))
        positions = ops.range(ops.constant(0, np.int64), length, ops.constant(1, np.int64), "i64")
        found = ops.add(self._rows("word", ids), self._rows("position", positions))
        found = ops.add(found, ops.constant(self._weights["embeddings.token_type_embeddings.weight"][0]))
        found = self._norm("embeddings.LayerNorm", found)
        seen = ops.unsqueeze(ops.not_equal(mask, ops.constant(0, np.int64)), ops.constant([1, 2]))
        for number in range(layers):
            layer = f"encoder.layer.{number}"
            found = self._norm(
                f"{layer}.attention.output.LayerNorm", ops.add(found, self._attention(layer, found, seen))
            )
            inner = ops.gelu(self._linear(f"{layer}.intermediate.dense", found), "erf")
            found = self._norm(
                f"{layer}.output.LayerNorm", ops.add(found, self._linear(f"{layer}.output.dense", inner))
            )
        return found

    def _attention(self, layer: str, found: Node, seen: Node) -> Node:
        ops = self.ops
        query, key, value = (
            ops.transpose(
                ops.reshape(
                    self._linear(f"{layer}.attention.self.{name}", found),
                    ops.constant([0, 0, self._heads, -1]),
                    special_zero=True,
                ),
                ops.constant([0, 2, 1, 3]),
            )
            for name in ("query", "key", "value")
        )
        attended = ops.scaled_dot_product_attention(query, key, value, seen)
        joined = ops.reshape(
            ops.transpose(attended, ops.constant([0, 2, 1, 3])), ops.constant([0, 0, -1]), special_zero=True
        )
        return self._linear(f"{layer}.attention.output.dense", joined)

    def _rows(self, name: str, numbers: Node) -> Node:
        table = self._weights[f"embeddings.{name}_embeddings.weight"]
        return self.ops.gather(self.ops.constant(table), numbers, self.ops.constant(0))

    def _linear(self, name: str, found: Node) -> Node:
        product = self.ops.matmul(found, self.ops.constant(self._weights[f"{name}.weight"]), False, True)
        return self.ops.add(product, self.ops.constant(self._weights[f"{name}.bias"]))

    def _norm(self, name: str, found: Node) -> Node:
        scaled = self.ops.mvn(found, self.ops.constant([-1]), True, self._epsilon, "inside_sqrt")
        scaled = self.ops.multiply(scaled, self.ops.constant(self._weights[f"{name}.weight"]))
        return self.ops.add(scaled, self.ops.constant(self._weights[f"{name}.bias"]))


if __name__ == "__main__":
    print(converted_model())
