"""Models that the caller passes are used as they are, and each is loaded once."""

from __future__ import annotations

from threading import RLock, Thread

import pytest
import spacy

from e2g_neo4j.errors import PipelineError
from e2g_neo4j.models.entities.pipeline import BUNDLED, load_pipeline, pipeline_id
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.threads import once
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


class _Loaded:
    def __init__(self, shared: _Loaded | None = None) -> None:
        self._loading, self.shared = RLock(), shared

    @once
    def size(self) -> int:
        return 1 + (self.shared.size if self.shared else 0)


def test_models_of_two_corpora_do_not_wait_for_each_other() -> None:
    configured = _Loaded()
    other = _Loaded(shared=configured)
    found = []

    def load() -> None:
        with configured._loading:
            waiting = Thread(target=lambda: found.append(other.size), daemon=True)
            waiting.start()
            waiting.join(0.2)
            found.append(configured.size)
        waiting.join()

    loading = Thread(target=load, daemon=True)
    loading.start()
    loading.join(10)
    assert found == [1, 2]
