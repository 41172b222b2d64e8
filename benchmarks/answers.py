"""Score the answers of the configured chat model to the questions of a file.

    E2G_CHAT_MODEL=ollama:NAME python benchmarks/answers.py QUESTIONS.jsonl --corpus NAME [--mode MODE] [--out FILE]

A line of QUESTIONS.jsonl has a "question" and an "answer" (and perhaps "aliases", a list of others that count), or
"options", a list of texts or an object of letters, and the letter of the right one as "answer". Answers in words are
scored by exact match and ROUGE-L, after lower case and without punctuation, articles and citations; the best of answer
and aliases counts. Options are scored by accuracy, and by the probability that the model gave to the right letter,
where it tells. The corpus has to be indexed before.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from e2g_neo4j import E2G, Answer
from e2g_neo4j.errors import InputError


def words(text: str) -> list[str]:
    """Lower case, without punctuation, English articles and citations (the normalisation of SQuAD)."""
    bare = re.sub(r"\[[\d,\s]+\]", " ", text.lower())
    return [word for word in re.findall(r"\w+", bare) if word not in ("a", "an", "the")]


def rouge_l(said: list[str], gold: list[str]) -> float:
    """F1 of the longest common subsequence of words (Lin 2004)."""
    row = [0] * (len(gold) + 1)
    for word in said:
        above = row[:]
        for at, other in enumerate(gold, 1):
            row[at] = above[at - 1] + 1 if word == other else max(above[at], row[at - 1])
    common = row[-1]
    return 2 * common / (len(said) + len(gold)) if common else 0.0


def scores(line: dict[str, Any], answer: Answer) -> dict[str, float]:
    """What one answer is worth, by measure."""
    if "options" in line:
        right = str(line["answer"]).strip().upper()
        found = {"accuracy": float(answer.choice == right)}
        if answer.distribution is not None:
            found["probability"] = answer.distribution.get(right, 0.0)
        return found
    said = words(answer.text or "")
    golds = [words(str(gold)) for gold in [line["answer"], *line.get("aliases", [])]]
    return {
        "exact match": float(said in golds),
        "ROUGE-L": max(rouge_l(said, gold) for gold in golds),
        "found": float(answer.found),
    }


def options_of(line: dict[str, Any]) -> list[str]:
    options = line.get("options", [])
    return [options[letter] for letter in ascii_uppercase[: len(options)]] if isinstance(options, dict) else options


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a question file. Raises InputError that names one that cannot be used."""
    lines = []
    for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
        line = json.loads(text)
        if not isinstance(line, dict) or not line.get("question") or not line.get("answer"):
            raise InputError(f"{path}, line {number}: a question and an answer are wanted. Correct the line.")
        lines.append(line)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--mode", default=None)
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    how = {"mode": chosen.mode} if chosen.mode else {}
    measured: dict[str, list[float]] = {}
    written, seconds, tokens = [], [], 0
    with E2G() as e2g:
        if e2g.settings.chat_model is None:
            sys.exit("Set E2G_CHAT_MODEL: answers are a chat model's.")
        for line in read(chosen.questions):
            began = time.perf_counter()
            answer = e2g.answer(line["question"], corpus=chosen.corpus, options=options_of(line), **how)
            seconds.append(time.perf_counter() - began)
            tokens += answer.prompt_tokens + answer.completion_tokens
            found = scores(line, answer)
            for measure, value in found.items():
                measured.setdefault(measure, []).append(value)
            written.append({"question": line["question"], "said": answer.choice or answer.text, **found})
    if chosen.out:
        chosen.out.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in written), "utf-8")
    print(
        f"{e2g.settings.chat_model}: {len(written)} questions, {tokens} tokens, {statistics.median(seconds):.1f} s each"
    )
    for measure, values in measured.items():
        print(f"{measure:<12} {statistics.mean(values):.3f}  (n={len(values)})")


if __name__ == "__main__":
    main()
