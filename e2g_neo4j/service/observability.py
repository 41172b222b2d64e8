"""What is seen from outside: metrics for Prometheus, JSON logs, and spans if OpenTelemetry is configured."""

from __future__ import annotations

import json
import logging
import os
import re
import time
from datetime import UTC, datetime
from traceback import extract_tb
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from e2g_neo4j.runtime.lazy_imports import needs
from e2g_neo4j.types.results import Evidence

if TYPE_CHECKING:
    from fastapi import FastAPI

logger = logging.getLogger("e2g_neo4j.access")

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The metrics of one app. No label names a corpus, a key or a text."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "e2g_requests", "Requests by route template.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "e2g_request_seconds", "Time to the end of the reply.", ["route"], buckets=SECONDS, registry=self.registry
        )
        self.in_flight = Gauge("e2g_requests_in_flight", "Requests that are being answered.", registry=self.registry)
        self.retrieval = Histogram(
            "e2g_retrieval_seconds", "Time of retrieval.", ["route", "mode"], buckets=SECONDS, registry=self.registry
        )
        self.tokens = Counter("e2g_model_tokens", "Tokens of the chat model.", ["direction"], registry=self.registry)
        self.database_errors = Counter(
            "e2g_database_errors", "Requests that failed because of the database.", ["code"], registry=self.registry
        )
        self.tasks = Gauge("e2g_tasks", "Tasks by state.", ["state"], registry=self.registry)
        self.oldest_task = Gauge(
            "e2g_oldest_queued_task_seconds", "Age of the task that has waited longest.", registry=self.registry
        )

    def record_retrieval(self, evidence: Evidence, seconds: float) -> None:
        self.retrieval.labels(evidence.route, evidence.mode).observe(seconds)

    def used(self, prompt: int, completion: int) -> None:
        self.tokens.labels("prompt").inc(prompt)
        self.tokens.labels("completion").inc(completion)


class Observe:
    """Middleware that gives each request an id, counts and times it, and writes one line to the access log.

    A request's own `X-Request-ID` is kept if it is a plain word.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        began, status = time.perf_counter(), 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        self._metrics.in_flight.inc()
        try:
            await self._app(scope, receive, send_with_id)
        finally:
            self._metrics.in_flight.dec()
            self._record(scope, status, request_id, time.perf_counter() - began)

    def _record(self, scope: Scope, status: int, request_id: str, seconds: float) -> None:
        route = template(scope)
        self._metrics.requests.labels(scope["method"] if route != OTHER else "", route, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        caller, client = scope["state"].get("caller"), scope.get("client")
        logger.info(
            "request",
            extra={
                "request_id": request_id,
                "method": scope["method"],
                "route": route,
                "status": status,
                "milliseconds": round(1000 * seconds, 1),
                "key": caller.key if caller else None,
                "refused_key": scope["state"].get("refused_key"),
                "address": client[0] if client and status == 401 else None,
                **_describe_change(scope),
            },
        )


def _describe_change(scope: Scope) -> dict[str, str | None]:
    """Return the corpus, and what in it, that a request changes or exports. Those of other requests are not logged."""
    if scope["method"] in ("GET", "HEAD") and not scope["path"].endswith("/export"):
        return {}
    values = scope.get("path_params", {})
    targets = (values[name] for name in ("document", "task", "name", "key") if name in values)
    return {"corpus": values.get("corpus"), "target": next(targets, None)}


OTHER = "other"
"""The route of a request that fits none."""


def template(scope: Scope) -> str:
    """Return the template of the route that answered, without values such as names of corpora."""
    route = scope.get("route")
    path: str | None = getattr(route, "path_format", None) or getattr(route, "path", None)
    if path is None and scope["path"].startswith("/mcp"):
        return "/mcp"
    return path or OTHER


class JsonLines(logging.Formatter):
    """Formats a log record as one line of JSON, with what `extra` adds."""

    _OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "taskName", "asctime", "color_message"}

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name, value in vars(record).items() if name not in self._OWN and value is not None}
        if record.exc_info and record.exc_info[0]:  # not its message, which may have any text
            frames = extract_tb(record.exc_info[2])
            line["error"] = record.exc_info[0].__name__
            line["traceback"] = [f"{one.filename}:{one.lineno} {one.name}" for one in frames]
        return json.dumps(line, ensure_ascii=False, default=str)


def log_json() -> None:
    """Write the logs of this package and of the server as JSON lines to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    for name in ("e2g_neo4j", "uvicorn", "mcp"):
        found = logging.getLogger(name)
        found.handlers = [handler]
        found.propagate = False
    logging.getLogger("e2g_neo4j").setLevel(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.INFO)
    logging.getLogger("uvicorn.access").disabled = True  # it would log paths, which name corpora


def trace(app: FastAPI) -> None:
    """Send spans to the collector that the standard variables name (OTEL_EXPORTER_OTLP_ENDPOINT), if they are set.
    Raises ConfigurationError if the extra `otel` is not installed then."""
    if not os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") and not os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        return
    with needs("OTEL_EXPORTER_OTLP_ENDPOINT", "serve,otel", "or unset it"):
        from opentelemetry import trace as api
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    provider = TracerProvider(resource=Resource.create({"service.name": "e2g-neo4j"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    api.set_tracer_provider(provider)
    FastAPIInstrumentor.instrument_app(app, tracer_provider=provider, excluded_urls="livez,readyz,metrics")
