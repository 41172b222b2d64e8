"""Errors as `application/problem+json` (RFC 9457), one status and code per kind of error."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from e2g_neo4j.errors import (
    AccessError,
    BudgetError,
    ConfigurationError,
    DatabaseError,
    E2GError,
    FingerprintError,
    InputError,
    LocalServerError,
    MigrationError,
    ModelError,
    NotFoundError,
    TaskStateError,
    UnreachableError,
)

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"

OPENAI_PATHS = ("/v1/models", "/v1/chat/", "/v1/completions", "/v1/responses", "/v1/embeddings")
"""What the paths start with under which an error also has the shape of OpenAI's."""

RETRY_SECONDS = 5
"""When a client may try again after 503."""

_STATUS: tuple[tuple[type[E2GError], int, str], ...] = (
    (UnreachableError, 503, "The database cannot be reached."),
    (MigrationError, 503, "The schema of the database is not up to date."),
    (AccessError, 503, "The database refuses the service."),
    (FingerprintError, 409, "The index was made with other models."),
    (DatabaseError, 503, "The database failed."),
    (LocalServerError, 503, "The managed database failed."),
    (NotFoundError, 404, "Not found."),
    (TaskStateError, 409, "The task is in another state."),
    (InputError, 422, "The request cannot be used."),
    (BudgetError, 422, "The token budget is spent."),
    (ModelError, 502, "A model failed."),
    (ConfigurationError, 500, "The service is not configured correctly."),
)
"""The first that fits an error gives its status and title."""

_CORRECT = "Correct the request."

_KINDS = {
    400: ("The request cannot be read.", "unreadable", _CORRECT),
    401: (
        "Not authenticated.",
        "http",
        "Send a valid key as `Authorization: Bearer KEY`. On the server, `e2g keys create` makes one.",
    ),
    403: ("Not allowed.", "http", "Use a key with this scope."),
    404: ("Not found.", "not_found", "List what there is, and check the name."),
    405: ("Method not allowed.", "method_not_allowed", _CORRECT),
    408: ("The request arrives too slowly.", "slow", "Send it again over a faster connection, or less at once."),
    409: ("Conflict.", "http", _CORRECT),
    413: ("The request is too large.", "too_large", "Send less at once."),
    415: ("Unsupported media type.", "http", _CORRECT),
    422: ("The request cannot be used.", "http", _CORRECT),
    429: ("Too many requests.", "busy", "Wait for the seconds in Retry-After, then send the request again."),
    500: ("The service failed.", "http", "Look into the log of the service for this request_id."),
    501: ("Not configured.", "http", "Set E2G_CHAT_MODEL on the server."),
    502: ("A model failed.", "http", "Try again; if it fails again, check the model's server."),
    503: ("Not available.", "http", "Try again after the seconds in Retry-After."),
}
"""Title, code and next step of errors by their status, where they have none of their own."""

_OPENAI_CODES = {
    "unauthenticated": "invalid_api_key",
    "quota": "rate_limit_exceeded",
    "busy": "rate_limit_exceeded",
    "corpus_not_found": "model_not_found",
}
"""Codes of OpenAI for ours. Clients compare some of them."""


def _kind(status: int) -> tuple[str, str, str]:
    return _KINDS.get(status, ("Error.", "http", _CORRECT))


class Problem(BaseModel):
    """An error.

    Attributes:
        type: Identifies the kind of error.
        title: The kind of error in words.
        status: The HTTP status.
        detail: What happened, to what.
        code: A short name of the kind of error, for programs.
        next: What to do about it.
        request_id: The id of the request, as in the log of the service.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    next: str
    request_id: str


class ProblemError(Exception):
    """An error of the service itself, with the status of the reply. `next_step` replaces that of the status."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        headers: Mapping[str, str] | None = None,
        next_step: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.headers, self.next_step = status, code, dict(headers or {}), next_step


class ProblemReply(JSONResponse):
    """The reply for an error. Under the paths of OpenAI it also has the error as its clients expect it."""

    def __init__(self, problem: Problem, headers: Mapping[str, str]) -> None:
        self.problem = problem
        super().__init__(problem.model_dump(), problem.status, dict(headers), MEDIA_TYPE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.body = self.render(self.content_for(scope["path"]))
        self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)

    def content_for(self, path: str) -> dict[str, Any]:
        """Return the body of the reply to a request for a path."""
        content = self.problem.model_dump()
        if path.startswith(OPENAI_PATHS):
            status, code = self.problem.status, _OPENAI_CODES.get(self.problem.code, self.problem.code)
            fault = "server_error" if status >= 500 else "invalid_request_error"
            content["error"] = {
                "message": f"{self.problem.detail.rstrip('.')}. {self.problem.next}",
                "type": "rate_limit_error" if status == 429 else fault,
                "param": "model" if code == "model_not_found" else None,
                "code": code,
            }
        return content


def problem(
    request_id: str,
    status: int,
    code: str,
    detail: str,
    title: str | None = None,
    headers: Mapping[str, str] = {},
    next_step: str | None = None,
) -> ProblemReply:
    usual_title, _, usual_next = _kind(status)
    content = Problem(
        type=f"urn:e2g:problem:{code}",
        title=title or usual_title,
        status=status,
        detail=detail,
        code=code,
        next=next_step or usual_next,
        request_id=request_id,
    )
    return ProblemReply(content, headers)


def problem_of(error: Exception, request_id: str) -> ProblemReply:
    """Return the reply for an exception. What is not an error of this package says nothing about its cause."""
    if isinstance(error, E2GError):
        status, title = next((status, title) for kind, status, title in _STATUS if isinstance(error, kind))
        headers = {"Retry-After": str(RETRY_SECONDS)} if status == 503 else {}
        if status == 500:
            logger.error("The service is not configured correctly: %s", error)
        return problem(request_id, status, error.code(), str(error), title, headers)
    if isinstance(error, ProblemError):
        return problem(
            request_id, error.status, error.code, str(error), headers=error.headers, next_step=error.next_step
        )
    if isinstance(error, HTTPException):
        code = _kind(error.status_code)[1]
        return problem(request_id, error.status_code, code, str(error.detail), headers=error.headers or {})
    return problem(request_id, 500, "internal", "The service failed. Its log has the reason under this request_id.")


def add_problems(app: FastAPI) -> None:
    """Answer every error of an app with a problem."""

    def reply(request: Request, error: Exception) -> JSONResponse:
        if isinstance(error, DatabaseError):
            request.app.state.service.metrics.database_errors.labels(error.code()).inc()
        return problem_of(error, request_id(request))

    def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)  # noqa: S101 (FastAPI calls this for nothing else)
        faults = error.errors()
        if faults and faults[0]["type"] == "json_invalid":
            return problem(request_id(request), 422, "invalid_json", "The body is not valid JSON.")
        return problem(request_id(request), 422, "invalid", " ".join(map(fault_message, faults[:5])))

    def report_failure(request: Request, error: Exception) -> JSONResponse:
        logger.error("Request %s failed.", request_id(request), exc_info=error)
        return problem_of(error, request_id(request))

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, reply)
    app.add_exception_handler(ProblemError, reply)
    app.add_exception_handler(E2GError, reply)
    app.add_exception_handler(Exception, report_failure)


def busy(detail: str) -> ProblemError:
    """Return the error of a request beyond a bound, which may be sent again in a second."""
    return ProblemError(429, "busy", detail, {"Retry-After": "1"})


class Problems:
    """Middleware that replies with problems to errors of the middleware within it, and turns error replies in plain
    text, which Starlette sends itself, into problems."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        status = 0

        async def send_problem(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                plain = Headers(scope=message).get("content-type", "").startswith("text/plain")
                status = message["status"] if plain and message["status"] >= 400 else 0
            if not status:
                await send(message)
            elif message["type"] == "http.response.body":
                detail = message.get("body", b"").decode() or "The request cannot be used."
                reply = problem(scope["state"]["request_id"], status, _kind(status)[1], detail)
                await reply(scope, receive, send)

        try:
            await self._app(scope, receive, send_problem)
        except (ProblemError, E2GError) as error:
            await problem_of(error, scope["state"]["request_id"])(scope, receive, send)
        return None


def request_id(request: Request) -> str:
    return str(getattr(request.state, "request_id", ""))


def fault_message(fault: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in fault["loc"] if part not in ("body", "query", "path"))
    message = str(fault["msg"]).removeprefix("Value error, ").rstrip(".")
    return f"{place}: {message}." if place else f"{message}."


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route: these errors, and those of every route."""
    every = (400, 401, 403, 408, 413, 415, 422, 429, 500, 503)
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        status: {"description": " ".join(_kind(status)[::2]), "content": content}
        for status in sorted({*statuses, *every})
    }


def stream_response(description: str) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route whose reply is a stream."""
    return {200: {"description": description, "content": {"text/event-stream": {"schema": {"type": "string"}}}}}
