"""The text of a PDF, page by page, by pdfminer."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pdfminer.converter import PDFPageAggregator
from pdfminer.layout import LAParams, LTContainer, LTTextContainer
from pdfminer.pdfdocument import PDFDocument, PDFPasswordIncorrect
from pdfminer.pdfinterp import PDFPageInterpreter, PDFResourceManager
from pdfminer.pdfpage import PDFPage
from pdfminer.pdfparser import PDFParser, PDFSyntaxError
from pdfminer.pdftypes import PDFObjRef

__all__ = ["PDFPasswordIncorrect", "pages"]

logging.getLogger("pdfminer").setLevel(logging.CRITICAL)  # it warns about every odd object


def pages(path: Path) -> Iterator[str]:
    """The text of each page, empty where it has none. Raises what pdfminer raises, for one PDFPasswordIncorrect."""
    with path.open("rb") as file:
        shared = PDFResourceManager()
        device = PDFPageAggregator(shared, laparams=LAParams(all_texts=True))
        interpreter = PDFPageInterpreter(shared, device)
        for page in PDFPage.create_pages(_Document(PDFParser(file))):
            interpreter.process_page(page)
            yield "\n".join(_boxes(device.get_result()))


def _boxes(item: Any) -> Iterator[str]:
    if isinstance(item, LTTextContainer):
        yield item.get_text()
    elif isinstance(item, LTContainer):
        for inner in item:
            yield from _boxes(inner)


class _Document(PDFDocument):  # type: ignore[misc,unused-ignore]
    """A PDF in which an object that is a reference to itself is an error; pdfminer would follow it for ever."""

    def getobj(self, objid: int) -> object:
        found, seen = super().getobj(objid), {objid}
        while isinstance(found, PDFObjRef):
            if found.objid in seen:
                raise PDFSyntaxError(f"object {objid} refers to itself")
            seen.add(found.objid)
            found = super().getobj(found.objid)
        return found
