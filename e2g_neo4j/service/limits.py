"""Limits of keys and of the service, and the usage of keys."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, defaultdict, deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.documents.processes import AT_ONCE
from e2g_neo4j.errors import E2GError
from e2g_neo4j.graph import keys
from e2g_neo4j.runtime.threads import cores
from e2g_neo4j.service.problems import ProblemError, busy
from e2g_neo4j.types.service import Caller

logger = logging.getLogger(__name__)

MINUTE = 60.0

MAX_BODY = 2**20
"""Maximum bytes of a body that is not an upload."""

MAX_REQUESTS = 256
"""Requests that are open at once. Streams and waits for tasks count as long as they last."""

MAX_REQUESTS_OF_KEY = MAX_REQUESTS // 4
"""Requests of one key that are open at once, so that it leaves room for others."""

MAX_BODIES_OF_KEY = 16
"""Requests of one key whose bodies are awaited at once."""

ARRIVED_SECONDS = 0.5
"""How long a body beyond MAX_BODIES_OF_KEY may take: one that came with its request needs no waiting."""

BODY_SECONDS = 10.0
"""How long a body may keep the service waiting, besides the time that BODY_RATE allows for what has arrived."""

BODY_RATE = 4096
"""The slowest admitted rate of a body, in bytes a second."""

READ_ON_SECONDS = 1.0
"""How long the rest of a body is read that nobody needs, because the request is answered."""

QUESTIONS_AT_ONCE = 2 * cores()
"""Questions whose evidence is searched at once, half of them of one key. More would only make each other slower."""

QUESTION_SECONDS = 60.0

QUESTION_WAIT_SECONDS = 8.0
"""How long a question waits for its turn. If it would probably take half of this, it is refused at once."""

MAX_WAITING = 24
"""Questions of a key that wait for their turn at once, and so many dry runs."""

QUESTIONS = ("/v1/retrieve", "/v1/explain", "/v1/ask", "/v1/chat/completions")
"""Paths of questions. Those of a key that has too many are refused before it is looked up."""

DRY_RUNS_AT_ONCE = AT_ONCE
"""Dry runs of uploads that are made at once, half of them of one key. Each reads one file after the other."""

DRY_RUN_WAIT_SECONDS = 2.0

FLUSH_SECONDS = 2.0
"""Usage is written to the database this often. Limits per day count what other processes have written."""


@dataclass(slots=True)
class _Window:
    """Events of the last minute: (time, amount)."""

    events: deque[tuple[float, int]] = field(default_factory=deque)
    total: int = 0

    def add(self, now: float, amount: int) -> None:
        self.events.append((now, amount))
        self.total += amount

    def expire(self, now: float) -> None:
        while self.events and self.events[0][0] <= now - MINUTE:
            self.total -= self.events.popleft()[1]

    def seconds_left(self, now: float) -> int:
        """How long until the oldest event is a minute old."""
        return max(1, int(self.events[0][0] + MINUTE - now) + 1) if self.events else 1


class Turns:
    """Work of which so much is done at once, half of it for one account, and that waits for so many seconds."""

    def __init__(self, work: str, at_once: int, seconds: float) -> None:
        self._work, self._of_key, self._seconds = work, max(at_once // 2, 1), seconds
        self._all = asyncio.Semaphore(at_once)
        self._of = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(self._of_key))
        self._waiting: Counter[str] = Counter()
        self._each = 0.0  # seconds that each took of late

    @contextmanager
    def wait(self, account: str) -> Iterator[None]:
        """Count one as waiting. Raises a 429 if too many of the account do, to get their turns in time."""
        now = self._waiting[account]
        if now >= MAX_WAITING or now * self._each / self._of_key > self._seconds / 2:
            raise busy(f"The service is busy: {now} {self._work} of this key wait for their turn already.")
        with count(self._waiting, account):
            yield

    @asynccontextmanager
    async def turn(self, account: str, seconds: float, slow: ProblemError) -> AsyncGenerator[None, None]:
        """Wait for a turn, which lasts as long as the context. Raises a 429 if it does not come soon, and `slow` if it
        has taken more than `seconds`."""
        async with AsyncExitStack() as stack:
            try:
                with self.wait(account):
                    async with asyncio.timeout(self._seconds):
                        await stack.enter_async_context(self._of[account])
                        await stack.enter_async_context(self._all)
            except TimeoutError:
                raise busy(f"The service is busy: no turn for {self._work} came in {self._seconds:g} s.") from None
            began = time.monotonic()
            try:
                async with asyncio.timeout(seconds) as time_left:
                    yield
            except TimeoutError:
                if not time_left.expired():
                    raise
                raise slow from None
            finally:
                self._each += (time.monotonic() - began - self._each) / 8


class Limits:
    """Counts requests and tokens of keys, refuses those beyond a limit, and records the usage.

    What a key does counts for its makers too. Limits per minute are those of this process. Limits per day include what
    all processes recorded.
    """

    def __init__(self, client: AsyncE2G) -> None:
        self._client = client
        self._requests: defaultdict[str, _Window] = defaultdict(_Window)
        self._tokens: defaultdict[str, _Window] = defaultdict(_Window)
        self._reserved: Counter[str] = Counter()  # tokens that calls at work may use
        self._today = _day()
        self._recorded: dict[str, tuple[int, int]] = {}  # requests and tokens of today, as last read
        self._unwritten: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)  # by lines of keys
        self.questions = Turns("questions", QUESTIONS_AT_ONCE, QUESTION_WAIT_SECONDS)
        self._dry_runs = Turns("dry runs", DRY_RUNS_AT_ONCE, DRY_RUN_WAIT_SECONDS)

    def admit(self, caller: Caller) -> None:
        """Count a request. Raises a 429 if a limit of the caller is reached; the request then does not count."""
        now = time.monotonic()
        for one in caller.line:
            for what, used, limit, per, seconds in self._limits_of(one, now):
                if limit is not None and used >= limit:
                    raise _too_many(f"{limit} {what} per {per}", seconds)
        for one in caller.line:
            self._requests[one.key].add(now, 1)
        self._unwritten[_line(caller)]["requests"] += 1

    def _limits_of(self, caller: Caller, now: float) -> Iterator[tuple[str, int, int | None, str, int]]:
        """Yield what a caller has used, of how much, in which time, and when it may try again."""
        requests, tokens = self._used_today(caller.key)
        for what, windows, today in (("requests", self._requests, requests), ("tokens", self._tokens, tokens)):
            window = windows[caller.key]
            window.expire(now)
            yield what, window.total, getattr(caller, f"{what}_per_minute"), "minute", window.seconds_left(now)
            yield what, today, getattr(caller, f"{what}_per_day"), "day", _seconds_to_midnight()

    def turn(self, caller: Caller) -> AbstractAsyncContextManager[None]:
        """Wait for the turn of a question, and bound its time. Raises a 429 if the service is overloaded, and a 503 if
        the question takes too long."""
        detail = f"The search for evidence was ended after {QUESTION_SECONDS:.0f} s: ask a shorter question."
        slow = ProblemError(503, "slow_question", detail, {"Retry-After": "5"})
        return self.questions.turn(caller.account, QUESTION_SECONDS, slow)

    def dry_run(self, caller: Caller, seconds: float) -> AbstractAsyncContextManager[None]:
        """Wait for the turn of a dry run of an upload, and bound its time. Raises a 429 if the turn does not come soon,
        and a 422 if the files take too long."""
        detail = f"The dry run was ended after {seconds:g} s: send fewer files, or index them without a dry run."
        return self._dry_runs.turn(caller.account, seconds, ProblemError(422, "slow_files", detail))

    @contextmanager
    def reserve(self, caller: Caller, tokens: int) -> Iterator[None]:
        """Reserve the most tokens that a call of the chat model may use while it lasts, so that calls at the same time
        cannot use more than the caller's limits together. If a limit leaves less, raises a 429: the call must not be
        made."""
        for one in caller.line:
            reserved = self._reserved[one.key] + tokens
            for what, used, limit, per, seconds in self._limits_of(one, time.monotonic()):
                if what == "tokens" and limit is not None and used + reserved > limit:
                    left = max(limit - used - reserved + tokens, 0)
                    calls = f"{left} are left, and the next call of the chat model may use {tokens}"
                    raise _too_many(f"{limit} tokens per {per}: {calls}", seconds)
        self._reserved.update(dict.fromkeys(_line(caller), tokens))
        try:
            yield
        finally:
            self._reserved.subtract(dict.fromkeys(_line(caller), tokens))

    def add_tokens(self, caller: Caller, prompt: int, completion: int) -> None:
        """Count the tokens of a call of the chat model."""
        for one in caller.line:
            self._tokens[one.key].add(time.monotonic(), prompt + completion)
        self._unwritten[_line(caller)] += Counter(prompt_tokens=prompt, completion_tokens=completion)

    async def flush(self) -> None:
        """Write the usage, and read that of all processes."""
        rows = {line: Counter(counts) for line, counts in self._unwritten.items()}
        try:
            await self._client.runner.ask(keys.add_usage({"key": line[0], **counts} for line, counts in rows.items()))
            for line, counts in rows.items():
                self._unwritten[line] -= counts
                if not self._unwritten[line]:
                    del self._unwritten[line]
            self._recorded = await self._client.runner.ask(keys.used_today())
            self._today = _day()
        except E2GError as error:
            logger.warning("The usage of keys was not recorded, and is kept: %s", error)

    async def flush_forever(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            await self.flush()

    def _used_today(self, key: str) -> tuple[int, int]:
        requests, tokens = self._recorded.get(key, (0, 0)) if self._today == _day() else (0, 0)
        for line, counts in self._unwritten.items():
            if key in line:
                requests += counts["requests"]
                tokens += counts["prompt_tokens"] + counts["completion_tokens"]
        return requests, tokens


def _line(caller: Caller) -> tuple[str, ...]:
    return tuple(one.key for one in caller.line)


def _day() -> str:
    return datetime.now(UTC).date().isoformat()


def _seconds_to_midnight() -> int:
    now = datetime.now(UTC)
    return 86_400 - (now.hour * 3600 + now.minute * 60 + now.second)


def _too_many(limit: str, seconds: int) -> ProblemError:
    return ProblemError(429, "quota", f"This key is limited to {limit}.", {"Retry-After": str(seconds)})


class CloseUnread:
    """Middleware that closes the connection of a request that is answered before its body has come.

    What comes in READ_ON_SECONDS is read first, or the network would drop the answer for whoever is still sending.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else {}
        is_open = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"

        async def receive_piece() -> Message:
            nonlocal is_open
            message = await receive()
            is_open = message.get("more_body", False)
            return message

        async def send_piece(message: Message) -> None:
            if is_open and message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Connection"] = "close"
            ends = not message.get("more_body", False)
            if not (is_open and ends and message["type"] == "http.response.body"):
                return await send(message)
            await send({**message, "more_body": True})
            with suppress(TimeoutError):
                async with asyncio.timeout(READ_ON_SECONDS):
                    while is_open:
                        await receive_piece()
            await send({"type": "http.response.body"})
            return None

        await self._app(scope, receive_piece, send_piece)


class Shares:
    """Middleware that refuses requests beyond a number or a key's share, and bodies that arrive too slowly.

    So a slow or greedy client costs its own key only. It comes after the middleware that finds the caller.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._requests: Counter[str] = Counter()
        self._bodies: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope.get("state", {}).get("caller") if scope["type"] == "http" else None
        if caller is None:
            return await self._app(scope, receive, send)
        if Headers(scope=scope).get("content-encoding", "identity") != "identity":
            raise ProblemError(415, "media_type", "The body is compressed: send it without Content-Encoding.")
        if self._requests.total() >= MAX_REQUESTS:
            raise busy(f"The service answers {MAX_REQUESTS} requests already, its maximum.")
        if self._requests[caller.account] >= MAX_REQUESTS_OF_KEY:
            raise busy(f"{MAX_REQUESTS_OF_KEY} requests of this key are being answered already, the maximum.")
        with count(self._requests, caller.account):
            await self._app(scope, self._limit_time(receive, caller.account), send)
        return None

    def _limit_time(self, receive: Receive, key: str) -> Receive:
        """Return `receive` with a limit of the time that it waits for the body of a request."""
        waited, size, complete = 0.0, 0, False

        async def receive_in_time() -> Message:
            nonlocal waited, size, complete
            if complete:  # what follows is that the client leaves
                return await receive()
            crowded = self._bodies[key] >= MAX_BODIES_OF_KEY
            began = time.monotonic()
            try:
                with count(self._bodies, key):
                    patience = ARRIVED_SECONDS if crowded else BODY_SECONDS + size / BODY_RATE - waited
                    async with asyncio.timeout(patience):
                        message = await receive()
            except TimeoutError:
                if crowded:
                    detail = f"The bodies of {MAX_BODIES_OF_KEY} requests of this key are awaited already, the maximum."
                    raise HTTPException(429, detail, {"Retry-After": "1"}) from None
                detail = f"The body has kept the service waiting for {BODY_SECONDS:.0f} s; {size} bytes have arrived."
                raise HTTPException(408, detail) from None
            waited += time.monotonic() - began
            size += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            return message

        return receive_in_time


@contextmanager
def count(counter: Counter[str], key: str) -> Iterator[None]:
    """Count a key for the length of the context."""
    counter[key] += 1
    try:
        yield
    finally:
        counter[key] -= 1
        if not counter[key]:
            del counter[key]
