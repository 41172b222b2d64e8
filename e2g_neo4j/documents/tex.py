"""LaTeX, as Markdown: its text and its formulas, without preamble and comments."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from e2g_neo4j.documents.headings import markdown_headings
from e2g_neo4j.documents.reading import Limits, Reading, count
from e2g_neo4j.documents.text import clean, decode, read_bytes

_LEVELS = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}

_GROUP = r"\{([^{}]{0,1000}+)\}"

_COMMENT = re.compile(r"^[ \t]*+%[^\n]*+\n|(?<!\\)%[^\n]*+", re.M)

_HEADING = re.compile(r"\\(part|chapter|section|subsection|subsubsection|paragraph)\*?(?:\[[^]\n]{0,200}\])?" + _GROUP)

_DROP = (
    r"(?:\\(?:label|index|vspace|hspace|bibliographystyle|bibliography|pagestyle|thispagestyle|setlength|includegraphics)"
    r"\*?(?:\[[^]\n]{0,200}\])?\{[^{}\n]{0,300}+\}(?:\{[^{}\n]{0,300}+\})?"
    r"|\\(?:maketitle|tableofcontents|centering|noindent|newpage|clearpage|bigskip|medskip|smallskip|hline)\b[ \t]*+"
    r"|\\(?:begin|end)\{(?:document|abstract|itemize|enumerate|description|figure|table|center|quote|tabular)\*?\}"
    r"(?:\[[^]\n]{0,20}\]|\{[^{}\n]{0,100}\})*)"
)

_DROPPED = re.compile(rf"^[ \t]*+{_DROP}++[ \t]*+\n|{_DROP}", re.M)

_STYLED = re.compile(r"\\(?:emph|text[a-z]{2,6}|underline|footnote|caption|url|href\{[^{}]{0,300}+\}|mbox)" + _GROUP)

_ACCENT = re.compile(r"\\([`'^\"~=.uvHc])(?:\{(?:\\)?([A-Za-z])\}|(?<![uvHc])([A-Za-z]))")

_MARKS = dict(zip("`'^\"~=.uvHc", "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0327", strict=True))

_SIGNS = {"~": " ", "``": "“", "''": "”", r"\%": "%", r"\&": "&", r"\$": "$", r"\_": "_", r"\#": "#", r"\ss": "ß"}


def read(path: Path, limits: Limits) -> Reading:
    """Read a document of LaTeX."""
    source, uncertain = decode(read_bytes(path, limits.bytes), path)
    source = _COMMENT.sub("", source)
    source = _ACCENT.sub(lambda one: unicodedata.normalize("NFC", (one[2] or one[3]) + _MARKS[one[1]]), source)
    for _ in range(3):  # styles in styles
        source = _STYLED.sub(r"\1", source)
    preamble, begun, body = source.partition(r"\begin{document}")
    body = body.partition(r"\end{document}")[0] if begun else source
    title = re.search(r"\\title(?:\[[^]\n]{0,200}\])?" + _GROUP, preamble + body[:10_000])
    pictures, others = body.count(r"\includegraphics"), len(re.findall(r"\\(?:input|include)\{", body))
    text = _plain(body)
    heading, sections = markdown_headings(text)
    losses = (
        uncertain + count(pictures, "picture", "not in the text") + count(others, "included file", "not in the text")
    )
    return Reading(text, _plain(title[1]).replace("\n", " ") if title else heading, sections, losses=losses)


def _plain(body: str) -> str:
    body = _DROPPED.sub("", body)
    body = _HEADING.sub(lambda one: f"\n\n{'#' * _LEVELS[one[1]]} {' '.join(one[2].split())}\n\n", body)
    body = re.sub(r"\\item\b[ \t]*+", "- ", body).replace("\\\\", "\n")
    for sign, written in _SIGNS.items():
        body = body.replace(sign, written)
    return clean(body)
