"""What the routes of an app share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from fastapi import Request

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.service.limits import Limits
from e2g_neo4j.service.metering import MeteredModel
from e2g_neo4j.service.observability import Metrics
from e2g_neo4j.service.problems import ProblemError
from e2g_neo4j.types.chat import StreamingChatModel
from e2g_neo4j.types.service import Caller


@dataclass(frozen=True, slots=True)
class State:
    """What the routes of an app share.

    Attributes:
        client: The client.
        limits: Counts the requests and tokens of keys.
        metrics: The metrics.
        public_url: The address of the service in links, without a slash at its end; empty: links are relative.
    """

    client: AsyncE2G
    limits: Limits
    metrics: Metrics
    public_url: str

    def chat_model(self, caller: Caller) -> StreamingChatModel:
        """Return the chat model, whose tokens are reserved and counted for a caller. Raises a 501 without one."""
        model = self.client.models.chat_model
        if model is None:
            raise ProblemError(501, "no_chat_model", "No chat model is configured on this service (E2G_CHAT_MODEL).")
        return MeteredModel(model, partial(self.used, caller), partial(self.limits.reserve, caller))

    def used(self, caller: Caller, prompt: int, completion: int) -> None:
        """Count the tokens of a call of the chat model."""
        self.limits.add_tokens(caller, prompt, completion)
        self.metrics.used(prompt, completion)


def state_of(request: Request) -> State:
    """Return the state of the app that answers a request."""
    state: State = request.app.state.service
    return state
