"""spaCy pipelines by rules, for languages without an installed one: Chinese by jieba, others by capital letters."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from e2g_neo4j.errors import PipelineError
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.runtime.lazy_imports import import_spacy, needs
from e2g_neo4j.types.languages import NameWords, name_words

if TYPE_CHECKING:  # spaCy takes a second to import
    from spacy.language import Language
    from spacy.tokens import Doc, Span, Token
    from spacy.vocab import Vocab

RULES = "rules:"
"""What the name of such a pipeline begins with. A language code follows: `rules:de`."""

_NAME, _VERSION = "e2g_rules", "1"

_CHINESE = "zh"

_DEMANDING = ("ja", "ko", "th", "vi")
"""Languages for which spaCy needs further packages, to divide words. Here, spaces and signs divide them, which is
enough for sentences, and for names with capital letters."""

_LABELS = {"nr": "PERSON", "ns": "GPE", "nt": "ORG", "nz": "NAME"}
"""Labels of names by jieba's part of speech."""

_PARTS_OF_SPEECH = {"n": "NOUN", "v": "VERB", "a": "ADJ", "m": "NUM", "r": "PRON", "d": "ADV", "p": "ADP", "c": "CCONJ"}
"""Parts of speech by the first letter of jieba's."""


def rules_id(name: str) -> str:
    """Return the `pipeline_id` of a pipeline by rules."""
    return f"{name.removeprefix(RULES)}_{_NAME}-{_VERSION}"


def by_capitals(pipeline_id: str) -> bool:
    """Return whether a pipeline is one that finds names by their capital letters."""
    language = pipeline_id.partition("_")[0]
    return language != _CHINESE and pipeline_id == rules_id(language)


def load_rules(name: str) -> Language:
    """Make a pipeline by rules. It finds sentences, names and nouns.

    Raises:
        PipelineError: spaCy does not know the language, or lacks a package for it.
    """
    import_spacy()
    import spacy

    language = name.removeprefix(RULES)
    by_spaces = {"nlp": {"tokenizer": {"@tokenizers": "spacy.Tokenizer.v1"}}} if language in _DEMANDING else {}
    try:
        nlp = spacy.blank(language, config=by_spaces)
    except ImportError as error:
        raise PipelineError(
            f"spaCy cannot read the language {language!r}: {error}. Use its code, such as de, or set E2G_SPACY_MODEL "
            "to a pipeline for it."
        ) from error
    nlp.meta["name"], nlp.meta["version"] = _NAME, _VERSION
    if language == _CHINESE:
        nlp.tokenizer = JiebaTokenizer(nlp.vocab)
        nlp.add_pipe("sentencizer", config={"punct_chars": ["。", "！", "？", "…", "!", "?", "；"]})
        return nlp
    if language in _DEMANDING:
        ends = spacy.util.compile_infix_regex([*(nlp.Defaults.infixes or ()), "[。！？]"])
        nlp.tokenizer.infix_finditer = ends.finditer  # type: ignore[union-attr]
    nlp.add_pipe("sentencizer")
    if not spacy.Language.has_factory("e2g_capitals"):
        spacy.Language.component("e2g_capitals", func=_tag_capitals)
    nlp.add_pipe("e2g_capitals")
    return nlp


class JiebaTokenizer:
    """Splits Chinese text into words with parts of speech and names.

    Raises:
        ConfigurationError: jieba is not installed.
    """

    def __init__(self, vocab: Vocab) -> None:
        with needs("Chinese text", "chinese"):
            import jieba  # type: ignore[import-untyped]
            from jieba import posseg
        jieba.setLogLevel(logging.WARNING)
        words = jieba.Tokenizer()
        cache = Path(platformdirs.user_cache_dir("e2g-neo4j", appauthor=False))
        cache.mkdir(parents=True, exist_ok=True)
        words.tmp_dir = str(cache)  # by default, it loads what anybody may write to /tmp
        self.vocab, self._tagger = vocab, posseg.POSTokenizer(words)

    def __call__(self, text: str) -> Doc:
        from spacy.tokens import Doc, Span

        words, tags = list[str](), list[str]()
        for word, tag in self._words(text):
            if words and word.isspace() and words[-1].isspace():
                words[-1] += word  # a blank line is one token
            else:
                words.append(word)
                tags.append(tag)
        doc = Doc(self.vocab, words=words, spaces=[False] * len(words))
        for token, tag in zip(doc, tags, strict=True):
            name = tag[:2] in _LABELS or (tag == "eng" and token.text[:1].isupper())
            token.pos_ = "PROPN" if name else _PARTS_OF_SPEECH.get(tag[:1], "X")
            token.lemma_ = token.text
        doc.ents = [Span(doc, start, end, label) for start, end, label in _chinese_names(words, tags)]
        return doc

    def _words(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield words with their parts of speech. What jieba changes or drops is taken from the text."""
        at = 0
        for found in self._tagger.cut(text):
            if text.startswith(found.word, at):
                yield found.word, found.flag
                at += len(found.word)
        if at < len(text):
            yield text[at:], "x"


def _chinese_names(words: list[str], tags: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and label of names. Words of the same kind that follow each other are one name, with a single
    character after them that is a noun, such as 镇 after the name of a town."""
    start = 0
    while start < len(words):
        kind = tags[start][:2]
        end = start + 1
        if kind in _LABELS:
            while end < len(words) and tags[end][:2] == kind:
                end += 1
            if end < len(words) and tags[end] in ("n", "ng") and len(words[end]) == 1:
                end += 1
            yield start, end, _LABELS[kind]
        start = end


def _tag_capitals(doc: Doc) -> Doc:
    """Tag words that begin with a capital letter as names: those within a sentence, and those at its start that also
    stand within another one or before another name. Runs with a title are people, and so are those with their names.

    In a language that writes common nouns so, a run after an article is no name, and neither is a single word that ever
    follows one or occurs only once.
    """
    from spacy.tokens import Span

    of = name_words(doc.lang_)
    runs = _runs(doc, of)
    titles = {token.text for run in runs for token in run if entity_key(token.text) in of.titles}
    within = {token.text for run in runs for token in run if not token.is_sent_start}
    runs = [run for run in runs if len(run) > 1 or run[0].text in within]
    nouns = _nouns(runs, of) | {run for run in runs if all(token.text in titles for token in run)}
    people = {run for run in runs if run[0].text in titles and run[-1].text not in titles}
    surnames = {run[-1].text for run in people}
    people |= {run for run in runs if len(run) > 1 and run[-1].text in surnames and run not in nouns}
    theirs = {token.text for run in people for token in run} - titles
    people |= {run for run in runs if len(run) == 1 and run[0].text.removesuffix(of.possessive) in theirs}
    for run in runs:
        for token in run:
            token.pos_ = "NOUN" if run in nouns and run not in people and token.text not in theirs else "PROPN"
    doc.ents = [Span(doc, run.start, run.end, "PERSON") for run in people]
    return doc


def _runs(doc: Doc, of: NameWords) -> list[Span]:
    """Return runs of words with a capital letter. A title that follows no other begins one. A word such as "uncle", and
    the possessive of another one, end one."""
    capital = [token.text[0].isupper() and _is_word(token) and not token.is_stop for token in doc]
    texts = {token.text for token in doc}
    runs: list[Span] = []
    for token in doc:
        if capital[token.i]:
            run = runs[-1] if runs and runs[-1].end == token.i and not token.is_sent_start else None
            if run is not None:
                key, last = entity_key(token.text), entity_key(run[-1].text)
                owner = run[-1].text.removesuffix(of.possessive)
                ended = last in of.surnames_at_best or (owner != run[-1].text and owner in texts)
                if ended or (key in of.titles and last not in of.titles):
                    run = None
            if run is None:
                runs.append(doc[token.i : token.i + 1])
            else:
                runs[-1] = doc[run.start : token.i + 1]
    return runs


def _is_word(token: Token) -> bool:
    """Return whether a token is a word, such as "Hans-Peter" or "Dr."."""
    return token.text.replace("-", "").removesuffix(".").isalpha()


def _nouns(runs: list[Span], of: NameWords) -> set[Span]:
    """Return which runs are common nouns. There are none where these begin with a small letter."""
    if not of.articles:
        return set()
    counts = Counter(token.text.removesuffix(of.possessive) for run in runs for token in run)
    after_article = {run for run in runs if _is_after_article(run, of)}
    seen = {run[0].text.removesuffix(of.possessive) for run in after_article}

    def is_noun(run: Span) -> bool:
        word = run[0].text.removesuffix(of.possessive)
        return len(run) == 1 and (counts[word] == 1 or word in seen or run.text.endswith(of.noun_endings))

    return after_article | {run for run in runs if is_noun(run)}


def _is_after_article(run: Span, of: NameWords) -> bool:
    """Return whether an article precedes a run, with or without another word between them. After a comma it is no
    article, but refers to what precedes."""
    before = list(run.doc[max(run.start - 3, run.sent.start) : run.start])
    if before and before[-1].is_lower and not before[-1].is_stop:
        before.pop()
    return bool(before) and before[-1].lower_ in of.articles and not (len(before) > 1 and before[-2].text == ",")
