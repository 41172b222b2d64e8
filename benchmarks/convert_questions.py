"""Convert public question sets about long books into books as text files and a question file for `e2g eval`.

    python benchmarks/convert_questions.py SOURCE… --out FOLDER

NovelQA (Wang et al. 2024) is a folder with a text and a JSON file of questions for each book, of the same name. The
questions are an object by id, or a list with `QID`, in the earlier version. Each has `Question`, and optionally
`Options` (an object by letter), `Gold` (a letter), `Answer` (a text), `Evidences` (quotes of the book), `Complexity`.
InfiniteBench (Zhang et al. 2024) is a JSON Lines file for each task. A line has `context` (the book), `input` (the
question), `answer` (a text or a list of texts) and optionally `options` (a list of texts) and `id`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from e2g_neo4j.errors import InputError
from e2g_neo4j.evaluation.gold import find_quote, is_text, read_questions, require

Fields: TypeAlias = dict[str, Any]
"""A question in the format of `evaluation/gold.py`."""


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path, help="the folder of NovelQA, or files of InfiniteBench")
    parser.add_argument("--out", required=True, type=Path, help="write to this folder, which must not exist")
    arguments = parser.parse_args(argv)
    print(convert(arguments.sources, arguments.out))


@dataclass(slots=True)
class Converted:
    """What `convert` has written, and what it has left out.

    Attributes:
        questions: Number of questions.
        books: Number of books.
        unusable: Number of questions left out, because they have neither answer nor a quote of their book.
        unquoted: Number of pieces of evidence left out, because they are not literal quotations of their book.
        without_text: Number of JSON files left out, because there is no text of the same name.
    """

    questions: int = 0
    books: int = 0
    unusable: int = 0
    unquoted: int = 0
    without_text: int = 0


def convert(sources: Sequence[Path], folder: Path) -> Converted:
    """Write `questions.jsonl` and the folder `books`. After an error, nothing is left of them.

    Args:
        sources: Folders of NovelQA and files of InfiniteBench. A book that several files contain is written once.
        folder: The folder to write to. It must not exist.

    Raises:
        InputError: A source is neither, the folder exists, or no question can be used. The message names file and
            line, or file and question.
    """
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"Cannot make the folder {folder} ({error.strerror}): name a new one.") from error
    try:
        return _convert(sources, folder)
    except BaseException:
        shutil.rmtree(folder)
        raise


def _convert(sources: Sequence[Path], folder: Path) -> Converted:
    file, books = folder / "questions.jsonl", folder / "books"
    books.mkdir()
    counts = Converted()
    files: dict[str, Path] = {}  # by id of a question
    with file.open("w", encoding="utf-8", errors="replace") as out:  # JSON may have unpaired surrogates
        for source in sources:
            for origin, fields in (_novelqa if source.is_dir() else _infinitebench)(source, books, counts):
                if "answer" in fields or "evidence" in fields:
                    _check_id(fields["id"], origin, files)
                    out.write(json.dumps(fields, ensure_ascii=False) + "\n")
                    counts.questions += 1
                else:
                    counts.unusable += 1
    if not counts.questions:
        raise InputError(
            "No question has an answer or a quote of its book: the public files of NovelQA lack both; ask its authors "
            "for them."
        )
    read_questions(file)
    counts.books = len(list(books.iterdir()))
    return counts


def _check_id(question_id: str, file: Path, files: dict[str, Path]) -> None:
    """Record the file of a question id. Raise InputError if another question has this id."""
    if question_id in files:
        places = " and ".join(str(one) for one in dict.fromkeys((files[question_id], file)))
        raise InputError(
            f"The question id {question_id!r} occurs twice, in {places}. Pass each file once, give files of the same "
            "name different names, or correct the id."
        )
    files[question_id] = file


# --- NovelQA -----------------------------------------------------------------------------------------


def _novelqa(source: Path, books: Path, counts: Converted) -> Iterator[tuple[Path, Fields]]:
    texts = {path.stem: path for path in source.rglob("*.txt")}
    files = sorted(source.rglob("*.json"))
    if not any(file.stem in texts for file in files):
        raise InputError(f"{source} has no JSON file and text of the same name: pass the folder of NovelQA.")
    for file in files:
        if file.stem not in texts:
            counts.without_text += 1
            continue
        try:
            book = texts[file.stem].read_text(encoding="utf-8-sig")
            questions = json.loads(file.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"Cannot read {file} or its text ({error}): correct it.") from error
        (books / f"{file.stem}.txt").write_text(book, encoding="utf-8")
        for question_id, fields in _by_id(questions, file):
            try:
                yield file, _novelqa_question(f"{file.stem}-{question_id}", fields, f"{file.stem}.txt", book, counts)
            except ValueError as error:
                raise InputError(f"{file}, question {question_id}: {error}. Correct it.") from error


def _by_id(questions: Any, file: Path) -> list[tuple[str, Any]]:
    match questions:
        case dict():
            return list(questions.items())
        case list() if all(isinstance(one, dict) and "QID" in one for one in questions):
            return [(str(one["QID"]), one) for one in questions]
        case _:
            raise InputError(f"{file} is neither an object of questions nor a list with QID: pass a file of NovelQA.")


def _novelqa_question(question_id: str, fields: Any, book: str, text: str, counts: Converted) -> Fields:
    require(isinstance(fields, dict) and is_text(fields.get("Question")), "the field Question is missing or not text")
    question: Fields = {"id": question_id, "question": fields["Question"], "book": book}
    if kind := fields.get("Complexity", fields.get("Complex")):
        question["type"] = str(kind)
    options = fields.get("Options") or {}
    require(isinstance(options, dict), "Options is not an object by letter")
    options = {letter: option for letter, option in sorted(options.items()) if option}
    given = [one for one in (fields.get("Gold"), fields.get("Answer")) if one]
    if given:
        right = [options.get(str(one), one) for one in given] if options else given[-1:]
        question |= _answer(right, list(options.values()))
    quotes = fields.get("Evidences") or []
    require(isinstance(quotes, list), "Evidences is not a list")
    quotes = [quote for quote in quotes if is_text(quote)]
    found = [quote for quote in quotes if find_quote(quote, text, 0, len(text))]
    counts.unquoted += len(quotes) - len(found)
    if found:
        question["evidence"] = [{"document": book, "quote": quote} for quote in found]
    return question


# --- InfiniteBench -----------------------------------------------------------------------------------


def _infinitebench(source: Path, books: Path, counts: Converted) -> Iterator[tuple[Path, Fields]]:
    number = 0
    try:
        with source.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):  # a line has a whole book: never all at once
                if line.strip():
                    yield source, _infinitebench_question(json.loads(line), source.stem, number, books)
    except OSError as error:
        raise InputError(f"Cannot read {source} ({error.strerror}): pass a file of InfiniteBench.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{source}, line {number}: {error}. Pass a file of InfiniteBench with questions about books, or the folder "
            "of NovelQA."
        ) from error


def _infinitebench_question(fields: Any, task: str, number: int, books: Path) -> Fields:
    require(isinstance(fields, dict), "not a JSON object")
    for name in ("context", "input"):
        require(is_text(fields.get(name)), f"the field {name} is missing or not text")
    text = fields["context"].encode()
    book = f"book-{hashlib.sha256(text).hexdigest()[:12]}.txt"
    if not (books / book).exists():
        (books / book).write_bytes(text)
    answers, options = fields.get("answer"), fields.get("options") or []
    require(isinstance(options, list), "options is not a list")
    answers = answers if isinstance(answers, list) else [answers]
    question = {"id": f"{task}-{fields.get('id', number)}", "question": fields["input"], "book": book, "type": task}
    return question | _answer(answers, options)


def _answer(answers: Sequence[Any], options: Sequence[Any]) -> Fields:
    """Return the fields for the answer. With options, it is the first of the answers that is one of them."""
    texts = [one for one in answers if is_text(one)]
    require(texts, "the answer is missing or not text")
    if not options:
        return {"answer": texts[0], "aliases": texts[1:]}
    require(len(options) > 1 and all(map(is_text, options)), "the options must be at least two texts")
    chosen = [text for text in texts if text in options]
    require(chosen, f"the answer {json.dumps(answers, ensure_ascii=False)[:80]} is none of the options")
    return {"answer": chosen[0], "options": list(options)}


if __name__ == "__main__":
    main()
