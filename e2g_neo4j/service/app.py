"""The application: everything under /v1, health, metrics and documentation."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.metadata import version
from typing import Any, get_args
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.routing import Route

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.errors import E2GError
from e2g_neo4j.graph import tasks
from e2g_neo4j.graph.schema import check_migrations
from e2g_neo4j.service import openai
from e2g_neo4j.service.access import Authenticate, CorpusAddresses, KnownHosts, OwnPages
from e2g_neo4j.service.bookmarks import ReadYourWrites
from e2g_neo4j.service.limits import MAX_BODY, CloseUnread, Limits, Shares
from e2g_neo4j.service.mcp import Mounted, caller_of_request, create_mcp, mount
from e2g_neo4j.service.mcp_writing import QueueWriter
from e2g_neo4j.service.observability import Metrics, Observe, trace
from e2g_neo4j.service.oidc import issuer_of
from e2g_neo4j.service.page import add_docs, add_page
from e2g_neo4j.service.problems import Problem, Problems, add_problems
from e2g_neo4j.service.routes import administration, conversations, corpora, documents, entities, questions
from e2g_neo4j.service.routes import tasks as task_routes
from e2g_neo4j.service.schemas import Health, NewText, TextDocuments
from e2g_neo4j.service.state import State
from e2g_neo4j.types.service import TaskState

READY_SECONDS = 10.0
"""How long `/readyz` waits for the database and the models."""

DESCRIPTION = """Index documents into Neo4j and ask them: evidence with exact citations, and answers.

What changes a corpus is a task: the reply is 202 with the task, which `GET /v1/tasks/{task}?wait=30` waits for."""


def create_app(client: AsyncE2G, *, mcp_write: bool = False) -> FastAPI:
    """Return the application. It opens and closes the client. With `mcp_write`, MCP has the tools that change corpora.

    Raises:
        ConfigurationError: The configured chat model cannot be created, or tracing is configured but not installed, or
            an OpenID Connect issuer is configured without an audience.
    """
    base = (client.settings.public_url or "").rstrip("/")
    state = State(client, Limits(client), Metrics(), base)
    tools = create_mcp(
        client,
        caller_of_request,
        writer=QueueWriter(client) if mcp_write else None,
        model_of=state.chat_model,
        turn=state.limits.turn,
    )
    mcp = mount(tools, allowed_hosts=None)
    app = FastAPI(
        title="e2g-neo4j",
        version=version("e2g-neo4j"),
        description=DESCRIPTION,
        lifespan=partial(_lifespan, mcp=mcp),
        docs_url=None,  # it would load its assets from elsewhere
        swagger_ui_oauth2_redirect_url=None,
        redoc_url=None,
    )
    app.state.service = state
    for router in (
        corpora.router,
        documents.router,
        entities.router,
        questions.router,
        conversations.router,
        task_routes.router,
        administration.router,
        openai.router,
    ):
        app.include_router(router, max_body_size=MAX_BODY)
    for router in (documents.uploads, corpora.imports):
        app.include_router(router, max_body_size=client.settings.upload_mb * 2**20)
    app.router.routes.append(Route("/mcp", endpoint=mcp.app))
    _add_health(app)
    add_page(app)
    add_problems(app)
    app.add_middleware(CorpusAddresses)
    app.add_middleware(ReadYourWrites, client=client)
    app.add_middleware(Shares)
    app.add_middleware(
        Authenticate, client=client, limits=state.limits, issuer=issuer_of(client.settings), always=bool(base)
    )
    app.add_middleware(OwnPages, public_url=base)
    app.add_middleware(KnownHosts, public_host=urlsplit(base).hostname)
    app.add_middleware(Problems)
    app.add_middleware(Observe, metrics=state.metrics)
    app.add_middleware(CloseUnread)
    _describe(app)
    add_docs(app)
    trace(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI, mcp: Mounted) -> AsyncGenerator[None, None]:
    state: State = app.state.service
    await asyncio.to_thread(app.openapi)  # it takes long, once
    loading = asyncio.create_task(asyncio.to_thread(_load, state.client))
    flushing = asyncio.create_task(state.limits.flush_forever())
    try:
        async with mcp.lifespan():
            yield
    finally:
        loading.cancel()
        flushing.cancel()
        with suppress(asyncio.CancelledError):
            await flushing
        await state.limits.flush()
        await state.client.close()


def _load(client: AsyncE2G) -> None:
    """Load the models that questions need, so that the first question need not wait for them."""
    with suppress(E2GError):  # /readyz says why
        client.models.query_embedder.embed(["ready"])
        client.models.nlp("Ready.")
    gc.collect()
    gc.freeze()  # searching the libraries' many objects for garbage would block the event loop


def _add_health(app: FastAPI) -> None:
    @app.get("/livez", tags=["health"])
    async def livez() -> Health:
        """Return whether the process answers."""
        return Health(status="ok")

    @app.get("/readyz", tags=["health"], responses={503: {"model": Health, "description": "Why not."}})
    async def readyz(request: Request, response: Response) -> Health:
        """Return whether questions can be answered: database, schema, models."""
        problems = await _problems(request.app.state.service.client)
        if problems:
            response.status_code = 503
        return Health(status="not ready" if problems else "ok", problems=problems)

    @app.get("/metrics", tags=["health"], response_class=Response, include_in_schema=False)
    async def metrics(request: Request) -> Response:
        state: State = request.app.state.service
        with suppress(E2GError):
            counts = await state.client.runner.ask(tasks.counts())
            for name in get_args(TaskState):
                state.metrics.tasks.labels(name).set(counts.get(name, (0, 0.0))[0])
            state.metrics.oldest_task.set(counts.get("queued", (0, 0.0))[1])
        return Response(generate_latest(state.metrics.registry), media_type=CONTENT_TYPE_LATEST)


async def _problems(client: AsyncE2G) -> list[str]:
    """Return why the service is not ready. Messages are for the operator, and have no credential."""
    try:
        async with asyncio.timeout(READY_SECONDS):
            await asyncio.to_thread(lambda: (client.models.fingerprint, client.models.nlp))
            await client.runner.run(check_migrations(["service"]))
    except TimeoutError:
        database = "The database at NEO4J_URI" if client.settings.neo4j_uri else "The managed Neo4j"
        return [f"{database} did not answer within {READY_SECONDS:.0f} s, or the models are still being loaded."]
    except E2GError as error:
        return [str(error)]
    return []


def _describe(app: FastAPI) -> None:
    """Add to the description of the API what its routes read themselves."""
    original = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = original()
            components = schema.setdefault("components", {}).setdefault("schemas", {})
            for model in (Problem, NewText, TextDocuments):
                described = model.model_json_schema(ref_template="#/components/schemas/{model}")
                components |= described.pop("$defs", {})
                components[model.__name__] = described
            components.pop("HTTPValidationError", None)
            components.pop("ValidationError", None)
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]
