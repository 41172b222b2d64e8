"""The queue of the service on a real server: who gets a task, who may end it, and what is left of its files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier
from typing import Any, TypeVar

import pytest
from at_server import migrated
from libraries import driven, performing
from neo4j import Driver

from e2g_neo4j.errors import DatabaseError, IdempotencyError, InputError, TaskStateError
from e2g_neo4j.graph import keys, task_leases, tasks
from e2g_neo4j.graph.tasks import PART_BYTES, Upload
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.runtime.requests import Operation, Read, Rows, Write
from e2g_neo4j.types.service import TaskInfo, TaskLease

T = TypeVar("T")
Run = Callable[[Operation[T]], T]


@pytest.fixture(scope="module")
def server(scratch: Connection) -> Iterator[Driver]:
    """A server of our own: any worker takes any task that is in the database."""
    with migrated(scratch) as driver:
        yield driver


@pytest.fixture
def run(server: Driver) -> Run[Any]:
    server.execute_query("MATCH (n:E2GTask|E2GBlob|E2GTaskStep|E2GQueue) DELETE n")
    perform = performing(server)
    return lambda operation: driven(perform, operation)


def created(run: Run[Any], key: str = "local", corpus: str = "novels", **more: Any) -> TaskInfo:
    task: TaskInfo = run(tasks.create(tasks.new_id(), "index", corpus, key, {}, **more))
    return task


def claimed(run: Run[Any]) -> TaskLease:
    lease: TaskLease | None = run(task_leases.take_task())
    assert lease is not None
    return lease


def state(run: Run[Any], task: TaskInfo) -> tuple[str, int]:
    found: TaskInfo | None = run(tasks.get(task.id))
    assert found is not None
    return found.state, found.attempt


def expire(server: Driver) -> None:
    server.execute_query("MATCH (t:E2GTask {state: 'running'}) SET t.expires = timestamp() - 1")


def stored(server: Driver) -> int:
    return int(server.execute_query("MATCH (b:E2GBlob) RETURN count(b) AS n").records[0]["n"])


# --- what needs no server of its own, because it leaves tasks of others alone ------------------------


@pytest.fixture
def beside(driver: Driver, corpus: str) -> Iterator[Run[Any]]:
    perform = performing(driver)
    yield lambda operation: driven(perform, operation)
    driver.execute_query("MATCH (t:E2GTask) WHERE t.corpus_name STARTS WITH $corpus DELETE t", corpus=corpus)


def test_who_does_not_hold_a_task_changes_nothing(beside: Run[Any], driver: Driver, corpus: str) -> None:
    task = created(beside, corpus=corpus)
    driver.execute_query(
        "MATCH (t:E2GTask {id: $id}) SET t.state = 'running', t.worker = 'first', t.attempt = 1", id=task.id
    )
    first, second = TaskLease(task, "first", {}), TaskLease(task, "second", {})
    before = beside(tasks.get(task.id))
    assert beside(task_leases.renew(second, "reading", 1, 1, 9)) is None
    assert beside(task_leases.remember(second, {"by": "second"})) is None
    assert beside(task_leases.put_back(second)) is False
    assert beside(task_leases.end_cancelled(second)) is False
    assert beside(task_leases.fail(second, "internal", "")) is False
    assert beside(task_leases.finish(second, {"by": "second"})) is False
    assert beside(tasks.get(task.id)) == before
    assert beside(task_leases.renew(first, "reading", 1, 1, 9)) == "go on"
    beside(tasks.cancel(task.id))
    assert beside(task_leases.renew(first, "reading", 1, 1, 9)) == "cancel"
    assert beside(task_leases.put_back(first))
    assert state(beside, task) == ("cancelled", 0)


def test_tasks_are_those_of_a_request_and_of_the_corpora_of_a_key(
    beside: Run[Any], driver: Driver, corpus: str
) -> None:
    asked = {"corpus": f"{corpus}-a", "idempotency_key": "one", "body_sha256": "a"}
    first = created(beside, key=corpus, **asked)
    assert created(beside, key=corpus, **asked).id == first.id
    assert created(beside, key=f"{corpus}-other", **asked).id != first.id
    for other in ({"body_sha256": "b"}, {"corpus": f"{corpus}-b"}):
        with pytest.raises(IdempotencyError):
            created(beside, key=corpus, **{**asked, **other})
    created(beside, key=corpus, corpus=f"{corpus}s")

    def listed(*patterns: str, **more: Any) -> list[str]:
        return sorted(one.corpus for one in beside(tasks.list_tasks(patterns, **more))[0])

    assert listed(f"{corpus}*") == [f"{corpus}-a", f"{corpus}-a", f"{corpus}s"]
    assert listed(f"{corpus}-*") == [f"{corpus}-a"] * 2
    assert listed(f"{corpus}s") == [f"{corpus}s"]
    assert listed(corpus) == listed() == []
    assert listed("*", keys=[f"{corpus}-other"]) == [f"{corpus}-a"]
    incomplete = tasks.new_id()
    beside(tasks.add_blobs(incomplete, [Upload(0, "a", [b"x"])]))
    with pytest.raises(DatabaseError, match="again"):
        beside(tasks.create(incomplete, "index", corpus, "local", {}, parts=2))
    assert beside(tasks.get(incomplete)) is None
    assert beside(tasks.blobs(incomplete)) == []


# --- task_leases ------------------------------------------------------------------------------------------


def test_a_task_is_created_claimed_renewed_and_finished(run: Run[Any]) -> None:
    task = run(tasks.create(tasks.new_id(), "delete", "novels", "k1", {"documents": ["ä"]}))
    assert (task.kind, task.corpus, task.key, task.state, task.attempt) == ("delete", "novels", "k1", "queued", 0)
    lease = claimed(run)
    assert (lease.task.id, lease.parameters, lease.task.attempt) == (task.id, {"documents": ["ä"]}, 1)
    assert run(task_leases.take_task()) is None
    assert run(task_leases.renew(lease, "reading", 3, 7, 11)) == "go on"
    seen = run(tasks.get(task.id))
    assert (seen.state, seen.stage, seen.done, seen.total, seen.tokens) == ("running", "reading", 3, 7, 11)
    assert run(task_leases.finish(lease, {"deleted": 1}, tokens=12, prompt_tokens=10, completion_tokens=2, cost=0.5))
    ended = run(tasks.get(task.id))
    assert (ended.state, ended.result, ended.error) == ("succeeded", {"deleted": 1}, None)
    assert (ended.tokens, ended.prompt_tokens, ended.completion_tokens, ended.cost) == (12, 10, 2, 0.5)
    assert ended.created <= ended.started <= ended.ended
    assert run(task_leases.take_task()) is None


def test_a_task_that_ends_while_it_is_read_has_its_result(run: Run[Any]) -> None:
    """Neo4j reads one property after the other: the state of a row may be newer than its result."""
    task = created(run)
    lease = claimed(run)
    operation = tasks.get(task.id)
    next(operation)
    assert run(task_leases.finish(lease, {"deleted": 1}))
    names = {"id": task.id, "kind": task.kind, "corpus_name": task.corpus, "key": task.key, "created": task.created}
    half_read = {"task": {**names, "state": "succeeded"}, "result": None}
    again = operation.send([half_read])
    assert isinstance(again, Read)
    with pytest.raises(StopIteration) as end:
        operation.send([{**half_read, "result": '{"deleted": 1}'}])
    assert end.value.value.result == run(tasks.get(task.id)).result == {"deleted": 1}


def test_many_workers_never_get_the_same_task(run: Run[Any], server: Driver) -> None:
    everyone = {created(run, key=f"k{number % 3}").id for number in range(200)}
    perform, start = performing(server), Barrier(8)

    def work(_: int) -> list[str]:
        start.wait()
        mine = []
        while lease := driven(perform, task_leases.take_task()):
            mine.append(lease.task.id)
            if len(mine) % 2:
                assert driven(perform, task_leases.finish(lease, {}))
        return mine

    with ThreadPoolExecutor(8) as pool:
        found = Counter(task for mine in pool.map(work, range(8)) for task in mine)
    assert found == Counter(everyone)
    attempts = server.execute_query("MATCH (t:E2GTask) RETURN DISTINCT t.attempt AS n").records
    assert [row["n"] for row in attempts] == [1]


def test_another_worker_takes_over_and_the_first_one_changes_nothing(run: Run[Any], server: Driver) -> None:
    task = created(run)
    first = claimed(run)
    assert run(task_leases.take_task()) is None
    expire(server)
    second = claimed(run)
    assert (second.task.id, second.task.attempt) == (task.id, 2)
    assert run(task_leases.renew(first, "reading", 1, 1, 0)) is None
    assert run(task_leases.remember(first, {"by": "first"})) is None
    assert run(task_leases.finish(first, {"by": "first"})) is False
    assert run(task_leases.fail(first, "internal", "")) is False
    assert run(task_leases.end_cancelled(first)) is False
    assert run(task_leases.put_back(first)) is False
    assert state(run, task) == ("running", 2)
    assert run(task_leases.finish(second, {"by": "second"}))
    assert run(task_leases.finish(first, {"by": "first"})) is False
    assert run(tasks.get(task.id)).result == {"by": "second"}


def test_who_was_late_but_not_replaced_goes_on(run: Run[Any], server: Driver) -> None:
    created(run)
    lease = claimed(run)
    expire(server)
    assert run(task_leases.renew(lease, None, 0, 0, 0)) == "go on"
    assert run(task_leases.take_task()) is None


def test_three_attempts(run: Run[Any], server: Driver) -> None:
    task = created(run)
    for attempt in (1, 2, 3):
        assert claimed(run).task.attempt == attempt
        expire(server)
    assert run(task_leases.take_task()) is None
    ended = run(tasks.get(task.id))
    assert (ended.state, ended.error["code"]) == ("failed", "attempts_exhausted")
    assert run(tasks.retry(task.id)).state == "queued"
    assert claimed(run).task.attempt == 1


def used(run: Run[Any], key: str) -> tuple[int, int]:
    return sum(one.prompt_tokens for one in run(keys.usage([key]))), len(run(keys.usage([key])))


def test_the_tokens_of_a_task_count_once_however_it_ends(run: Run[Any], server: Driver) -> None:
    """A worker that ends a task counts them itself; here there is none any more."""
    key = tasks.new_id()

    def begun(tokens: int) -> TaskLease:
        created(run, key)
        lease = claimed(run)
        run(task_leases.renew(lease, "summarising", 1, 2, tokens))
        return lease

    for tokens in (5, 7):
        begun(tokens)
    expire(server)
    server.execute_query("MATCH (t:E2GTask) SET t.attempt = 3")
    assert run(task_leases.take_task()) is None
    assert run(task_leases.take_task()) is None
    assert used(run, key) == (12, 1)
    cancelled = begun(100)
    expire(server)
    for _ in range(2):
        run(tasks.cancel(cancelled.task.id))
    assert used(run, key) == (112, 1)
    put_back = begun(1000)
    assert run(task_leases.put_back(put_back, tokens=1001))
    assert used(run, key) == (112, 1), "its next attempt goes on"
    assert run(tasks.get(put_back.task.id)).tokens == 1001
    again = claimed(run)
    run(tasks.cancel(again.task.id))
    assert run(task_leases.put_back(again, tokens=1500))
    assert run(task_leases.put_back(again, tokens=1500)) is False
    assert used(run, key) == (1612, 1)
    local = created(run)
    run(task_leases.renew(claimed(run), None, 0, 0, 9))
    expire(server)
    run(tasks.cancel(local.id))
    assert used(run, "local") == (0, 0)


def test_a_task_may_use_what_the_makers_of_its_key_have_left_today(run: Run[Any]) -> None:
    maker, _ = run(keys.create("maker", ["admin"], ["*"], tokens_per_day=100))
    one, other = (run(keys.create("made", ["write"], ["*"], tokens_per_day=90, makers=[maker.id]))[0] for _ in "ab")
    run(keys.add_usage([{"key": maker.id, "prompt_tokens": 20}, {"key": one.id, "prompt_tokens": 30}]))
    created(run, other.id)
    lease = claimed(run)
    assert lease.left == 50
    assert run(task_leases.renew(lease, None, 0, 0, 51)) == "spent"


def test_keys_of_a_key_take_turns_as_one(run: Run[Any]) -> None:
    maker, _ = run(keys.create("maker", ["admin"], ["*"]))
    made = [run(keys.create("made", ["write"], ["*"], makers=[maker.id]))[0] for _ in range(3)]
    for key in [*(one.id for one in made), maker.id, "other", "other"]:
        created(run, key)
    assert [claimed(run).task.key for _ in range(4)] == [made[0].id, "other", made[1].id, "other"]


def test_a_task_may_use_what_its_key_has_left_today(run: Run[Any]) -> None:
    """What the key used, what its other tasks have cost so far, and what earlier attempts did, count."""
    info, _ = run(keys.create("small", ["write"], ["*"], tokens_per_day=100))
    run(keys.add_usage([{"key": info.id, "prompt_tokens": 30, "completion_tokens": 10}]))
    created(run, info.id)
    first = claimed(run)
    assert first.left == 60
    assert run(task_leases.renew(first, None, 0, 0, 25)) == "go on"
    assert run(keys.used_today())[info.id] == (0, 65)
    created(run, info.id)
    second = claimed(run)
    assert second.left == 35
    assert run(task_leases.renew(second, None, 0, 0, 35)) == "go on"
    run(keys.add_usage([{"key": info.id, "prompt_tokens": 1}]))
    assert run(task_leases.renew(second, None, 0, 0, 35)) == "spent"
    assert run(task_leases.renew(first, None, 0, 0, 25)) == "spent"
    run(task_leases.put_back(second, tokens=35))
    again = claimed(run)
    assert again.left == 0
    assert run(task_leases.renew(again, None, 0, 0, 35)) == "go on", "it has cost nothing, and may need no chat model"
    created(run, "local")
    assert claimed(run).left is None


def test_a_task_that_is_put_back_has_its_attempt_again(run: Run[Any]) -> None:
    task = created(run)
    for _ in range(5):
        assert run(task_leases.put_back(claimed(run)))
    assert state(run, task) == ("queued", 0)


def test_keys_take_turns(run: Run[Any]) -> None:
    for key in ("a", "a", "a", "a", "b", "b", "c"):
        created(run, key=key)
    order = ""
    while lease := run(task_leases.take_task()):
        order += lease.task.key
        run(task_leases.finish(lease, {}))
    assert order == "abcabaa"


def test_a_key_with_running_tasks_waits_for_one_without(run: Run[Any]) -> None:
    for key in ("a", "a", "a"):
        created(run, key=key)
    assert [claimed(run).task.key for _ in range(2)] == ["a", "a"]
    created(run, key="b")
    assert claimed(run).task.key == "b"
    created(run, key="b")
    assert claimed(run).task.key == "b", "it runs one, the other key two"


def test_a_request_of_which_the_reply_was_lost_is_accepted_again(run: Run[Any], server: Driver) -> None:
    """As the driver repeats it. Neither a second task is claimed, nor an end refused."""
    twice = repeating(performing(server))
    for _ in range(2):
        created(run)
    lease = driven(twice, task_leases.take_task())
    assert lease is not None
    assert lease.task.attempt == 1
    assert [task.state for task in run(tasks.list_tasks(["*"]))[0]].count("running") == 1
    assert driven(twice, task_leases.finish(lease, {})) is True
    task = driven(twice, tasks.create(tasks.new_id(), "index", "novels", "local", {}))
    assert task.state == "queued"


def repeating(perform: Callable[[Read | Write], Rows]) -> Callable[[Read | Write], Rows]:
    def twice(request: Read | Write) -> Rows:
        perform(request)
        return perform(request)

    return twice


# --- ends --------------------------------------------------------------------------------------------


def test_a_queued_task_is_cancelled_at_once(run: Run[Any]) -> None:
    task = created(run)
    assert run(tasks.cancel(task.id)).state == "cancelled"
    assert run(task_leases.take_task()) is None
    assert run(tasks.cancel("no such task")) is None


def test_the_worker_of_a_running_task_is_asked_to_cancel(run: Run[Any]) -> None:
    task = created(run)
    lease = claimed(run)
    assert run(tasks.cancel(task.id)).state == "running"
    assert run(task_leases.renew(lease, None, 0, 0, 0)) == "cancel"
    assert run(task_leases.end_cancelled(lease))
    assert state(run, task) == ("cancelled", 1)
    assert run(tasks.cancel(task.id)).state == "cancelled"


@pytest.mark.parametrize("before", [True, False])
def test_a_cancelled_task_that_lost_its_worker_is_not_started_again(
    run: Run[Any], server: Driver, before: bool
) -> None:
    task = created(run)
    lease = claimed(run)
    if before:
        expire(server)
    run(tasks.cancel(task.id))
    expire(server)
    assert run(task_leases.take_task()) is None
    assert state(run, task) == ("cancelled", 1)
    assert run(task_leases.finish(lease, {})) is False


def test_a_cancelled_task_that_is_put_back_has_ended(run: Run[Any]) -> None:
    task = created(run)
    lease = claimed(run)
    run(tasks.cancel(task.id))
    assert run(task_leases.put_back(lease))
    assert state(run, task)[0] == "cancelled"


def test_what_has_succeeded_or_runs_is_not_retried(run: Run[Any]) -> None:
    task = created(run)
    with pytest.raises(TaskStateError, match="queued"):
        run(tasks.retry(task.id))
    lease = claimed(run)
    run(task_leases.finish(lease, {}))
    with pytest.raises(TaskStateError, match="succeeded"):
        run(tasks.retry(task.id))
    assert run(tasks.retry("no such task")) is None


def test_later_attempts_get_what_the_first_one_found(run: Run[Any], server: Driver) -> None:
    task = created(run)
    assert run(task_leases.remember(claimed(run), {"d": None})) == {"d": None}
    expire(server)
    lease = claimed(run)
    assert run(task_leases.remember(lease, {"d": "b"})) == {"d": None}
    run(task_leases.fail(lease, "internal", "x"))
    run(tasks.retry(task.id))
    assert run(task_leases.remember(claimed(run), {"d": "b"})) == {"d": "b"}, "a new order looks anew"


def test_a_step_is_done_once(run: Run[Any], server: Driver) -> None:
    marker: tuple[str, dict[str, Any]] = ("service/add_usage", {"rows": []})
    step = Write((marker,), condition=task_leases.do_step("t", "d1"))
    perform, start = performing(server), Barrier(6)

    def work(_: int) -> bool:
        start.wait()
        return bool(perform(step))

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(work, range(6))) == 1
    assert run(task_leases.step_done("t", "d1"))
    assert not run(task_leases.step_done("t", "d2"))
    assert not run(task_leases.step_done("u", "d1"))


# --- idempotency -------------------------------------------------------------------------------------


def test_the_same_request_gives_the_same_task(run: Run[Any], server: Driver) -> None:
    asked = {"idempotency_key": "one", "body_sha256": "a"}
    first = created(run, **asked)
    upload = tasks.new_id()
    parts = run(tasks.add_blobs(upload, [Upload(0, "a.txt", [b"text"])]))
    again = run(tasks.create(upload, "index", "novels", "local", {}, parts=parts, **asked))
    assert again.id == first.id
    assert stored(server) == 0, "its files are removed"
    assert created(run, key="other", **asked).id != first.id
    for other in ({"body_sha256": "b"}, {"corpus": "letters"}):
        with pytest.raises(IdempotencyError):
            created(run, **{**asked, **other})
    for wrong in ("", "x" * 201):
        with pytest.raises(InputError):
            created(run, idempotency_key=wrong)
    assert len(run(tasks.list_tasks(["*"]))[0]) == 2


def test_of_two_creators_at_once_one_creates(run: Run[Any], server: Driver) -> None:
    perform, start = performing(server), Barrier(6)

    def create(_: int) -> str:
        task = tasks.new_id()
        start.wait()
        driven(perform, tasks.add_blobs(task, [Upload(0, "a.txt", [b"x"])]))
        asked = tasks.create(task, "index", "novels", "local", {}, parts=1, idempotency_key="race", body_sha256="a")
        return driven(perform, asked).id

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(create, range(6)))) == 1
    assert len(run(tasks.list_tasks(["*"]))[0]) == 1
    assert stored(server) == 1


# --- files -------------------------------------------------------------------------------------------


def contents() -> list[bytes]:
    random = Random(3)
    sizes = (0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 9 * PART_BYTES + 17)
    return [random.randbytes(size) for size in sizes]


def test_files_come_back_bit_for_bit(run: Run[Any], server: Driver) -> None:
    given = contents()
    task = tasks.new_id()
    random = Random(4)

    def pieces(content: bytes) -> Iterator[bytes]:
        while content:
            size = random.randint(1, 3 * PART_BYTES)
            yield content[:size]
            content = content[size:]

    uploads = [Upload(number, f"n{number}", pieces(content), "text/plain") for number, content in enumerate(given)]
    parts = run(tasks.add_blobs(task, uploads))
    run(tasks.create(task, "index", "novels", "local", {}, parts=parts))
    listed = run(tasks.blobs(task))
    assert [(one.file, one.name, one.content_type) for one in listed] == [
        (number, f"n{number}", "text/plain") for number in range(len(given))
    ]
    for one, content in zip(listed, given, strict=True):
        assert b"".join(run(tasks.part(task, one.file, part)) for part in range(one.parts)) == content
    sizes = server.execute_query("MATCH (b:E2GBlob) RETURN b.bytes AS bytes").records
    assert max(len(row["bytes"]) for row in sizes) == PART_BYTES
    with pytest.raises(DatabaseError, match="missing"):
        run(tasks.part(task, 0, 1))


def test_a_file_can_be_stored_with_several_calls(run: Run[Any]) -> None:
    content = contents()[-1]
    task = tasks.new_id()
    half = 4 * PART_BYTES
    run(tasks.add_blobs(task, [Upload(0, "a", [content[:half]])]))
    run(tasks.add_blobs(task, [Upload(0, "a", [content[half:]], first_part=4)]))
    [one] = run(tasks.blobs(task))
    assert b"".join(run(tasks.part(task, 0, part)) for part in range(one.parts)) == content


def test_transactions_are_bounded() -> None:
    requests: list[Any] = []

    def perform(request: Read | Write) -> Rows:
        requests.append(request)
        return []

    uploads = [Upload(0, "a", [bytes(20 * PART_BYTES)]), Upload(1, "b", [b""])]
    assert driven(perform, tasks.add_blobs("t", uploads)) == 21
    sizes = [[len(row["bytes"]) for row in request.statements[0][1]["rows"]] for request in requests]
    assert [len(one) for one in sizes] == [8, 8, 5]
    assert max(map(max, sizes)) == PART_BYTES


def test_a_task_without_all_of_its_files_is_not_created(run: Run[Any], server: Driver) -> None:
    task = tasks.new_id()
    run(tasks.add_blobs(task, [Upload(0, "a", [b"x"])]))
    with pytest.raises(DatabaseError, match="again"):
        run(tasks.create(task, "index", "novels", "local", {}, parts=2))
    assert run(tasks.get(task)) is None
    assert stored(server) == 0


def test_files_stay_until_the_task_succeeds(run: Run[Any], server: Driver) -> None:
    task = tasks.new_id()
    parts = run(tasks.add_blobs(task, [Upload(0, "a", [bytes(20 * PART_BYTES)])]))
    run(tasks.create(task, "index", "novels", "local", {}, parts=parts))
    run(task_leases.fail(claimed(run), "reading", "a is empty."))
    run(task_leases.clean_up())
    run(tasks.delete_blobs(task))
    assert stored(server) == 20
    assert run(tasks.retry(task)).error is None
    assert run(tasks.cancel(task)).state == "cancelled"
    assert run(tasks.retry(task)).state == "queued"
    run(task_leases.finish(claimed(run), {}))
    assert stored(server) == 0
    server.execute_query("MATCH (t:E2GTask) SET t.state = 'failed'")
    with pytest.raises(TaskStateError, match="files"):
        run(tasks.retry(task))


def test_what_nobody_needs_is_removed(run: Run[Any], server: Driver) -> None:
    uploads = [Upload(0, "a", [b"x"])]
    fresh, stale, kept, old = (tasks.new_id() for _ in range(4))
    for task in (fresh, stale, kept, old):
        run(tasks.add_blobs(task, uploads))
    for task in (kept, old):
        run(tasks.create(task, "index", "novels", "local", {}, parts=1))
        run(task_leases.fail(claimed(run), "reading", ""))
    server.execute_query("MATCH (b:E2GBlob) WHERE b.task <> $fresh SET b.created = b.created - 3601000", fresh=fresh)
    server.execute_query(
        "MATCH (t:E2GTask) SET t.ended = timestamp() - 7 * CASE t.id WHEN $old THEN 86401000 ELSE 86000000 END",
        old=old,
    )
    perform = performing(server)
    perform(Write((), condition=task_leases.do_step(old, "d")))
    perform(Write((), condition=task_leases.do_step(kept, "d")))
    run(task_leases.clean_up())
    left = server.execute_query("MATCH (b:E2GBlob) RETURN b.task AS task").records
    assert {row["task"] for row in left} == {fresh, kept}
    assert run(tasks.get(old)) is None
    assert run(tasks.get(kept)) is not None
    steps = server.execute_query("MATCH (s:E2GTaskStep) RETURN s.task AS task").records
    assert [row["task"] for row in steps] == [kept]


def test_an_upload_that_goes_on_for_long_is_kept(run: Run[Any], server: Driver) -> None:
    task = tasks.new_id()
    run(tasks.add_blobs(task, [Upload(0, "a", [bytes(PART_BYTES)])]))
    server.execute_query("MATCH (b:E2GBlob) SET b.created = b.created - 3601000")
    run(tasks.add_blobs(task, [Upload(0, "a", [b"x"], first_part=1)]))
    run(task_leases.clean_up())
    assert stored(server) == 2


# --- lists -------------------------------------------------------------------------------------------


def test_tasks_are_listed_page_by_page(run: Run[Any]) -> None:
    ids = [created(run, corpus="novels" if number % 2 else "letters").id for number in range(7)]
    pages, cursor = [], None
    while True:
        page, cursor = run(tasks.list_tasks(["*"], limit=3, cursor=cursor))
        pages.append([task.id for task in page])
        if cursor is None:
            break
    assert [len(page) for page in pages] == [3, 3, 1]
    found = [task for page in pages for task in page]
    assert sorted(found) == sorted(ids)
    full = [task.id for task in run(tasks.list_tasks(["*"]))[0]]
    assert full == found


def test_lists_are_filtered(run: Run[Any]) -> None:
    for corpus, key in (("team-a", "k1"), ("team-b", "k2"), ("teams", "k1"), ("team-", "k3")):
        created(run, corpus=corpus, key=key)
    run(tasks.cancel(run(tasks.list_tasks(["teams"]))[0][0].id))

    def corpora(*patterns: str, **more: Any) -> set[str]:
        return {task.corpus for task in run(tasks.list_tasks(patterns, **more))[0]}

    assert corpora("*") == {"team-a", "team-b", "teams", "team-"}
    assert corpora("team-*") == {"team-a", "team-b", "team-"}
    assert corpora("team-a", "teams") == {"team-a", "teams"}
    assert corpora("nothing") == corpora() == set()
    assert corpora("*", keys=["k1"]) == {"team-a", "teams"}
    assert corpora("*", states=["cancelled"]) == {"teams"}
    for wrong in ({"limit": 0}, {"limit": 201}, {"cursor": "x"}, {"cursor": "1"}, {"cursor": "²-a"}):
        with pytest.raises(InputError):
            corpora("*", **wrong)


def test_lists_and_results_of_tasks_have_bounded_bytes(run: Run[Any]) -> None:
    given = {"documents": [{"properties": {"note": "x" * 1_000}}] * 1_000}
    task = run(tasks.create(tasks.new_id(), "index", "novels", "local", given))
    names = [f"upload:{number}-{'n' * 1_900}" for number in range(1_000)]
    result = {"corpus": "novels", "failed": dict.fromkeys(names, "r" * 4_000), "losses": {names[0]: ["l"] * 1_000}}
    for request in (Read("service/task", {"task": task.id}), tasks.write_one("service/retry", task=task.id)):
        assert len(str(run(one_row(request)))) < 1_000, "what the task was given is for its worker only"
    lease = claimed(run)
    assert lease.parameters == given
    assert run(task_leases.finish(lease, {**result, "superseded": []}))
    found = run(tasks.get(task.id)).result
    assert len(json.dumps(found)) < task_leases.RESULT_BYTES
    assert (len(found["failed"]), found["left_out"]) == (task_leases.LISTED, {"failed": 900, "losses": 970})
    [listed], _ = run(tasks.list_tasks(["*"]))
    assert (listed.id, listed.state, listed.result) == (task.id, "succeeded", None)
    failing = created(run)
    assert run(task_leases.fail(claimed(run), "reading", "r" * 10**6))
    assert len(run(tasks.get(failing.id)).error["detail"]) == task_leases.LONGEST_DETAIL + 1


def one_row(request: Read | Write) -> Operation[Any]:
    return (yield request)


def test_a_short_result_is_whole() -> None:
    result = {"failed": {f"upload:{number}": "It is empty." for number in range(1_000)}, "levels": {1: 2}}
    assert json.loads(task_leases.result_json(result)) == json.loads(json.dumps(result))
