"""Operations of clients that change what names of a corpus mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

from e2g_neo4j.errors import InputError
from e2g_neo4j.graph import catalog
from e2g_neo4j.graph.fingerprint import read_models
from e2g_neo4j.indexing import entity_linking, linked_names, merge_overrides
from e2g_neo4j.indexing.operations import migrate, update_own_layers
from e2g_neo4j.models.embedding.windows import embed_long
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.graph import Alias
from e2g_neo4j.types.ids import utf8
from e2g_neo4j.types.reports import LinkReport


def split(models: Models, name: str, document: str | None, corpus: str) -> Operation[list[Alias]]:
    """Stop a name from resolving to other entities, or to that of other documents in one of them."""
    return _change_names(models, corpus, merge_overrides.split(name, document, corpus=corpus))


def join(models: Models, name: str, corpus: str) -> Operation[list[Alias]]:
    """Undo `split`."""
    return _change_names(models, corpus, merge_overrides.join(name, corpus=corpus))


def merge(models: Models, name: str, into: str, corpus: str) -> Operation[list[Alias]]:
    """Make a name resolve to another one."""
    return _change_names(models, corpus, merge_overrides.merge(name, into, corpus=corpus))


def _change_names(models: Models, corpus: str, change: Operation[list[Alias]]) -> Operation[list[Alias]]:
    yield from migrate(models)
    yield from catalog.check_corpus(corpus)
    found = yield from change
    yield from update_own_layers(models, corpus)
    return found


def link(
    models: Models,
    corpus: str,
    label: str | Sequence[str],
    name: str,
    aliases: str | None,
    type: str | None,
    *,
    dry_run: bool,
) -> Operation[LinkReport]:
    """Link the entities of a corpus to nodes of the user's graph, and find the names of these nodes in its texts."""
    if not dry_run:
        yield from migrate(models, "links")
    labels = list(dict.fromkeys([label] if isinstance(label, str) else label)) or [""]
    given = [*(("label", one) for one in labels), ("name", name), ("aliases", aliases)]
    for what, value in given:
        if value is not None and not utf8(value, f"`{what}`").strip():
            raise InputError(f"`{what}` is empty. Name the label and properties of the nodes, such as Person and name.")
    yield from catalog.check_corpus(corpus)
    models, _ = yield from read_models(models, corpus)
    embed = cache(lambda names: embed_long(models.embedder, list(names)))  # those of nodes are the same both times
    linking = partial(
        entity_linking.link,
        corpus,
        labels=labels,
        name=name,
        aliases=aliases,
        type=type,
        embed=lambda names: embed(tuple(names)),
        dry_run=dry_run,
    )
    report = yield from linking()
    if dry_run:
        return report
    names = 0
    for one in labels:
        names += yield from linked_names.learn(corpus, label=one, name=name, aliases=aliases, type=type)
    documents = yield from merge_overrides.update_linked_names(corpus)
    if documents:  # they may have new entities, which are linked too
        again = yield from linking()
        report = replace(again, added=report.added + again.added, removed=report.removed + again.removed)
        yield from update_own_layers(models, corpus)
    return replace(report, names=names, documents=documents)


def links(corpus: str, label: str | None) -> Operation[dict[str, int]]:
    """Count the links of a corpus, by the labels of the nodes."""
    yield from catalog.check_corpus(corpus)
    return (yield from entity_linking.links(corpus, label))


def unlink(models: Models, corpus: str, label: str | None) -> Operation[int]:
    """Remove the links of a corpus, to nodes of a label or all, and mentions that were found by their names alone."""
    yield from migrate(models)
    yield from catalog.check_corpus(corpus)
    removed = yield from entity_linking.unlink(corpus, label)
    yield from linked_names.forget(corpus, label)
    if (yield from merge_overrides.update_linked_names(corpus)):
        yield from update_own_layers(models, corpus)
    return removed
