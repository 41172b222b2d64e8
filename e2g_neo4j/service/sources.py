"""What callers see of results: links to the page, and paths of files on the server only with the scope `admin`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import quote

from e2g_neo4j.types.ids import has_address
from e2g_neo4j.types.reports import DocumentInfo, DocumentText
from e2g_neo4j.types.results import Answer, Citation, Evidence, Passage
from e2g_neo4j.types.service import Caller

_PATH = re.compile(r"(?:file:)?(?:[A-Za-z]:)?[/\\].*?([^/\\]*)", re.DOTALL)


def file_name(source: str) -> str:
    """Return the name of the file whose path a source is. Other sources, such as `upload:NAME`, stay as they are."""
    path = _PATH.fullmatch(source)
    return path[1] if path else source


def shown_evidence(evidence: Evidence, caller: Caller) -> Evidence:
    """Return evidence as a caller may see it."""
    return evidence if _sees_paths(caller) else replace(evidence, passages=_passages(evidence.passages))


def shown_answer(answer: Answer, caller: Caller, base: str) -> Answer:
    """Return an answer as a caller may see it, with links under the address of the service."""
    citations = tuple(replace(one, url=link_of(one, base)) for one in answer.citations)
    if _sees_paths(caller):
        return replace(answer, citations=citations)
    citations = tuple(replace(one, passage=_passage(one.passage)) for one in citations)
    evidence = shown_evidence(answer.evidence, caller)
    return replace(answer, citations=citations, given=_passages(answer.given), evidence=evidence)


def link_of(citation: Citation, base: str) -> str | None:
    """Return the address of a cited passage in the page; None for a fact and for a corpus without an address."""
    passage = citation.passage
    if citation.fact is not None or not has_address(passage.corpus):
        return None
    document = f"corpora/{quote(passage.corpus, safe='')}/documents/{passage.document_id}"
    return f"{base}/ui/#/{document}?at={passage.shown.start}"


def shown_document(document: DocumentInfo, caller: Caller) -> DocumentInfo:
    """Return a document as a caller may see it."""
    name = document.source if _sees_paths(caller) else file_name(document.source)
    why = document.why and document.why.replace(document.source, name)
    return replace(document, source=name, why=why)


def shown_text(text: DocumentText, caller: Caller) -> DocumentText:
    """Return a text as a caller may see it."""
    return text if _sees_paths(caller) else replace(text, source=file_name(text.source))


def shown_properties(properties: dict[str, object], caller: Caller) -> dict[str, object]:
    """Return properties of a node as a caller may see them."""
    source = properties.get("source")
    hidden = isinstance(source, str) and not _sees_paths(caller)
    return {**properties, "source": file_name(str(source))} if hidden else properties


def _sees_paths(caller: Caller) -> bool:
    return "admin" in caller.scopes


def _passages(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    return tuple(map(_passage, passages))


def _passage(passage: Passage) -> Passage:
    return replace(passage, source=file_name(passage.source))
