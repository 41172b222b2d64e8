"""Score the answers of the configured chat model to a question file.

    E2G_CHAT_MODEL=ollama:NAME python benchmarks/answers.py QUESTIONS.jsonl --corpus NAME [--mode MODE] [--out FILE]

A line of QUESTIONS.jsonl has a "question" and an "answer", optionally with "aliases", a list of other correct answers.
For multiple choice it also has "options", a list of texts or an object by letter, and "answer" is the correct letter.
Text answers are scored by exact match and ROUGE-L, in lower case and without punctuation, articles and citations; the
best of answer and aliases counts. Options are scored by accuracy, and by the probability of the correct letter, if
the model reports it. A question without a usable reply scores 0. The corpus must be indexed. FILE gets a line for each
question as soon as it is answered.

This has been run on a real Ollama server with tiny models that reply with a fixed text, on 15 questions of MuSiQue, as
text and with options made of other questions' answers. Such figures show that the scoring works and nothing about any
model. No figures of a real model are given anywhere, because no weights were available.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from e2g_neo4j import E2G, Answer
from e2g_neo4j.errors import ConfigurationError, E2GError, InputError, ModelError

FAILURES = 3
"""The run ends after this many consecutive failures of the chat model."""


def words(text: str) -> list[str]:
    """Return the words in lower case, without punctuation, English articles and citations (as in SQuAD)."""
    bare = re.sub(r"\[[\d,\s]+\]", " ", text.lower())
    return [word for word in re.findall(r"\w+", bare) if word not in ("a", "an", "the")]


def rouge_l(said: list[str], gold: list[str]) -> float:
    """Return the F1 score of the longest common subsequence of words (Lin 2004)."""
    row = [0] * (len(gold) + 1)
    for word in said:
        above = row[:]
        for at, other in enumerate(gold, 1):
            row[at] = above[at - 1] + 1 if word == other else max(above[at], row[at - 1])
    common = row[-1]
    return 2 * common / (len(said) + len(gold)) if common else 0.0


def scores(line: dict[str, Any], answer: Answer | None) -> dict[str, float]:
    """Return the scores of one answer by metric. `answer` is None if there was no usable reply."""
    if "options" in line:
        right = str(line["answer"]).strip().upper()
        found = {"accuracy": float(answer is not None and answer.choice == right)}
        if answer is not None and answer.distribution is not None:
            found["probability"] = answer.distribution.get(right, 0.0)
        return found
    said = words(answer.text or "") if answer else []
    golds = [words(str(gold)) for gold in [line["answer"], *line.get("aliases", [])]]
    return {
        "exact match": float(said in golds),
        "ROUGE-L": max(rouge_l(said, gold) for gold in golds),
        "found": float(answer is not None and answer.found),
    }


def options_of(line: dict[str, Any]) -> list[str]:
    options = line.get("options", [])
    return [options[letter] for letter in ascii_uppercase[: len(options)]] if isinstance(options, dict) else options


def read(path: Path) -> list[dict[str, Any]]:
    """Read a question file.

    Raises:
        InputError: The file cannot be read, or a line is invalid. The message names the line.
    """
    try:
        texts = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read {path} ({error}). Pass a file with a JSON object on each line.") from error
    lines = []
    for number, text in enumerate(texts, 1):
        try:
            if text.strip():
                lines.append(checked(json.loads(text)))
        except ValueError as error:
            raise InputError(f"{path}, line {number}: {error}. Correct the line.") from error
    if not lines:
        raise InputError(f"{path} has no questions. Pass a file with a JSON object on each line.")
    return lines


def checked(line: Any) -> dict[str, Any]:
    """Validate a question. Raise ValueError if it is invalid."""
    if not isinstance(line, dict) or not line.get("question") or not line.get("answer"):
        raise ValueError("question or answer is missing")
    if "options" in line:
        letters = ascii_uppercase[: len(line["options"])]
        if isinstance(line["options"], dict) and sorted(line["options"]) != list(letters):
            raise ValueError(f"the letters of the options must be {', '.join(letters)}")
        if len(letters) < 2 or str(line["answer"]).strip().upper() not in set(letters):
            raise ValueError(f"the answer {line['answer']!r} is not the letter of one of the {len(letters)} options")
    return line


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--mode", default=None)
    parser.add_argument("--limit", type=int, default=None, help="use only the first N questions")
    parser.add_argument("--out", type=Path, default=Path(os.devnull))
    chosen = parser.parse_args(argv)
    try:
        run(chosen)
    except E2GError as error:
        sys.exit(f"Error: {error}")


def run(chosen: argparse.Namespace) -> None:
    retrieval = {"mode": chosen.mode} if chosen.mode else {}
    lines = read(chosen.questions)[: chosen.limit]
    measured: dict[str, list[float]] = {}
    seconds, tokens, failed, in_a_row = [], 0, 0, 0
    with E2G() as e2g, chosen.out.open("w", encoding="utf-8") as out:
        if e2g.settings.chat_model is None:
            raise ConfigurationError("No chat model is configured. Set E2G_CHAT_MODEL.")
        for number, line in enumerate(lines, 1):
            began = time.perf_counter()
            options = options_of(line)
            try:
                answer = e2g.answer(line["question"], corpus=chosen.corpus, options=options, **retrieval)
                in_a_row = 0
            except ModelError as error:
                failed, in_a_row = failed + 1, in_a_row + 1
                if in_a_row == FAILURES:
                    raise
                print(f"Question {number}: {error}", file=sys.stderr)
                answer = None
            seconds.append(time.perf_counter() - began)
            found = scores(line, answer)
            for measure, value in found.items():
                measured.setdefault(measure, []).append(value)
            said = answer and (answer.choice or answer.text)
            tokens += answer.prompt_tokens + answer.completion_tokens if answer else 0
            out.write(json.dumps({"question": line["question"], "said": said, **found}, ensure_ascii=False) + "\n")
            out.flush()
            if sys.stderr.isatty():
                print(f"\r{number}/{len(lines)}", end="\n" if number == len(lines) else "", file=sys.stderr, flush=True)
    print(
        f"{e2g.settings.chat_model}: {len(lines)} questions, {tokens} tokens, {statistics.median(seconds):.1f} s each"
    )
    if failed:
        print(f"{failed} of them without a usable reply, scored as 0")
    for measure, values in measured.items():
        print(f"{measure:<12} {statistics.mean(values):.3f}  (n={len(values)})")


if __name__ == "__main__":
    main()
