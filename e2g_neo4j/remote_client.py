"""The client of a service elsewhere. Its calls are those of `E2G`, with their signatures.

with RemoteE2G("http://127.0.0.1:8000", key="e2g_…") as e2g:
    e2g.index(["dracula.txt"], corpus="novels")
    print(e2g.answer("How does Van Helsing know Dracula?", corpus="novels").text)
"""

from __future__ import annotations

import inspect
import json
import os
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import fields, is_dataclass, replace
from functools import partial, reduce, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeAlias, TypeVar, cast, get_type_hints
from urllib.parse import quote
from uuid import uuid4

import httpx
from pydantic import TypeAdapter

import e2g_neo4j.errors as errors
from e2g_neo4j.client import E2G
from e2g_neo4j.documents.files import ReadingReport, explain, find
from e2g_neo4j.documents.text import quote_path
from e2g_neo4j.errors import AccessError, ConfigurationError, E2GError, InputError, ReadingError, UnreachableError
from e2g_neo4j.graph.catalog import choose_document, choose_documents
from e2g_neo4j.indexing.archive.contents import Format
from e2g_neo4j.indexing.archive.reading import Archive
from e2g_neo4j.indexing.graph_schema import GraphSchema, read_text
from e2g_neo4j.indexing.operations import Source
from e2g_neo4j.retrieval.options import RetrievalOptions
from e2g_neo4j.runtime.loopback import without_proxy
from e2g_neo4j.types.documents import SourceDocument
from e2g_neo4j.types.ids import check_corpus_name, corpora_to_ask, has_address
from e2g_neo4j.types.properties import Properties, check_properties
from e2g_neo4j.types.reports import ArchiveInfo, DocumentInfo, DocumentText, IndexReport, Progress
from e2g_neo4j.types.results import Answer, Evidence
from e2g_neo4j.types.service import ENDED, TaskInfo

T = TypeVar("T")
P = ParamSpec("P")

Named: TypeAlias = tuple[str, Path | SourceDocument]
"""A file or document, and the name that it is sent with."""

WAIT_SECONDS = 30
"""How long one request waits for the end of a task."""

LONGEST_PAUSE = 61.0
"""A call waits this many seconds at most when a limit of its key is reached, and then tries again."""

FILES_AT_ONCE, BYTES_AT_ONCE = 500, 32 * 2**20
"""Maximum number and size of files in one request."""


def like(method: Callable[Concatenate[Any, P], T]) -> Callable[[Callable[..., T]], Callable[Concatenate[Any, P], T]]:
    """Give a call the signature and the documentation of a method of `E2G`. It gets every argument by name, defaults
    too."""
    signature = inspect.signature(method)

    def give(call: Callable[..., T]) -> Callable[Concatenate[Any, P], T]:
        @wraps(method)
        def call_remote(self: Any, /, *args: P.args, **keywords: P.kwargs) -> T:
            bound = signature.bind(self, *args, **keywords)
            bound.apply_defaults()
            _, *arguments = bound.arguments.items()  # without self
            return call(self, **dict(arguments))

        return call_remote

    return give


def request(
    method: Callable[Concatenate[Any, P], T], verb: str, *parts: str, task: bool = False
) -> Callable[Concatenate[Any, P], T]:
    """Return a method of `E2G` as one request for what belongs to a corpus.

    Args:
        method: The method.
        verb: The method of HTTP.
        *parts: The address after that of the corpus; "{name}" stands for an argument. The other arguments are sent as
            the query of a GET, and as JSON otherwise.
        task: The request starts a task, whose end is waited for.
    """
    kind: type[T] = get_type_hints(method)["return"]

    @like(method)
    def call(self: RemoteE2G, corpus: str, progress: Progress | None = None, **rest: Any) -> T:
        path = corpus_path(corpus, *(rest.pop(part[1:-1]) if part[0] == "{" else part for part in parts))
        if isinstance(rest.get("graph_schema"), Path):  # the service reads no files
            GraphSchema.read(rest["graph_schema"])
            rest["graph_schema"] = json.loads(read_text(rest["graph_schema"]))
        if "query" in rest:
            rest["q"] = rest.pop("query")
        content = {"params": collect_arguments(**rest)} if verb == "GET" else {"json": rest or None}
        sent = self._send(verb, path, **content)
        return self._wait(sent, kind, progress) if task else parse(kind, sent)

    return call


class RemoteE2G:
    """Index documents and ask them, at a service. A context manager. Thread-safe.

    The calls are those of `E2G`, with the same arguments and results. Those that look after the database itself are
    missing: `modes`, `migrate`, `doctor`, `paths`, `resume`, `reindex`, `bookmark` and
    `wait_for`; and those for graph documents and Cypher: `add_graph_documents`, `run_template` and
    `text_to_cypher`.
    Questions use the chat model of the service, and call no `progress`. Without a chat model, an answer has no text.

    Calls that change a corpus block until that is done; if the service or its worker is restarted meanwhile, it goes
    on. `index` uploads the files: each is identified by its name, and in a folder by its path from there.

    Args:
        url: The address of the service, such as https://e2g.example.org.
        key: An API key; None: that of `E2G_API_KEY`, or none.
        timeout: Seconds without a reply after which a call fails.

    Raises:
        UnreachableError: every call, if the service cannot be reached.
        AccessError: every call, if the key is not valid, or lacks a scope.
    """

    stats = request(E2G.stats, "GET")
    entities = request(E2G.entities, "GET", "entities")
    describe_entity = request(E2G.describe_entity, "GET", "entities", "{name}")
    merges = request(E2G.merges, "GET", "merges")
    merge = request(E2G.merge, "PUT", "merges", "{name}")
    references = request(E2G.references, "GET", "references")
    split = request(E2G.split, "PUT", "splits", "{name}")
    join = request(E2G.join, "DELETE", "splits", "{name}")
    enrich = request(E2G.enrich, "POST", "enrich", task=True)
    links = request(E2G.links, "GET", "links")
    link = request(E2G.link, "POST", "links", task=True)
    adopt = request(E2G.adopt, "POST", "adoption", task=True)

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 600.0) -> None:
        key = key or os.environ.get("E2G_API_KEY")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            self._http = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=timeout, **without_proxy(url))
        except (httpx.InvalidURL, TypeError) as error:
            raise InputError(f"{url!r} is not an address ({error}): give one such as http://127.0.0.1:8000.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # --- documents -------------------------------------------------------------------------------------

    @like(E2G.index)
    def index(
        self,
        sources: Iterable[Source],
        corpus: str,
        progress: Progress | None,
        budget_tokens: int | None,
        properties: Properties | None,
        prune: bool,
        dry_run: bool,
        **how: Any,
    ) -> IndexReport:
        if prune and not dry_run:
            raise InputError("A service keeps no paths, so it cannot tell which files are gone: use `delete`.")
        if properties is not None and not dry_run:
            properties = check_properties(properties)
            sources = [one.with_properties(properties) if isinstance(one, SourceDocument) else one for one in sources]
        strict, reading = how["strict"], ReadingReport()
        groups = batches(sources, reading, strict=strict)
        if dry_run:
            if len(groups) > 1:
                raise InputError(f"Plan at most {FILES_AT_ONCE} files and {BYTES_AT_ONCE // 2**20} MiB at once.")
            plan = parse(IndexReport, self._upload(corpus, groups[0], reading, dry_run=True, **how))
            plan.failed, plan.passed_over = reading.failed | plan.failed, reading.passed_over
            return plan
        for batch in groups if strict and len(groups) > 1 else ():  # nothing is written before
            self._upload(corpus, batch, reading, dry_run=True, **how)
        reports: list[IndexReport] = []
        for batch in groups:
            spending = [one for report in reports for one in report.spending.values()]
            spent = sum(one.prompt_tokens + one.completion_tokens for one in spending)
            left = budget_tokens and max(1, budget_tokens - spent)  # at least 1: a batch that needs no call ends well
            try:
                task = self._upload(corpus, batch, reading, properties, left, **how)
                reports.append(self._wait(task, IndexReport, progress))
            except ReadingError as error:  # of all files of this request
                if strict or len(groups) == 1:
                    raise
                reading.failed[f"{batch[0][0]} and all {len(batch)} files sent with it"] = str(error)
        reading.check(strict=False, read=bool(reports))
        report = reduce(add_reports, reports)
        report.failed, report.passed_over = reading.failed | report.failed, reading.passed_over
        return report

    @like(E2G.delete)
    def delete(self, targets: Iterable[str | Path] | None, corpus: str) -> list[DocumentInfo]:
        listed = self.documents(corpus)
        chosen = listed if targets is None else choose_documents(list(targets), listed, corpus)
        for parts in [()] if targets is None else [("documents", one.id) for one in chosen]:
            self._wait(self._send("DELETE", corpus_path(corpus, *parts)), dict)
        return chosen

    @like(E2G.documents)
    def documents(self, corpus: str) -> list[DocumentInfo]:
        found: list[Any] = []
        cursor: str | None = ""
        while cursor is not None:
            page = self._send(
                "GET", corpus_path(corpus, "documents"), params=collect_arguments(limit=1000, cursor=cursor or None)
            )
            found += page["documents"]
            cursor = page["cursor"]
        return parse(list[DocumentInfo], found)

    @like(E2G.text)
    def text(self, document: str, corpus: str, **span: Any) -> DocumentText:
        if not re.fullmatch(r"[0-9a-f]{16}", document):  # the id that every document has
            document = choose_document(document, self.documents(corpus), corpus).id
        path = corpus_path(corpus, "documents", document, "text")
        return parse(DocumentText, self._send("GET", path, params=collect_arguments(**span)))

    @like(E2G.corpora)
    def corpora(self) -> dict[str, int]:
        return {row["corpus"]: row["documents"] for row in self._send("GET", "/v1/corpora")}

    # --- questions -------------------------------------------------------------------------------------

    @like(E2G.retrieve)
    def retrieve(self, **asked: Any) -> Evidence:
        return self._retrieve(question_of(asked))

    @like(E2G.answer)
    def answer(self, **asked: Any) -> Answer:
        body = question_of(asked)
        try:
            return Answer.from_dict(self._send("POST", "/v1/ask", json=body))
        except NoChatModelError:
            return Answer(None, self._retrieve(body))

    @like(E2G.stream)
    def stream(self, **asked: Any) -> Generator[Evidence | str | Answer]:
        body = question_of(asked)
        try:
            with self._stream("POST", "/v1/ask", json=body | {"stream": True}) as reply:
                for name, data in events(reply.iter_lines()):
                    if name == "error":
                        raise error_of(data)
                    if name == "delta":
                        yield data["text"]
                    elif name in ("evidence", "done"):
                        yield (Evidence if name == "evidence" else Answer).from_dict(data)
        except NoChatModelError:
            evidence = self._retrieve(body)
            yield evidence
            yield Answer(None, evidence)

    def _retrieve(self, body: Mapping[str, Any]) -> Evidence:
        fields = {"question", "corpora", *RetrievalOptions.model_fields}
        asked = {name: one for name, one in body.items() if name in fields}
        return Evidence.from_dict(self._send("POST", "/v1/retrieve", json=asked))

    # --- other graphs and archives ---------------------------------------------------------------------

    @like(E2G.unlink)
    def unlink(self, corpus: str, label: str | None) -> int:
        task = self._send("DELETE", corpus_path(corpus, "links"), params=collect_arguments(label=label))
        return self._wait(task, dict[str, int])["links"]

    @like(E2G.unadopt)
    def unadopt(self, corpus: str) -> list[DocumentInfo]:
        listed = self.documents(corpus)
        self._wait(self._send("DELETE", corpus_path(corpus, "adoption")), dict)
        return listed

    @like(E2G.export_corpus)
    def export_corpus(self, file: str | Path, corpus: str, format: Format) -> ArchiveInfo:
        path = Path(file)
        unfinished = path.with_name(f"{path.name}.{uuid4().hex}.part")
        try:
            if path.exists():
                raise InputError(f"{path} exists already: choose another name.")
            with self._stream("GET", corpus_path(corpus, "export"), params={"format": format}) as reply:
                counts = json.loads(reply.headers["E2G-Archive"])
                with unfinished.open("xb") as target:
                    for part in reply.iter_bytes():
                        target.write(part)
            unfinished.replace(path)
            return ArchiveInfo(corpus=corpus, file=str(path), bytes=path.stat().st_size, **counts)
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
        finally:
            unfinished.unlink(missing_ok=True)

    @like(E2G.import_corpus)
    def import_corpus(self, file: str | Path, corpus: str | None) -> ArchiveInfo:
        path = Path(file)
        if corpus is None:
            with closing(Archive(path)) as archive:
                corpus = archive.manifest.corpus
        try:
            with path.open("rb") as content:
                task = self._send("POST", "/v1/imports", data={"corpus": corpus}, files={"file": (path.name, content)})
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
        return self._wait(task, ArchiveInfo)

    # --- requests --------------------------------------------------------------------------------------

    def task(self, id: str, *, wait: int = 0) -> TaskInfo:
        """A task of the service, at once or when it has ended, but after at most `wait` seconds."""
        return parse(TaskInfo, self._send("GET", f"/v1/tasks/{quote(id, safe='')}", params={"wait": wait}))

    def _wait(self, task: Any, kind: type[T], progress: Progress | None = None) -> T:
        """Wait for the end of a task and return its result."""
        found = parse(TaskInfo, task)
        while found.state not in ENDED:
            found = self.task(found.id, wait=1 if progress else WAIT_SECONDS)
            if progress and found.stage:
                progress(found.stage, found.done, found.total)
        if found.state == "cancelled":
            raise E2GError(f"The task {found.id} was cancelled. What it finished is kept.")
        if found.error:
            raise error_of(found.error)
        return parse(kind, found.result or {})

    def _send(self, verb: str, path: str, **content: Any) -> Any:
        headers = {"Idempotency-Key": uuid4().hex} if verb != "GET" else {}
        with self._connection():
            for attempt in range(4):
                reply = self._http.request(verb, path, headers=headers, **content)
                seconds = float(reply.headers.get("Retry-After", "1"))
                if reply.status_code != 429 or attempt == 3 or seconds > LONGEST_PAUSE:
                    break
                time.sleep(seconds)
        check(reply)
        return reply.json()

    @contextmanager
    def _stream(self, verb: str, path: str, **content: Any) -> Iterator[httpx.Response]:
        """Send a request whose reply is read in pieces."""
        with self._connection(), self._http.stream(verb, path, **content) as reply:
            check(reply)
            yield reply

    @contextmanager
    def _connection(self) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            where = self._http.base_url
            raise UnreachableError(f"The service at {where} cannot be reached ({error}): check the address.") from error

    def _upload(
        self,
        corpus: str,
        batch: Iterable[Named],
        reading: ReadingReport,
        properties: Properties | None = None,
        budget_tokens: int | None = None,
        **options: Any,
    ) -> Any:
        """Send files or documents. `reading` takes why files cannot be opened any more."""
        send = partial(self._send, "POST", corpus_path(corpus, "documents"), params=collect_arguments(**options))
        documents = [
            {"source": one.source, "title": one.title, "text": one.text, "properties": plain(one.properties)}
            for _, one in batch
            if isinstance(one, SourceDocument)
        ]
        if documents:
            return send(json={"documents": documents, "budget_tokens": budget_tokens})
        with ExitStack() as stack:
            files = []
            for name, file in ((name, one) for name, one in batch if isinstance(one, Path)):
                try:
                    files.append(("files", (name, stack.enter_context(file.open("rb")))))
                except OSError as error:
                    reading.failed[quote_path(file)] = f"{quote_path(file)} cannot be read: {error.strerror or error}."
            if not files or options["strict"]:
                reading.check(strict=options["strict"], read=bool(files))
            added = None if properties is None else json.dumps(plain(properties))
            return send(files=files, data=collect_arguments(budget_tokens=budget_tokens, properties=added))


class NoChatModelError(ConfigurationError):
    """No chat model is configured at the service."""


def collect_arguments(**values: Any) -> dict[str, Any]:
    """Return the arguments that are given: None is not sent."""
    return {name: one for name, one in values.items() if one is not None}


def plain(properties: Properties | None) -> dict[str, Any] | None:
    return None if properties is None else {**properties}


def parse(kind: type[T], value: Any) -> T:
    return TypeAdapter(kind).validate_python(value)


def question_of(asked: dict[str, Any]) -> dict[str, Any]:
    if asked.pop("chat_model") is not None:
        raise InputError("A service asks its own chat model: leave `chat_model` out, and set E2G_CHAT_MODEL there.")
    asked.pop("progress", None)
    asked["corpora"] = corpora_to_ask(asked.pop("corpus"), asked["corpora"])
    options = RetrievalOptions.of(asked.pop("retrieval"), asked.pop("options"))
    return asked | options.model_dump(exclude_defaults=True)


def corpus_path(corpus: str, *parts: str) -> str:
    """Return the address of a corpus, or of a part of it. Raise InputError if there is none for this name."""
    if not corpus.strip() or not has_address(corpus):
        check_corpus_name(corpus)
    return "/".join(["/v1/corpora", *(quote(part, safe="") for part in (corpus, *parts))])


def batches(sources: Iterable[Source], reading: ReadingReport, *, strict: bool = False) -> list[list[Named]]:
    """Return files and documents in groups that fit into one request each. `reading` takes why others are not read; if
    none is, or with `strict` one, this raises a ReadingError."""
    items: list[tuple[int, Named]] = []
    skipped: set[Path] = set()
    for one in sources:
        if isinstance(one, SourceDocument):
            items.append((len(one.text.encode()), (one.source, one)))
        else:
            root = Path(one).expanduser()
            for file in find(one, reading.failed, skipped):
                name = str(file.relative_to(root.absolute())) if root.is_dir() else file.name
                items.append((file.stat().st_size if file.exists() else 0, (name, file)))
    reading.passed_over = explain(skipped)
    if not (items or reading.failed):
        find([])  # says that there is nothing to read
    reading.check(strict=strict, read=bool(items))
    groups: list[list[Named]] = []
    left = 0
    for size, (name, item) in sorted(items, key=lambda item: isinstance(item[1][1], Path)):  # documents first
        if not groups or size > left or len(groups[-1]) == FILES_AT_ONCE or type(item) is not type(groups[-1][0][1]):
            groups.append([])
            left = BYTES_AT_ONCE
        groups[-1].append((name, item))
        left -= size
    return groups


def add_reports(report: IndexReport, other: IndexReport) -> IndexReport:
    """Return the sum of two reports of one corpus. Of what the corpus has, the later counts."""
    of_corpus = {name: getattr(other, name) for name in ("dry_run", "entities", "co_occurrences", "mentions")}
    summed: IndexReport = replace(_sum(report, other), **of_corpus)
    return summed


def _sum(first: Any, second: Any) -> Any:
    """Add numbers and lists, and those in dicts and reports. Of texts, the second remains."""
    if isinstance(first, dict):
        return first | {key: _sum(first[key], value) if key in first else value for key, value in second.items()}
    if is_dataclass(first):
        names, kind = [field.name for field in fields(first)], cast(Any, type(first))
        return kind(*(_sum(getattr(first, name), getattr(second, name)) for name in names))
    return second if isinstance(first, str) else first + second


def events(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
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


def check(reply: httpx.Response) -> None:
    if reply.is_error:
        try:
            error = error_of(json.loads(reply.read()), reply.status_code)
        except (ValueError, KeyError, TypeError):
            status = reply.status_code
            error = E2GError(f"The service replied with status {status}. Is this the address of e2g-neo4j?")
        raise error


def error_of(body: Mapping[str, Any], status: int = 0) -> E2GError:
    """Return the error that a problem stands for, of the class that `E2G` would raise."""
    code, detail = str(body["code"]), str(body["detail"])
    if status in (401, 403):
        return AccessError(f"{detail} {body.get('next', '')}".strip())
    if code == "no_chat_model":
        return NoChatModelError(detail)
    name = "".join(part.capitalize() for part in code.split("_")) + "Error"
    kind: type[E2GError] = getattr(errors, name, InputError if status == 422 else E2GError)
    error = kind.__new__(kind)  # some classes make their message from other arguments
    error.args = (detail,)
    return error
