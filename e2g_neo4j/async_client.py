"""The async Python client: the calls of `E2G`, awaited."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from e2g_neo4j.client import E2G
from e2g_neo4j.client_base import AsyncClient

T = TypeVar("T")
P = ParamSpec("P")


def awaited(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return a method of `E2G` for `AsyncClient`, whose `_run` and `_ask` are awaited."""

    @wraps(method)
    async def call(self: Any, /, *args: P.args, **keywords: P.kwargs) -> T:
        running: Any = method(self, *args, **keywords)
        result: T = await running
        return result

    return call


def streamed(
    method: Callable[Concatenate[Any, P], Generator[T]],
) -> Callable[Concatenate[Any, P], AsyncGenerator[T, None]]:
    """Return a method of `E2G` for `AsyncClient`, whose `_stream` is an async generator."""

    @wraps(method)
    def call(self: Any, /, *args: P.args, **keywords: P.kwargs) -> AsyncGenerator[T, None]:
        pieces: Any = method(self, *args, **keywords)
        result: AsyncGenerator[T, None] = pieces
        return result

    return call


class AsyncE2G(AsyncClient):
    """As `E2G`, to be awaited; `stream` is for `async for`. The database and the chat model are called asynchronously;
    what needs the processor runs in threads, so that the event loop stays free. A call that is cancelled ends soon; of
    a cancelled index run, what was complete stays. `progress` is called from other threads.

    Python's garbage collector searches the objects of all imported libraries, and blocks the event loop meanwhile. An
    application that minds calls `gc.freeze()` once the models are loaded, as the service does.

    Args:
        driver: a neo4j async driver to borrow, left open in the end; None: one of its own, opened by the first call.
        settings: None: those of the environment and `.env`.
        chat_model: any langchain-core chat model, for summaries and answers; None: the one that the settings name, if
            any.
        embedder: an embedding model (`models.embedding.base.Embedder`); None: the one that the settings name.
        nlp: a spaCy pipeline; None: the one that the settings name.
        strategies: retrieval modes besides those of this package.

    Raises:
        UnreachableError, AccessError, DatabaseError: every call may raise these.
        NotFoundError: the corpus has no document; not raised by `index`, `adopt` and `import_corpus`.
    """

    migrate = awaited(E2G.migrate)
    index = awaited(E2G.index)
    resume = awaited(E2G.resume)
    delete = awaited(E2G.delete)
    retrieve = awaited(E2G.retrieve)
    modes = awaited(E2G.modes)
    paths = awaited(E2G.paths)
    answer = awaited(E2G.answer)
    stream = streamed(E2G.stream)
    run_template = awaited(E2G.run_template)
    text_to_cypher = awaited(E2G.text_to_cypher)
    corpora = awaited(E2G.corpora)
    documents = awaited(E2G.documents)
    text = awaited(E2G.text)
    entities = awaited(E2G.entities)
    merges = awaited(E2G.merges)
    merge = awaited(E2G.merge)
    split = awaited(E2G.split)
    join = awaited(E2G.join)
    enrich = awaited(E2G.enrich)
    reindex = awaited(E2G.reindex)
    add_graph_documents = awaited(E2G.add_graph_documents)
    link = awaited(E2G.link)
    links = awaited(E2G.links)
    references = awaited(E2G.references)
    unlink = awaited(E2G.unlink)
    adopt = awaited(E2G.adopt)
    unadopt = awaited(E2G.unadopt)
    doctor = awaited(E2G.doctor)
    stats = awaited(E2G.stats)
    export_corpus = awaited(E2G.export_corpus)
    import_corpus = awaited(E2G.import_corpus)
