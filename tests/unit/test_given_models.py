"""Models that the caller passes are used as they are."""

from __future__ import annotations

import pytest
import spacy

from e2g_neo4j.errors import PipelineError
from e2g_neo4j.models.entities.pipeline import BUNDLED, load_pipeline, pipeline_id
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.settings import Settings


def test_a_given_pipeline_has_the_id_of_the_same_files_and_stays_in_this_process() -> None:
    given = spacy.load(BUNDLED)
    models = Models(Settings(workers=8), nlp=given)
    assert models.nlp is given
    assert models.workers == 1
    assert Models(Settings(workers=8)).workers == 8
    assert pipeline_id(given) == pipeline_id(load_pipeline())


def test_a_given_pipeline_without_sentences_is_refused() -> None:
    with pytest.raises(PipelineError, match="sentencizer"):
        _ = Models(Settings(), nlp=spacy.blank("en")).nlp
