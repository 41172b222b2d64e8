"""Load the spaCy pipeline, bundled or installed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from e2g_neo4j.errors import PipelineError
from e2g_neo4j.models.entities.rules import RULES, load_rules, rules_id
from e2g_neo4j.runtime.lazy_imports import import_spacy

if TYPE_CHECKING:  # spaCy takes a second to import
    from spacy.language import Language

BUNDLED = Path(__file__).with_name("en_e2g_sm")

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

_HASH = "e2g_files"
"""Key in the metadata of a pipeline for the hash of its files."""

_LARGE = 2**22
"""Bytes that are hashed from each end of a file. Files of the bundled pipeline are smaller."""


def load_pipeline(name: str | None = None) -> Language:
    """Load the spaCy pipeline with the components that extraction needs.

    Args:
        name: An installed pipeline package, a folder, or `rules:` with the code of a language, see `rules.py`. Default:
            the bundled `en_e2g_sm`.

    Raises:
        PipelineError: The pipeline is not installed, or is made for another version of spaCy.
    """
    if name and name.startswith(RULES):
        return load_rules(name)
    import_spacy()
    import spacy
    from spacy.about import __version__ as installed_spacy

    source = name or str(BUNDLED)
    try:
        meta = _meta(source)
    except (OSError, ValueError, ImportError) as error:
        raise PipelineError(
            f"There is no spaCy pipeline {source!r}. Install it, or unset E2G_SPACY_MODEL to use the bundled one."
        ) from error
    required = str(meta.get("spacy_version", ""))
    if spacy.util.is_compatible_version(installed_spacy, required) is False:
        raise PipelineError(
            f"The spaCy pipeline {source!r} requires spaCy {required}, but {installed_spacy} is installed. "
            f"Install a matching version of spaCy, or a pipeline for spaCy {installed_spacy}."
        )
    components = [*meta.get("components", meta.get("pipeline", [])), *meta.get("disabled", [])]
    unwanted = {component for component in components if component not in _NEEDED}
    if "senter" in components:  # as accurate as the parser for sentences, and many times as fast
        unwanted.add("parser")
    if "morphologizer" in components:  # sets the parts of speech, so the tagger is redundant
        unwanted.add("tagger")
    try:
        nlp = spacy.load(source, exclude=sorted(unwanted))
    except Exception as error:
        raise PipelineError(f"spaCy {installed_spacy} cannot load the pipeline {source!r}: {error}") from error
    if "senter" in nlp.disabled:
        nlp.enable_pipe("senter")
    if not {"senter", "parser", "sentencizer"} & set(nlp.pipe_names):
        nlp.add_pipe("sentencizer", first=True)
    return nlp


def check_pipeline(nlp: Language) -> None:
    """Check a pipeline that the caller loaded.

    Raises:
        PipelineError: it does not find sentences.
    """
    if not {"senter", "parser", "sentencizer"} & set(nlp.pipe_names):
        raise PipelineError(
            "The spaCy pipeline does not find sentences: add a component for it, such as "
            '`nlp.add_pipe("sentencizer", first=True)`.'
        )


def _meta(source: str) -> dict[str, Any]:
    import spacy

    return spacy.util.load_meta(_folder(source) / "meta.json")


def _folder(source: str) -> Path:
    import spacy

    folder = Path(source)
    return folder if folder.is_dir() else spacy.util.get_package_path(source)


@cache
def find_pipeline_id(name: str | None) -> str | None:
    """Return the `pipeline_id` of a pipeline without loading it, or None if it is not installed."""
    if name and name.startswith(RULES):
        return rules_id(name)
    import_spacy()
    source = name or str(BUNDLED)
    try:
        meta, folder = _meta(source), _folder(source)
        packaged = folder / _id(meta, None)  # in an installed package, beside its code
        return _id(meta, _files_hash(packaged if packaged.is_dir() else folder))
    except (OSError, ValueError, ImportError, KeyError):
        return None


def pipeline_of(id: str, configured: str | None) -> str | None:
    """Return the name of the pipeline with an id, for `load_pipeline`: the configured one, the bundled one, or an
    installed package.

    Raises:
        PipelineError: There is none of them with this id.
    """
    package, language = id.rpartition("-")[0], id.partition("_")[0]
    for name in (configured, None, f"{RULES}{language}", package):
        if find_pipeline_id(name) == id:
            return name
    raise PipelineError(
        f"The spaCy pipeline {id} is not installed here. Install it, or set E2G_SPACY_MODEL to the folder with it."
    )


def pipeline_for(language: str, configured: str | None) -> str | None:
    """Return the name of the pipeline for a language, for `load_pipeline`: the configured or the bundled one, if it is
    for this language, otherwise an installed one of spaCy's, otherwise one by rules."""
    for name in (configured, None, f"{language}_core_news_sm"):
        if (find_pipeline_id(name) or "").startswith(f"{language}_"):
            return name
    return f"{RULES}{language}"


def pipeline_id(nlp: Language) -> str:
    """Return name, version and a hash of the files, such as `en_e2g_sm-0.1.0+1a2b3c4d`. It identifies the pipeline that
    an index was made with. A pipeline that was not loaded from files has no hash. Components that were added in memory
    are not noticed: give such a pipeline a name or version of its own."""
    meta = nlp.meta
    if _HASH not in meta and nlp.path is not None:
        meta[_HASH] = _files_hash(Path(nlp.path))
    return _id(meta, meta.get(_HASH))


def _id(meta: Mapping[str, Any], files_hash: str | None) -> str:
    return f"{meta['lang']}_{meta['name']}-{meta['version']}" + (f"+{files_hash}" if files_hash else "")


def _files_hash(folder: Path) -> str:
    """Hash the files that spaCy reads: the folders of the components, the tokenizer and the configuration.

    Only both ends of a large file are hashed. Large files contain word vectors or transformers.
    """
    digest = sha256()
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or (path.parent == folder and path.name not in ("config.cfg", "tokenizer")):
            continue
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()}:{size}:".encode())
        with path.open("rb") as file:
            digest.update(file.read(_LARGE))
            if size > _LARGE:
                file.seek(max(size - _LARGE, _LARGE))
                digest.update(file.read())
    return digest.hexdigest()[:8]
