"""The tree of what is visible of a page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lxml import etree, html  # type: ignore[import-untyped]

from e2g_neo4j.documents.text import CONTROLS

DEPTH = 256
"""How deep elements may be nested. What is nested deeper is text of the element at this depth."""

HEADINGS = {f"h{level}": level for level in range(1, 7)}

BLOCKS = frozenset(
    """
    address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure
    footer form header hr li main menu nav ol optgroup p pre search section summary table tbody td tfoot th
    thead tr ul
    """.split()  # noqa: SIM905
) | set(HEADINGS)

_NEVER = frozenset(
    """
    annotation-xml applet area audio base button canvas datalist embed frame frameset iframe input link map
    meta meter noembed noframes noscript object option param progress rp script select style svg template
    textarea track video xmp
    """.split()  # noqa: SIM905
)
"""Elements without text for readers: programs, controls, and what stands in for something else."""

_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?:\D|$)|opacity\s*:\s*0(?:\.0*)?\s*(?:;|!|$)",
    re.I,
)

_NAME = re.compile(r"[a-z_][a-z0-9_-]*", re.I)


class _Visible:
    """The target of a parser: builds a tree of the elements that are visible, at most DEPTH deep."""

    def __init__(self) -> None:
        self._tree = etree.TreeBuilder(parser=html.HTMLParser())
        self._open: list[str | None] = ["html"]
        self._kept = 1
        self._skipped = 0
        self._tables: list[Any] = []
        self._tree.start("html", {})

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        tag = tag.rpartition("}")[2].lower()
        if self._skipped or _is_hidden(tag, attributes):
            self._skipped += 1
        elif self._kept >= DEPTH or tag == "html":
            self._open.append(None)
            if tag in BLOCKS:
                self._tree.data(" ")
        else:
            kept = {
                name: CONTROLS.sub("", value)
                for key, value in attributes.items()
                if _NAME.fullmatch(name := key.rpartition("}")[2].rpartition(":")[2])
            }
            name = tag if _NAME.fullmatch(tag) else "span"
            element = self._tree.start(name, kept)
            if name == "table":
                if self._tables:
                    self._tables[-1].set("holds", "tables")
                self._tables.append(element)
            self._open.append(name)
            self._kept += 1

    def end(self, _: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif len(self._open) > 1 and (tag := self._open.pop()):
            self._close(tag)

    def _close(self, tag: str) -> None:
        self._tree.end(tag)
        self._kept -= 1
        if tag == "table":
            self._tables.pop()

    def data(self, text: str) -> None:
        if not self._skipped:
            self._tree.data(CONTROLS.sub("", text))

    def close(self) -> Any:
        for tag in reversed(self._open):
            if tag:
                self._close(tag)
        return self._tree.close()


def _is_hidden(tag: str, attributes: Mapping[str, str]) -> bool:
    if tag in ("html", "body"):  # scripts show them
        return False
    return (
        tag in _NEVER
        or "hidden" in attributes
        or (tag != "img" and attributes.get("aria-hidden", "").strip().lower() == "true")
        or (tag == "dialog" and "open" not in attributes)
        or ("style" in attributes and _HIDING.search(attributes["style"][:10_000]) is not None)
    )


def parse(page: str) -> Any:
    """Return the tree of what is visible of a page. Its root is `html`."""
    parser = etree.HTMLParser(target=_Visible(), encoding="utf-8", huge_tree=True)
    parser.feed(page.encode("utf-8", "replace") or b" ")
    return parser.close()


def title_of(tree: Any) -> str:
    """Return the title in the head of a page."""
    found = tree.find(".//head//title")
    return "" if found is None else "".join(found.itertext())
