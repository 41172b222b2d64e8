"""Corpora: list, statistics, deletion, export and import."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, Form, Request, UploadFile
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from e2g_neo4j.graph import catalog
from e2g_neo4j.indexing.archive.contents import Format
from e2g_neo4j.service.access import Reader, VisibleCorpus, Writer, check_wall
from e2g_neo4j.service.problems import error_responses
from e2g_neo4j.service.schemas import CorpusInfo, Name
from e2g_neo4j.service.state import state_of
from e2g_neo4j.service.uploads import Submit, file_parts
from e2g_neo4j.types.ids import check_corpus_name
from e2g_neo4j.types.service import TaskInfo

router = APIRouter(prefix="/v1", tags=["corpora"])

imports = APIRouter(prefix="/v1", tags=["corpora"])
"""The route that takes archives."""


@router.get("/corpora", responses=error_responses())
async def list_corpora(request: Request, caller: Reader) -> list[CorpusInfo]:
    """List the corpora that the key may see."""
    found = await state_of(request).client.corpora()
    return [CorpusInfo(corpus=name, documents=found[name]) for name in caller.visible(found)]


@router.get("/corpora/{corpus}", responses=error_responses(404))
async def corpus_statistics(request: Request, corpus: VisibleCorpus, _: Reader) -> dict[str, int]:
    """Return how much a corpus holds."""
    return await state_of(request).client.stats(corpus)


@router.delete("/corpora/{corpus}", status_code=202, responses=error_responses(404))
async def delete_corpus(corpus: VisibleCorpus, _: Writer, submit: Submit) -> TaskInfo:
    """Delete a corpus."""
    return await submit("delete_corpus", corpus, {})


@router.get(
    "/corpora/{corpus}/export",
    response_class=FileResponse,
    responses={
        **error_responses(404),
        200: {"content": {"application/zip": {}, "application/graphml+xml": {}}, "description": "The corpus."},
    },
)
async def export(request: Request, corpus: VisibleCorpus, _: Reader, format: Format = "archive") -> FileResponse:
    """Download a corpus as an archive for `POST /imports`, or as GraphML for other tools.

    The header `E2G-Archive` counts its documents, nodes, relationships and cached summaries.
    """
    client = state_of(request).client
    await client.runner.run(catalog.check_corpus(corpus))
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="e2g-export-"))
    remove = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    try:
        file = folder / ("corpus.zip" if format == "archive" else "corpus.graphml")
        done = await client.export_corpus(file, corpus=corpus, format=format)
    except BaseException:
        await remove()
        raise
    media_type = "application/zip" if format == "archive" else "application/graphml+xml"
    counts = {name: getattr(done, name) for name in ("documents", "nodes", "relationships", "summaries")}
    headers = {"E2G-Archive": json.dumps(counts)}
    return FileResponse(file, media_type=media_type, filename=file.name, background=remove, headers=headers)


@imports.post("/imports", status_code=202, responses=error_responses(404))
async def import_corpus(
    caller: Writer,
    submit: Submit,
    file: Annotated[UploadFile, File(description="An archive from `export`.")],
    corpus: Annotated[Name, Form(description="The name of the new corpus.")],
) -> TaskInfo:
    """Make a corpus from an archive, or nothing if it fails."""
    check_wall(caller, [corpus])
    check_corpus_name(corpus)
    return await submit("import", corpus, {}, files=[file_parts(file)])
