"""Makes the bundled pipeline: `python -m training.train [--data DIR] [--books DIR] [--out DIR]`.

1. The tokenizer and the lexicon, which the embedding reads, make a base pipeline.
2. The treebanks, LitBank and templates become the first training documents, and a first model learns them.
3. It names the people and places of the novels, and goes on with those as more documents: twice, side by side, in
   another order. The mean of the two is kept.
4. The lemmatizer is added, all is written as one folder, scored on the test files, and described by a card.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import spacy
from spacy.cli.train import train

from training import ops
from training.assemble import assemble, measure_size
from training.blend import average, weigh_names
from training.card import write_card
from training.corpus import build, read_documents_of, write
from training.lexicon import add_lexicon
from training.passages import vary
from training.score import DATA, score
from training.silver import silver_passages
from training.tokens import blank_pipeline

HERE = Path(__file__).parent
BUILD = HERE / "build"
PIPELINE = HERE.parent / "e2g_neo4j" / "models" / "entities" / "en_e2g_sm"
SEED = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="treebanks and LitBank")
    parser.add_argument("--books", type=Path, default=DATA.parent / "books", help="novels, plain text")
    parser.add_argument("--out", type=Path, default=PIPELINE)
    options = parser.parse_args()
    started = time.perf_counter()
    ops.use_numpy_products()

    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir()
    base = blank_pipeline()
    add_lexicon(base)
    base.to_disk(BUILD / "base")

    tagged, more_gold = build(base, options.data, options.books, BUILD, SEED)
    teacher = spacy.load(fit("teacher", BUILD / "train.spacy", SEED), exclude=["tagger"])
    random = Random(SEED)
    more = [vary(p, random, recased=0.4, wrapped=0.1) for p in silver_passages(teacher, options.books)]
    more += [vary(p, random, recased=0.27, wrapped=0.1) for p in more_gold]
    gold = read_documents_of(base, BUILD / "train.spacy")
    write(base, more, BUILD / "student.spacy", more=gold, shuffled_by=random)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        students = [processes.submit(fit_student, seed) for seed in (SEED, SEED + 1)]
        blended = average([student.result() for student in students])
    weigh_names(blended, options.data)
    blended.to_disk(BUILD / "blended")

    nlp = assemble(BUILD / "blended", tagged, options.out)
    performance = score(nlp, options.data, "test")
    write_performance(options.out, performance)
    write_card(options.out, measure_size(options.out) / 1e6)
    minutes = (time.perf_counter() - started) / 60
    print(json.dumps(performance, indent=1))
    print(f"{options.out}: {measure_size(options.out) / 1e6:.1f} MB, {minutes:.0f} minutes")


def fit_student(seed: int) -> Path:
    """Runs in a process of its own."""
    ops.use_numpy_products()
    teacher = {"paths.teacher": str(BUILD / "teacher" / "model-best")}
    return fit("student", BUILD / "student.spacy", seed, teacher)


def fit(name: str, documents: Path, seed: int, more: dict[str, Any] | None = None) -> Path:
    """Trains NAME.cfg on the documents. Returns the folder of the best model by the dev set."""
    folder = BUILD / (name if seed == SEED else f"{name}-{seed}")
    overrides = {
        "paths.train": str(documents),
        "paths.dev": str(BUILD / "dev.spacy"),
        "paths.base": str(BUILD / "base"),
        "system.seed": seed,
    }
    train(HERE / f"{name}.cfg", folder, overrides=overrides | (more or {}))
    return folder / "model-best"


def write_performance(folder: Path, performance: dict[str, Any]) -> None:
    path = folder / "meta.json"
    meta = json.loads(path.read_text(encoding="utf-8"))
    rounded = {source: {k: round(v, 4) for k, v in row.items()} for source, row in performance.items()}
    path.write_text(json.dumps(meta | {"performance": rounded}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
