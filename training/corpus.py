"""Makes the training documents: `training/build/*.spacy` from the treebanks, LitBank and the novels."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from spacy.language import Language
from spacy.tokens import Doc, DocBin

from training.augment import name_pools, questions, rename
from training.conllu import Tree, read_documents
from training.entities import gum_entities, tree_names
from training.labels import label_names, train_classifier
from training.novels import person_names
from training.passages import Passage, Word, join, recase, to_doc, vary

_CALENDAR_WORDS = (
    "january february march april may june july august september october november december monday tuesday "
    "wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept oct nov dec"
)
_CALENDAR = frozenset(_CALENDAR_WORDS.split())
_HELD_OUT_BOOKS = (
    "the_awakening clotelle sons_and_lovers dear_enemy war_of_the_worlds sleepy_hollow ragged_dick evelina "
    "house_of_usher prisoner_of_zenda masque_of_the_red_death secret_adversary man_who_was_thursday charlotte_temple "
    "daisy_miller hound_of_the_baskervilles scarlet_letter song_of_the_lark desert_gold frankenstein"
)
HELD_OUT = frozenset(_HELD_OUT_BOOKS.split())
"""LitBank's dev and test novels: no names are taken from them."""


def read_treebank(path: Path) -> list[list[tuple[Passage, Tree]]]:
    """Documents of sentences, each as an unlabelled passage with its tree."""
    documents = []
    for document in read_documents(path):
        documents.append([(_words(tree), tree) for tree in document])
    return documents


def _words(tree: Tree) -> Passage:
    words = [Word(t.start, t.end, t.xpos, t.upos, t.lemma) for t in tree.tokens]
    return Passage(tree.text, [0], words)


def add_gum_entities(documents: list[list[tuple[Passage, Tree]]]) -> None:
    for document in documents:
        for passage, tree in document:
            entities, unknown = gum_entities(tree)
            t = tree.tokens
            passage.entities = [(t[s].start, t[e - 1].end, label) for s, e, label in entities]
            passage.unknown = [(t[i].start, t[i].end) for i in unknown]


def add_ewt_entities(documents: list[list[tuple[Passage, Tree]]], labelled: list[Passage]) -> None:
    model = train_classifier(labelled)
    for document in documents:
        for passage, tree in document:
            t = tree.tokens
            names, dates = [], []
            for start, end in tree_names(tree):
                span = (t[start].start, t[end - 1].end)
                is_date = all(x.form.lower().rstrip(".") in _CALENDAR or x.upos == "NUM" for x in t[start:end])
                (dates if is_date else names).append(span)
            passage.entities = label_names(model, passage, names)
            covered = {i for s, e, _ in passage.entities for i in range(s, e)}
            passage.unknown = dates + [
                (x.start, x.end) for x in t if x.upos in {"PROPN", "NUM"} and x.start not in covered
            ]


def read_litbank(path: Path) -> list[Passage]:
    passages = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        entities = [(s, e, label) for s, e, label in row["entities"]]
        passages.append(Passage(row["text"], row["sents"], [], entities, [tuple(u) for u in row["unsure"]]))
    return passages


def group(documents: list[list[tuple[Passage, Tree]]], random: Random, longest: int) -> list[Passage]:
    """Neighbouring sentences together, up to about `longest` characters; paragraphs apart or run on."""
    grouped = []
    for document in documents:
        parts: list[Passage] = []
        separators: list[str] = []
        limit = random.randint(40, longest)
        for passage, tree in document:
            if parts and sum(len(p.text) for p in parts) + len(passage.text) > limit:
                grouped.append(join(parts, separators))
                parts, separators = [], []
                limit = random.randint(40, longest)
            separators.append(random.choice(["\n\n"] * 12 + ["\n", " "]) if tree.new_paragraph else " ")
            parts.append(passage)
        if parts:
            grouped.append(join(parts, separators))
    return grouped


_ATTRIBUTES = ["TAG", "POS", "MORPH", "LEMMA", "SENT_START", "ENT_IOB", "ENT_TYPE"]


def write(
    nlp: Language, passages: list[Passage], path: Path, *, more: list[Doc] | None = None, shuffled_by: Random
) -> None:
    docs = [to_doc(nlp, passage) for passage in passages] + (more or [])
    shuffled_by.shuffle(docs)
    DocBin(attrs=_ATTRIBUTES, docs=docs).to_disk(path)


def read_documents_of(nlp: Language, path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(nlp.vocab))


def build(nlp: Language, data: Path, books: Path, out: Path, seed: int) -> tuple[list[Passage], list[Passage]]:
    """Writes train.spacy and dev.spacy.

    Returns all tagged sentences, for the lemmatizer, and GUM in two more groupings, to outweigh the novels with.
    """
    random = Random(seed)
    gum, ewt = read_treebank(data / "gum-train.conllu"), read_treebank(data / "ewt-train.conllu")
    litbank = read_litbank(data / "litbank-names-train.jsonl")
    add_gum_entities(gum)
    sentences = [p for document in gum for p, _ in document]
    add_ewt_entities(ewt, sentences + litbank)
    tagged = sentences + [p for document in ewt for p, _ in document]
    given = {p.text[s:e].split()[0] for p in tagged + litbank for s, e, label in p.entities if label == "PERSON"}
    pools = name_pools(tagged + litbank, person_names(books, given, HELD_OUT), random)
    train = []
    for _ in range(2):
        trees = group(ewt, random, 600) + 2 * group(gum, random, 600)
        trees += [rename(p, pools, random, 0.6) for p in group(gum + ewt[::3], random, 300)]
        prose = litbank + [rename(p, pools, random, 0.6) for p in litbank]
        train += [vary(p, random, recased=0.27, wrapped=0.15) for p in trees]
        train += [vary(p, random, recased=0.4, wrapped=0.15) for p in prose]
    train += [vary(p, random, recased=0.35, wrapped=0.0) for p in questions(pools, random, 30)]
    write(nlp, train, out / "train.spacy", shuffled_by=random)
    dev_gum = read_treebank(data / "gum-dev.conllu")
    add_gum_entities(dev_gum)
    dev = group(dev_gum, random, 1500) + read_litbank(data / "litbank-names-dev.jsonl")
    dev += [recase(p, "lower") for p in dev]
    write(nlp, dev, out / "dev.spacy", shuffled_by=random)
    return tagged, group(gum, random, 600) + group(gum, random, 600)
