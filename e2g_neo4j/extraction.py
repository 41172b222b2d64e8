"""Entities of a text: named entities, proper nouns and common nouns, found by a spaCy pipeline.

Documents and questions go through the same functions, so that a name found in one is found in the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import spacy
from loky import Future, get_reusable_executor
from spacy.about import __version__ as installed_spacy
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model, NumpyOps

from e2g_neo4j.errors import PipelineError
from e2g_neo4j.model import Extraction, Sentence

BUNDLED = Path(__file__).parent / "pipelines" / "en_e2g_sm"

_NEEDED = frozenset(
    [
        "tok2vec",
        "transformer",
        "tagger",
        "morphologizer",
        "attribute_ruler",
        "lemmatizer",
        "trainable_lemmatizer",
        "parser",
        "senter",
        "sentencizer",
        "ner",
        "entity_ruler",
        "span_ruler",
    ]
)
_PEOPLE = frozenset(["PERSON", "PER"])
_VALUES = frozenset(["DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"])
_CALENDAR = frozenset(
    [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "mon",
        "tue",
        "tues",
        "wed",
        "thu",
        "thur",
        "thurs",
        "fri",
        "sat",
        "sun",
    ]
)

_DETERMINERS = re.compile(r"^(?:(?:the|an|a(?!\.)|this|that|these|those|my|your|his|her|its|our|their|thy)\s+)+(?=\S)")
_POSSESSIVE = re.compile(r"(?:'s|(?<=s)')$")
_FORM_DETERMINERS = re.compile(_DETERMINERS.pattern, re.IGNORECASE)
_FORM_POSSESSIVE = re.compile(r"(?:['‘’‛ʼ`´′＇]s|(?<=s)['‘’‛ʼ`´′＇])$", re.IGNORECASE)
_INITIALS = re.compile(r"\b([^\W\d_])\.?\s*(?=[^\W\d_]\b)")
_FULL_STOPS = re.compile(r"(?<!\d)\.|\.(?!\d)")
_INITIALISM = re.compile(r"(?:^|\s)(?:[^\W\d_]\.)+$")
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ı": "i"})
_SIGNS = str.maketrans(
    dict.fromkeys("‘’‚‛ʼ`´′", "'") | dict.fromkeys('“”„‟«»″"', " ") | dict.fromkeys("-‐‑‒–—―−_", " ") | {"\u00ad": None}
)
_EDGES = " \t\n.,;:!?'()[]{}<>*/\\|~=…·•"
_AROUND = _EDGES.replace(".", "") + '‘’‚‛ʼ`´′“”„‟«»″"-‐‑‒–—―−_'

LONGEST_NAME = 200
"""Characters of an entity: what is longer is data that stands in a text, and would not fit into an index."""

_LINE_BREAK = re.compile(r"(?<=[^\s])(\r\n|\n|\r)(?=[^\s])")
_UNBROKEN = re.compile(r"(\S{999})\S")
_BATCH = 32
"""Texts that a worker is sent at once: about 0.2 MB, some two seconds of work."""
_AT_ONCE = 8
"""Texts that a pipeline reads at once: more do not fit the processor's cache and are slower."""


# --- the pipeline ------------------------------------------------------------------------------------


def load_pipeline(name: str | None = None) -> Language:
    """The spaCy pipeline, with only the components that extraction needs.

    Args:
        name: an installed pipeline package or a folder; None: the bundled `en_e2g_sm`.

    Raises:
        PipelineError: the pipeline is not installed, or was made for another spaCy.
    """
    source = name or str(BUNDLED)
    try:
        meta = _meta(source)
    except (OSError, ValueError, ImportError) as error:
        raise PipelineError(
            f"There is no spaCy pipeline {source!r}. Install it, or unset E2G_SPACY_MODEL to use the bundled one."
        ) from error
    wanted = str(meta.get("spacy_version", ""))
    if spacy.util.is_compatible_version(installed_spacy, wanted) is False:
        raise PipelineError(
            f"The spaCy pipeline {source!r} wants spaCy {wanted}, and {installed_spacy} is installed. "
            f"Install a spaCy in that range, or a pipeline made for {installed_spacy}."
        )
    components = [*meta.get("components", meta.get("pipeline", [])), *meta.get("disabled", [])]
    unwanted = {component for component in components if component not in _NEEDED}
    if "senter" in components:  # finds sentences as well as the parser does, many times as fast
        unwanted.add("parser")
    if "morphologizer" in components:  # gives the parts of speech, so the tagger has nothing to add
        unwanted.add("tagger")
    try:
        nlp = spacy.load(source, exclude=sorted(unwanted))
    except Exception as error:
        raise PipelineError(
            f"The spaCy pipeline {source!r} cannot be loaded by spaCy {installed_spacy}: {error}"
        ) from error
    if "senter" in nlp.disabled:
        nlp.enable_pipe("senter")
    if not {"senter", "parser", "sentencizer"} & set(nlp.pipe_names):
        nlp.add_pipe("sentencizer", first=True)
    _use_numpy_products(nlp)
    return nlp


class _NumpyProducts(NumpyOps):  # type: ignore[misc]
    """Matrix products by numpy's BLAS, which knows more processors than the one that spaCy brings along."""

    def gemm(self, x: Any, y: Any, out: Any = None, trans1: bool = False, trans2: bool = False) -> Any:
        return np.matmul(x.T if trans1 else x, y.T if trans2 else y, out=out)


def _use_numpy_products(nlp: Language) -> None:
    ops = _NumpyProducts()
    models = [getattr(component, "model", None) for _, component in nlp.pipeline]
    for node in chain.from_iterable(model.walk() for model in models if isinstance(model, Model)):
        if type(node.ops) is NumpyOps:
            node.ops = ops


def _meta(source: str) -> dict[str, Any]:
    folder = Path(source)
    if not folder.is_dir():
        folder = spacy.util.get_package_path(source)
    return spacy.util.load_meta(folder / "meta.json")


def pipeline_id(nlp: Language) -> str:
    """Name and version, such as `en_e2g_sm-0.1.0`: two indexes made by the same one can be compared."""
    return f"{nlp.meta['lang']}_{nlp.meta['name']}-{nlp.meta['version']}"


# --- one text ----------------------------------------------------------------------------------------


def entity_key(text: str) -> str:
    """The normal form of a name, the same for "Mr. Darcy’s" and "mr darcy", "U.S." and "US".

    Letter case, accents, leading determiners, a final possessive, full stops of abbreviations and the
    punctuation around the name are dropped; hyphens become spaces; initials are joined ("J. R. R. Tolkien"
    is "jrr tolkien"). Titles stay: Mr. and Mrs. Bennet are two people. Empty where nothing is left.
    """
    key = unicodedata.normalize("NFKC", text).casefold().translate(_SIGNS)
    decomposed = unicodedata.normalize("NFD", key)
    key = "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f" and unicodedata.category(c) != "Cf")
    key = unicodedata.normalize("NFC", key).translate(_LETTERS)
    key = " ".join(key.split())
    before = None
    while key != before:  # what one of them leaves may be for another to take
        before = key
        key = key.strip(_EDGES.replace(".", "").replace("'", ""))
        key = _POSSESSIVE.sub("", key.rstrip(_EDGES.replace("'", "")))
        key = _DETERMINERS.sub("", key)
    before = None
    while key != before:
        before = key
        key = _INITIALS.sub(r"\1", _FULL_STOPS.sub("", _INITIALS.sub(r"\1", key)))
        key = _POSSESSIVE.sub("", " ".join(key.split()).strip(_EDGES))
    return key


def entity_form(text: str) -> str:
    """A name as it is written, such as "Mr. Darcy" where the text has "Mr.\\nDarcy’s"; its key is that of the text.

    White space becomes single spaces; leading determiners, a final possessive and the signs around the name go.
    """
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
    form = " ".join(unicodedata.normalize("NFKC", visible).split()).strip(_AROUND)
    form = _FORM_DETERMINERS.sub("", _FORM_POSSESSIVE.sub("", form.rstrip("."))).strip(_AROUND)
    if _INITIALISM.search(form + "."):
        form += "."
    key = entity_key(text)
    return form if entity_key(form) == key else key


@lru_cache(maxsize=100_000)
def _key_and_form(text: str) -> tuple[str, str]:
    return entity_key(text), entity_form(text)


def extract(doc: Doc) -> Extraction:
    """Sentences and entities of a text that the pipeline has read.

    Entities are the named entities, the runs of proper nouns outside of them, and the lemmas of the common
    nouns outside both. Dates and amounts are none, though the nouns in them are; nor are stop words, single
    letters and numbers. A blank line ends a sentence, whatever the pipeline says.
    """
    found = sorted(chain(_names(doc), _common_nouns(doc)))
    counts: Counter[str] = Counter()
    people: Counter[str] = Counter()
    written: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for _, key, form, is_person in found:
        counts[key] += 1
        people[key] += is_person
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
    return Extraction(tuple(sentences), dict(counts), forms, dict(+people))


Found: TypeAlias = tuple[int, str, str, bool]
"""An occurrence: index of the first token, key, form, and whether it is called a person."""


def _names(doc: Doc) -> Iterator[Found]:
    """Named entities and left-over runs of proper nouns."""
    taken = bytearray(len(doc))
    for span in doc.ents:
        if span.label_ in _VALUES:
            continue
        taken[span.start : span.end] = b"\1" * len(span)
        key, form = _key_and_form(span.text)
        if _is_name(key):
            yield span.start, key, form, span.label_ in _PEOPLE
    start = 0
    while start < len(doc):
        end = start
        while end < len(doc) and not taken[end] and _continues(doc, start, end):
            end += 1
        while end > start and doc[end - 1].pos_ != "PROPN":
            end -= 1
        if end > start:
            key, form = _key_and_form(doc[start:end].text)
            if _is_name(key) and not _CALENDAR.issuperset(key.split()):
                yield start, key, form, False
        start = max(end, start + 1)


def _continues(doc: Doc, start: int, at: int) -> bool:
    """Whether the token belongs to a run of proper nouns that began at `start`; hyphens bind, if tight."""
    token = doc[at]
    if at > start and token.is_sent_start:
        return False
    if token.pos_ == "PROPN":
        return True
    return at > start and token.text in "-‐‑–" and not token.whitespace_ and not doc[at - 1].whitespace_


def _common_nouns(doc: Doc) -> Iterator[Found]:
    for token in doc:
        if token.pos_ != "NOUN" or (token.ent_type_ and token.ent_type_ not in _VALUES):
            continue
        lemma = (token.lemma_ or token.text).lower()
        if token.like_num or token.is_stop or doc.vocab[lemma].is_stop:
            continue
        key = entity_key(lemma)
        if _is_name(key):
            yield token.i, key, key, False


def _is_name(key: str) -> bool:
    return len(key) <= LONGEST_NAME and sum(map(str.isalpha, key)) > 1


def _sentence_bounds(doc: Doc) -> Iterator[tuple[int, int]]:
    """First and last-plus-one token of every sentence, white space at its ends left out."""
    for sentence in doc.sents:
        start = sentence.start
        for token in sentence:
            if token.is_space and token.text.count("\n") > 1:
                yield from _trimmed(doc, start, token.i)
                start = token.i + 1
        yield from _trimmed(doc, start, sentence.end)


def _trimmed(doc: Doc, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and doc[start].is_space:
        start += 1
    while start < end and doc[end - 1].is_space:
        end -= 1
    if start < end:
        yield start, end


# --- many texts --------------------------------------------------------------------------------------


def extract_all(nlp: Language, texts: Iterable[str], workers: int = 1) -> Iterator[Extraction]:
    """What `extract` finds in each text, in order, read as they are needed.

    Args:
        nlp: what `load_pipeline` returned.
        texts: of some kilobytes each. Line breaks inside a paragraph are read as spaces.
        workers: processes. They are started only where there is work for more than one batch each, hold
            the pipeline once, and are sent at most two batches ahead.
    """
    batches = _batches(map(unwrapped, texts))
    first = list(islice(batches, workers))
    if workers < 2 or len(first) < workers or nlp.path is None:
        yield from map(extract, nlp.pipe(chain.from_iterable(chain(first, batches)), batch_size=_AT_ONCE))
        return
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    pool = get_reusable_executor(max_workers=workers, timeout=60, env=one_thread)
    pending: deque[Future] = deque()
    for batch in chain(first, batches):
        pending.append(pool.submit(_extract_batch, str(nlp.path), batch))
        if len(pending) > 2 * workers:
            yield from pending.popleft().result()
    while pending:
        yield from pending.popleft().result()


def _extract_batch(source: str, texts: list[str]) -> list[Extraction]:
    return [extract(doc) for doc in _worker_pipeline(source).pipe(texts, batch_size=_AT_ONCE)]


@lru_cache(maxsize=1)
def _worker_pipeline(source: str) -> Language:
    return load_pipeline(source)


def unwrapped(text: str) -> str:
    """Line breaks inside a paragraph as spaces, and a space in every thousand characters without one. Offsets stay.

    The tokenizer takes the square of the time for a run without a space.
    """
    return _UNBROKEN.sub(r"\1 ", _LINE_BREAK.sub(lambda found: " " * len(found[0]), text))


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    texts = iter(texts)
    while batch := list(islice(texts, _BATCH)):
        yield batch
