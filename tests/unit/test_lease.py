"""What goes wrong while a lease is renewed in the background is logged."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

from e2g_neo4j.errors import DatabaseError
from e2g_neo4j.graph import lease
from e2g_neo4j.graph.lease import Lease
from e2g_neo4j.runtime.requests import Read, Write


def test_a_lease_that_cannot_be_renewed_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(lease, "SECONDS", 0.03)
    working = True

    def execute(request: Read | Write) -> list[dict[str, Any]]:
        if not working:
            raise DatabaseError("The disk is full.")
        return [{}]

    with caplog.at_level(logging.WARNING, "e2g_neo4j"), Lease(execute, "novels") as held:
        working = False
        end = time.monotonic() + 30
        while "not renewed" not in caplog.text and time.monotonic() < end:
            time.sleep(0.01)
        held.record_failure(["d"], ValueError("Broken."))
    assert "'novels' was not renewed" in caplog.text
    assert "could not be recorded" in caplog.text
    assert "The disk is full." in caplog.text
