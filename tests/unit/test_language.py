"""Text in other languages is recognised, and odd English text is not mistaken for it."""

from __future__ import annotations

import pytest

from e2g_neo4j.cli.setup import LIBRARY
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.indexing.language import corpus_language, other_language
from e2g_neo4j.types.languages import LANGUAGES

FOREIGN = {
    "Czech": "Když stařec dočetl dopis, dal ho své dceři a beze slova vyšel do zahrady, kde stála lavička a kde už na "
    "něj čekal jeho bratr, který se právě vrátil z města.",
    "Danish": "Da den gamle mand havde læst brevet, gav han det til sin datter og gik ud i haven uden at sige et ord.",
    "Dutch": "Toen de oude man de brief had gelezen, gaf hij hem aan zijn dochter en liep zonder een "
    "woord te zeggen de "
    "tuin in.",
    "Finnish": "Kun vanha mies oli lukenut kirjeen, hän antoi sen tyttärelleen ja meni sanaakaan sanomatta ulos "
    "puutarhaan, jossa hänen veljensä jo odotti, mutta hän ei ollut siellä enää yksin.",
    "French": "Lorsque le vieil homme eut fini de lire la lettre, il la donna à sa fille et sortit dans le jardin sans "
    "dire un mot.",
    "German": "Als der alte Mann den Brief gelesen hatte, schenkte er ihn seiner Tochter und ging ohne ein Wort in den "
    "Garten, wo eine Bank stand.",
    "Italian": "Quando il vecchio ebbe finito di leggere la lettera, la diede a sua figlia e uscì nel giardino senza "
    "dire una parola.",
    "Polish": "Kiedy starzec przeczytał list, oddał go swojej córce i bez słowa wyszedł do ogrodu, gdzie już na niego "
    "czekał jego brat, który właśnie wrócił z miasta, ale nie był tam sam.",
    "Portuguese": "Quando o velho terminou de ler a carta, entregou-a à filha e saiu para o jardim sem dizer "
    "uma palavra "
    "a ninguém.",
    "Spanish": "Cuando el viejo terminó de leer la carta, se la dio a su hija y salió al jardín sin decir una palabra.",
    "Swedish": "När den gamle mannen hade läst brevet gav han det till sin dotter och gick ut i "
    "trädgården utan att säga "
    "ett ord.",
    "Chinese": "老人读完信,把它交给女儿,一言不发地走进花园。花园里有一张长椅,他的弟弟已经在那里等着他了,刚从城里回来。",
    "Russian": "Когда старик прочитал письмо, он отдал его дочери и молча вышел в сад.",
    "Greek": "Όταν ο γέρος διάβασε το γράμμα, το έδωσε στην κόρη του και βγήκε στον κήπο χωρίς λέξη.",
    "Arabic": "عندما انتهى الرجل العجوز من قراءة الرسالة أعطاها لابنته وخرج إلى الحديقة دون أن يقول كلمة.",
    "Japanese": "おじいさんはてがみをよみおわると、それをむすめにわたし、なに"
    "もいわずににわへでていきました。とてもしずかでした。",
    "Hindi": "जब बूढ़े आदमी ने पत्र पढ़ लिया, तो उसने उसे अपनी बेटी को दे दिया और बिना कुछ कहे बगीचे में चला गया।",
    "Korean": "노인은 편지를 다 읽고 나서 그것을 딸에게 주고 말없이 정원으로 "
    "나갔다. 정원에는 벤치가 하나 있었다. 그의 동생이 기다리고 있었다.",
    "Thai": "เมื่อชายชราอ่านจดหมายจบ เขาก็มอบมันให้ลูกสาวและเดินออกไปที่สวนโดยไม่พูดอะไรสักคำ",
    "Hebrew": "כאשר הזקן סיים לקרוא את המכתב הוא נתן אותו לבתו ויצא אל הגן בלי לומר מילה.",
    "Ukrainian": "Коли старий прочитав листа, він віддав його доньці й мовчки вийшов у сад, де стояла лавка.",
    "Romanian": "Când bătrânul a terminat de citit scrisoarea, i-a dat-o fiicei sale și a ieșit în grădină fără să "
    "spună un cuvânt.",
    "georgian script": "როდესაც მოხუცმა წერილი წაიკითხა, ის თავის ქალიშვილს მისცა და უსიტყვოდ ბაღში გავიდა.",
}

ENGLISH = {
    "prose": "When the old man had read the letter he gave it to his daughter and went out into the garden.",
    "verse": "O wild West Wind, thou breath of Autumn's being,\nThou, from whose unseen presence the leaves dead\n"
    "Are driven, like ghosts from an enchanter fleeing,\nYellow, and black, and pale, and hectic red",
    "Scots": "Wee, sleekit, cow'rin, tim'rous beastie, O, what a panic's in thy breastie! Thou need na start awa sae "
    "hasty, Wi' bickering brattle! I wad be laith to rin an' chase thee, Wi' murd'ring pattle!",
    "table": "| ship | tons | master | port |\n|---|---|---|---|\n" + "| Averil | 312 | Josiah Quill | Hesk |\n" * 20,
    "numbers": "\n".join(f"{number}, {number * number}, {number / 7:.3f}" for number in range(200)),
    "recipe": "2 cups flour, 1 tsp salt, 3 eggs, butter, sugar, vanilla. Mix, bake 40 min, cool, serve. Cream, jam, "
    "icing sugar, mint leaves, lemon zest, baking soda, oats, raisins.",
    "code": "def main(args):\n    return [x for x in args if x.startswith('a')]\n\nimport os, sys\n" * 5,
    "names": "Josiah Quill, Luke Farran, Ann Harper, Bob Miller, Dora Finch, Hester Pendry, Walter Crail, Zoë Lamb, "
    "Carol Finch, Tobias Reed, Van Helsing, De Witt Clinton, Leonardo da Vinci, Otto von Bismarck",
    "foreign words": "The motto was Per ardua ad astra; de mortuis nil nisi bonum, as he was fond of saying in "
    "the club, "
    "and his wife would add c'est la vie, or honi soit qui mal y pense.",
    "short": "Guten Tag!",
    "Greek letters": "α, β, γ, δ and ε are the angles of the figure, and π is the ratio of the circle.",
    "formulas": "a = b + c\nx = (-b ± sqrt(b^2 - 4ac)) / 2a\nF = G m M / r^2\nsin a cos b + cos a sin b\n" * 9,
    "Greek formulas": "α + β = γ, ∂f/∂x = λ(x − μ)² / σ², Σ xᵢ = 0, ∫ e^{−λt} dt\n" * 9,
    "answers": " ".join(f"{number}. {'ABCD'[number * 7 % 4]}" for number in range(1, 90)),
    "figures": "\n".join(f"{number} {number * 3.7:.2f} {number * 17 % 91} kg {number % 7} EUR" for number in range(90)),
    "chemistry": "C6H12O6 + 6 O2 -> 6 CO2 + 6 H2O\nNaOH + HCl -> NaCl + H2O\n" * 9,
    "columns": "id,name,a,e,i,o,u\n1,Ada,x,y,z,0,1\n2,Bob,o,a,e,1,0\n" * 9,
    "foreign names": "Popescu, Ion; García, José; Müller, Hans; Smith, John; Rossi, Maria; Nowak, Jan; Kovács, Anna",
    "addresses": "Quill & Sons, 14 Harbour St, Lantry LT4 7QA, UK\nFarran GmbH, Hauptstr. 5, 10115 Berlin\nLuigi "
    "Conti, Via Roma 12, 00184 Roma\n" * 4,
    "web addresses": "https://www.example.org/a/b?c=d\nhttp://foo.bar/baz.html\nwww.site.com/index.php?id=4\n" * 8,
    "contents": "Contents\n1 Introduction 3\n2 Method 7\n2.1 Data 9\n3 Results 15\n4 Discussion 22\nIndex 41\n",
    "packed": "SGVsbG8gd29ybGQhIFRoaXMgaXMgYSB0ZXN0IG9mIGJhc2U2NCBlbmNvZGluZy4g" * 10,
    "signs": "★★★ 2.5 € §§ 17–19 %%% --- *** === ::: " * 20,
}


@pytest.mark.parametrize("language", FOREIGN)
@pytest.mark.parametrize("times", [1, 100], ids=["short", "long"])
def test_another_language_is_recognised(language: str, times: int) -> None:
    assert other_language(" ".join([FOREIGN[language]] * times), "en") == language


@pytest.mark.parametrize("kind", ENGLISH)
@pytest.mark.parametrize("times", [1, 100], ids=["short", "long"])
def test_english_is_not_mistaken_for_another_language(kind: str, times: int) -> None:
    assert other_language("\n".join([ENGLISH[kind]] * times), "en") is None


def test_an_english_preface_does_not_hide_another_language() -> None:
    assert other_language(ENGLISH["prose"] * 30 + FOREIGN["German"] * 300, "en") == "German"
    assert other_language(ENGLISH["prose"] * 300 + FOREIGN["German"] * 30, "en") is None


def test_the_language_is_that_of_the_pipeline() -> None:
    assert other_language(FOREIGN["German"], "de") is None
    assert other_language(ENGLISH["prose"] * 2, "de") == "English"
    assert other_language(FOREIGN["German"], "xx") is None
    assert other_language(FOREIGN["Chinese"], "zh") is None
    assert other_language(FOREIGN["German"], "zh") == "German"
    assert "en" in LANGUAGES


def test_a_new_corpus_is_in_the_language_of_most_of_its_text() -> None:
    english, german, short = (
        from_text(text, corpus="c", source=text[:9])
        for text in (ENGLISH["prose"] * 3, FOREIGN["German"] * 4, "Zur Post!")
    )
    assert corpus_language([english, german, short], "en") == "de"
    assert corpus_language([english, short], "en") == "en"
    assert corpus_language([from_text(FOREIGN["Russian"], corpus="c", source="r")], "en") == "ru"
    assert corpus_language([from_text(FOREIGN["georgian script"], corpus="c", source="r")], "en") == "en"
    assert corpus_language([from_text(FOREIGN["Chinese"], corpus="c", source="z")], "en") == "zh"
    assert corpus_language([], "de") == "de"


def test_the_sample_library_is_english() -> None:
    assert [path.name for path in LIBRARY.iterdir() if other_language(path.read_text(errors="replace"), "en")] == []
