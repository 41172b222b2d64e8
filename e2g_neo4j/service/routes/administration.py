"""Administration: keys and usage. Administrators of some corpora see and create keys for these only."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from e2g_neo4j.graph import keys
from e2g_neo4j.service.access import Admin, Reader
from e2g_neo4j.service.problems import ProblemError, error_responses
from e2g_neo4j.service.schemas import CallerInfo, CreatedKey, NewKey
from e2g_neo4j.service.state import State, state_of
from e2g_neo4j.types.service import ALL_CORPORA, LIMITS, LOCAL, Caller, KeyInfo, UsageInfo

router = APIRouter(prefix="/v1", tags=["administration"])


@router.get("/caller", responses=error_responses())
async def caller_info(request: Request, caller: Reader) -> CallerInfo:
    """Return what the key of the request may do, and what the service can."""
    settings = state_of(request).client.settings
    can = {"chat": settings.chat_model is not None, "pages": settings.fetch_pages}
    return CallerInfo(key=caller.key, scopes=sorted(caller.scopes), corpora=list(caller.corpora), **can)


@router.get("/keys", responses=error_responses())
async def list_keys(request: Request, caller: Admin) -> list[KeyInfo]:
    """List the keys, without their secrets."""
    return await _visible_keys(state_of(request), caller)


@router.post("/keys", status_code=201, responses=error_responses())
async def create_key(request: Request, new: NewKey, caller: Admin) -> CreatedKey:
    """Create a key. The reply is the only place where it is shown.

    It may do no more than the key that creates it, whose expiry and limits it gets where none are given. It counts for
    that key too, and is revoked with it.
    """
    makers = [one.key for one in caller.line if caller != LOCAL]
    operation = keys.create(**_within(caller, new), makers=makers)
    info, key = await state_of(request).client.runner.ask(operation)
    return CreatedKey(key=key, info=info)


def _within(caller: Caller, new: NewKey) -> dict[str, Any]:
    """Return the properties of a key that a caller creates. Raises a 403 if it could do more than the caller."""
    values = new.model_dump()
    more: list[str] = [one for one in new.scopes if one not in caller.scopes]
    more += [one for one in new.corpora if not caller.covers(one)]
    if more:
        raise ProblemError(403, "scope", f"This key may not give access to {more[0]!r}: it has none itself.")
    if caller.maker and "admin" in new.scopes:
        raise ProblemError(403, "scope", "A key that another key made makes no administrators.")
    for name in LIMITS:
        most, given = getattr(caller, name), values[name]
        if most is not None and given is not None and given > most:
            raise ProblemError(403, "scope", f"This key may not give {name} of {given}: its own is {most}.")
        values[name] = most if given is None else given
    return values


@router.delete("/keys/{key}", responses=error_responses(404))
async def revoke_key(request: Request, key: str, caller: Admin) -> KeyInfo:
    """Revoke a key, and those that it made. They are refused from then on."""
    state = state_of(request)
    visible = key in [one.id for one in await _visible_keys(state, caller)]
    revoked = await state.client.runner.ask(keys.revoke(key)) if visible else None
    if revoked is None:
        raise ProblemError(404, "key_not_found", f"There is no key {key!r}.")
    return revoked


@router.get("/usage", responses=error_responses())
async def usage(
    request: Request, caller: Admin, days: Annotated[int, Query(ge=1, le=keys.MOST_DAYS)] = 30
) -> list[UsageInfo]:
    """Return requests and tokens by key and day, the latest day first."""
    state = state_of(request)
    await state.limits.flush()
    return await state.client.runner.ask(keys.usage(await _visible_ids(state, caller), days))


async def _visible_keys(state: State, caller: Caller) -> list[KeyInfo]:
    found = await state.client.runner.ask(keys.list_keys())
    return [one for one in found if all(map(caller.covers, one.corpora))]


async def _visible_ids(state: State, caller: Caller) -> list[str] | None:
    """Return the ids of the keys that an administrator may see; None: all, and requests without a key."""
    if ALL_CORPORA in caller.corpora:
        return None
    return [one.id for one in await _visible_keys(state, caller)]
