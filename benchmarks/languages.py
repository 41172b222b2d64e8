"""Measure retrieval in many languages, with the paragraphs and questions of XQuAD.

    python benchmarks/languages.py FOLDER [--languages de el hi] [--modes auto fulltext dense] [--questions de]

FOLDER has the files xquad.LANGUAGE.json of google-deepmind/xquad (CC BY-SA 4.0). Each paragraph is a document; every
fourth question is asked, and the paragraph that it is about must be among the first five passages. --questions asks in
another language than that of the text. A corpus `xquad-LANGUAGE` that exists is not indexed again; with another
embedding model, choose another --prefix. Records its figures in results.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from record import Figure, add_option, record

from e2g_neo4j import E2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.models.embedding.base import CHINESE, DEFAULT

FIRST = 5
"""Passages among which the paragraph must be."""


class Question(NamedTuple):
    """A question, and the title of the paragraph that it is about."""

    text: str
    paragraph: str


def read_paragraphs(file: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the title of each paragraph, its text, and its questions."""
    articles = json.loads(file.read_text(encoding="utf-8"))["data"]
    paragraphs = (paragraph for article in articles for paragraph in article["paragraphs"])
    for number, paragraph in enumerate(paragraphs):
        yield f"Paragraph {number}", paragraph["context"], [one["question"] for one in paragraph["qas"]]


def read_questions(file: Path, *, every: int) -> list[Question]:
    asked = [Question(text, title) for title, _, questions in read_paragraphs(file) for text in questions]
    return asked[::every]


def measure_recall(e2g: E2G, corpus: str, questions: Sequence[Question], mode: str) -> float:
    """Return the share of questions whose paragraph is among the first passages."""
    found = 0
    for question in questions:
        passages = e2g.retrieve(question.text, corpus=corpus, mode=mode, k=FIRST).passages[:FIRST]
        found += question.paragraph in [passage.document for passage in passages]
    return found / len(questions)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with the files of XQuAD")
    parser.add_argument("--languages", nargs="+", help="codes of languages (default: all files)")
    parser.add_argument("--modes", nargs="+", default=["auto", "fulltext", "dense"])
    parser.add_argument("--questions", help="language of the questions (default: that of the text)")
    parser.add_argument("--prefix", default="xquad-", help="what the names of corpora begin with")
    parser.add_argument("--every", type=int, default=4, help="ask every so many-th question")
    add_option(parser)
    given = parser.parse_args(argv)
    languages = given.languages or sorted(file.suffixes[0][1:] for file in given.folder.glob("xquad.*.json"))
    with E2G() as e2g:
        for language in languages:
            corpus, file = f"{given.prefix}{language}", given.folder / f"xquad.{language}.json"
            if corpus not in e2g.corpora():
                texts = [
                    from_text(text, corpus=corpus, source=one, title=one) for one, text, _ in read_paragraphs(file)
                ]
                e2g.index(texts, corpus=corpus, language=language)
            asked = given.questions or language
            questions = read_questions(given.folder / f"xquad.{asked}.json", every=given.every)
            name = f"xquad-{language}" if asked == language else f"xquad-{language}-asked-{asked}"
            for mode in given.modes:
                value = round(measure_recall(e2g, corpus, questions, mode), 3)
                print(f"{name:20} {mode:10} {value:.3f}", flush=True)
                set = e2g.settings.embedding_model
                model = CHINESE if language == "zh" and set == DEFAULT else set
                record([Figure(name, mode, f"R@{FIRST}", value, model=model)], given.results)


if __name__ == "__main__":
    main()
