"""What callers without the scope `admin` see of sources: not the paths of files on the server, only their names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from e2g_neo4j.service.schemas import AnswerReply
from e2g_neo4j.types.reports import DocumentInfo, DocumentText
from e2g_neo4j.types.results import Evidence, Passage
from e2g_neo4j.types.service import Caller

_PATH = re.compile(r"(?:file:)?(?:[A-Za-z]:)?[/\\].*?([^/\\]*)", re.DOTALL)


def file_name(source: str) -> str:
    """Return the name of the file whose path a source is. Other sources, such as `upload:NAME`, stay as they are."""
    path = _PATH.fullmatch(source)
    return path[1] if path else source


def shown_evidence(evidence: Evidence, caller: Caller) -> Evidence:
    """Return evidence as a caller may see it. Take the ids of documents from the original: they depend on sources."""
    return evidence if _sees_paths(caller) else replace(evidence, passages=_passages(evidence.passages))


def shown_answer(reply: AnswerReply, caller: Caller) -> AnswerReply:
    """Return an answer as a caller may see it."""
    if _sees_paths(caller):
        return reply
    cited = tuple(one.model_copy(update={"source": file_name(one.source)}) for one in reply.citations)
    evidence = shown_evidence(reply.evidence, caller)
    return reply.model_copy(update={"citations": cited, "given": _passages(reply.given), "evidence": evidence})


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
    return tuple(replace(one, source=file_name(one.source)) for one in passages)
