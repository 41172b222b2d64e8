"""What `RemoteE2G` needs of HTTP: requests, uploads, the end of tasks, and errors as the classes of `E2G`."""

from __future__ import annotations

import inspect
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import astuple, fields, replace
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, get_type_hints
from urllib.parse import quote
from uuid import uuid4

import httpx
from pydantic import TypeAdapter

from e2g_neo4j import errors
from e2g_neo4j.documents.files import ReadingReport, explain, find
from e2g_neo4j.documents.text import shown
from e2g_neo4j.errors import AccessError, ConfigurationError, E2GError, InputError, UnreachableError
from e2g_neo4j.runtime.loopback import without_proxy
from e2g_neo4j.types.documents import SourceDocument
from e2g_neo4j.types.ids import check_corpus_name, has_address
from e2g_neo4j.types.properties import Properties
from e2g_neo4j.types.reports import IndexReport, Progress, TokenUsage
from e2g_neo4j.types.service import ENDED, TaskInfo

T = TypeVar("T")
P = ParamSpec("P")

ADDRESS_NAMES = {"query": "q"}
"""Arguments that have another name in an address."""

WAIT_SECONDS = 30
"""How long one request waits for the end of a task."""

LONGEST_PAUSE = 61.0
"""A call waits this many seconds at most when a limit of its key is reached, and then tries again."""

FILES_AT_ONCE, BYTES_AT_ONCE = 500, 32 * 2**20
"""Maximum number and size of files in one request."""


class NoChatModelError(ConfigurationError):
    """No chat model is configured at the service."""


class RemoteBase:
    """A connection to a service.

    Args:
        url: The address of the service.
        key: An API key; None: that of `E2G_API_KEY`, or none.
        timeout: Seconds without a reply after which a call fails.
    """

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 600.0) -> None:
        key = key or os.environ.get("E2G_API_KEY")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            self._http = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=timeout, **without_proxy(url))
        except (httpx.InvalidURL, TypeError) as error:
            raise InputError(f"{url!r} is not an address ({error}): give one such as http://127.0.0.1:8000.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def task(self, id: str, *, wait: int = 0) -> TaskInfo:
        """A task of the service, at once or when it has ended, but after at most `wait` seconds."""
        return TypeAdapter(TaskInfo).validate_python(self._get(f"/v1/tasks/{quote(id, safe='')}", wait=wait))

    def _finished(self, task: Any, kind: type[T], progress: Progress | None) -> T:
        """Wait for the end of a task and return its result."""
        found = TypeAdapter(TaskInfo).validate_python(task)
        while found.state not in ENDED:
            found = self.task(found.id, wait=1 if progress else WAIT_SECONDS)
            if progress and found.stage:
                progress(found.stage, found.done, found.total)
        if found.state == "cancelled":
            raise E2GError(f"The task {found.id} was cancelled. What it finished is kept.")
        if found.error:
            raise error_of(found.error)
        return TypeAdapter(kind).validate_python(found.result or {})

    # --- requests --------------------------------------------------------------------------------------

    def _get(self, path: str, **parameters: Any) -> Any:
        return self._send("GET", path, params={name: one for name, one in parameters.items() if one is not None})

    def _send(self, method: str, path: str, **content: Any) -> Any:
        headers = {"Idempotency-Key": uuid4().hex} if method != "GET" else {}
        try:
            for attempt in range(4):
                reply = self._http.request(method, path, headers=headers, **content)
                seconds = float(reply.headers.get("Retry-After", "1"))
                if reply.status_code != 429 or attempt == 3 or seconds > LONGEST_PAUSE:
                    break
                time.sleep(seconds)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        if reply.is_error:
            raise error_in(reply)
        return reply.json()

    def _upload(
        self,
        batch: Sequence[tuple[str, Path] | SourceDocument],
        corpus: str,
        budget_tokens: int | None,
        failed: dict[str, str],
        properties: Properties | None = None,
        *,
        language: str | None = None,
        dry_run: bool = False,
        strict: bool = False,
    ) -> Any:
        """Send documents or files. `failed` takes the reasons why files cannot be opened any more."""
        path = corpus_path(corpus, "documents")
        options = {"dry_run": dry_run, "strict": strict, "language": language}
        parameters = {name: value for name, value in options.items() if value}
        documents = [
            {
                "source": one.source,
                "title": one.title,
                "text": one.text,
                "properties": None if one.properties is None else dict(one.properties),
            }
            for one in batch
            if isinstance(one, SourceDocument)
        ]
        if documents:
            body = {"documents": documents, "budget_tokens": budget_tokens}
            return self._send("POST", path, params=parameters, json=body)
        with ExitStack() as stack:
            files = []
            for one in batch:
                if not isinstance(one, SourceDocument):
                    try:
                        files.append(("files", (one[0], stack.enter_context(one[1].open("rb")))))
                    except OSError as error:
                        failed[shown(one[1])] = f"{shown(one[1])} cannot be read: {error.strerror or error}."
            if strict or not files:
                ReadingReport(failed).check(strict=strict, read=bool(files))
            form = {} if budget_tokens is None else {"budget_tokens": str(budget_tokens)}
            if properties is not None:
                form["properties"] = json.dumps(dict(properties))
            return self._send("POST", path, params=parameters, files=files, data=form)

    def _unreachable(self, error: Exception) -> UnreachableError:
        return UnreachableError(f"The service at {self._http.base_url} cannot be reached ({error}): check the address.")


def like(method: Callable[Concatenate[Any, P], T]) -> Callable[[Callable[..., T]], Callable[Concatenate[Any, P], T]]:
    """Give a call the signature and the documentation of a method of `E2G`.

    It is called with every argument by name: with all that the method has, defaults too.
    """
    signature = inspect.signature(method)
    rest = next((one.name for one in signature.parameters.values() if one.kind is one.VAR_KEYWORD), "")

    def give(call: Callable[..., T]) -> Callable[Concatenate[Any, P], T]:
        @wraps(method)
        def called(self: Any, /, *args: P.args, **keywords: P.kwargs) -> T:
            bound = signature.bind(self, *args, **keywords)
            bound.apply_defaults()
            _, *given = bound.arguments.items()  # without self
            arguments = dict(given)
            return call(self, **arguments.pop(rest, {}), **arguments)

        return called

    return give


def request(
    method: Callable[Concatenate[Any, P], T], verb: str, *parts: str, task: bool = False
) -> Callable[Concatenate[Any, P], T]:
    """Return a method of `E2G` as one request for what belongs to a corpus.

    Args:
        method: The method: the call has its signature and its result.
        verb: The method of HTTP.
        *parts: The address after that of the corpus; "{name}" stands for an argument. The other arguments are sent as
            the query of a GET, and as JSON otherwise.
        task: The request starts a task, whose end is waited for.
    """

    @like(method)
    def call(self: RemoteBase, corpus: str, progress: Progress | None = None, **given: Any) -> T:
        path = corpus_path(corpus, *(given.pop(part[1:-1]) if part[0] == "{" else part for part in parts))
        kind: type[T] = get_type_hints(method)["return"]
        if verb == "GET":
            sent = self._get(path, **{ADDRESS_NAMES.get(name, name): one for name, one in given.items()})
        else:
            sent = self._send(verb, path, json=given) if given else self._send(verb, path)
        return self._finished(sent, kind, progress) if task else TypeAdapter(kind).validate_python(sent)

    return call


def corpus_path(corpus: str, *parts: str) -> str:
    """Return the address of a corpus, or of a part of it.

    Raises:
        InputError: The service has no address for this name.
    """
    if not corpus.strip() or not has_address(corpus):
        check_corpus_name(corpus)
    return "/".join(["/v1/corpora", *(quote(part, safe="") for part in (corpus, *parts))])


def batches(
    sources: Iterable[str | Path | SourceDocument], reading: ReadingReport
) -> Iterator[Sequence[tuple[str, Path] | SourceDocument]]:
    """Return documents, and files with their names, in groups that fit into one request. `reading` takes why others are
    not read."""
    documents: list[SourceDocument] = []
    files: list[tuple[str, Path]] = []
    skipped: set[Path] = set()
    for one in sources:
        if isinstance(one, SourceDocument):
            documents.append(one)
        else:
            root = Path(one).expanduser()
            found = find(one, reading.failed, skipped)
            files += [(str(file.relative_to(root.absolute())) if root.is_dir() else file.name, file) for file in found]
    reading.passed_over = explain(skipped)
    if not (documents or files or reading.failed):
        find([])  # says that there is nothing to read
    yield from _groups(documents, lambda one: len(one.text.encode()))
    yield from _groups(files, lambda one: _size(one[1]))


def _groups(items: Iterable[T], size_of: Callable[[T], int]) -> Iterator[list[T]]:
    batch: list[T] = []
    left = BYTES_AT_ONCE
    for item in items:
        size = size_of(item)
        if batch and (len(batch) == FILES_AT_ONCE or size > left):
            yield batch
            batch, left = [], BYTES_AT_ONCE
        batch.append(item)
        left -= size
    if batch:
        yield batch


def _size(path: Path) -> int:
    with suppress(OSError):  # it is gone, which is found when it is opened
        return path.stat().st_size
    return 0


def name_of(one: tuple[str, Path] | SourceDocument) -> str:
    """Return the name that a document or file is sent with."""
    return one.source if isinstance(one, SourceDocument) else one[0]


def add_reports(report: IndexReport, other: IndexReport) -> IndexReport:
    """Return the sum of two reports of one corpus. Of what the corpus has, the later counts."""
    summed = {field.name for field in fields(IndexReport)} - {
        "corpus",
        "dry_run",
        "entities",
        "co_occurrences",
        "mentions",
    }
    return replace(other, **{name: _sum(getattr(report, name), getattr(other, name)) for name in summed})


def _sum(first: Any, second: Any) -> Any:
    """Add numbers, and those in dicts and in the use of a chat model. Of texts, the second remains."""
    if isinstance(first, dict):
        return first | {key: _sum(first[key], value) if key in first else value for key, value in second.items()}
    if isinstance(first, TokenUsage):
        return TokenUsage(*map(sum, zip(astuple(first), astuple(second), strict=True)))
    return second if isinstance(first, str) else first + second


def events(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Return name and data of server-sent events."""
    name, data = "", ""
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data += value
        elif not line and name:
            yield name, json.loads(data)
            name, data = "", ""


def error_in(reply: httpx.Response) -> E2GError:
    try:
        body = reply.json()
        return error_of(body, reply.status_code)
    except (ValueError, KeyError, TypeError):
        return E2GError(f"The service replied with status {reply.status_code}. Is this the address of e2g-neo4j?")


def error_of(body: Mapping[str, Any], status: int = 0) -> E2GError:
    """Return the error that a problem stands for, of the class that `E2G` would raise."""
    code, detail = str(body["code"]), str(body["detail"])
    if status in (401, 403):
        return AccessError(f"{detail} {body.get('next', '')}".strip())
    if code == "no_chat_model":
        return NoChatModelError(detail)
    name = "".join(part.capitalize() for part in code.split("_")) + "Error"
    kind = getattr(errors, name, InputError if status == 422 else E2GError)
    error = kind.__new__(kind)  # some classes make their message from other arguments
    error.args = (detail,)
    return error if isinstance(error, E2GError) else E2GError(detail)
