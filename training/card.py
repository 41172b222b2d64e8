"""Writes the model card of a pipeline from its meta data: `card.md` with the figures filled in."""

from __future__ import annotations

import json
from pathlib import Path

TEMPLATE = Path(__file__).with_name("card.md")

_ROWS = {
    "upos": "parts of speech (UPOS), accuracy",
    "upos_lower": "the same, text lower-cased",
    "tag": "Penn tags, accuracy",
    "noun_lemma": "lemmas of nouns, accuracy",
    "noun_lemma_any_case": "the same, case ignored",
    "sentences": "sentences, F",
    "spans_p": "entity spans, precision",
    "spans_r": "entity spans, recall",
    "spans_f": "entity spans, F",
    "spans_f_lower": "the same, text lower-cased",
    "labels_f": "entities with labels, F",
}


def score_table(performance: dict[str, dict[str, float]]) -> str:
    lines = ["| | EWT | GUM | LitBank |", "|---|---|---|---|"]
    for key, name in _ROWS.items():
        cells = [performance[source].get(key) for source in ("ewt", "gum", "litbank")]
        lines.append(f"| {name} | " + " | ".join("–" if cell is None else f"{cell:.3f}" for cell in cells) + " |")
    return "\n".join(lines)


def write_card(pipeline: Path, size: float) -> None:
    """`size` in megabytes."""
    meta = json.loads((pipeline / "meta.json").read_text(encoding="utf-8"))
    card = TEMPLATE.read_text(encoding="utf-8").format(table=score_table(meta["performance"]), size=size, **meta)
    (pipeline / "README.md").write_text(card, encoding="utf-8")
