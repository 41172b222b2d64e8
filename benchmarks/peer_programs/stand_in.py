"""A server in the place of a chat and embedding model, for benchmarks. It speaks a part of Ollama's protocol.

    python benchmarks/peer_programs/stand_in.py [--port PORT] [--wait .2] [--rate 100] [--at-once 4]
        [--ollama URL MODEL]

A chat call takes `--wait` seconds and 1 / `--rate` for each token of the reply; at most `--at-once` calls run together.
What it replies is made mechanically from the prompt: names are runs of capitalised words, a description is the sentence
of the name, a relation is a sentence with two names, a summary is every n-th sentence. So graphs and prompts have a
realistic size, but nothing is understood. Asked for what an extraction missed, it finds nothing. Replies that no rule
makes are counted as `unknown`.

With `--ollama`, a model of an Ollama server replies instead. Its calls and tokens are counted as it counts them.

`/api/embed` uses the default embedding model as the project does; a text of several windows has the mean of their
vectors. `GET /counts` returns the calls, their tokens (in tokens of the embedding model), and the texts embedded.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from threading import BoundedSemaphore, Lock
from typing import Any

import httpx

from e2g_neo4j.models.embedding.windows import embed_long
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.settings import Settings

MODEL = "stand-in"
CONTEXT = 131_072
NAMES, RELATIONS, WORDS = 20, 20, 25
"""At most as many names and relations are found in a text, and as many words are in a description."""

_NAME = re.compile(r"(?<=[a-z,;] )(?:[A-Z][a-z]+ )*[A-Z][a-z]{2,}")
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s)|$)", re.DOTALL)


# --- what is replied -----------------------------------------------------------------------------


def plain(text: str) -> str:
    """Return a text in one line, without what separates records in a reply."""
    return " ".join(re.sub(r'[()<>|#"`{}\\]', " ", text).split())


def sentences(text: str) -> list[str]:
    return [plain(found) for found in _SENTENCE.findall(text)]


def names_in(text: str) -> list[str]:
    """Return the most frequent names of a text."""
    return [name for name, _ in Counter(_NAME.findall(text)).most_common(NAMES)]


def extracted(text: str) -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    """Return names with their descriptions, and pairs of names with theirs."""
    names, pairs = dict.fromkeys(names_in(text), ""), dict[tuple[str, str], str]()
    for sentence in sentences(text):
        inside = [name for name in names if name in sentence]
        shown = " ".join(sentence.split()[:WORDS])
        for name in inside:
            names[name] = names[name] or f"{name} occurs here: {shown}"
        for pair in combinations(inside, 2):
            if len(pairs) < RELATIONS:
                pairs.setdefault(pair, f"{pair[0]} and {pair[1]} occur together: {shown}")
    return {name: text for name, text in names.items() if text}, pairs


def summary(text: str, words: int = 150) -> str:
    """Return sentences from all parts of a text. The first is left out, since it might be the whole text."""
    every = sentences(text)
    if len(every) < 3:
        return " ".join(text.split()[len(text.split()) // 2 :][:words])
    length = len(plain(text).split())
    chosen = every[1 :: max(length // words, 1)]
    return " ".join(" ".join(chosen).split()[: 2 * words])


def keywords(question: str) -> tuple[list[str], list[str]]:
    """Return the topics and the names of a question."""
    low = [name for name in re.findall(r"(?:[A-Z][a-z]+ )*[A-Z][a-z]{2,}", question) if name not in _ASKING]
    high = [word for word in re.findall(r"\b[a-z]{5,}\b", question) if word not in _ASKING][:5]
    return high or low, low or high


_ASKING = {"What", "Who", "Whom", "Whose", "Where", "When", "Which", "Why", "How", "Does", "Did", "where", "which"}


def rows(prompt: str) -> str:
    """Reply to LightRAG's extraction."""
    names, pairs = extracted(_after(prompt, "---Input Text---"))
    lines = [f"entity<|#|>{name}<|#|>Person<|#|>{text}" for name, text in names.items()]
    lines += [f"relation<|#|>{a}<|#|>{b}<|#|>{_topics(text)}<|#|>{text}" for (a, b), text in pairs.items()]
    return "\n".join([*lines, "<|COMPLETE|>"])


def records(prompt: str) -> str:
    """Reply to nano-graphrag's extraction."""
    names, pairs = extracted(_after(prompt, "\nText: "))
    found = [f'("entity"<|>"{name}"<|>"person"<|>"{text}")' for name, text in names.items()]
    found += [f'("relationship"<|>"{a}"<|>"{b}"<|>"{text}"<|>5)' for (a, b), text in pairs.items()]
    return "##\n".join(found) + "<|COMPLETE|>"


def report(prompt: str) -> str:
    """Reply to nano-graphrag's request for a report of a community, with as many findings as it asks for at least."""
    text = _after(prompt, "# Real Data").partition("The report should include")[0]
    names, every = names_in(text)[:3] or ["community"], sentences(text) or [""]
    findings = [
        {"summary": f"Finding {number + 1}", "explanation": " ".join(every[number::5])[:500]} for number in range(5)
    ]
    return json.dumps(
        {
            "title": ", ".join(names),
            "summary": summary(text, 60),
            "rating": 5.0,
            "rating_explanation": "The names occur together.",
            "findings": findings,
        }
    )


def lightrag_keywords(prompt: str) -> str:
    high, low = keywords(_after(prompt, "User Query: ").partition("\n\n---Output---")[0])
    return json.dumps({"high_level_keywords": high, "low_level_keywords": low})


def answer(prompt: str) -> str:
    return "The passages say it in these words [1]. " + summary(prompt[-4000:], 50)


def _topics(text: str) -> str:
    return ", ".join(sorted(set(text.split()), key=len)[-2:]).strip(",.;:")


def _fenced(prompt: str) -> str:
    """Return the text between the tags that this project's prompts put around it."""
    found = re.search(r"^<([^<>]+)>\n(.*)^</\1>", prompt, re.DOTALL | re.MULTILINE)
    return found[2] if found else ""


def _after(text: str, mark: str) -> str:
    return text.rpartition(mark)[2]


RULES: dict[str, Callable[[str], str]] = {
    "Based on the last extraction task": lambda prompt: "<|COMPLETE|>",
    "MANY entities were missed": lambda prompt: "<|COMPLETE|>",
    "some entities may have still been missed": lambda prompt: "NO",
    "---Input Text---": rows,
    "-Real Data-\n#": records,
    "# Real Data": report,
    "User Query: ": lightrag_keywords,
    "Description List:": lambda prompt: summary(_after(prompt, "Description List:"), 100),
    "Answer the question from the evidence": answer,
    "---Target response length and format---": answer,
    "synthesizing information from a provided knowledge base": answer,
    "You summarise a part of a longer text": lambda prompt: summary(_fenced(prompt)),
}
"""What makes the reply, by a part of the prompt. The first that is in the last message decides, then the first that is
in any."""


def reply_to(messages: Sequence[dict[str, Any]]) -> str | None:
    """Return the reply; None if no rule knows the prompt."""
    last, whole = messages[-1]["content"], "\n\n".join(message["content"] for message in messages)
    for text in (last, whole):
        for mark, make in RULES.items():
            if mark in text:
                return make(text)
    return None


# --- the server ----------------------------------------------------------------------------------


class StandIn(ThreadingHTTPServer):
    """The server, with its counts."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(
        self, port: int, wait: float, rate: float, at_once: int, ollama: tuple[str, str] | None = None
    ) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.ollama = ollama
        self.wait, self.rate = wait, rate
        self.models = Models(Settings())
        self.turns = BoundedSemaphore(at_once)
        self.counts: Counter[str] = Counter(calls=0, prompt_tokens=0, reply_tokens=0, unknown=0, embedded=0)
        self.counting, self.embedding = Lock(), Lock()
        self.models.embedder.embed(["warm up"])

    def tokens(self, text: str) -> int:
        return len(self.models.embedder.token_spans(text))

    def count(self, **more: int) -> None:
        with self.counting:
            self.counts.update(more)

    def chat(self, asked: dict[str, Any]) -> dict[str, Any]:
        if self.ollama:
            return self.passed_on(asked, *self.ollama)
        messages = asked["messages"]
        text, prompt = reply_to(messages), sum(self.tokens(message["content"]) for message in messages)
        self.count(calls=1, prompt_tokens=prompt, unknown=int(text is None))
        text = "I cannot say." if text is None else text
        most, finish = asked.get("options", {}).get("num_predict", -1), "stop"
        if 0 < most < len(spans := self.models.embedder.token_spans(text)):
            text, finish = text[: spans[most - 1][1]], "length"
        reply = self.tokens(text)
        with self.turns:
            time.sleep(self.wait + reply / self.rate)
        self.count(reply_tokens=reply)
        return {
            "model": asked["model"],
            "created_at": "2026-01-01T00:00:00Z",
            "message": {"role": "assistant", "content": text},
            "done": True,
            "done_reason": finish,
            "prompt_eval_count": prompt,
            "eval_count": reply,
        }

    def passed_on(self, asked: dict[str, Any], url: str, model: str) -> dict[str, Any]:
        """Have the model reply, with as much context as the prompt and a reply of 2,000 tokens need."""
        prompt = sum(self.tokens(message["content"]) for message in asked["messages"])
        room = {"num_ctx": -(-(prompt * 5 // 4 + 2_000) // 1024) * 1024, "num_predict": 2_000}
        body = {**asked, "model": model, "stream": False, "options": room | asked.get("options", {})}
        with self.turns:
            reply = httpx.post(f"{url}/api/chat", json=body, timeout=None).raise_for_status().json()
        said = reply["message"]["content"]
        self.count(
            calls=1, prompt_tokens=reply["prompt_eval_count"], reply_tokens=reply["eval_count"], unknown=int(not said)
        )
        return {**reply, "model": asked["model"]}

    def embed(self, asked: dict[str, Any]) -> dict[str, Any]:
        texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        with self.embedding:
            vectors = embed_long(self.models.embedder, texts).tolist()
        self.count(embedded=len(texts))
        return {"model": asked["model"], "embeddings": vectors}

    def show(self, asked: dict[str, Any]) -> dict[str, Any]:
        about = {"general.architecture": MODEL, f"{MODEL}.context_length": CONTEXT}
        return {"model_info": about, "capabilities": ["completion"], "details": {}}


class Handler(BaseHTTPRequestHandler):
    server: StandIn
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        tags: dict[str, Any] = {"models": [{"name": MODEL, "model": MODEL, "digest": "0" * 64, "details": {}}]}
        found: dict[str, dict[str, Any]] = {"/api/tags": tags, "/counts": dict(self.server.counts)}
        self._send(found.get(self.path))

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        does = {"/api/chat": self.server.chat, "/api/embed": self.server.embed, "/api/show": self.server.show}
        self._send(does[self.path](asked) if self.path in does else None)

    def _send(self, found: dict[str, Any] | None) -> None:
        body = json.dumps(found if found is not None else {"error": "not found"}).encode() + b"\n"
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="default: any free one, which is printed")
    parser.add_argument("--wait", type=float, default=0.2, help="seconds of every call")
    parser.add_argument("--rate", type=float, default=100.0, help="tokens of a reply per second")
    parser.add_argument("--at-once", type=int, default=4, help="calls that run together")
    parser.add_argument("--ollama", nargs=2, metavar=("URL", "MODEL"), help="a model that replies instead")
    given = parser.parse_args(argv)
    server = StandIn(given.port, given.wait, given.rate, given.at_once, given.ollama)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
