"""What the service's description promises holds for requests that nobody thought of (schemathesis)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from running_service import RunningService, create_key, environment
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tiers import at_length

from e2g_neo4j.documents.files import from_text
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.remote_client import RemoteE2G


def no_server_error(context: object, response: schemathesis.Response, case: schemathesis.Case) -> None:
    """Without a chat model, what needs one says so with 501."""
    assert response.status_code < 500 or response.json()["code"] == "no_chat_model", response.text


CHECKS = [no_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]

EXAMPLES = at_length(25, 3)


@pytest.fixture(scope="module")
def service(scratch: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningService, str]]:
    variables = environment(scratch)
    writer = create_key(variables, scopes="read,ask,write", corpora="*")
    tenant = create_key(variables, scopes="read,ask,write,admin", corpora="team-*")
    running = RunningService(variables, tmp_path_factory.mktemp("service") / "log")
    with RemoteE2G(running.url, writer) as client:
        client.index([from_text("The brig left Port Hesk.", corpus="team-a", source="log")], corpus="team-a")
    yield running, tenant
    running.stop()


@pytest.mark.timeout(1200)
def test_no_request_gets_an_undocumented_reply(service: tuple[RunningService, str]) -> None:
    running, key = service
    schema = schemathesis.openapi.from_url(f"{running.url}/openapi.json")
    operations = [one.ok() for one in schema.get_all_operations() if isinstance(one, Ok)]
    assert len(operations) > 35
    failures: list[str] = []
    for operation in operations:

        @settings(
            max_examples=EXAMPLES,
            phases=[Phase.explicit, Phase.generate],
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(case=operation.as_strategy())
        def ask(case: schemathesis.Case) -> None:
            if case.path.endswith("/events"):
                case.path_parameters["task"] = "0" * 32
            for header in ("Authorization", "X-API-Key", "E2G-Bookmark"):
                case.headers.pop(header, None)
            case.call_and_validate(
                base_url=running.url, headers={"Authorization": f"Bearer {key}"}, checks=CHECKS, timeout=60
            )

        try:
            ask()
        except BaseException as failed:
            failures.append(f"{operation.label}: {failed}")
    assert not failures, "\n\n".join(failures)[:20_000]
