"""Puts the trained components, the lemmatizer, the meta data and as few strings as possible into one folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import spacy
from spacy.language import Language

from training.lemmas import add_lemmatizer
from training.passages import MORPH, Passage

VERSION = "0.1.0"
META = {
    "lang": "en",
    "name": "e2g_sm",
    "version": VERSION,
    "spacy_version": ">=3.8.0,<3.9.0",
    "description": "Small English pipeline for entity graphs: sentences, parts of speech, lemmas, named entities",
    "author": "The e2g-neo4j authors",
    "license": "CC-BY-SA-4.0",
    "sources": [
        {"name": "UD English EWT", "license": "CC BY-SA 4.0", "author": "Silveira et al. (2014)",
         "url": "https://github.com/UniversalDependencies/UD_English-EWT"},
        {"name": "UD English GUM, five genres", "license": "CC BY, as the texts", "author": "Zeldes (2017)",
         "url": "https://github.com/UniversalDependencies/UD_English-GUM"},
        {"name": "LitBank", "license": "CC BY 4.0", "author": "Bamman et al. (2019)",
         "url": "https://github.com/dbamman/litbank"},
        {"name": "spacy-lookups-data", "license": "MIT", "author": "Explosion",
         "url": "https://github.com/explosion/spacy-lookups-data"},
    ],
}  # fmt: skip


def assemble(trained: Path, passages: list[Passage], out: Path) -> Language:
    """Writes the pipeline to `out`, keeping the model card and licence that lie there. Returns it, loaded anew."""
    nlp = spacy.load(trained)
    add_lemmatizer(nlp, passages)
    nlp.meta.update(META)
    out.mkdir(parents=True, exist_ok=True)
    for path in out.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
    nlp.batch_size = 16  # more documents at once do not fit the processor's cache
    nlp.config["initialize"]["before_init"] = None  # training is over: its folders are nobody's business
    nlp.config["paths"] = dict.fromkeys(nlp.config["paths"])
    nlp.to_disk(out)
    _prune_strings(nlp, out)
    return spacy.load(out)


def _prune_strings(nlp: Language, out: Path) -> None:
    """Only strings that an output may hold and that loading does not bring back by itself."""
    keep = {"SPACE", "_SP", ""}
    for name in nlp.pipe_names:
        keep |= set(getattr(nlp.get_pipe(name), "labels", ()))
    for feature in MORPH.values():
        keep |= {feature, *feature.replace("=", "|").split("|")}
    keep |= {part for label in list(keep) for part in label.replace("=", "|").split("|")}
    (out / "vocab" / "strings.json").write_text(json.dumps(sorted(keep)), encoding="utf-8")


def measure_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
