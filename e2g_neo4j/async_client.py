"""The async Python client: the calls of `E2G`, awaited."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from e2g_neo4j.client import E2G
from e2g_neo4j.client_base import AsyncClient

T = TypeVar("T")
P = ParamSpec("P")


def make_async(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return a method of `E2G` for `AsyncClient`, whose `_run` and `_ask` are awaited."""

    @wraps(method)
    async def call(self: Any, /, *args: P.args, **keywords: P.kwargs) -> T:
        running: Any = method(self, *args, **keywords)
        result: T = await running
        return result

    return call


def make_async_stream(
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

    migrate = make_async(E2G.migrate)
    index = make_async(E2G.index)
    resume = make_async(E2G.resume)
    delete = make_async(E2G.delete)
    retrieve = make_async(E2G.retrieve)
    modes = make_async(E2G.modes)
    paths = make_async(E2G.paths)
    answer = make_async(E2G.answer)
    stream = make_async_stream(E2G.stream)
    run_template = make_async(E2G.run_template)
    text_to_cypher = make_async(E2G.text_to_cypher)
    corpora = make_async(E2G.corpora)
    documents = make_async(E2G.documents)
    text = make_async(E2G.text)
    entities = make_async(E2G.entities)
    describe_entity = make_async(E2G.describe_entity)
    merges = make_async(E2G.merges)
    merge = make_async(E2G.merge)
    split = make_async(E2G.split)
    join = make_async(E2G.join)
    enrich = make_async(E2G.enrich)
    reindex = make_async(E2G.reindex)
    add_graph_documents = make_async(E2G.add_graph_documents)
    link = make_async(E2G.link)
    links = make_async(E2G.links)
    references = make_async(E2G.references)
    unlink = make_async(E2G.unlink)
    adopt = make_async(E2G.adopt)
    unadopt = make_async(E2G.unadopt)
    doctor = make_async(E2G.doctor)
    stats = make_async(E2G.stats)
    export_corpus = make_async(E2G.export_corpus)
    import_corpus = make_async(E2G.import_corpus)
