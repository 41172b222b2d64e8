"""The bundled pipeline: what it finds in sixty sentences, alike in documents and questions, and that it loads."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.language import Language

from e2g_neo4j.errors import PipelineError
from e2g_neo4j.models.entities.extraction import extract, extract_all
from e2g_neo4j.models.entities.pipeline import (
    BUNDLED,
    find_pipeline_id,
    load_pipeline,
    pipeline_for,
    pipeline_id,
    pipeline_of,
)

REPOSITORY = Path(__file__).parents[2]
FROZEN = REPOSITORY / "tests" / "data" / "frozen_sentences.jsonl"
SIZE_LIMIT = 10_000_000


@pytest.fixture(scope="module")
def nlp() -> Language:
    return load_pipeline()


def entities(nlp: Language, text: str) -> set[str]:
    return set(extract(nlp(text)).counts)


def test_sixty_frozen_sentences(nlp: Language) -> None:
    rows = [json.loads(line) for line in FROZEN.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 60
    expected = right = spurious = 0
    report = []
    for row in rows:
        wanted, found = {*row["names"], *row["nouns"]}, entities(nlp, row["text"])
        expected += len(wanted)
        right += len(wanted & found)
        spurious += len(found - wanted)
        if wanted != found:
            report.append(f"{row['text']}  missed {sorted(wanted - found)}, spurious {sorted(found - wanted)}")
    print(f"{right} of {expected} right, {spurious} spurious", *report, sep="\n")
    assert right / expected >= 0.95, "\n".join(report)
    assert spurious / (right + spurious) <= 0.05, "\n".join(report)


@pytest.mark.parametrize(
    ("document", "question", "shared"),
    [
        (
            "Mr. Darcy’s letter explained why he had parted Jane from Mr. Bingley.",
            "What does Mr Darcy's letter say about Mr Bingley?",
            {"mr darcy", "mr bingley", "letter"},
        ),
        (
            "Count Dracula had left his castle, and Jonathan Harker was a prisoner.",
            "how did jonathan harker escape from count dracula?",
            {"jonathan harker", "count dracula"},
        ),
        (
            "Marie Curie was born in Warsaw, then part of the Russian Empire.",
            "Where Was Marie Curie Born?",
            {"marie curie"},
        ),
        (
            "Headaches and nausea are side effects of chemotherapy.",
            "Which side effect of chemotherapy is common?",
            {"effect", "chemotherapy"},
        ),
        (
            "The novels of J.R.R. Tolkien were published in the U.S. by Houghton Mifflin.",
            "Who published J. R. R. Tolkien in the US?",
            {"jrr tolkien", "us"},
        ),
        (
            "New York is larger than Los Angeles. Both cities lie on a coast.",
            "is new york larger than los angeles?",
            {"new york", "los angeles"},
        ),
    ],
)
def test_document_and_question_share_keys(nlp: Language, document: str, question: str, shared: set[str]) -> None:
    assert shared <= entities(nlp, document) & entities(nlp, question)


def test_line_breaks_do_not_change_what_is_found(nlp: Language) -> None:
    text = "Elizabeth Bennet walked from Longbourn to Meryton with Miss Lucas, and met Colonel Forster."
    wrapped = text.replace("Elizabeth ", "Elizabeth\n").replace("Miss ", "Miss\n").replace("Colonel ", "Colonel\n")
    assert list(extract_all(nlp, [wrapped])) == list(extract_all(nlp, [text]))


def test_workers_give_what_one_process_gives_in_order(nlp: Language) -> None:
    texts = [f"Mr. Darcy had {i} horses.\n\nLondon is a city." for i in range(90)]
    alone = list(extract_all(nlp, iter(texts), workers=1))
    together = list(extract_all(nlp, iter(texts), workers=2))
    assert together == alone
    assert len(alone) == 90


def test_only_what_extraction_needs_is_loaded(nlp: Language) -> None:
    assert nlp.pipe_names == ["tok2vec", "morphologizer", "senter", "ner", "lemmatizer"]
    assert spacy.load(BUNDLED).has_pipe("tagger")


def test_pipelines_with_other_files_have_other_ids(nlp: Language, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(BUNDLED, copy)
    (copy / "README.md").write_text("Another card.")
    assert pipeline_id(load_pipeline(str(copy))) == pipeline_id(nlp), "what spaCy does not read says nothing"
    for name in ("ner/model", "tok2vec/model", "vocab/vectors"):
        path = copy / name
        whole = path.read_bytes()
        middle = len(whole) // 2
        path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
        changed = load_pipeline(str(copy))
        assert pipeline_id(changed) != pipeline_id(nlp), name
        assert pipeline_id(changed).partition("+")[0] == pipeline_id(nlp).partition("+")[0]
        path.write_bytes(whole)


def test_it_names_itself_and_carries_its_licence_and_card(nlp: Language) -> None:
    assert re.fullmatch(rf"en_e2g_sm-{re.escape(nlp.meta['version'])}\+[0-9a-f]{{8}}", pipeline_id(nlp))
    assert nlp.meta["license"] == "CC-BY-SA-4.0"
    assert nlp.meta["performance"]["gum"]["upos"] > 0.9
    assert "Attribution-ShareAlike 4.0" in (BUNDLED / "LICENSE").read_text(encoding="utf-8")
    card = (BUNDLED / "README.md").read_text(encoding="utf-8")
    assert all(source["name"] in card for source in nlp.meta["sources"])
    assert nlp.meta["version"] in card
    assert nlp.meta["spacy_version"] in card


@pytest.mark.parametrize("page", [BUNDLED / "README.md", REPOSITORY / "training" / "README.md"])
def test_the_scores_on_a_page_are_those_of_the_weights(page: Path) -> None:
    table = page.read_text(encoding="utf-8").split("## Scores")[1]
    meta = json.loads((BUNDLED / "meta.json").read_text(encoding="utf-8"))
    measured = {f"{score:.3f}" for row in meta["performance"].values() for score in row.values()}
    shown = re.findall(r"(?<=\|)[* ]*(0\.\d{3})\b", table.split("\n## ")[0])
    assert len(shown) > 10
    assert set(shown) <= measured


def test_it_is_small() -> None:
    assert sum(path.stat().st_size for path in BUNDLED.rglob("*") if path.is_file()) <= SIZE_LIMIT


def test_a_pipeline_for_another_spacy_is_an_error_that_names_both(tmp_path: Path) -> None:
    copy = tmp_path / "en_old"
    shutil.copytree(BUNDLED, copy)
    meta = json.loads((copy / "meta.json").read_text(encoding="utf-8"))
    (copy / "meta.json").write_text(json.dumps(meta | {"spacy_version": ">=2.3,<3.0"}), encoding="utf-8")
    with pytest.raises(PipelineError, match=rf">=2\.3,<3\.0.*{spacy.about.__version__}.*Install"):
        load_pipeline(str(copy))


def test_a_pipeline_that_is_not_there_is_an_error_with_a_way_out() -> None:
    with pytest.raises(PipelineError, match=r"'en_no_such_pipeline'.*E2G_SPACY_MODEL"):
        load_pipeline("en_no_such_pipeline")


def test_a_damaged_pipeline_is_an_error_of_ours(tmp_path: Path) -> None:
    copy = tmp_path / "en_damaged"
    shutil.copytree(BUNDLED, copy)
    (copy / "tok2vec" / "model").write_bytes(b"nothing")
    with pytest.raises(PipelineError, match="cannot load"):
        load_pipeline(str(copy))


def test_a_pipeline_without_sentences_gets_them_by_punctuation(tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path / "plain")
    nlp = load_pipeline(str(tmp_path / "plain"))
    assert len(extract(nlp("It rained. We stayed.")).sentences) == 2


@pytest.mark.full
def test_a_script_without_a_main_guard_may_use_workers(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from e2g_neo4j.models.entities.extraction import extract_all, load_pipeline\n"
        "texts = ['Emma went to London.'] * 70\n"
        "print(sum(found.counts['london'] for found in extract_all(load_pipeline(), texts, workers=2)))\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip()) == (0, "70"), done.stderr


# --- languages without an installed pipeline ---------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "text", "names", "nouns"),
    [
        (
            "zh",
            "沈知远在望海镇的灯塔上守灯。他的女儿沈小荷嫁给了木匠顾长根!",
            {"沈知远": "person", "望海镇": "place", "沈小荷": "person", "顾长根": "person"},
            {"灯塔", "女儿", "木匠"},
        ),
        (
            "de",
            "Als der alte Mann den Brief von Anna Bergmann las, kam Otto Reuter. Anna Bergmann schwieg.",
            {"anna bergmann": "name", "otto reuter": "name"},
            {"mann", "brief"},
        ),
        (
            "de",
            "Am Montag kam Frau Doktor Keller mit einem Glas Wasser nach Ulm, und Luise Keller, die Ulm kannte, sah "
            "Kellers Zeichnung. Zeichnung um Zeichnung sah Luise. Die Frau schwieg in Ulm.",
            {**dict.fromkeys(["frau doktor keller", "luise keller", "luise", "kellers"], "person"), "ulm": "name"},
            {"glas", "wasser", "zeichnung", "frau"},
        ),
        (
            "fr",
            "Le capitaine Jean Moreau quitta Brest. Il avait vu Brest en hiver. Une lettre attendait Moreau.",
            {"jean moreau": "name", "brest": "name", "moreau": "name"},
            set(),
        ),
        (
            "vi",
            "Hôm qua Trần Văn Nam đến Hà Nội. Ở Hà Nội có Trần Văn Nam.",
            {"tran van nam": "name", "ha noi": "name"},
            set(),
        ),
        ("ja", "船は港に着いた。Luke Farran が Luke Farran を見た!", {"luke farran": "name"}, set()),
        ("ko", "배가 항구에 도착했다. 그는 Super Bowl 을 보았다. Super Bowl 이다.", {"super bowl": "name"}, set()),
        ("th", "เรือมาถึงท่าเรือแล้ว Luke Farran เห็น Luke Farran!", {"luke farran": "name"}, set()),
    ],
)
def test_rules_find_names_nouns_and_sentences(language: str, text: str, names: dict[str, str], nouns: set[str]) -> None:
    nlp = load_pipeline(f"rules:{language}")
    found = extract(nlp(text))
    types = {key: max(counted, key=counted.__getitem__) for key, counted in found.types.items()}
    assert {key: type for key, type in types.items() if type != "noun"} == names
    assert {key for key, type in types.items() if type == "noun"} >= nouns
    assert len(found.sentences) == text.count(".") + text.count("。") + text.count("!")
    assert "".join(token.text_with_ws for token in nlp(text)) == text


@pytest.mark.parametrize("text", ["", "  ", "一\n\n二", "a\tb\r\n王先生 said: “好”!", "\u3000全角 123 ABC"])
def test_chinese_words_are_the_whole_text(text: str) -> None:
    assert load_pipeline("rules:zh")(text).text == text


def test_a_language_without_a_pipeline_has_one_by_rules_with_an_id() -> None:
    assert pipeline_for("en", None) is None
    assert pipeline_for("de", None) == "rules:de"
    assert find_pipeline_id("rules:de") == pipeline_id(load_pipeline("rules:de")) == "de_e2g_rules-1"
    assert pipeline_of("de_e2g_rules-1", None) == "rules:de"
    for name in (None, "en_core_web_sm"):  # in this package, and a package of its own
        if spacy.util.is_package(name or "") or name is None:
            assert find_pipeline_id(name) == pipeline_id(load_pipeline(name))
    assert pipeline_of(str(find_pipeline_id(None)), "rules:de") is None
    with pytest.raises(PipelineError, match=r"en_other-1.*E2G_SPACY_MODEL"):
        pipeline_of("en_other-1", None)
    with pytest.raises(PipelineError, match=r"'qq'.*E2G_SPACY_MODEL"):
        load_pipeline("rules:qq")
