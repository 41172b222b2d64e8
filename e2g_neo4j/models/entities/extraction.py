"""Extract entities from text with a spaCy pipeline: named entities, proper nouns and common nouns.

The same functions process documents and questions, so that a name found in one is found in the other.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias

from e2g_neo4j.models.entities.entity_key import entity_form, entity_key
from e2g_neo4j.models.entities.pipeline import BUNDLED, load_pipeline
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.lazy_imports import leave_out_torch
from e2g_neo4j.types.graph import NAME, NOUN, PERSON, Extraction, Sentence
from e2g_neo4j.types.languages import name_words

if TYPE_CHECKING:  # spaCy takes a second to import
    from loky import Future
    from spacy.language import Language
    from spacy.tokens import Doc, Span, Token

TYPES = {
    "PERSON": "person",
    "PER": "person",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "ORG": "organisation",
    "NORP": "group",
    "PRODUCT": "product",
    "EVENT": "event",
    "WORK_OF_ART": "work",
    "LAW": "law",
    "LANGUAGE": "language",
}
"""Types of named entities by spaCy label, in the schemes of OntoNotes 5 and of CoNLL 2003. The type of another label is
the label in lower case."""

_VALUES = frozenset(["DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"])

LONGEST_NAME = 200
"""Maximum characters of an entity. Longer ones are data within a text, and do not fit into an index."""

_LINE_BREAK = re.compile(r"(?<=[^\s])(\r\n|\n|\r)(?=[^\s])")

_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s()<>\]]+|(?<=\])\([^()\s]{1,2000}\)")
"""An address, and the target of a link of Markdown."""

_UNBROKEN = re.compile(r"(\S{999})\S")

_BATCH = 32
"""Texts per task of a worker: about 0.2 MB, or two seconds of work."""

_PIPELINE_BATCH = 8
"""Texts per batch of the pipeline. Larger batches exceed the processor's cache and are slower."""


def is_value(token: Token) -> bool:
    """Return whether a token is a part of a date, an amount or the like."""
    return token.ent_type_ in _VALUES


def is_calendar(word: str, language: str) -> bool:
    """Return whether a word is the name of a month or day."""
    return word in name_words(language).calendar


@lru_cache(maxsize=100_000)
def _key_and_form(text: str, language: str) -> tuple[str, str]:
    return entity_key(text, language), entity_form(text, language)


def extract(doc: Doc) -> Extraction:
    """Return the sentences and entities of a text that the pipeline has processed.

    Entities are named entities, runs of proper nouns outside of them, and lemmas of other common nouns. Dates,
    amounts, stop words, single letters and numbers are not entities, but nouns within dates and amounts are. A blank
    line always ends a sentence.

    The type of a named entity comes from its label, see `TYPES`. Other proper nouns have the type `name`, common nouns
    the type `noun`.
    """
    found = sorted(chain(_names(doc), _common_nouns(doc)))
    counts: Counter[str] = Counter()
    types: defaultdict[str, Counter[str]] = defaultdict(Counter)
    written: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for _, key, form, type in found:
        counts[key] += 1
        types[key][type] += 1
        written[key][form] += 1
    sentences = []
    position = 0
    for start, end in _sentence_bounds(doc):
        keys: dict[str, None] = {}
        while position < len(found) and found[position][0] < end:
            keys[found[position][1]] = None
            position += 1
        last = doc[end - 1]
        sentences.append(Sentence(doc[start].idx, last.idx + len(last), tuple(keys)))
    forms = {key: dict(found) for key, found in written.items() if set(found) != {key}}
    people = {key: counted[PERSON] for key, counted in types.items() if PERSON in counted}
    return Extraction(tuple(sentences), dict(counts), forms, people, {key: dict(found) for key, found in types.items()})


Found: TypeAlias = tuple[int, str, str, str]
"""An occurrence: index of the first token, key, form and type."""


def _names(doc: Doc) -> Iterator[Found]:
    """Yield named entities, and runs of proper nouns outside of them."""
    taken = bytearray(len(doc))
    calendar = name_words(doc.lang_).calendar
    for span in doc.ents:
        if span.label_ in _VALUES:
            continue
        taken[span.start : span.end] = b"\1" * len(span)
        if doc.lang_ != "en":  # the key of a name has no English determiner
            while len(span) > 1 and span[0].is_stop and not _is_elided_name(span):
                span = span[1:]
        key, form = _key_and_form(span.text, doc.lang_)
        if _is_name(key):
            yield span.start, key, form, TYPES.get(span.label_) or span.label_.lower() or NAME
    start = 0
    while start < len(doc):
        end = start
        while end < len(doc) and not taken[end] and _continues(doc, start, end):
            end += 1
        while end > start and doc[end - 1].pos_ != "PROPN":
            end -= 1
        if end > start:
            key, form = _key_and_form(doc[start:end].text, doc.lang_)
            if _is_name(key) and not calendar.issuperset(key.split()):
                small = doc.lang_ != "en" and form.islower()  # the pipeline is mistaken
                yield start, key, key if small else form, NOUN if small else NAME
        start = max(end, start + 1)


def _is_elided_name(span: Span) -> bool:
    """Return whether a named entity is a person such as d'Artagnan."""
    elisions = name_words(span.doc.lang_).elisions
    person = TYPES.get(span.label_) == PERSON
    return person and len(span) == 2 and span[0].lower_.replace("’", "'") in elisions and not span[0].whitespace_


def _continues(doc: Doc, start: int, at: int) -> bool:
    """Return whether the token continues a run of proper nouns that began at `start`, directly or after a hyphen
    without spaces."""
    token = doc[at]
    if at > start and token.is_sent_start:
        return False
    if token.pos_ == "PROPN":
        return True
    return at > start and token.text in "-‐‑–" and not token.whitespace_ and not doc[at - 1].whitespace_


def _common_nouns(doc: Doc) -> Iterator[Found]:
    calendar = name_words(doc.lang_).calendar if doc.lang_ != "en" else ()  # "march" is a common noun too
    for token in doc:
        if token.pos_ != "NOUN" or (token.ent_type_ and token.ent_type_ not in _VALUES):
            continue
        lemma = (token.lemma_ or token.text).lower()
        if token.like_num or token.is_stop or doc.vocab[lemma].is_stop:
            continue
        key = entity_key(lemma)
        if _is_name(key) and key not in calendar:
            yield token.i, key, key, NOUN


def _is_name(key: str) -> bool:
    return len(key) <= LONGEST_NAME and sum(map(str.isalpha, key)) > 1


def _sentence_bounds(doc: Doc) -> Iterator[tuple[int, int]]:
    """Yield the token range of every sentence, without surrounding white space."""
    for sentence in doc.sents:
        start = sentence.start
        for token in sentence:
            if token.is_space and token.text.count("\n") > 1:
                yield from _trim(doc, start, token.i)
                start = token.i + 1
        yield from _trim(doc, start, sentence.end)


def _trim(doc: Doc, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and doc[start].is_space:
        start += 1
    while start < end and doc[end - 1].is_space:
        end -= 1
    if start < end:
        yield start, end


def extract_all(nlp: Language, texts: Iterable[str], workers: int = 1) -> Iterator[Extraction]:
    """Run `extract` on each text, in order. Texts are consumed lazily.

    Args:
        nlp: The pipeline from `load_pipeline`.
        texts: Texts of some kilobytes each. Line breaks within a paragraph count as spaces.
        workers: Number of processes. They are started only if there is at least one batch for each. Each loads the
            pipeline once, and at most two batches per process are queued.
    """
    batches = split_batches(map(unwrap_lines, texts), _BATCH)
    first = list(islice(batches, workers))
    if workers < 2 or len(first) < workers or nlp.path is None:
        yield from map(extract, nlp.pipe(chain.from_iterable(chain(first, batches)), batch_size=_PIPELINE_BATCH))
        return
    from loky import get_reusable_executor

    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    prepare = leave_out_torch if nlp.path == BUNDLED else None
    pool = get_reusable_executor(max_workers=workers, timeout=60, env=one_thread, initializer=prepare)
    pending: deque[Future] = deque()
    for batch in chain(first, batches):
        pending.append(pool.submit(_extract_batch, str(nlp.path), batch))
        if len(pending) > 2 * workers:
            yield from pending.popleft().result()
    while pending:
        yield from pending.popleft().result()


def _extract_batch(source: str, texts: list[str]) -> list[Extraction]:
    return [extract(doc) for doc in _worker_pipeline(source).pipe(texts, batch_size=_PIPELINE_BATCH)]


@lru_cache(maxsize=1)
def _worker_pipeline(source: str) -> Language:
    return load_pipeline(source)


def unwrap_lines(text: str) -> str:
    """Replace line breaks within paragraphs with spaces, break runs of a thousand characters without a space, and make
    addresses unreadable: their parts are no names. Offsets are unchanged.

    The tokenizer needs quadratic time for a run without a space.
    """
    text = _ADDRESS.sub(lambda found: "/" * len(found[0]), text)
    return _UNBROKEN.sub(r"\1 ", _LINE_BREAK.sub(lambda found: " " * len(found[0]), text))
