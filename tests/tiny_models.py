"""Tiny models with weights set by hand: embedding models for sentence-transformers and Ollama, and a cross-encoder.

The embedding models are BERTs whose attention and feed-forward weights are zero, so that a text's vector is the mean of
the vectors of its words. Each word has a random vector of its own. The words in MARKERS have an axis of their own, on
which no other word has anything: so a vector shows whether a text had one of these words, such as a prefix.

The cross-encoder is a BERT of two layers. In the first, each token attends to the tokens that are the same word, and
notes whether the other text has it. In the second, the first token averages that over the question. So the score grows
with the share of the question's words that the passage has.
"""

from __future__ import annotations

import json
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGUFWriter, PoolingType
from numpy.typing import NDArray
from scripted_models import write_to_file
from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizer

MARKERS = ("query", "passage", "search", "represent")
"""Words with an axis of their own, in this order, from 0."""

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_SIGNS = (".", ",", ":", "?", "!", "'", '"', "-", "_", "(", ")", "|")
_LETTERS = (*string.ascii_lowercase, *string.digits)


def vocabulary(words: Sequence[str]) -> list[str]:
    """Tokens for these words; any other word is spelled in letters."""
    spelled = (*_LETTERS, *(f"##{letter}" for letter in _LETTERS))
    return list(dict.fromkeys([*_SPECIAL, *MARKERS, *_SIGNS, *spelled, *(word.lower() for word in words)]))


def word_vectors(tokens: Sequence[str], dimensions: int) -> NDArray[np.float32]:
    """The vector of each token, of mean zero: markers on their axis, special tokens nowhere, others at random."""
    random = np.random.default_rng(7)
    first = len(MARKERS) + 1  # the axis before it balances the markers
    vectors = np.zeros((len(tokens), dimensions), np.float32)
    for number, token in enumerate(tokens):
        if token in MARKERS:
            vectors[number, MARKERS.index(token)] = 1
            vectors[number, first - 1] = -1
        elif token not in _SPECIAL or token == "[UNK]":
            vectors[number, first:] = random.standard_normal(dimensions - first)
            vectors[number, first:] -= vectors[number, first:].mean()
    return vectors


def write_embedder(
    folder: Path,
    words: Sequence[str] = (),
    *,
    dimensions: int = 64,
    max_tokens: int = 512,
    prompts: Mapping[str, str] | None = None,
    default_prompt: str | None = None,
    dense: int | None = None,
) -> Path:
    """A sentence-transformers model. `dense` adds a layer after pooling that keeps so many values."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    tokens = vocabulary(words)
    model = BertModel(_config(tokens, dimensions, layers=1, max_tokens=max_tokens))
    _zero(model)
    model.embeddings.word_embeddings.weight.data = torch.tensor(word_vectors(tokens, dimensions))
    transformer = Transformer(str(_saved(model, tokens, folder / "transformer")), max_seq_length=max_tokens)
    modules: list[torch.nn.Module] = [transformer, Pooling(dimensions, pooling_mode="mean")]
    if dense:
        layer = Dense(dimensions, dense, bias=False, activation_function=torch.nn.Identity())
        layer.linear.weight.data = torch.eye(dense, dimensions)
        modules.append(layer)
    whole = SentenceTransformer(
        modules=modules, prompts=dict(prompts or {}), default_prompt_name=default_prompt, device="cpu"
    )
    whole.save(str(folder / "model"), create_model_card=False)
    return folder / "model"


def write_cross_encoder(folder: Path, words: Sequence[str], *, max_tokens: int = 512, labels: int = 1) -> Path:
    """A cross-encoder that prefers passages with many words of the question. It tells only these words apart."""
    tokens = vocabulary(words)
    size = len(tokens) + 4
    question, passage, found, balance = range(len(tokens), size)  # axes: in which text a token is, and the result
    model: Any = BertForSequenceClassification(_config(tokens, size, layers=2, max_tokens=max_tokens, labels=labels))
    _zero(model)
    embeddings = model.bert.embeddings
    embeddings.word_embeddings.weight.data[:, : len(tokens)] = torch.eye(len(tokens))
    embeddings.token_type_embeddings.weight.data[0, question] = 1
    embeddings.token_type_embeddings.weight.data[1, passage] = 1
    same, over_question = (layer.attention for layer in model.bert.encoder.layer)
    same.self.query.weight.data[: len(tokens), : len(tokens)] = 2 * torch.eye(len(tokens))
    same.self.key.weight.data = same.self.query.weight.data.clone()
    same.self.value.weight.data[found, passage] = 1
    same.output.dense.weight.data[found, found] = 1
    over_question.self.query.bias.data[balance] = 20
    over_question.self.key.weight.data[balance, question] = 1
    over_question.self.value.weight.data[found, found] = 1
    over_question.output.dense.weight.data[found, found] = 1
    model.bert.pooler.dense.weight.data[found, found] = 0.05
    model.classifier.weight.data[:, found] = 10
    return _saved(model, tokens, folder)


def write_gguf_embedder(path: Path, words: Sequence[str] = (), *, dimensions: int = 64, context: int = 512) -> Path:
    """The same embedding model for Ollama."""
    tokens = vocabulary(words)
    writer = GGUFWriter(str(path), "bert")
    writer.add_context_length(context)
    writer.add_embedding_length(dimensions)
    writer.add_block_count(1)
    writer.add_feed_forward_length(dimensions)
    writer.add_head_count(1)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(PoolingType.MEAN)
    writer.add_tokenizer_model("bert")
    writer.add_token_list([t if t in _SPECIAL else t[2:] if t.startswith("##") else f"▁{t}" for t in tokens])
    writer.add_token_types([3 if token in _SPECIAL else 1 for token in tokens])
    writer.add_token_type_count(2)
    writer.add_unk_token_id(tokens.index("[UNK]"))
    writer.add_bos_token_id(tokens.index("[CLS]"))
    writer.add_eos_token_id(tokens.index("[SEP]"))
    writer.add_pad_token_id(tokens.index("[PAD]"))
    square, nothing = np.zeros((dimensions, dimensions), np.float32), np.zeros(dimensions, np.float32)
    writer.add_tensor("token_embd.weight", word_vectors(tokens, dimensions))
    writer.add_tensor("position_embd.weight", np.zeros((context, dimensions), np.float32))
    writer.add_tensor("token_types.weight", np.zeros((2, dimensions), np.float32))
    for name in ("token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(dimensions, np.float32))
        writer.add_tensor(f"{name}.bias", nothing)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down"):
        writer.add_tensor(f"blk.0.{name}.weight", square)
        writer.add_tensor(f"blk.0.{name}.bias", nothing)
    return write_to_file(writer, path)


def _config(tokens: Sequence[str], size: int, *, layers: int, max_tokens: int, labels: int = 1) -> BertConfig:
    return BertConfig(
        vocab_size=len(tokens),
        hidden_size=size,
        num_hidden_layers=layers,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=max_tokens,
        id2label={number: f"L{number}" for number in range(labels)},
        label2id={f"L{number}": number for number in range(labels)},
    )


def _zero(model: torch.nn.Module) -> None:
    """Set all weights to zero, except for normalisation, which does nothing more than that."""
    for name, weights in model.named_parameters():
        torch.nn.init.constant_(weights, 1.0 if name.endswith("LayerNorm.weight") else 0.0)


def _saved(model: BertModel | BertForSequenceClassification, tokens: Sequence[str], folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(tokens), encoding="utf-8")
    model.save_pretrained(folder)
    tokenizer: Any = BertTokenizer(
        vocab=str(folder / "vocab.txt"), model_max_length=model.config.max_position_embeddings
    )
    tokenizer.save_pretrained(folder)
    assert len(json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]) == len(tokens)
    return folder
