"""Formulas of MathML and of Office as text that resembles LaTeX."""

from __future__ import annotations

from typing import Any

_SUMS = {"∑": r"\sum", "∫": r"\int", "∏": r"\prod"}

_SIGNS = {"‾": r"\overline", "¯": r"\overline", "̅": r"\overline", "̂": r"\hat", "^": r"\hat", "⃗": r"\vec", "→": r"\vec"}


def write_formula(element: Any) -> str:
    """Return a formula in one line. The depth of the tree bounds the time."""
    name = local(element)
    if name in ("t", "mi", "mn", "mo", "ms", "mtext"):
        return "".join(element.itertext()).strip(" \n\t") if name != "t" else element.text or ""
    if name.endswith("Pr") or name in ("annotation", "annotation-xml"):
        return ""
    parts = [(local(child), write_formula(child)) for child in element if isinstance(child.tag, str)]
    texts, named = [text for _, text in parts], dict(parts)
    if name in ("f", "mfrac"):
        return rf"\frac{_brace(texts, -2)}{_brace(texts, -1)}"
    if name in ("sSup", "sSub", "sSubSup", "sPre", "msup", "msub", "msubsup", "munder", "mover", "munderover", "nary"):
        if name[0] == "m":
            signs = {"msup": "^", "mover": "^", "msub": "_", "munder": "_"}.get(name, "_^")
            base, scripts = _bare(texts, 0), [(sign, _bare(texts, at)) for at, sign in enumerate(signs, 1)]
        else:
            base, scripts = named.get("e", ""), [("_", named.get("sub", "")), ("^", named.get("sup", ""))]
        raised = "".join(f"{sign}{_script(text)}" for sign, text in scripts if text)
        if name == "nary":
            sign = property_of(element, "chr") or "∫"
            return f"{_SUMS.get(sign, sign)}{raised} {base}"
        return f"{_SUMS.get(base, base)}{raised}"
    if name in ("rad", "msqrt", "mroot"):
        degree = named.get("deg", "") if name == "rad" else _bare(texts, 1) if name == "mroot" else ""
        base = named.get("e", "") if name == "rad" else _bare(texts, 0) if name == "mroot" else "".join(texts)
        return rf"\sqrt{f'[{degree}]' if degree else ''}{{{base}}}"
    if name == "d":
        begin, between, end = (property_of(element, key) for key in ("begChr", "sepChr", "endChr"))
        inner = ("|" if between is None else between).join(text for key, text in parts if key == "e")
        return f"{'(' if begin is None else begin}{inner}{')' if end is None else end}"
    if name in ("m", "mtable", "eqArr"):
        rows = r" \\ ".join(filter(None, texts))
        return rf"\begin{{matrix}} {rows} \end{{matrix}}"
    if name in ("mr", "mtr"):
        return " & ".join(texts)
    if name in ("limLow", "limUpp"):
        return f"{named.get('e', '')}{'_' if name == 'limLow' else '^'}{_script(named.get('lim', ''))}"
    if name in ("acc", "bar"):
        return (
            f"{_SIGNS.get(property_of(element, 'chr') or ('^' if name == 'acc' else '‾'), '')}{{{named.get('e', '')}}}"
        )
    if name == "func":
        return f"{named.get('fName', '')} {named.get('e', '')}"
    return "".join(texts)


def property_of(element: Any, key: str) -> str | None:
    """Return a property of an element of Office, such as the sign of a sum."""
    for properties in element:
        if local(properties).endswith("Pr"):
            for one in properties:
                if local(one) == key:
                    return next(iter(one.attrib.values()), "")
    return None


def local(element: Any) -> str:
    """Return the name of an element without its namespace; of a comment, none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _bare(texts: list[str], at: int) -> str:
    return texts[at] if at < len(texts) else ""


def _brace(texts: list[str], at: int) -> str:
    return f"{{{texts[at] if len(texts) >= -at else ''}}}"


def _script(text: str) -> str:
    return text if len(text) == 1 or text.isdigit() else f"{{{text}}}"
