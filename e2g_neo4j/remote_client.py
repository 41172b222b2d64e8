"""The client of a service elsewhere. It has the calls of `E2G`.

with RemoteE2G("http://127.0.0.1:8000", key="e2g_…") as e2g:
    e2g.index(["dracula.txt"], corpus="novels")
    print(e2g.answer("How does Van Helsing know Dracula?", corpus="novels").text)
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack
from uuid import uuid4

import httpx
from pydantic import TypeAdapter

from e2g_neo4j.answering.answer import Method
from e2g_neo4j.answering.global_search import Level
from e2g_neo4j.errors import InputError, ReadingError
from e2g_neo4j.graph.archive.format import Format
from e2g_neo4j.graph.catalog import choose_document, choose_documents
from e2g_neo4j.indexing.sources.files import ReadingReport
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
    name_of,
)
from e2g_neo4j.retrieval.options import RetrievalKeywords, RetrievalOptions
from e2g_neo4j.types.documents import SourceDocument
from e2g_neo4j.types.graph import Alias, EntityInfo
from e2g_neo4j.types.ids import corpora_to_ask
from e2g_neo4j.types.properties import Properties, check_names, check_properties
from e2g_neo4j.types.reports import (
    AdoptReport,
    ArchiveInfo,
    DocumentInfo,
    DocumentText,
    EnrichReport,
    IndexPlan,
    IndexReport,
    Layer,
    LinkReport,
    Progress,
    ReportKind,
)
from e2g_neo4j.types.results import Answer, Evidence


class RemoteE2G(RemoteBase):
    """Index documents and ask them, at a service. A context manager. Thread-safe.

    The calls are those of `E2G`, with the same results. Those that look after the database itself are missing:
    `modes`, `migrate`, `migrations`, `validate`, `doctor`, `paths`, `resume`, `reindex`, `bookmark` and `wait_for`;
    those for graph documents and Cypher: `add_graph_documents`, `run_template` and `text_to_cypher`; `chat_model` and
    `progress` of questions, and `dry_run` of `enrich` and `link`. Calls that change a corpus block until that is done;
    if the service or its worker is restarted meanwhile, it goes on.

    Args:
        url: The address of the service, such as https://e2g.example.org.
        key: An API key; None: that of `E2G_API_KEY`, or none.
        timeout: Seconds without a reply after which a call fails.

    Raises:
        UnreachableError: every call, if the service cannot be reached.
        AccessError: every call, if the key is not valid, or lacks a scope.
    """

    # --- documents -------------------------------------------------------------------------------------

    def index(
        self,
        sources: Iterable[str | Path | SourceDocument],
        *,
        corpus: str,
        progress: Progress | None = None,
        budget_tokens: int | None = None,
        properties: Properties | None = None,
        language: str | None = None,
        strict: bool = False,
    ) -> IndexReport:
        """Upload files, folders, globs or documents, and wait until they are indexed; see `E2G.index`.

        A file is identified by its name, and in a folder by its path from there. Many files are sent in several
        requests, one task each.
        """
        if properties is not None:
            properties = check_properties(properties)
            sources = [one.with_properties(properties) if isinstance(one, SourceDocument) else one for one in sources]
        reading = ReadingReport()
        groups = list(batches(sources, reading.failed))
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
                left = max(1, budget_tokens - _tokens(report))
        if report is None:
            reading.check(strict=True, read=False)
            report = IndexReport(corpus)
        report.failed = reading.failed | report.failed
        return report

    def plan(
        self,
        sources: Iterable[str | Path | SourceDocument],
        *,
        corpus: str,
        language: str | None = None,
        strict: bool = False,
    ) -> IndexPlan:
        """See `E2G.plan`. The documents are uploaded for this, in one request."""
        reading = ReadingReport()
        [*groups] = batches(sources, reading.failed)
        reading.check(strict=strict, read=bool(groups))
        if len(groups) > 1:
            raise InputError(f"Plan at most {FILES_AT_ONCE} files and {BYTES_AT_ONCE // 2**20} MiB at once.")
        found = self._upload(groups[0], corpus, None, reading.failed, language=language, dry_run=True, strict=strict)
        plan = TypeAdapter(IndexPlan).validate_python(found)
        plan.failed = reading.failed | plan.failed
        return plan

    def delete(self, targets: Iterable[str | Path] | None = None, *, corpus: str) -> list[DocumentInfo]:
        """See `E2G.delete`. Targets are ids, sources or titles of documents."""
        listed = self.documents(corpus)
        if targets is None:
            self._finished(self._send("DELETE", corpus_path(corpus)), dict, None)
            return listed
        chosen = choose_documents(list(targets), listed, corpus)
        for document in chosen:
            self._finished(self._send("DELETE", corpus_path(corpus, "documents", document.id)), dict, None)
        return chosen

    def documents(self, corpus: str) -> list[DocumentInfo]:
        """See `E2G.documents`."""
        return list(self._documents(corpus))

    def _documents(self, corpus: str) -> Iterator[DocumentInfo]:
        cursor: str | None = None
        while True:
            page = self._get(corpus_path(corpus, "documents"), limit=1000, cursor=cursor)
            yield from TypeAdapter(list[DocumentInfo]).validate_python(page["documents"])
            cursor = page["cursor"]
            if cursor is None:
                return

    def text(self, document: str, *, corpus: str, start: int = 0, end: int | None = None) -> DocumentText:
        """See `E2G.text`."""
        if not re.fullmatch(r"[0-9a-f]{16}", document):  # the id that every document has
            document = choose_document(document, self.documents(corpus), corpus).id
        found = self._get(corpus_path(corpus, "documents", document, "text"), start=start, end=end)
        return TypeAdapter(DocumentText).validate_python(found)

    def status(self, corpus: str | None = None) -> dict[str, list[DocumentInfo]]:
        """See `E2G.status`."""
        return {name: self.documents(name) for name in ([corpus] if corpus is not None else self.corpora())}

    def corpora(self) -> dict[str, int]:
        """The corpora that the key may see; see `E2G.corpora`."""
        return {row["corpus"]: row["documents"] for row in self._get("/v1/corpora")}

    def stats(self, corpus: str) -> dict[str, int]:
        """See `E2G.stats`."""
        return TypeAdapter(dict[str, int]).validate_python(self._get(corpus_path(corpus)))

    # --- questions -------------------------------------------------------------------------------------

    def retrieve(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        options: RetrievalOptions | None = None,
        **retrieval: Unpack[RetrievalKeywords],
    ) -> Evidence:
        """See `E2G.retrieve`."""
        body = _question(question, corpus, corpora, retrieval, options)
        return Evidence.from_dict(self._send("POST", "/v1/retrieve", json=body))

    def answer(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        choices: Sequence[str] = (),
        samples: int = 1,
        method: Method = "direct",
        level: Level | None = None,
        max_tokens: int | None = None,
        options: RetrievalOptions | None = None,
        **retrieval: Unpack[RetrievalKeywords],
    ) -> Answer:
        """See `E2G.answer`. Without a chat model at the service, the answer has no text."""
        asked = _question(question, corpus, corpora, retrieval, options)
        how = {"choices": list(choices), "samples": samples, "method": method, "level": level}
        body = {**asked, **how, "max_tokens": max_tokens}
        try:
            return Answer.from_dict(self._send("POST", "/v1/ask", json=body))
        except NoChatModelError:
            return Answer(None, self.retrieve(question, corpus=corpus, corpora=corpora, options=options, **retrieval))

    def stream(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        choices: Sequence[str] = (),
        samples: int = 1,
        method: Method = "direct",
        level: Level | None = None,
        max_tokens: int | None = None,
        options: RetrievalOptions | None = None,
        **retrieval: Unpack[RetrievalKeywords],
    ) -> Generator[Evidence | str | Answer]:
        """See `E2G.stream`."""
        asked = _question(question, corpus, corpora, retrieval, options)
        how = {"choices": list(choices), "samples": samples, "method": method, "level": level}
        body = {**asked, **how, "max_tokens": max_tokens, "stream": True}
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
            evidence = self.retrieve(question, corpus=corpus, corpora=corpora, options=options, **retrieval)
            yield evidence
            yield Answer(None, evidence)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

    # --- entities and other graphs ---------------------------------------------------------------------

    def entities(self, query: str = "", *, corpus: str, type: str | None = None, limit: int = 50) -> list[EntityInfo]:
        """See `E2G.entities`."""
        found = self._get(corpus_path(corpus, "entities"), q=query, type=type, limit=limit)
        return TypeAdapter(list[EntityInfo]).validate_python(found)

    def merges(self, query: str = "", *, corpus: str) -> list[Alias]:
        """See `E2G.merges`."""
        return TypeAdapter(list[Alias]).validate_python(self._get(corpus_path(corpus, "merges"), q=query))

    def merge(self, name: str, into: str, *, corpus: str) -> list[Alias]:
        """See `E2G.merge`."""
        sent = self._send("PUT", corpus_path(corpus, "merges", name), json={"into": into})
        return TypeAdapter(list[Alias]).validate_python(sent)

    def split(self, name: str, *, corpus: str) -> list[Alias]:
        """See `E2G.split`."""
        return TypeAdapter(list[Alias]).validate_python(self._send("PUT", corpus_path(corpus, "splits", name)))

    def join(self, name: str, *, corpus: str) -> list[Alias]:
        """See `E2G.join`."""
        return TypeAdapter(list[Alias]).validate_python(self._send("DELETE", corpus_path(corpus, "splits", name)))

    def enrich(
        self,
        *,
        corpus: str,
        layers: Sequence[Layer] | None = None,
        progress: Progress | None = None,
        budget_tokens: int | None = None,
        reports: ReportKind | None = None,
    ) -> EnrichReport:
        """See `E2G.enrich`."""
        body = {
            "layers": None if layers is None else list(layers),
            "reports": reports,
            "budget_tokens": budget_tokens,
        }
        return self._finished(self._send("POST", corpus_path(corpus, "enrich"), json=body), EnrichReport, progress)

    def link(
        self, *, corpus: str, label: str, name: str, aliases: str | None = None, type: str | None = None
    ) -> LinkReport:
        """See `E2G.link`."""
        body = {"label": label, "name": name, "aliases": aliases, "type": type}
        return self._finished(self._send("POST", corpus_path(corpus, "links"), json=body), LinkReport, None)

    def links(self, *, corpus: str, label: str | None = None) -> dict[str, int]:
        """See `E2G.links`."""
        return TypeAdapter(dict[str, int]).validate_python(self._get(corpus_path(corpus, "links"), label=label))

    def unlink(self, *, corpus: str, label: str | None = None) -> int:
        """See `E2G.unlink`."""
        parameters = {"label": label} if label else {}
        task = self._send("DELETE", corpus_path(corpus, "links"), params=parameters)
        return int(self._finished(task, dict, None)["links"])

    def adopt(
        self,
        *,
        corpus: str,
        label: str,
        text: str = "text",
        key: str = "id",
        order: str | None = None,
        document: str | None = None,
        part_of: str | None = None,
        properties: Sequence[str] = (),
        progress: Progress | None = None,
        budget_tokens: int | None = None,
    ) -> AdoptReport:
        """See `E2G.adopt`."""
        body = {
            "label": label,
            "text": text,
            "key": key,
            "order": order,
            "document": document,
            "part_of": part_of,
            "properties": check_names(properties),
            "budget_tokens": budget_tokens,
        }
        task = self._send("POST", corpus_path(corpus, "adoption"), json=body)
        return self._finished(task, AdoptReport, progress)

    def unadopt(self, *, corpus: str) -> list[DocumentInfo]:
        """See `E2G.unadopt`."""
        listed = self.documents(corpus)
        self._finished(self._send("DELETE", corpus_path(corpus, "adoption")), dict, None)
        return listed

    def export_corpus(self, file: str | Path, *, corpus: str, format: Format = "archive") -> ArchiveInfo:
        """Download a corpus to a file that does not exist yet; see `E2G.export_corpus`."""
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

    def import_corpus(self, file: str | Path, *, corpus: str) -> ArchiveInfo:
        """Upload an archive of `export_corpus` and make a corpus of it; see `E2G.import_corpus`."""
        path = Path(file)
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
    retrieval: RetrievalKeywords,
    options: RetrievalOptions | None,
) -> dict[str, Any]:
    given = RetrievalOptions.of(retrieval, options).model_dump(exclude_defaults=True)
    return {"question": question, "corpora": corpora_to_ask(corpus, corpora), **given}


def _tokens(report: IndexReport) -> int:
    return sum(usage.prompt_tokens + usage.completion_tokens for usage in report.spending.values())
