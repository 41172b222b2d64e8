"""Bind several texts into one, with their questions: the same questions at a higher topic persistence.

    python benchmarks/bind_texts.py QUESTIONS.jsonl TEXT [TEXT ...] --out VOLUME.md

Writes the texts one after the other to VOLUME.md, and the questions about them, with shifted evidence, to VOLUME.jsonl.
Questions about other texts are left out. Evidence must be character spans. See benchmarks/questions/README.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from e2g_neo4j.documents.files import read
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.settings import Settings

GAP = "\n\n"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("texts", type=Path, nargs="+", metavar="TEXT")
    parser.add_argument("--out", type=Path, required=True, help="the volume; its questions get the suffix .jsonl")
    given = parser.parse_args(argv)
    lines = [json.loads(line) for line in given.questions.read_text(encoding="utf-8").split("\n") if line.strip()]
    limits = Limits(Settings().max_document_mb * 2**20)
    starts, volume = {}, ""
    for path in given.texts:
        starts[path.name] = len(volume)
        volume += read(path, "volume", limits).text + GAP
    bound = [
        line
        | {
            "book": given.out.name,
            "evidence": [[start + starts[line["book"]], end + starts[line["book"]]] for start, end in line["evidence"]],
        }
        for line in lines
        if line["book"] in starts
    ]
    given.out.write_bytes(volume.encode())  # bytes: line ends stay as they are
    questions = given.out.with_suffix(".jsonl")
    questions.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in bound), encoding="utf-8")
    print(f"{given.out}: {len(starts)} texts, {len(volume):,} characters; {questions}: {len(bound)} questions")


if __name__ == "__main__":
    main()
