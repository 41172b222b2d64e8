"""Tiny models for a real Ollama server that say what a test wants.

A scripted model is a llama of one layer whose attention and feed-forward weights are zero, so that the next token
depends on the last one alone: the output weights are a chain from each piece of the reply to the next. Its tokens
are the bytes of UTF-8, so that a prompt has as many tokens as bytes, and the pieces of its replies. Which reply is
given is decided by the prompt's last character.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from gguf import GGUFWriter


@dataclass(frozen=True)
class Says:
    """A text, after which the model stops, or begins anew."""

    text: str
    endless: bool = False


@dataclass(frozen=True)
class Chooses:
    """One letter, by its probability."""

    letters: Mapping[str, float]


def write_model(path: Path, replies: Mapping[str, Says | Chooses], *, context: int = 32768) -> Path:
    """A model file of some hundred kB that takes `context` tokens.

    `replies` are given by the prompt's last character, a single byte; "" is for every other one.
    """
    tokens = [b"<unk>", b"<s>", b"</s>", *(f"<0x{byte:02X}>".encode() for byte in range(256)), "▁".encode()]
    kinds = [2, 3, 3, *[6] * 256, 1]
    stop, first_byte, first_piece = 2, 3, 3 + 257
    chains = []
    for reply in replies.values():
        pieces = _pieces(reply.text, tokens) if isinstance(reply, Says) else []
        chains.append(list(range(len(tokens), len(tokens) + len(pieces))))
        tokens += map(_token, pieces)
        kinds += [1] * len(pieces)

    # Each token's own dimension, the first for all bytes that no reply is for and that are none.
    choices = [letter for reply in replies.values() if isinstance(reply, Chooses) for letter in reply.letters]
    special = [first_byte + ord(letter) for letter in [*replies, *choices] if letter]
    special += range(first_piece, len(tokens))
    own = np.zeros(len(tokens), dtype=int)
    own[special] = np.arange(1, len(special) + 1)
    width = math.ceil((1 + len(special)) / 64) * 64
    embeddings = np.zeros((len(tokens), width), dtype=np.float32)
    embeddings[np.arange(len(tokens)), own] = 1.0
    length = math.sqrt(width)  # of the one number that is left after normalisation

    sure = 60 / length
    output = np.zeros((len(tokens), width), dtype=np.float32)
    for (last, reply), chain in zip(replies.items(), chains, strict=True):
        begins = own[first_byte + ord(last)] if last else 0
        if isinstance(reply, Chooses):
            for letter, probability in reply.letters.items():
                output[first_byte + ord(letter), begins] = (40 + math.log(probability)) / length
                output[stop, own[first_byte + ord(letter)]] = sure
            continue
        output[chain[0] if chain else stop, begins] = sure
        for token, following in pairwise([*chain, chain[0] if reply.endless else stop]):
            output[following, own[token]] = sure

    writer = GGUFWriter(str(path), "llama")
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(64)
    writer.add_head_count(width // 64)
    writer.add_head_count_kv(width // 64)
    writer.add_rope_dimension_count(64)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(stop)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)
    ones, square = np.ones(width, np.float32), np.zeros((width, width), np.float32)
    writer.add_tensor("token_embd.weight", embeddings)
    writer.add_tensor("output_norm.weight", ones)
    writer.add_tensor("output.weight", output)
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.0.{name}.weight", ones)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        writer.add_tensor(f"blk.0.{name}.weight", square)
    for name in ("ffn_gate", "ffn_up"):
        writer.add_tensor(f"blk.0.{name}.weight", np.zeros((64, width), np.float32))
    writer.add_tensor("blk.0.ffn_down.weight", np.zeros((width, 64), np.float32))
    return write_to_file(writer, path)


def write_to_file(writer: GGUFWriter, path: Path) -> Path:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _pieces(text: str, known: Collection[bytes]) -> list[str]:
    """Some words each; every piece is another, also than the tokens known, because tokens are unique."""
    pieces: list[str] = []
    for word in re.findall(r"\s*\S+\s*$|\s*\S+", text):
        if pieces and (len(pieces[-1]) < 4 or pieces[-1] in pieces[:-1] or _token(pieces[-1]) in known):
            pieces[-1] += word
        else:
            pieces.append(word)
    return pieces


def _token(piece: str) -> bytes:
    return piece.replace(" ", "▁").encode()
