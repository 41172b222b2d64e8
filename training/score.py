"""Scores a pipeline on the test files: `python -m training.score [--data DIR] [--pipeline DIR] [--part dev]`.

Raw text goes in and the pipeline's own tokens come out; spaCy's scorer aligns them with the annotation.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.scorer import PRFScore, Scorer
from spacy.tokens import Doc
from spacy.training import Example

from e2g_neo4j.models.entities.pipeline import BUNDLED, load_pipeline
from training.corpus import add_gum_entities, read_litbank, read_treebank
from training.passages import Passage, join, recase, to_doc

REPOSITORY = Path(__file__).parents[1]
DATA = REPOSITORY.parent / "shared" / "nlp"


def documents(path: Path, blank_lines: bool = True) -> list[Passage]:
    """The documents of a treebank: sentences one space apart, paragraphs a blank line or also a space."""
    treebank = read_treebank(path)
    if path.name.startswith("gum"):
        add_gum_entities(treebank)
    else:
        for document in treebank:
            for passage, _ in document:
                passage.with_entities = False
    return [
        join([p for p, _ in d], ["\n\n" if tree.new_paragraph and blank_lines else " " for _, tree in d])
        for d in treebank
    ]


def examples(nlp: Language, passages: list[Passage]) -> list[Example]:
    gold = spacy.blank("en")
    gold.tokenizer = nlp.tokenizer
    pairs = []
    for predicted, passage in zip(nlp.pipe(p.text for p in passages), passages, strict=True):
        reference = to_doc(gold, passage)
        for token in reference:
            if token.is_space:  # white space is no word: it is not to be scored
                token.tag_ = token.pos_ = ""
        pairs.append(Example(predicted, reference))
    return pairs


def entity_scores(pairs: list[Example]) -> dict[str, float]:
    """F of the entities with their labels and without; predictions on undecided words do not count."""
    labelled, spans = PRFScore(), PRFScore()
    for pair in pairs:
        for score, keep in ((labelled, True), (spans, False)):
            gold = {(e.start_char, e.end_char, e.label_ if keep else "") for e in pair.reference.ents}
            found = {
                (e.start_char, e.end_char, e.label_ if keep else "")
                for e in pair.predicted.ents
                if all(t.ent_iob for t in _tokens_at(pair.reference, e.start_char, e.end_char))
            }
            score.score_set(found, gold)
    return {"spans_p": spans.precision, "spans_r": spans.recall, "spans_f": spans.fscore, "labels_f": labelled.fscore}


def _tokens_at(doc: Doc, start: int, end: int) -> list:
    span = doc.char_span(start, end, alignment_mode="expand")
    return list(span) if span is not None else []


def noun_lemmas(pairs: list[Example]) -> dict[str, float]:
    """Accuracy as written, and with case ignored, as the keys of the graph do."""
    right = folded = total = 0
    for pair in pairs:
        gold = {(t.idx, len(t)): t.lemma_ for t in pair.reference if t.pos_ == "NOUN"}
        for token in pair.predicted:
            lemma = gold.get((token.idx, len(token)))
            total += lemma is not None
            right += lemma == token.lemma_
            folded += lemma is not None and lemma.lower() == token.lemma_.lower()
    return {"noun_lemma": right / total, "noun_lemma_any_case": folded / total}


def score(nlp: Language, data: Path, part: str) -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = {}
    for source in ("ewt", "gum"):
        passages = documents(data / f"{source}-{part}.conllu")
        pairs = examples(nlp, passages)
        row = {
            "upos": Scorer.score_token_attr(pairs, "pos")["pos_acc"],
            "tag": Scorer.score_token_attr(pairs, "tag")["tag_acc"] if nlp.has_pipe("tagger") else 0.0,
            **noun_lemmas(pairs),
            "sentences": Scorer.score_spans(pairs, "sents")["sents_f"],
        }
        run_on = examples(nlp, documents(data / f"{source}-{part}.conllu", blank_lines=False))
        row["sentences_run_on"] = Scorer.score_spans(run_on, "sents")["sents_f"]
        lower = examples(nlp, [recase(p, "lower") for p in passages])
        row["upos_lower"] = Scorer.score_token_attr(lower, "pos")["pos_acc"]
        if source == "gum":
            row |= entity_scores(pairs)
            row["spans_f_lower"] = entity_scores(lower)["spans_f"]
        table[source] = row
    passages = read_litbank(data / f"litbank-names-{part}.jsonl")
    pairs = examples(nlp, passages)
    table["litbank"] = entity_scores(pairs)
    table["litbank"]["spans_f_lower"] = entity_scores(examples(nlp, [recase(p, "lower") for p in passages]))["spans_f"]
    table["litbank"]["sentences"] = Scorer.score_spans(pairs, "sents")["sents_f"]
    return table


def speed(nlp: Language, data: Path) -> float:
    """Words (tokens that are not white space) for each second of processor time, so that other work on the machine
    counts little; chunks of 5,000 characters, one process, best of ten."""
    text = "\n".join(p.text for p in read_litbank(data / "litbank-names-train.jsonl"))
    chunks = [text[i : i + 5000] for i in range(0, 200_000, 5000)]
    words = sum(not token.is_space for chunk in chunks for token in nlp.make_doc(chunk))
    seconds = []
    for _ in range(10):
        started = time.process_time()
        for _doc in nlp.pipe(chunks):
            pass
        seconds.append(time.process_time() - started)
    return words / min(seconds)


def loading(pipeline: Path) -> float:
    """Seconds to load the pipeline for extraction, spaCy being imported, best of three."""
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        load_pipeline(str(pipeline))
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--pipeline", type=Path, default=BUNDLED)
    parser.add_argument("--part", default="test", choices=["dev", "test"])
    options = parser.parse_args()
    table = score(spacy.load(options.pipeline), options.data, options.part)
    for source, row in table.items():
        print(f"{source:8}", " ".join(f"{name} {value:.3f}" for name, value in row.items()))
    print(json.dumps(table, indent=1))
    print(f"loads in {loading(options.pipeline):.2f} s")
    print(f"speed {speed(load_pipeline(str(options.pipeline)), options.data):,.0f} words/s of processor time")


if __name__ == "__main__":
    main()
