"""Text in other encodings than UTF-8."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2g_neo4j.documents.files import read
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.errors import ReadingError

MIB = 2**20

RUSSIAN = "Когда старик прочитал письмо, он отдал его дочери и молча вышел в сад, где стояла скамейка.\n"

SAMPLES = [
    (
        "windows-1252",
        "cp1252",
        "Als der Mann den Brief gelesen hatte, ging er für immer über die Straße. Schön wäre es.\n",
    ),
    (
        "windows-1252",
        "cp1252",
        "Lorsque l’homme eut lu la lettre, il sortit dans le jardin où l’été était déjà passé.\n",
    ),
    (
        "windows-1250",
        "cp1250",
        "Kiedy starzec przeczytał list, oddał go córce i wyszedł do ogrodu, gdzie czekał już brat.\n",
    ),
    ("windows-1251", "cp1251", RUSSIAN),
    ("KOI8-R", "koi8_r", RUSSIAN),
    ("windows-1253", "cp1253", "Όταν ο γέρος διάβασε το γράμμα, το έδωσε στην κόρη του και βγήκε στον κήπο.\n"),
    ("windows-1256", "cp1256", "عندما انتهى الرجل العجوز من قراءة الرسالة أعطاها لابنته وخرج إلى الحديقة.\n"),
    (
        "GB18030",
        "gb18030",
        "老人读完信,把它交给女儿,一言不发地走进花园。花园里有一张长椅,他的弟弟已经在那里等着他了。\n",
    ),
    ("Big5", "big5", "老人讀完信,把它交給女兒,一言不發地走進花園。花園裡有一張長椅,他的弟弟已經在那裡等著他了。\n"),
    ("Shift-JIS", "cp932", "おじいさんは手紙を読み終わると、それを娘に渡し、何も言わずに庭へ出て行きました。\n"),
    ("EUC-JP", "euc_jp", "おじいさんは手紙を読み終わると、それを娘に渡し、何も言わずに庭へ出て行きました。\n"),
    ("EUC-KR", "cp949", "노인은 편지를 다 읽고 나서 그것을 딸에게 주고 말없이 정원으로 나갔다.\n"),
    ("UTF-16-LE", "utf-16-le", "The lamp was lit at six, and nobody said a word about the fog — not one.\n"),
    ("UTF-16-BE", "utf-16-be", "The lamp was lit at six, and nobody said a word about the fog.\n"),
]


def stored(folder: Path, content: bytes, name: str = "a.txt") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(("name", "encoding", "text"), SAMPLES)
@pytest.mark.parametrize("times", [1, 9000], ids=["short", "long"])
def test_an_encoding_is_recognised_and_told(tmp_path: Path, name: str, encoding: str, text: str, times: int) -> None:
    document = read(stored(tmp_path, (text * times).encode(encoding)), "c", Limits(16 * MIB))
    assert document.text == text * times
    assert document.losses == (f"read as {name}, which is a guess; if it is wrong, convert the file to UTF-8",)


@pytest.mark.parametrize("text", ["naïve", "The café’s “owner” left.", "It cost £5 — or 6 €."])
def test_few_signs_are_western(tmp_path: Path, text: str) -> None:
    assert read(stored(tmp_path, text.encode("cp1252")), "c", Limits(MIB)).text == text


def test_a_bad_byte_does_not_spoil_the_rest(tmp_path: Path) -> None:
    text = "Zoë met Čapek at the café in Orléans, naïvely. "
    document = read(stored(tmp_path, text.encode() + b"\xe9." + text.encode()), "c", Limits(MIB))
    assert document.text == f"{text}\ufffd.{text}"
    assert document.losses == ("1 byte replaced that no UTF-8 has",)
    many = read(stored(tmp_path, text.encode() * 100 + b"\xe9.\xe8." + text.encode()), "c", Limits(MIB))
    assert many.losses == ("2 bytes replaced that no UTF-8 has",)


def test_what_fits_no_encoding_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = stored(tmp_path, bytes(range(128, 256)) * 9)
    with pytest.raises(ReadingError, match=r"no other encoding fits.* iconv -f ENCODING -t UTF-8 \S+a\.txt > conv"):
        read(path, "c", Limits(MIB))


@pytest.mark.parametrize(
    ("declared", "encoding", "text"),
    [
        ("gb2312", "gb18030", "朱镕基说"),
        ("shift_jis", "cp932", "①髙橋"),
        ("iso-8859-1", "cp1252", "“Zoë”"),
        ("klingon", "cp1252", "Zoë"),
    ],
)
def test_pages_are_decoded_as_browsers_do(tmp_path: Path, declared: str, encoding: str, text: str) -> None:
    page = f'<meta charset="{declared}"><p>{text}'.encode(encoding)
    assert read(stored(tmp_path, page, "a.html"), "c", Limits(MIB)).text == text
