"""The styles of Word documents, the numbers that Word shows before paragraphs, and signs of its symbol fonts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from e2g_neo4j.documents.formulas import local
from e2g_neo4j.documents.inline import numeral

LEVELS = 9

_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|título|rubrik|overskrift|kop|nagłówek|заголовок|otsikko|nadpis|"
    r"címsor|başlık|标题|標題|見出し|제목)\s*([1-9])",
    re.I,
)

_TITLE = re.compile(r"title|titel|titre|título|titolo|tytuł|название|otsikko|název|标题|標題|表題|제목", re.I)

_KINDS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}

SIGNS = {
    "symbol": dict(zip(b"abcdefghijklmnopqrstuvwxyzDFGLPQSW", "αβχδεφγηιϕκλμνοπθρστυϖωξψζΔΦΓΛΠΘΣΩ", strict=True))
    | {0xA3: "≤", 0xB0: "°", 0xB1: "±", 0xB3: "≥", 0xB4: "×", 0xB7: "•", 0xB9: "≠", 0xBB: "≈", 0xAE: "→"}
}

WINGDINGS = {0x6F: "☐", 0xA8: "☐", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑", 0x4A: "☺", 0xE0: "→", 0xF0: "→"}


def child(element: Any, *names: str) -> Any:
    """Return the first child of the first child … with these names, in whatever namespace, or None."""
    for name in names:
        element = None if element is None else next((one for one in element if local(one) == name), None)
    return element


def value(element: Any, key: str = "val") -> str | None:
    """Return an attribute, in whatever namespace; None also if there is no element."""
    if element is None or element == ():
        return None
    return next((text for name, text in element.attrib.items() if name.rpartition("}")[2] == key), None)


def integer(element: Any, key: str = "val", default: int = 0) -> int:
    text = value(element, key)
    return int(text) if text and re.fullmatch(r"-?\d{1,9}", text) else default


def is_on(element: Any) -> bool:
    """Return whether a switch such as bold is there, and not switched off."""
    return element is not None and value(element) not in ("0", "false", "off", "none")


class Styles:
    """The styles of a document, by their ids."""

    def __init__(self, tree: Any) -> None:
        self._by_id = {value(one, "styleId"): one for one in (() if tree is None else tree) if local(one) == "style"}

    def chain(self, name: str | None) -> list[Any]:
        """Return a style and those that it is based on."""
        found: list[Any] = []
        while name in self._by_id and len(found) < 20:
            found.append(self._by_id[name])
            name = value(child(found[-1], "basedOn"))
        return found

    def find(self, own: Any, kind: str, name: str | None, key: str) -> Any:
        """Return a property (`key`) of a paragraph or run: its own, or else that of its style."""
        found = child(own, key) if own is not None else None
        return (
            found if found is not None else next(filter(_is, (child(one, kind, key) for one in self.chain(name))), None)
        )

    def level(self, properties: Any) -> int | None:
        """Return the level of a heading from 1, 0 for the title of the document, None for other paragraphs."""
        name = value(child(properties, "pStyle")) if properties is not None else None
        outline = self.find(properties, "pPr", name, "outlineLvl")
        if outline is not None:
            return integer(outline) + 1 if integer(outline) < LEVELS else None
        names = [value(child(one, "name")) or "" for one in self.chain(name)] or [name or ""]
        for one in names:
            if found := _HEADING.fullmatch(one.strip()):
                return int(found[1])
            if _TITLE.fullmatch(one.strip()):
                return 0
        return None

    def is_caption(self, properties: Any) -> bool:
        name = value(child(properties, "pStyle")) if properties is not None else None
        return any((value(child(one, "name")) or "").lower() == "caption" for one in self.chain(name))


def _is(one: Any) -> bool:
    return one is not None


@dataclass
class _Count:
    """How far a list has counted, at each level, and which of its instances were used."""

    numbers: list[int | None] = field(default_factory=lambda: [None] * LEVELS)
    used: set[tuple[str, int]] = field(default_factory=set)


class Numbering:
    """Counts the paragraphs of numbered lists, as they come."""

    def __init__(self, tree: Any, styles: Styles) -> None:
        self._styles = styles
        children = [] if tree is None else list(tree)
        self._abstract = {value(one, "abstractNumId"): one for one in children if local(one) == "abstractNum"}
        self._instances = {value(one, "numId"): one for one in children if local(one) == "num"}
        self._counts: dict[Any, _Count] = {}
        self._levels: dict[Any, dict[int, Any]] = {}

    def label(self, properties: Any) -> tuple[str, int] | None:
        """Return the number or sign that Word shows before a paragraph, and its level, or None."""
        name = value(child(properties, "pStyle")) if properties is not None else None
        own = self._styles.find(properties, "pPr", name, "numPr")
        number = value(child(own, "numId")) if own is not None else None
        instance = self._instances.get(number)
        if instance is None:
            return None
        definition = self._definition(instance)
        levels = self._levels_of(definition)
        named = next((at for at, one in levels.items() if name and value(child(one, "pStyle")) == name), 0)
        level = min(max(integer(child(own, "ilvl"), default=named), 0), LEVELS - 1)
        count = self._counts.setdefault(value(definition, "abstractNumId"), _Count())
        self._advance(count, levels, instance, number or "", level)
        kind, text = value(child(levels.get(level, ()), "numFmt")), value(child(levels.get(level, ()), "lvlText")) or ""
        if kind == "bullet":
            return "-", level
        shown = re.sub(r"%([1-9])", lambda found: self._number(count, levels, int(found[1]) - 1, level), text)
        return ("" if kind == "none" and "%" not in text else shown.strip()), level

    def _definition(self, instance: Any) -> Any:
        definition = self._abstract.get(value(child(instance, "abstractNumId")), ())
        if (link := value(child(definition, "numStyleLink"))) is not None:
            own = self._styles.find(None, "pPr", link, "numPr")
            linked = self._instances.get(value(child(own, "numId")) if own is not None else None)
            definition = (
                self._abstract.get(value(child(linked, "abstractNumId")), definition) if _is(linked) else definition
            )
        return definition

    def _levels_of(self, definition: Any) -> dict[int, Any]:
        key = value(definition, "abstractNumId") if definition != () else None
        if key not in self._levels:
            self._levels[key] = {integer(one, "ilvl"): one for one in definition if local(one) == "lvl"}
        return self._levels[key]

    @staticmethod
    def _advance(count: _Count, levels: dict[int, Any], instance: Any, number: str, level: int) -> None:
        first = (number, level) not in count.used
        count.used.add((number, level))
        overrides = (one for one in instance if local(one) == "lvlOverride" and integer(one, "ilvl", -1) == level)
        start = next((found for one in overrides if _is(found := child(one, "startOverride"))), None)
        before = count.numbers[level]
        if first and start is not None:
            count.numbers[level] = integer(start, default=1)
        else:
            count.numbers[level] = _start(levels, level) if before is None else before + 1
        for deeper in range(level + 1, LEVELS):
            restart = child(levels.get(deeper, ()), "lvlRestart")
            if restart is None or integer(restart) > level:
                count.numbers[deeper] = None

    @staticmethod
    def _number(count: _Count, levels: dict[int, Any], level: int, of: int) -> str:
        number = count.numbers[level]
        if number is None:
            number = count.numbers[level] = _start(levels, level)
        kind = value(child(levels.get(level, ()), "numFmt")) or "decimal"
        if is_on(child(levels.get(of, ()), "isLgl")):
            kind = "decimal"
        return f"{number:02}" if kind == "decimalZero" else numeral(number, _KINDS.get(kind, "1"))


def _start(levels: dict[int, Any], level: int) -> int:
    return integer(child(levels.get(level, ()), "start"), default=1)
