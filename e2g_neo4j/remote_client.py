"""The client of a service elsewhere. Its calls are those of `E2G`, with their signatures.

with RemoteE2G("http://127.0.0.1:8000", key="e2g_…") as e2g:
    e2g.index(["dracula.txt"], corpus="novels")
    print(e2g.answer("How does Van Helsing know Dracula?", corpus="novels").text)
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from pydantic import TypeAdapter

from e2g_neo4j.client import E2G
from e2g_neo4j.documents.files import ReadingReport
from e2g_neo4j.errors import InputError, ReadingError
from e2g_neo4j.graph.archive.format import Format
from e2g_neo4j.graph.archive.importing import Archive
from e2g_neo4j.graph.catalog import choose_document, choose_documents
from e2g_neo4j.remote_base import (
    BYTES_AT_ONCE,
    FILES_AT_ONCE,
    NoChatModelError,
    RemoteBase,
    add_reports,
    batches,
    corpus_path,
    error_in,
    error_of,
    events,
    like,
    name_of,
    request,
)
from e2g_neo4j.retrieval.options import RetrievalOptions
from e2g_neo4j.types.documents import SourceDocument
from e2g_neo4j.types.ids import corpora_to_ask
from e2g_neo4j.types.properties import Properties, check_properties
from e2g_neo4j.types.reports import (
    ArchiveInfo,
    DocumentInfo,
    DocumentText,
    IndexReport,
    Progress,
)
from e2g_neo4j.types.results import Answer, Evidence


class RemoteE2G(RemoteBase):
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
    merges = request(E2G.merges, "GET", "merges")
    merge = request(E2G.merge, "PUT", "merges", "{name}")
    references = request(E2G.references, "GET", "references")
    split = request(E2G.split, "PUT", "splits", "{name}")
    join = request(E2G.join, "DELETE", "splits", "{name}")
    enrich = request(E2G.enrich, "POST", "enrich", task=True)
    links = request(E2G.links, "GET", "links")
    link = request(E2G.link, "POST", "links", task=True)
    adopt = request(E2G.adopt, "POST", "adoption", task=True)

    # --- documents -------------------------------------------------------------------------------------

    @like(E2G.index)
    def index(
        self,
        sources: Iterable[str | Path | SourceDocument],
        corpus: str,
        progress: Progress | None,
        budget_tokens: int | None,
        properties: Properties | None,
        language: str | None,
        strict: bool,
        prune: bool,
        dry_run: bool,
    ) -> IndexReport:
        if dry_run:
            return self._plan(sources, corpus, language, strict)
        if prune:
            raise InputError("A service keeps no paths, so it cannot tell which files are gone: use `delete`.")
        if properties is not None:
            properties = check_properties(properties)
            sources = [one.with_properties(properties) if isinstance(one, SourceDocument) else one for one in sources]
        reading = ReadingReport()
        groups = list(batches(sources, reading))
        reading.check(strict=strict, read=bool(groups))
        for batch in groups if strict and len(groups) > 1 else ():
            # nothing is written before
            self._upload(batch, corpus, None, reading.failed, language=language, dry_run=True, strict=True)
        report: IndexReport | None = None
        left = budget_tokens
        for batch in groups:
            try:
                task = self._upload(batch, corpus, left, reading.failed, properties, language=language, strict=strict)
                done = self._finished(task, IndexReport, progress)
            except ReadingError as error:  # of all files of this request
                if strict or len(groups) == 1:
                    raise
                reading.failed[f"{name_of(batch[0])} and all {len(batch)} files sent with it"] = str(error)
                continue
            report = done if report is None else add_reports(report, done)
            if budget_tokens is not None:  # at least 1: a batch that needs no call ends well
                spent = sum(one.prompt_tokens + one.completion_tokens for one in report.spending.values())
                left = max(1, budget_tokens - spent)
        if report is None:
            reading.check(strict=True, read=False)
            report = IndexReport(corpus)
        report.failed, report.passed_over = reading.failed | report.failed, reading.passed_over
        return report

    def _plan(
        self, sources: Iterable[str | Path | SourceDocument], corpus: str, language: str | None, strict: bool
    ) -> IndexReport:
        reading = ReadingReport()
        [*groups] = batches(sources, reading)
        reading.check(strict=strict, read=bool(groups))
        if len(groups) > 1:
            raise InputError(f"Plan at most {FILES_AT_ONCE} files and {BYTES_AT_ONCE // 2**20} MiB at once.")
        found = self._upload(groups[0], corpus, None, reading.failed, language=language, dry_run=True, strict=strict)
        plan = TypeAdapter(IndexReport).validate_python(found)
        plan.failed, plan.passed_over = reading.failed | plan.failed, reading.passed_over
        return plan

    @like(E2G.delete)
    def delete(self, targets: Iterable[str | Path] | None, corpus: str) -> list[DocumentInfo]:
        listed = self.documents(corpus)
        if targets is None:
            self._finished(self._send("DELETE", corpus_path(corpus)), dict, None)
            return listed
        chosen = choose_documents(list(targets), listed, corpus)
        for document in chosen:
            self._finished(self._send("DELETE", corpus_path(corpus, "documents", document.id)), dict, None)
        return chosen

    @like(E2G.documents)
    def documents(self, corpus: str) -> list[DocumentInfo]:
        return list(self._documents(corpus))

    def _documents(self, corpus: str) -> Iterator[DocumentInfo]:
        cursor: str | None = None
        while True:
            page = self._get(corpus_path(corpus, "documents"), limit=1000, cursor=cursor)
            yield from TypeAdapter(list[DocumentInfo]).validate_python(page["documents"])
            cursor = page["cursor"]
            if cursor is None:
                return

    @like(E2G.text)
    def text(self, document: str, corpus: str, start: int, end: int | None) -> DocumentText:
        if not re.fullmatch(r"[0-9a-f]{16}", document):  # the id that every document has
            document = choose_document(document, self.documents(corpus), corpus).id
        found = self._get(corpus_path(corpus, "documents", document, "text"), start=start, end=end)
        return TypeAdapter(DocumentText).validate_python(found)

    @like(E2G.corpora)
    def corpora(self) -> dict[str, int]:
        return {row["corpus"]: row["documents"] for row in self._get("/v1/corpora")}

    # --- questions -------------------------------------------------------------------------------------

    @like(E2G.retrieve)
    def retrieve(self, question: str, **how: Any) -> Evidence:
        return Evidence.from_dict(self._send("POST", "/v1/retrieve", json=_question(question, **how)))

    @like(E2G.answer)
    def answer(self, question: str, **how: Any) -> Answer:
        try:
            return Answer.from_dict(self._send("POST", "/v1/ask", json=_question(question, **how)))
        except NoChatModelError:
            return Answer(None, self.retrieve(question, **_retrieval(**how)))

    @like(E2G.stream)
    def stream(self, question: str, **how: Any) -> Generator[Evidence | str | Answer]:
        body = _question(question, **how) | {"stream": True}
        try:
            with self._http.stream("POST", "/v1/ask", json=body) as reply:
                if reply.is_error:
                    reply.read()
                    raise error_in(reply)
                for name, data in events(reply.iter_lines()):
                    if name == "evidence":
                        yield Evidence.from_dict(data)
                    elif name == "delta":
                        yield data["text"]
                    elif name == "error":
                        raise error_of(data)
                    elif name == "done":
                        yield Answer.from_dict(data)
        except NoChatModelError:
            evidence = self.retrieve(question, **_retrieval(**how))
            yield evidence
            yield Answer(None, evidence)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

    # --- other graphs and archives ---------------------------------------------------------------------

    @like(E2G.unlink)
    def unlink(self, corpus: str, label: str | None) -> int:
        parameters = {"label": label} if label else {}
        task = self._send("DELETE", corpus_path(corpus, "links"), params=parameters)
        return int(self._finished(task, dict, None)["links"])

    @like(E2G.unadopt)
    def unadopt(self, corpus: str) -> list[DocumentInfo]:
        listed = self.documents(corpus)
        self._finished(self._send("DELETE", corpus_path(corpus, "adoption")), dict, None)
        return listed

    @like(E2G.export_corpus)
    def export_corpus(self, file: str | Path, corpus: str, format: Format) -> ArchiveInfo:
        path = Path(file)
        partial = path.with_name(f"{path.name}.{uuid4().hex}.part")
        try:
            if path.exists():
                raise InputError(f"{path} exists already: choose another name.")
            with self._http.stream("GET", corpus_path(corpus, "export"), params={"format": format}) as reply:
                if reply.is_error:
                    reply.read()
                    raise error_in(reply)
                counts = json.loads(reply.headers["E2G-Archive"])
                with partial.open("xb") as target:
                    for part in reply.iter_bytes():
                        target.write(part)
            shutil.move(partial, path)
            return ArchiveInfo(corpus=corpus, file=str(path), bytes=path.stat().st_size, **counts)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
        finally:
            partial.unlink(missing_ok=True)

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
        return self._finished(task, ArchiveInfo, None)


def _question(
    question: str,
    corpus: str | None,
    corpora: Sequence[str],
    options: RetrievalOptions | None,
    chat_model: object = None,
    progress: object = None,
    **given: Any,
) -> dict[str, Any]:
    """Return the body of a question: what is not an option of retrieval stays as it is."""
    if chat_model is not None:
        raise InputError("A service asks its own chat model: leave `chat_model` out, and set E2G_CHAT_MODEL there.")
    retrieval: Any = {name: given.pop(name) for name in [*given] if name in RetrievalOptions.model_fields}
    chosen = RetrievalOptions.of(retrieval, options).model_dump(exclude_defaults=True)
    return {"question": question, "corpora": corpora_to_ask(corpus, corpora), **given, **chosen}


def _retrieval(**how: Any) -> dict[str, Any]:
    """Return what `retrieve` takes of the arguments of `answer`."""
    return {name: how[name] for name in how if name in {"corpus", "corpora", "options", *RetrievalOptions.model_fields}}
