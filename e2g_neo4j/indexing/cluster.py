"""Read texts on the workers of a Dask cluster. This process stages and writes what they find."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from e2g_neo4j.errors import ConfigurationError, E2GError, ModelError
from e2g_neo4j.indexing.reading import Found, Text, read_texts
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.lazy_imports import needs
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.fingerprint import Fingerprint

if TYPE_CHECKING:
    from distributed import Client, Future

BATCH = 8
"""Texts per task: some seconds of work, which is lost if a worker is."""

TASKS_AHEAD = 3
"""Tasks that are submitted per thread of the workers, with their results."""

WAIT_SECONDS = 30.0
"""How long to wait for the scheduler, and for a task, before it is an error that there is no worker."""

MODEL_SETTINGS = frozenset(
    [
        "embedding_dimensions",
        "embedding_model",
        "embedding_precision",
        "ollama_host",
        "passage_prefix",
        "spacy_model",
        "window_tokens",
    ]
)
"""The settings that workers are told. Credentials are not among them."""

_READING = Lock()
"""Tasks of one worker take turns, because each uses all of its cores."""


def read_on_cluster(address: str, models: Models, texts: Sequence[Text]) -> Iterator[Found]:
    """Yield what is found in each text, in order. The tasks of a worker that is lost run on another one.

    Args:
        address: the address of the scheduler.
        models: the models, which the workers load from the same settings.

    Raises:
        ConfigurationError: the extra `cluster` is not installed, the scheduler cannot be reached, there is no worker,
            a worker has other models, or the models were given as objects.
        ModelError: a task failed.
    """
    if models.are_given:
        raise ConfigurationError(
            "Models that are passed as objects cannot be sent to the workers of a cluster: name them in settings "
            "(E2G_EMBEDDING_MODEL, E2G_SPACY_MODEL), or unset E2G_CLUSTER."
        )
    with needs("Indexing on a Dask cluster (E2G_CLUSTER)", "cluster"):
        from distributed import Client
    settings = models.settings.model_dump(mode="json", include=set(MODEL_SETTINGS))
    try:
        client = Client(address, timeout=WAIT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"The Dask scheduler {address} (E2G_CLUSTER) cannot be reached: start it with `dask scheduler`, or unset "
            f"E2G_CLUSTER. ({error})"
        ) from error
    with client:
        pending: deque[Future[list[Found]]] = deque()
        for batch in split_batches(texts, BATCH):
            pending.append(client.submit(read_batch, settings, models.fingerprint, batch, pure=False))
            if len(pending) >= TASKS_AHEAD * max(_threads(client), 1):
                yield from _result(client, pending.popleft(), address)
        while pending:
            yield from _result(client, pending.popleft(), address)


def read_batch(settings: Mapping[str, Any], wanted: Fingerprint, texts: Sequence[Text]) -> list[Found]:
    """Read some texts. This runs in a worker.

    Args:
        settings: settings that name the models.
        wanted: the fingerprint of the models of the corpus.

    Raises:
        ConfigurationError: the models of this worker have another fingerprint.
    """
    with _READING:
        own = _models(tuple(sorted(settings.items())))
        models = own.of(replace(own.fingerprint, spacy_model=wanted.spacy_model))
        if models.fingerprint != wanted:
            raise ConfigurationError(
                f"A worker of the cluster has the models {models.fingerprint}, and the corpus is indexed with "
                f"{wanted}: install the same packages on the worker."
            )
        return list(read_texts(models.nlp, models.embedder, texts, 1))


@cache
def _models(settings: tuple[tuple[str, Any], ...]) -> Models:
    return Models(Settings(**dict(settings)))


def _threads(client: Client) -> int:
    threads: dict[str, int] = client.nthreads()  # type: ignore[no-untyped-call]
    return sum(threads.values())


def _result(client: Client, future: Future[list[Found]], address: str) -> list[Found]:
    """Wait for a task, as long as there are workers. Raises the error of the task."""
    while True:
        try:
            found: list[Found] = future.result(timeout=WAIT_SECONDS)
        except E2GError:
            raise
        except Exception as error:
            waits = isinstance(error, TimeoutError) and future.status == "pending"
            if not waits:  # the task has failed, or was lost with several workers
                raise ModelError(
                    f"The Dask cluster {address} (E2G_CLUSTER) could not read some texts: {error!r}. Look at the logs "
                    "of its workers, and index again. What is indexed already stays."
                ) from error
            if not _threads(client):
                raise ConfigurationError(
                    f"The Dask cluster {address} (E2G_CLUSTER) has no workers: start some with `dask worker {address} "
                    "--nthreads 1`. What is indexed already stays."
                ) from None
        else:
            return found
