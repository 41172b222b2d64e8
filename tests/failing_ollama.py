"""A server that speaks Ollama's protocol and fails as no real one can be made to, over a real socket."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from e2g_neo4j.models.chat.ollama import OllamaChat

NAME = "failing"
"""The model's name, by which replies are cached."""

HANGS = b""
"""A reply that does not come."""


def part(content: str, **more) -> bytes:
    return json.dumps({"model": NAME, "message": {"role": "assistant", "content": content}, **more}).encode() + b"\n"


END = part("", done=True, done_reason="stop", prompt_eval_count=5, eval_count=2)
WHOLE = part("All ") + part("well.") + END


class Failing:
    """Answers each chat with the next of its replies: a status with headers, or the bytes of a stream."""

    context = 4096

    def __init__(self) -> None:
        self.replies: list[tuple[int, dict[str, str]] | bytes] = []
        self.asked: list[dict] = []
        self.hanging = threading.Event()
        self.hang_on_samples = False
        self.busy: dict[str, list[tuple[int, dict[str, str]]]] = {}  # first replies to a path, or to `sample`
        self._stopped = threading.Event()
        failing = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments: object) -> None: ...

            def do_GET(self) -> None:
                if self._busy(self.path):
                    return
                self._json(200, {"models": [{"model": NAME, "digest": "abc"}]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if self._busy(self.path):
                    return
                if self.path == "/api/embed":
                    self._json(200, {"embeddings": [[1.0, 0.0] for _ in body["input"]]})
                    return
                if self.path == "/api/show":
                    self._json(
                        200, {"model_info": {"llama.context_length": failing.context}, "capabilities": ["completion"]}
                    )
                    return
                size = sum(len(message["content"]) for message in body["messages"])
                counted = f'"prompt_eval_count": {size}'.encode()
                if body["options"]["num_predict"] == 1:  # the sample that tokens are estimated from
                    if self._busy("sample"):
                        return
                    if failing.hang_on_samples:
                        self._hang()
                    else:
                        self._stream(END.replace(b'"prompt_eval_count": 5', counted))
                    return
                failing.asked.append(body)
                reply = failing.reply_to(body)
                if reply is HANGS:
                    self._hang()
                elif isinstance(reply, bytes):
                    self._stream(reply.replace(b'"prompt_eval_count": "all"', counted))
                else:
                    self._json(reply[0], {"error": "not now"}, reply[1])

            def _busy(self, what: str) -> bool:
                if not failing.busy.get(what):
                    return False
                status, headers = failing.busy[what].pop(0)
                self._json(status, {"error": "not now"}, headers)
                return True

            def _json(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
                content = json.dumps(value).encode()
                self.send_response(status)
                for name, text in {**(headers or {}), "content-length": str(len(content))}.items():
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(content)

            def _hang(self) -> None:
                failing.hanging.set()
                failing._stopped.wait()
                self.close_connection = True

            def _stream(self, content: bytes) -> None:
                """A stream that promises more than it holds is cut."""
                self.send_response(200)
                whole = b'"done": true' in content
                self.send_header("content-length", str(len(content) + (0 if whole else 10)))
                self.send_header("connection", "close")  # said, or the client's next request may meet the closing
                self.end_headers()
                self.wfile.write(content)

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128  # or the last of several that connect at once try again a second later

            def handle_error(self, *of: object) -> None: ...  # a client that has left

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.host = f"http://127.0.0.1:{self._server.server_port}"
        self.model = OllamaChat(NAME, self.host, timeout=20)

    def reply_to(self, body: dict) -> tuple[int, dict[str, str]] | bytes:
        return self.replies.pop(0)

    def stop(self) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()
