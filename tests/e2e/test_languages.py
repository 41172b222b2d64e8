"""Corpora in twenty languages, on the real server: each word of a text is found, and what a language lacks is told."""

from __future__ import annotations

import json
import unicodedata

import pytest
from libraries import remove
from tiers import few_of

from e2g_neo4j.documents.files import from_text
from e2g_neo4j.retrieval.lucene import distinct_words
from e2g_neo4j.types.reports import IndexReport

TEXTS = {
    "ar": "وصلت السفينة البيضاء إلى الميناء القديم، وَكَتَبَ المعلم رسالة طويلة عن المدينة والبحر.",
    "bn": "সাদা জাহাজটি পুরানো বন্দরে পৌঁছেছিল এবং শিক্ষক শহর সম্পর্কে একটি দীর্ঘ চিঠি লিখেছিলেন।",
    "cs": "Bílá loď doplula do starého přístavu a učitelka napsala dlouhý dopis o městě a moři.",
    "de": "Das weiße Schiff erreichte den alten Hafen, und die Lehrerin schrieb einen langen Brief über die Stadt.",
    "el": "Το λευκό πλοίο έφτασε στο παλιό λιμάνι και η δασκάλα έγραψε ένα μεγάλο γράμμα για την πόλη.",
    "es": "El barco blanco llegó al puerto antiguo, y la maestra escribió una carta larga sobre la ciudad.",
    "fa": "کشتی سفید به بندر قدیمی رسید و معلم نامه‌ای طولانی درباره شهر و دریا نوشت.",
    "fi": "Valkoinen laiva saapui vanhaan satamaan, ja opettaja kirjoitti pitkän kirjeen kaupungista.",
    "fr": "Le navire blanc arriva à l’ancien port, et l'institutrice écrivit aujourd'hui une longue lettre.",
    "he": "הספינה הלבנה הגיעה לנמל הישן, והמורה כתבה מכתב ארוך על העיר ועל הים.",
    "hi": "सफ़ेद जहाज़ पुराने बंदरगाह पर पहुँचा और शिक्षिका ने शहर के बारे में एक लंबी चिट्ठी लिखी।",
    "hu": "A fehér hajó megérkezett a régi kikötőbe, és a tanárnő hosszú levelet írt a városról.",
    "ja": "白い船が古い港に着き、先生は町と海について長い手紙を書いた。",
    "ko": "하얀 배가 오래된 항구에 도착했고 선생님은 도시와 바다에 대해 긴 편지를 썼다.",
    "pl": "Biały statek przypłynął do starego portu, a nauczycielka napisała długi list o mieście.",
    "ru": "Белый корабль пришёл в старый порт, и учительница написала длинное письмо о городе.",
    "ta": "வெள்ளைக் கப்பல் பழைய துறைமுகத்தை அடைந்தது, ஆசிரியர் நகரத்தைப் பற்றி நீண்ட கடிதம் எழுதினார்.",
    "th": "เรือสีขาวมาถึงท่าเรือเก่า และครูเขียนจดหมายยาวเกี่ยวกับเมืองและทะเล",
    "tr": "Beyaz gemi Irmak limanına ulaştı ve İstanbul'daki öğretmen şehir hakkında uzun bir mektup yazdı.",
    "vi": "Con tàu trắng đã đến cảng cũ, và cô giáo viết một lá thư dài về thành phố.",
}
"""The same two sentences: of a white ship, an old port, and a teacher who writes a long letter about the town."""

OTHER = {language: TEXTS["th" if language != "th" else "ru"] for language in TEXTS}


@pytest.mark.parametrize("language", few_of(sorted(TEXTS), 7))
def test_each_word_of_a_text_is_found_however_it_is_composed(client, corpus, driver, language):
    """Lucene's stop words, such as "und", are found nowhere; at most half of the words are."""
    try:
        texts = {"Ship": TEXTS[language], "Else": OTHER[language]}
        documents = [from_text(text, corpus=corpus, source=one, title=one) for one, text in texts.items()]
        client.index(documents, corpus=corpus, language=language)
        words = distinct_words(TEXTS[language])
        assert len(words) > (1 if language in ("ja", "th") else 8)
        lost = set()
        for word in words:
            for form in ("NFC", "NFD"):
                found = client.retrieve(unicodedata.normalize(form, word), corpus=corpus, mode="fulltext").passages
                if [one.document for one in found if one.score > 0] != ["Ship"]:
                    lost.add((word, form))
        stop_words = {word for word, form in lost if form == "NFC"}
        assert {word for word, form in lost if form == "NFD"} == stop_words, "decomposed letters are others"
        assert len(stop_words) <= len(words) / 2
        whole = client.retrieve(TEXTS[language], corpus=corpus).passages
        assert whole[0].document == "Ship"
    finally:
        remove(driver, [corpus])


def test_what_a_language_lacks_is_told_with_a_command(client, corpus, driver, run, tmp_path):
    file = tmp_path / "ship.txt"
    file.write_text((TEXTS["th"] + "\n\n") * 9, encoding="utf-8")
    try:
        code, out, error = run("index", str(file), "--corpus", corpus, "--json")
        assert code == 0, error
        [warning] = json.loads(out)["warnings"].values()
        assert "is in Thai, which its embedding model, BAAI/bge-small-en-v1.5, does not know" in warning
        assert f"`e2g reindex --corpus {corpus} --embedding-model intfloat/multilingual-e5-small`" in warning
        assert "Names in Thai do not differ from other words" in warning
        evidence = client.retrieve("จดหมาย", corpus=corpus)
        assert "does not know the language" in evidence.reason
        [found] = [one for one in client.doctor() if "does not know Thai" in one.what]
        assert found.state == "note"
        assert corpus in found.what
    finally:
        remove(driver, [corpus])


def test_embedding_models_are_listed_with_their_languages(run):
    code, out, error = run("models", "--json")
    assert code == 0, error
    listed = {one["name"]: one for one in json.loads(out)}
    assert "set" in listed["BAAI/bge-small-en-v1.5"]["state"]
    assert {one["languages"] for one in listed.values()} == {"English", "Chinese"}


def test_each_document_of_a_corpus_is_read_by_the_pipeline_for_its_language(client, corpus, driver):
    """It has the entities that it has in a corpus of its language. What is kept of one that changes its language is
    read again."""
    english = "On Monday Anna Fels sailed to Port Hesk with a letter for the teacher of the old school there. " * 9
    german = "Am Montag fuhr Anna Fels mit dem Schiff nach Port Hesk, und die Lehrerin der Schule las den Brief. " * 9
    fresh, own = f"{corpus}-fresh", f"{corpus}-de"

    def entities(of: str) -> set[str]:
        found = driver.execute_query(
            "MATCH (:Document {corpus: $corpus, source: 'b'})<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK]-(e:Entity) "
            "RETURN e.key",
            corpus=of,
        )
        return {row[0] for row in found.records}

    def index(into: str, text: str) -> IndexReport:
        documents = [from_text(one, corpus=into, source=source) for source, one in (("a", english * 3), ("b", text))]
        return client.index(documents, corpus=into)

    try:
        [warning] = index(corpus, german).warnings.values()
        assert f"b is in German, and the corpus '{corpus}' in English" in warning
        assert "anna fels" in entities(corpus)
        client.index([from_text(german, corpus=own, source="b")], corpus=own)
        assert entities(corpus) == entities(own)
        again = index(corpus, german)
        assert (again.unchanged, again.warnings) == (2, {})
        assert "anna fels" in client.retrieve("Wohin fuhr Anna Fels mit dem Schiff?", corpus=corpus).entities
        for text in (german + "\n\n" + english * 4, german):
            index(corpus, text)
            index(fresh, text)
            assert entities(corpus) == entities(fresh)
            remove(driver, [fresh])
    finally:
        remove(driver, [corpus, fresh, own])
