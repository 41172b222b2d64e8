"""Documents: upload, list, read, replace and delete."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query, Request, Response
from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile

from e2g_neo4j.documents.files import ReadingReport
from e2g_neo4j.documents.processes import SERVICE, limits_of
from e2g_neo4j.documents.uploads import read_text, read_upload, suffix_of
from e2g_neo4j.errors import DocumentNotFoundError, ReadingError
from e2g_neo4j.graph import catalog
from e2g_neo4j.runtime.threads import in_stoppable_thread
from e2g_neo4j.service.access import Reader, VisibleCorpus, Writer, hide_in_document, hide_in_text
from e2g_neo4j.service.problems import ProblemError, error_responses, fault_message
from e2g_neo4j.service.schemas import MAX_BUDGET, DocumentPage, Given, NewPage, NewText, TextDocuments
from e2g_neo4j.service.state import state_of
from e2g_neo4j.service.streams import while_connected
from e2g_neo4j.service.uploads import Submit, Upload, file_parts, text_parts
from e2g_neo4j.types.documents import UPLOAD, SourceDocument
from e2g_neo4j.types.ids import check_corpus_name
from e2g_neo4j.types.reports import DocumentInfo, DocumentText, IndexReport, State
from e2g_neo4j.types.service import TaskInfo

T = TypeVar("T")

_BUDGET = re.compile(r"0{0,9}[1-9][0-9]{0,14}")

MAX_FILES = 1000

MAX_JSON = 40 * 2**20
"""Maximum bytes of texts in JSON. They are parsed as a whole, while forms are read piece by piece."""

router = APIRouter(prefix="/v1/corpora/{corpus}/documents", tags=["documents"])

uploads = APIRouter(prefix="/v1/corpora/{corpus}/documents", tags=["documents"])
"""The routes that take large bodies."""

_TEXTS = TypeAdapter(TextDocuments)
_TEXT = TypeAdapter(NewText)
_PROPERTIES = TypeAdapter(Given)


def _bodies(json_body: str, file: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a body that is JSON or a form with files."""
    form = {"type": "object", "properties": file, "required": list(file)[:1], "additionalProperties": False}
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"$ref": f"#/components/schemas/{json_body}"}},
                "multipart/form-data": {"schema": form},
            },
        }
    }


_FILE = {"type": "string", "contentMediaType": "application/octet-stream"}
_FILE_PROPERTIES = {
    "type": "string",
    "contentMediaType": "application/json",
    "contentSchema": {"type": "object"},
    "description": "Properties of all documents in the files, added to those that they have themselves. Default: those "
    "that are stored.",
}


@uploads.post(
    "",
    status_code=202,
    response_model=TaskInfo,
    responses={
        **error_responses(404, 409, 415),
        200: {"model": IndexReport, "description": "With `dry_run`: what indexing would do and cost."},
    },
    openapi_extra=_bodies(
        "TextDocuments",
        {
            "files": {"type": "array", "items": _FILE, "minItems": 1},
            "budget_tokens": {"type": "integer", "minimum": 1, "maximum": MAX_BUDGET},
            "properties": _FILE_PROPERTIES,
        },
    ),
)
async def add_documents(
    request: Request,
    corpus: VisibleCorpus,
    caller: Writer,
    submit: Submit,
    dry_run: bool = False,
    strict: bool = False,
    language: Annotated[str | None, Query(pattern="^[a-z]{2,3}$")] = None,
) -> Any:
    """Index documents: files of a form, or texts in JSON. A document with a known name or source is replaced.

    Files that cannot be read are left out, and `failed` of the result has the reasons. With `strict`, or if none can be
    read, the task fails and nothing is indexed.

    `language` is the language of a new corpus; by default, that of most of the text.

    The kind of a file is that of its name, or else that of its content type.
    """
    check_corpus_name(corpus)
    async with request.form(max_files=MAX_FILES, max_fields=10) as form:
        files, parameters = await _documents(request, form)
        if dry_run:
            state, most = state_of(request), limits_of(state_of(request).client.settings, SERVICE)
            async with state.limits.dry_run(caller, most.seconds):
                planning = _plan(request, corpus, files, parameters, language=language, strict=strict)
                plan = await while_connected(request, planning)
            return Response(TypeAdapter(IndexReport).dump_json(plan), media_type="application/json")
        parameters |= {"strict": True} if strict else {}
        parameters |= {"language": language} if language else {}
        return await submit("index", corpus, parameters, files=files)


@router.post("/fetch", status_code=202, responses=error_responses(404))
async def fetch_page(request: Request, corpus: VisibleCorpus, page: NewPage, _: Writer, submit: Submit) -> TaskInfo:
    """Fetch a file of the web, and index it as if it were uploaded; its source is the address.

    Only if the service has E2G_FETCH_PAGES, and only from public addresses, also after redirects.
    """
    check_corpus_name(corpus)
    if not state_of(request).client.settings.fetch_pages:
        detail = "This service fetches nothing from the web: upload the file. Its operator can set E2G_FETCH_PAGES."
        raise ProblemError(403, "no_pages", detail)
    return await submit("index", corpus, {"page": page.url})


@uploads.put(
    "/{document}",
    status_code=202,
    responses=error_responses(404, 409, 415),
    openapi_extra=_bodies("NewText", {"file": _FILE, "properties": _FILE_PROPERTIES}),
)
async def replace_document(
    request: Request, corpus: VisibleCorpus, document: str, _: Writer, submit: Submit
) -> TaskInfo:
    """Replace the text of a document, in one transaction. It keeps its id and source."""
    stored = await _find_document(request, corpus, document)
    parameters: dict[str, Any] = {"document": stored.id}
    async with request.form(max_files=1, max_fields=1) as form:
        if _media_type(request) == "application/json":
            new = await asyncio.to_thread(_read, _TEXT, await _json(request))
            files = [text_parts(stored.source, new.text)]
            parameters |= {"documents": [{"source": stored.source, "title": new.title, "properties": new.properties}]}
        else:
            files = [file_parts(one) for one in form.getlist("file") if isinstance(one, UploadFile)]
            properties = _properties(form)
            if len(files) != 1 or len(form.multi_items()) != 1 + ("properties" in form):
                raise ProblemError(422, "invalid", "file: Send exactly one file, and nothing else but `properties`.")
            parameters |= {"properties": properties}
        return await submit("replace", corpus, parameters, files=files)


@router.get("", responses=error_responses(404))
async def list_documents(
    request: Request,
    corpus: VisibleCorpus,
    caller: Reader,
    state: State | None = None,
    newest: Annotated[bool, Query(description="Put those first that changed last.")] = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[str | None, Query(max_length=100, description="From the reply before.")] = None,
) -> DocumentPage:
    """List the documents of a corpus, by title. A page with many properties has fewer than `limit`."""
    asked = catalog.document_page(corpus, state=state, newest=newest, limit=limit, after=cursor)
    try:
        page, more = await state_of(request).client.runner.run(asked)
    except DocumentNotFoundError:
        detail = "cursor: This document is gone; begin again without a cursor."
        raise ProblemError(422, "invalid", detail) from None
    return DocumentPage(documents=[hide_in_document(one, caller) for one in page], cursor=page[-1].id if more else None)


@router.get("/{document}", responses=error_responses(404))
async def get_document(request: Request, corpus: VisibleCorpus, document: str, caller: Reader) -> DocumentInfo:
    """Return a document and its state."""
    return hide_in_document(await _find_document(request, corpus, document), caller)


@router.get("/{document}/text", responses=error_responses(404))
async def get_text(
    request: Request,
    corpus: VisibleCorpus,
    document: str,
    caller: Reader,
    start: Annotated[int, Query(ge=0, le=2**53)] = 0,
    end: Annotated[int | None, Query(ge=0, le=2**53)] = None,
) -> DocumentText:
    """Return the text of a document, or a part of it, at most a million characters."""
    last = start + catalog.MAX_TEXT if end is None else min(end, start + catalog.MAX_TEXT)
    return hide_in_text(await state_of(request).client.runner.ask(catalog.text(corpus, document, start, last)), caller)


@router.delete("/{document}", status_code=202, responses=error_responses(404))
async def delete_document(
    request: Request, corpus: VisibleCorpus, document: str, _: Writer, submit: Submit
) -> TaskInfo:
    """Delete a document, with everything that only it contributed."""
    stored = await _find_document(request, corpus, document)
    return await submit("delete", corpus, {"documents": [stored.id]})


async def _find_document(request: Request, corpus: str, document: str) -> DocumentInfo:
    """Return a document by its id. Raises NotFoundError if there is none."""
    return await state_of(request).client.runner.run(catalog.document(corpus, document))


async def _documents(request: Request, form: FormData) -> tuple[list[Upload], dict[str, Any]]:
    """Return the files of an upload and the parameters of its task."""
    if _media_type(request) == "application/json":
        return await asyncio.to_thread(_texts, await _json(request))
    files = [file_parts(one) for one in form.getlist("files") if isinstance(one, UploadFile)]
    budget = form.get("budget_tokens")
    if budget is not None and not (isinstance(budget, str) and _BUDGET.fullmatch(budget)):
        raise ProblemError(422, "invalid", f"budget_tokens: Send a whole number from 1 to {MAX_BUDGET}.")
    properties = _properties(form)
    if not files or (len(form.multi_items()) != len(files) + (budget is not None) + ("properties" in form)):
        raise ProblemError(
            422,
            "invalid",
            "files: Send one file or several in the fields `files`, and nothing else but `properties` and "
            "`budget_tokens`.",
        )
    return files, {"budget_tokens": int(budget) if isinstance(budget, str) else None, "properties": properties}


async def _json(request: Request) -> bytes:
    """Return a body of JSON. Raises a 413 if it is too large."""
    body = await request.body()
    if len(body) > MAX_JSON:
        detail = (
            f"A body of JSON may have {MAX_JSON // 2**20} MiB: send the texts as files of a form, or fewer at once."
        )
        raise ProblemError(413, "too_large", detail)
    return body


def _texts(body: bytes) -> tuple[list[Upload], dict[str, Any]]:
    """Return the texts of a body as files, and the parameters of their task."""
    given = _read(_TEXTS, body)
    numbers = Counter(one.source for one in given.documents)
    if twice := [source for source, number in numbers.items() if number > 1]:
        raise ProblemError(422, "invalid", f"documents: The source {twice[0]!r} is there twice.")
    files = [text_parts(one.source, one.text) for one in given.documents]
    described = [{"source": one.source, "title": one.title, "properties": one.properties} for one in given.documents]
    return files, {"documents": described, "budget_tokens": given.budget_tokens}


def _properties(form: FormData) -> dict[str, Any] | None:
    """Return the properties that a form gives to the documents of its files."""
    given = form.get("properties")
    if given is None:
        return None
    if not isinstance(given, str):
        raise ProblemError(422, "invalid", "properties: Send a JSON object in a field, not a file.")
    return _read(_PROPERTIES, given.encode(), "properties")


async def _plan(
    request: Request,
    corpus: str,
    files: Sequence[Upload],
    parameters: dict[str, Any],
    *,
    language: str | None,
    strict: bool,
) -> IndexReport:
    client = state_of(request).client
    limits = limits_of(client.settings, SERVICE)
    titles = [one["title"] for one in parameters.get("documents", ())]
    reading = ReadingReport()

    def read_all(check: Callable[[], None]) -> list[SourceDocument]:
        documents: list[SourceDocument] = []
        with tempfile.TemporaryDirectory(prefix="e2g-plan-") as folder:
            for number, one in enumerate(files):
                check()
                try:
                    if titles:
                        text = b"".join(one.parts())
                        documents.append(read_text(text, one.name, corpus, limits, title=titles[number]))
                        continue
                    path = Path(folder, f"{number}{suffix_of(one.name, one.content_type)}")
                    with path.open("wb") as target:
                        target.writelines(one.parts())
                    documents += read_upload(path, one.name, corpus, limits, check, report=reading)
                except ReadingError as error:
                    reading.failed[UPLOAD + one.name] = str(error)
        reading.check(strict=strict, read=bool(documents))
        return documents

    plan = await client.index(await in_stoppable_thread(read_all), corpus=corpus, language=language, dry_run=True)
    return replace(plan, failed=reading.failed, warnings=reading.warnings | plan.warnings)


def _media_type(request: Request) -> str:
    """Return the media type of a body. Raises a 415 if it is neither JSON nor a form."""
    given = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if given not in ("application/json", "multipart/form-data"):
        raise ProblemError(415, "media_type", "Send application/json or multipart/form-data.")
    return given


def _read(kind: TypeAdapter[T], body: bytes, *place: str) -> T:
    try:
        return kind.validate_json(body)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise ProblemError(422, "invalid", fault_message({**fault, "loc": place + fault["loc"]})) from None
