"""Recovery from abandoned imports, whose run was killed."""

from __future__ import annotations

from uuid import uuid4

from e2g_neo4j.runtime.requests import Execute, Read, Write

NODE_ROWS = 500
"""Nodes per transaction."""


def recover_abandoned_imports(perform: Execute) -> None:
    """Complete abandoned imports that were published, and remove the others."""
    for row in perform(Read("archive/reserved", {})):
        if row["at_work"]:
            continue
        abandoned, by = {"corpus": row["corpus"], "run": row["run"]}, uuid4().hex
        perform(Write((("archive/take_over", {**abandoned, "by": by}),), ("archive/is_mine", abandoned)))
        end_import(perform, {"corpus": row["corpus"], "run": by}, published=row["published"])


def end_import(perform: Execute, reservation: dict[str, str], *, published: bool) -> None:
    """End an import: remove the marks if it was published, else the imported nodes. Then release the corpus.

    Args:
        reservation: corpus and run of the import.
        published: whether the import was published.
    """
    batch = {"corpus": reservation["corpus"], "limit": NODE_ROWS}
    step = ("archive/unmark" if published else "archive/discard", batch)
    while perform(Write((step,), ("archive/is_left", reservation))):
        pass
    cleanup = () if published else (("index/delete_empty_corpus", {"corpus": reservation["corpus"]}),)
    perform(Write((*cleanup, ("archive/release", reservation)), ("archive/is_mine", reservation)))
