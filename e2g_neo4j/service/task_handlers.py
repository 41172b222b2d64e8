"""What each kind of task does.

A task may be started again after its worker was killed at any point. What an earlier attempt has done is found done:
- `index` and `replace`: unchanged documents are skipped. The first attempt stores which versions it found. A document
  that has since been changed by somebody else is left as it is.
- `delete` and `delete_corpus`: a deletion is recorded in the transaction that hides the document, so that a later
  attempt does not delete what was uploaded in between. Whether communities and vectors of
  entities are up to date is stored with the corpus.
- `import`: recorded in the transaction that completes it. An attempt that was killed is continued.
- `enrich`, `adopt`, `unadopt`, `link`, `unlink`: the same call again gives the same graph.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.documents.fetching import fetch_file
from e2g_neo4j.documents.files import ReadingReport
from e2g_neo4j.documents.processes import SERVICE, limits_of
from e2g_neo4j.documents.uploads import read_text, read_upload, suffix_of
from e2g_neo4j.errors import AdoptedCorpusError, E2GError, InputError, NotFoundError, ReadingError
from e2g_neo4j.graph import catalog, task_leases, tasks
from e2g_neo4j.graph.writer import delete, purge
from e2g_neo4j.indexing import operations
from e2g_neo4j.indexing.adopting import text_nodes
from e2g_neo4j.indexing.archive.reading import Archive
from e2g_neo4j.runtime.requests import Operation, Read
from e2g_neo4j.runtime.threads import in_stoppable_thread
from e2g_neo4j.types.documents import UPLOAD, SourceDocument
from e2g_neo4j.types.properties import Properties, size_of
from e2g_neo4j.types.reports import ArchiveInfo, DocumentInfo, IndexReport, Progress
from e2g_neo4j.types.service import BlobInfo, TaskKind, TaskLease


class LeaseLost(Exception):  # noqa: N818 not an error: another worker goes on with the task
    """Another worker has the task."""


@dataclass(slots=True)
class Run:
    """One attempt of a task, with an empty folder for its files, and what it has cost so far of the chat model."""

    client: AsyncE2G
    lease: TaskLease
    folder: Path
    progress: Progress
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    @property
    def task(self) -> str:
        return self.lease.task.id

    @property
    def corpus(self) -> str:
        return self.lease.task.corpus

    @property
    def parameters(self) -> dict[str, Any]:
        return self.lease.parameters

    @property
    def budget_tokens(self) -> int | None:
        """The budget, less what earlier attempts have spent, and no more than the key of the task may use today."""
        budget = self.parameters.get("budget_tokens")
        given = None if budget is None else max(0, budget - self.lease.task.tokens)
        return min((one for one in (given, self.lease.left) if one is not None), default=None)

    @property
    def limited_by_key(self) -> bool:
        """Whether the budget is what the key of the task may use today."""
        return self.lease.left is not None and self.budget_tokens == self.lease.left

    def count(self, report: IndexReport) -> None:
        """Keep what the chat model cost."""
        self.prompt_tokens = sum(one.prompt_tokens for one in report.spending.values())
        self.completion_tokens = sum(one.completion_tokens for one in report.spending.values())
        self.cost = report.cost


# --- documents ---------------------------------------------------------------------------------------


async def _index(run: Run) -> dict[str, Any]:
    reading = ReadingReport()
    documents = await (_read_page if "page" in run.parameters else _read_upload)(run, reading)
    reading.check(strict=bool(run.parameters.get("strict")), read=bool(documents))
    by_source: dict[str, SourceDocument] = {}
    for document in documents:
        if document.source in by_source:
            raise ReadingError(f"Two documents of the request are called {document.source!r}. Rename one.")
        by_source[document.source] = document
    result = await _index_documents(run, documents)
    return {**result, "failed": reading.failed, "warnings": reading.warnings | result["warnings"]}


async def _replace(run: Run) -> dict[str, Any]:
    replaced = await run.client.runner.run(catalog.document(run.corpus, run.parameters["document"]))
    reading = ReadingReport()
    uploaded = await _read_upload(run, reading, replaced)
    reading.check(strict=True, read=bool(uploaded))
    if len(uploaded) != 1:
        raise ReadingError(
            f"The request contains {len(uploaded)} documents, and one document can only be replaced with one. Index "
            "the others under their own names."
        )
    return await _index_documents(run, [replace(uploaded[0], id=replaced.id, source=replaced.source)])


async def _index_documents(run: Run, documents: Sequence[SourceDocument]) -> dict[str, Any]:
    """Index documents, apart from those that others have changed since the first attempt."""
    versions = await run.client.runner.run(_read_versions(run.corpus, documents))
    before = await run.client.runner.run(task_leases.remember(run.lease, versions))
    if before is None:
        raise LeaseLost
    superseded = {one.id for one in documents if versions[one.id] not in (before.get(one.id), one.sha256)}
    mine = [one for one in documents if one.id not in superseded]
    properties = run.parameters.get("properties")
    check_copies(properties, len(mine), run.client.settings.upload_mb)
    report = await run.client.index(
        mine,
        corpus=run.corpus,
        progress=run.progress,
        budget_tokens=run.budget_tokens,
        properties=properties,
        language=run.parameters.get("language"),
    )
    run.count(report)
    return {**asdict(report), "superseded": [one.source for one in documents if one.id in superseded]}


def check_copies(properties: Properties | None, documents: int, most_mb: int) -> None:
    """Raise InputError if the properties of a form would be copied to more bytes than an upload may have."""
    if properties and (size := size_of(properties)) * documents > most_mb * 2**20:
        raise InputError(
            f"The properties of the form have {size} bytes, and {documents} documents would get them; the maximum is "
            f"{most_mb} MiB for all: send fewer files at once, or smaller properties."
        )


def _read_versions(corpus: str, documents: Sequence[SourceDocument]) -> Operation[dict[str, str | None]]:
    """Return the hashes of the versions of documents that queries see."""
    ids = [one.id for one in documents]
    rows = yield Read("index/documents", {"corpus": corpus, "ids": ids})
    return dict.fromkeys(ids) | {row["id"]: row["sha256"] for row in rows if row["state"] == "ready"}


async def _read_upload(run: Run, report: ReadingReport, replaced: DocumentInfo | None = None) -> list[SourceDocument]:
    """Read the documents that were sent with a task, as far as they can be read: texts if it has the parameter
    `documents`, or else files."""
    texts: list[dict[str, Any]] | None = run.parameters.get("documents")
    given = texts or run.parameters.get("files") or []
    client, limits = run.client, limits_of(run.client.settings, SERVICE)
    stored = await run.client.runner.run(tasks.blobs(run.task))
    documents: list[SourceDocument] = []
    for number, blob in enumerate(stored):
        title = given[blob.file].get("title") if blob.file < len(given) else None
        try:
            if texts is not None:
                title = title or (replaced.title if replaced else None)
                parts = [await client.runner.run(tasks.part(run.task, blob.file, part)) for part in range(blob.parts)]
                document = read_text(b"".join(parts), blob.name, run.corpus, limits, title=title)
                documents.append(replace(document, properties=given[blob.file].get("properties")))
            else:
                path = await _file(run, blob, suffix_of(blob.name, blob.content_type))
                read = partial(read_upload, path, blob.name, run.corpus, limits, title=title, report=report)
                try:
                    documents += await in_stoppable_thread(read)
                finally:
                    path.unlink()
        except ReadingError as error:
            report.failed[UPLOAD + blob.name] = str(error)
        run.progress("parsing", number + 1, len(stored))
    return documents


async def _read_page(run: Run, report: ReadingReport) -> list[SourceDocument]:
    """Fetch the page of a task, and read it as an uploaded file."""
    address, settings = run.parameters["page"], run.client.settings
    file = run.folder / "e2gpage"
    content_type = await fetch_file(address, file, settings.upload_mb * 2**20)
    path = file.rename(file.with_suffix(suffix_of(urlsplit(address).path, content_type)))
    limits = limits_of(settings, SERVICE)
    read = partial(read_upload, path, address, run.corpus, limits, source=address, report=report)
    return await in_stoppable_thread(read)


async def _file(run: Run, blob: BlobInfo, suffix: str) -> Path:
    """Store a file of a task in its folder, under a name of ours."""
    path = run.folder / f"e2gupload{blob.file}{suffix}"
    with path.open("wb") as file:
        for part in range(blob.parts):
            file.write(await run.client.runner.run(tasks.part(run.task, blob.file, part)))
    return path


async def _delete(run: Run) -> dict[str, Any]:
    client, corpus = run.client, run.corpus
    if await client.runner.run(text_nodes.read_adoption(corpus)):
        raise AdoptedCorpusError(corpus, "unadopt it, or delete the nodes and adopt it again")
    wanted: list[str] | None = run.parameters.get("documents")
    if wanted is None:
        wanted = await client.runner.run(catalog.document_ids(corpus))
        wanted = await client.runner.run(task_leases.remember(run.lease, wanted))
        if wanted is None:
            raise LeaseLost
    for number, document in enumerate(wanted):
        await client.runner.run(_delete_once(run.task, corpus, document))
        run.progress("deleting", number + 1, len(wanted))
    # an earlier attempt may have been killed before these
    await client.runner.run(purge(corpus))
    await client.runner.run(operations.update_after_deletion(client.models, corpus, run.progress))
    return {"documents": wanted}


def _delete_once(task: str, corpus: str, document: str) -> Operation[None]:
    if (yield Read("query/document", {"corpus": corpus, "document": document})) and not (
        yield from task_leases.step_done(task, document)
    ):
        yield from delete(corpus, [document], task_leases.do_step(task, document))


# --- corpora -----------------------------------------------------------------------------------------


async def _import(run: Run) -> dict[str, Any]:
    client = run.client
    [blob] = await client.runner.run(tasks.blobs(run.task))
    path = await _file(run, blob, ".zip")
    try:
        if await client.runner.run(task_leases.step_done(run.task, "import")):
            info = await asyncio.to_thread(_info, path, run.corpus)
        else:
            mark = task_leases.do_step(run.task, "import")
            info = await client.runner.run(operations.import_corpus(client.models, path, run.corpus, mark))
    except E2GError as error:
        error.args = (str(error).replace(str(path), blob.name),)
        raise
    return {**asdict(info), "file": blob.name}


def _info(path: Path, corpus: str) -> ArchiveInfo:
    with closing(Archive(path)) as archive:
        return archive.info(corpus)


async def _enrich(run: Run) -> dict[str, Any]:
    how = {**run.parameters, "budget_tokens": run.budget_tokens}
    report = await run.client.enrich(corpus=run.corpus, progress=run.progress, **how)
    for made in report.layers.values():
        run.prompt_tokens += made.usage.prompt_tokens
        run.completion_tokens += made.usage.completion_tokens
        run.cost += made.cost
    return asdict(report)


async def _adopt(run: Run) -> dict[str, Any]:
    how = {**run.parameters, "budget_tokens": run.budget_tokens}
    report = await run.client.adopt(corpus=run.corpus, progress=run.progress, **how)
    run.count(report.index)
    return asdict(report)


async def _unadopt(run: Run) -> dict[str, Any]:
    try:
        documents = await run.client.unadopt(corpus=run.corpus)
    except NotFoundError:
        if run.lease.task.attempt == 1:
            raise
        documents = []  # an earlier attempt has done it
    return {"documents": [one.id for one in documents]}


async def _link(run: Run) -> dict[str, Any]:
    return asdict(await run.client.link(corpus=run.corpus, **run.parameters))


async def _unlink(run: Run) -> dict[str, Any]:
    return {"links": await run.client.unlink(corpus=run.corpus, label=run.parameters.get("label"))}


TASK_HANDLERS: dict[TaskKind, Callable[[Run], Coroutine[Any, Any, dict[str, Any]]]] = {
    "index": _index,
    "replace": _replace,
    "delete": _delete,
    "delete_corpus": _delete,
    "import": _import,
    "enrich": _enrich,
    "adopt": _adopt,
    "unadopt": _unadopt,
    "link": _link,
    "unlink": _unlink,
}
