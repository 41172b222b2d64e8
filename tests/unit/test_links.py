"""Links of documents: their texts, and where they lead."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.files import from_text, read
from e2g_neo4j.documents.links import LONGEST_TARGET, MOST_CHARACTERS, MOST_LINKS, resolve, resolve_links
from e2g_neo4j.documents.processes import read_file
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.documents.uploads import read_upload
from e2g_neo4j.types.documents import Hyperlink, SourceDocument

MIB = 2**20

LIMITS = Limits(4 * MIB, whole_page=True)


def stored(path: Path, content: str) -> SourceDocument:
    path.write_text(content, encoding="utf-8")
    return read(path, "c", LIMITS)


def links(document: SourceDocument) -> list[tuple[str, str]]:
    """The text and the target of each link; a path is that below the folder of the document."""
    folder = document.source.rpartition("/")[0]
    return [(document.text[one.start : one.end], one.target.removeprefix(f"{folder}/")) for one in document.links]


@pytest.mark.parametrize(
    ("source", "target", "found"),
    [
        ("/shelf/a/fog.md", "rain.md", "/shelf/a/rain.md"),
        ("/shelf/a/fog.md", "../b/./rain%20one.md?raw=1#Cold%20rain", "/shelf/b/rain one.md#Cold rain"),
        ("/shelf/a/fog.md", "/other//rain.md", "/other/rain.md"),
        ("/shelf/a/fog.md", "../../../../rain.md", "/rain.md"),
        ("/shelf/a/fog.md", "x\\rain.md", "/shelf/a/x\\rain.md"),
        ("/shelf/a/fog.md", "#Causes", "#Causes"),
        ("/shelf/a/fog.md", "?page=2#Causes", "#Causes"),
        ("/shelf/a/fog.md", "../a/fog.md#Causes", "#Causes"),
        ("/shelf/a/fog.md", "fog.md", None),
        ("/shelf/a/fog.md", "", None),
        ("/shelf/a/fog.md", "/", None),
        ("/shelf/a/fog.md", "x%00.md", None),
        ("/shelf/a/fog.md", "HTTP://Example.ORG:80/A?q=%20#", "http://example.org/A?q=%20"),
        ("/shelf/a/fog.md", "https://ada@Example.org:443#x", "https://ada@example.org#x"),
        ("/shelf/a/fog.md", "https://example.org:80/", "https://example.org:80/"),
        ("/shelf/a/fog.md", "//example.org/a", "https://example.org/a"),
        ("/shelf/a/fog.md", "https://", None),
        ("/shelf/a/fog.md", "wiki:Fog#Causes", "wiki:Fog#Causes"),
        ("upload:a/fog.md", "rain.md", "upload:a/rain.md"),
        ("upload:fog.md", "../../rain.md#x", "upload:rain.md#x"),
        ("upload:a/fog.md", "/b/rain.md", "upload:b/rain.md"),
        ("upload:/home/fog.md", "../rain.md", "upload:/rain.md"),
        ("upload:fog.md", "fog.md", None),
        ("https://example.org/a/fog?x", "../rain?y#z", "https://example.org/rain?y#z"),
        ("https://example.org/a/fog", "//Example.com/x", "https://example.com/x"),
        ("https://Example.org/a/fog", "fog#Causes", "#Causes"),
        ("https://example.org/a/fog", "//[", None),
        ("C:\\shelf\\a\\fog.md", "../b/rain.md", "C:\\shelf\\b\\rain.md"),
        ("C:\\fog.md", "../../rain.md", "C:\\rain.md"),
        ("stdin", "rain.md", "rain.md"),
    ],
)
def test_a_target_is_the_source_of_a_document(source: str, target: str, found: str | None) -> None:
    assert resolve(target, source) == found


ADDRESSES = st.text(st.sampled_from("a/.%0#?:@[]\\ \u202e\xa0é+") | st.characters(), max_size=60)


@given(source=ADDRESSES | ADDRESSES.map("upload:{}".format) | ADDRESSES.map("https://{}".format), target=ADDRESSES)
def test_no_target_is_refused_with_an_exception(source: str, target: str) -> None:
    found = resolve(target, source)
    assert found is None or found


MARKDOWN = """# Fog

See [the rain](rain.md "Rain"), [`snow`](<deep snow.md>), [sleet][], [hail][Ice], [ice] and <https://example.org/a>.
[![A quay](quay.png)](quay.md) ![Not this](fog.png) \\[nor](this.md) `[nor](that.md)` [nor this] ``[`x`](y.md)``
[[Wind]], [[Wind#Gusts|gusts]], [[#Causes]] and ![[Picture]] | [[Storm\\|storms]] [mail](mailto:ada@example.org)
[brackets [in](x.md) them](a_(b).md#c) [R&amp;D](r&amp;d.md) [script](javascript:alert) [^1] [self](fog.md)

```
[nor](fenced.md)
```

[sleet]: sleet.md 'Sleet'
[ICE]: <ice.md>
[^1]: a note.md
"""


def test_links_of_markdown(tmp_path: Path) -> None:
    document = stored(tmp_path / "fog.md", MARKDOWN)
    assert document.text == MARKDOWN
    assert links(document) == [
        ("the rain", "rain.md"),
        ("`snow`", "deep snow.md"),
        ("sleet", "sleet.md"),
        ("hail", "ice.md"),
        ("ice", "ice.md"),
        ("https://example.org/a", "https://example.org/a"),
        ("![A quay](quay.png)", "quay.md"),
        ("Wind", "wiki:Wind"),
        ("gusts", "wiki:Wind#Gusts"),
        ("#Causes", "#Causes"),
        ("storms", "wiki:Storm"),
        ("brackets [in](x.md) them", "a_(b).md#c"),
        ("R&amp;D", "r&d.md"),
    ]
    assert document.losses == ()


def test_front_matter_moves_no_link_and_plain_text_has_none(tmp_path: Path) -> None:
    assert links(stored(tmp_path / "a.md", "---\ntags: [fog]\n---\nSee [[Rain]].")) == [("Rain", "wiki:Rain")]
    assert stored(tmp_path / "a.txt", "See [[Rain]] and [snow](snow.md).").links == ()
    assert from_text("See [[Rain]].", corpus="c", source="a.md").links == ()


PAGE = """<h1><a href="#fog">Fog ¶</a></h1><p>See<a href=" rain.html "> the <b>rain</b>
report </a>, <a href="snow.html"><img src="a.png"></a><a name="x">anchors</a><a href="sleet.html">sleet<sup>2</sup></a>
in 1998<sup><a href="#n">[3]</a></sup> <a href="tel:1">call</a> <a href="java&#10;script:x">run</a>
<ul><li><a href="one.html">one</a><ul><li>two, <a href="two.html">deep</a>: wet</ul></ul>
<dl><dt><a href="term.html">Term:</a><dd>what</dl>
<a href="card.html"><h2>Card</h2><p>and its text</p></a>
<table><tr><th>Port<th>Ships<tr><td rowspan=2><a href="hesk.html">Hesk | East</a><td>3<tr><td>4</table>
<pre>  <a href="code.html">f(x)</a>
</pre>"""

PAGE_LINKS = [
    ("Fog", "#fog"),
    ("the rain report", "rain.html"),
    ("sleet [2]", "sleet.html"),
    ("[3]", "#n"),
    ("one", "one.html"),
    ("deep", "two.html"),
    ("Term", "term.html"),
    ("Card", "card.html"),
    ("and its text", "card.html"),
    ("Hesk ¦ East", "hesk.html"),
    ("Hesk ¦ East", "hesk.html"),
    ("f(x)", "code.html"),
]


def test_links_of_pages_keep_their_places_in_lists_tables_and_code(tmp_path: Path) -> None:
    document = stored(tmp_path / "fog.html", PAGE)
    assert links(document) == PAGE_LINKS
    without = stored(tmp_path / "without.html", PAGE.replace('href="', 'href="data:'))
    assert without.links == ()
    assert without.text == document.text
    assert without.sections == document.sections
    assert "\ud800" not in document.text


def test_headers_of_tables_are_repeated_in_the_same_places_with_links(tmp_path: Path) -> None:
    row = "<tr><td><a href='port{0}.html'>port {0}</a><td>{0} ships and their crews"
    page = "<table><tr><th>Port<th>Ships" + "".join(row.format(number) for number in range(200)) + "</table>"
    document = stored(tmp_path / "a.html", page)
    assert links(document) == [(f"port {number}", f"port{number}.html") for number in range(200)]
    assert stored(tmp_path / "b.html", page.replace("href", "class")).text == document.text
    assert document.text.count("| Port | Ships |") > 5


TAGS = ["p", "b", "sup", "sub", "li", "ul", "td", "tr", "table", "dt", "dd", "h2", "pre", "q", "rt"]

PIECES = st.lists(
    st.sampled_from([*(f"<{tag}>" for tag in TAGS), *(f"</{tag}>" for tag in TAGS), "<br>", "<a HREF>", "</a>"])
    | st.sampled_from([" ", "\n", "1", "km", ":", "¶", "- ", "|", "fog", "\x85", "\u200b", "&#xD800;", "\ufdd0"]),
    max_size=40,
)


@given(pieces=PIECES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_links_change_no_text(tmp_path: Path, pieces: list[str]) -> None:
    markup = f"<p>Fog. {''.join(pieces)}"
    document = stored(tmp_path / "a.html", markup.replace("HREF", "href='x.html'"))
    without = stored(tmp_path / "a.html", markup.replace("HREF", "href='tel:1'"))
    assert document.text == without.text
    assert (document.title, document.sections, document.losses) == (without.title, without.sections, without.losses)
    for link in document.links:
        text = document.text[link.start : link.end]
        assert text == text.strip()
        assert any(map(str.isalnum, text))


def test_another_target_is_another_version(tmp_path: Path) -> None:
    one, other, none = (
        stored(tmp_path / "a.html", f"<p>See <a {more}>this</a>.") for more in ('href="a"', 'href="b"', "")
    )
    assert one.text == other.text == none.text
    assert len({one.sha256, other.sha256, none.sha256}) == 3
    assert none.sha256 == from_text(none.text, corpus="c", source="x").sha256
    assert one.sha256 == stored(tmp_path / "a.html", '<p>See <a href="a">this</a>.').sha256


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_what_exceeds_the_limits_is_counted(tmp_path: Path, suffix: str) -> None:
    def link(target: str) -> str:
        return f'<a href="{target}">x</a> ' if suffix == ".html" else f"[x]({target}) "

    many = stored(tmp_path / f"many{suffix}", "".join(link(f"{number}.md") for number in range(MOST_LINKS + 3)))
    assert (len(many.links), many.losses) == (MOST_LINKS, ("3 links not kept",))
    long = stored(tmp_path / f"long{suffix}", link("a" * MIB) + link("b" * LONGEST_TARGET) + link("c.md"))
    assert [text for text, _ in links(long)] == ["x"]
    assert sum(int(one.split()[0]) for one in long.losses) == 2
    data = stored(tmp_path / f"data{suffix}", link("data:" + "a" * MIB) + link("../" * 600) + link("c.md"))
    assert links(data) == [("x", "c.md")]
    assert data.losses == ()


@pytest.mark.parametrize(
    "content",
    [
        "[" * MIB, "[a" * (MIB // 2), "[a](b '" * (MIB // 7), "[a][" * (MIB // 4), "[](" * (MIB // 3),
        "`[a](b)``" * 99_999, "[[a]" * (MIB // 4), "[" + "[a](b)" * (MIB // 6), "<http://" * (MIB // 8),
        "\n[a]:" * (MIB // 5), "\\" * MIB + "[a](b)", "[a](((" * (MIB // 6), "[a](b" + "\\" * MIB,
    ],
    ids=[
        "open", "texts", "titles", "labels", "empty", "code", "pages", "nested", "addresses", "definitions", "escapes",
        "parentheses", "slashes",
    ],
)  # fmt: skip
@pytest.mark.timeout(30)
def test_time_grows_with_the_size_of_markdown(tmp_path: Path, content: str) -> None:
    began = time.process_time()
    stored(tmp_path / "a.md", content)
    assert time.process_time() - began < 8


def test_links_of_uploads_and_of_other_processes(tmp_path: Path) -> None:
    path = tmp_path / "stored.html"
    path.write_text('<p>See <a href="../rain.html#x">rain</a>.', encoding="utf-8")
    [document] = read_upload(path, "shelf/fog.html", "c", LIMITS)
    assert document.source == "upload:shelf/fog.html"
    assert [(one.start, one.end, one.target) for one in document.links] == [(4, 8, "upload:rain.html#x")]
    assert read_file(path, "c", LIMITS) == [read(path, "c", LIMITS)]


def test_text_with_halves_of_pairs_gives_no_links(tmp_path: Path) -> None:
    builder = Builder(tmp_path, LIMITS)
    builder.add(f"See {builder.links.mark('rain', 'rain.md')} and \ud800x\ud801 \ud800")
    reading = builder.build()
    assert [(reading.text[one.start : one.end], one.target) for one in reading.links] == [("rain", "rain.md")]


def test_long_addresses_do_not_multiply_links() -> None:
    """Each link is short, but what it leads to is as long as the address of the document."""
    source = f"http://a.b/{'x' * 1900}/y.md"
    kept, losses = resolve_links([Hyperlink(at, at + 1, "z") for at in range(5_000)], source)
    assert sum(len(one.target) for one in kept) <= MOST_CHARACTERS
    assert losses == [f"{5_000 - len(kept):,} links not kept"]
