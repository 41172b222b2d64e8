"""Operations of clients that make layers of a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any, get_args

from e2g_neo4j.errors import InputError
from e2g_neo4j.graph import catalog
from e2g_neo4j.graph.fingerprint import create_indexes, read_models
from e2g_neo4j.indexing.communities.layer import COMMUNITIES
from e2g_neo4j.indexing.descriptions import DESCRIPTIONS
from e2g_neo4j.indexing.graph_schema import GraphSchema
from e2g_neo4j.indexing.layers import LAYERS
from e2g_neo4j.indexing.operations import meter_of, migrate, until_cancelled
from e2g_neo4j.indexing.statements import layer as statements
from e2g_neo4j.indexing.typed.layer import TYPED, read_schema
from e2g_neo4j.indexing.typed.layer import remove as remove_typed
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import (
    GetExecutor,
    Operation,
    with_vectors,
)
from e2g_neo4j.types.graph import GraphDocument
from e2g_neo4j.types.reports import (
    DEFAULT_LAYERS,
    EnrichReport,
    GraphDocumentReport,
    Layer,
    LayerReport,
    Progress,
    Removable,
    ReportKind,
)


def enrich(
    models: Models,
    corpus: str,
    layers: Sequence[Layer] | None,
    progress: Progress | None,
    budget_tokens: int | None = None,
    *,
    reports: ReportKind | None = None,
    graph_schema: Path | Mapping[str, Any] | None = None,
    prefix: str | None = None,
    without: Sequence[Removable] = (),
    dry_run: bool = False,
) -> Operation[EnrichReport]:
    """Make layers of a corpus. None is all of them that need no chat model, or none if some are removed. `reports` says
    who writes the reports of communities; None is the same as before."""
    if layers is None:
        layers = () if without else DEFAULT_LAYERS
    wanted = set(layers)
    if kept := sorted(set(without) - set(get_args(Removable))):
        raise InputError(f"The layer {kept[0]!r} cannot be removed: only {', '.join(get_args(Removable))} can.")
    if both := [layer for layer in without if layer in wanted]:
        raise InputError(f"The layer {both[0]!r} cannot be made and removed at once: name it once.")
    if unknown := sorted(wanted - set(get_args(Layer))):
        raise InputError(f"There is no layer {unknown[0]!r}: choose among {', '.join(get_args(Layer))}.")
    if not wanted and not without:
        raise InputError(f"No layer is named: choose among {', '.join(get_args(Layer))}.")
    if reports not in (None, *get_args(ReportKind)):
        raise InputError(f"There are no reports {reports!r}: choose among {', '.join(get_args(ReportKind))}.")
    if reports and "communities" not in wanted:
        raise InputError("Reports are those of communities, and this layer is not named: add communities.")
    if (graph_schema is not None or prefix is not None) and wanted.isdisjoint(("statements", "typed")):
        raise InputError("A schema and a prefix are for statements and the typed graph: add the layer typed.")
    schema = None if graph_schema is None else GraphSchema.read(graph_schema)
    if not dry_run:
        needed = {one.name for layer in LAYERS if layer.name in wanted for one in layer.needs}
        yield from migrate(models, *wanted, *needed)
    yield from catalog.check_corpus(corpus)
    if prefix is not None:
        schema = (schema or (yield from read_schema(corpus))).with_prefix(prefix)
    models, vectors = yield from read_models(models, corpus)
    if dry_run:
        return (yield from with_vectors(_plan_layers(models, corpus, wanted, reports, schema), vectors))
    yield from create_indexes(models.fingerprint, vectors)
    show = until_cancelled((yield GetExecutor()).cancelled, progress)
    done: dict[Layer, LayerReport] = {}
    if "typed" in without:
        done["typed"] = yield from remove_typed(models, corpus)
    making = _make_layers(models, corpus, wanted, show, meter_of(budget_tokens, show), reports, schema)
    done |= yield from with_vectors(making, vectors)
    return EnrichReport(corpus, done)


def _plan_layers(
    models: Models, corpus: str, wanted: Set[Layer], reports: ReportKind | None, schema: GraphSchema | None
) -> Operation[EnrichReport]:
    done: dict[Layer, LayerReport] = {}
    for layer in LAYERS:
        if layer.name in wanted and layer.plan:
            planned = yield from layer.plan(models, corpus, reports, schema)
            if planned != LayerReport():
                done[layer.name] = planned
    return EnrichReport(corpus, done, dry_run=True)


def _make_layers(
    models: Models,
    corpus: str,
    wanted: Set[Layer],
    show: Progress,
    meter: UsageMeter,
    reports: ReportKind | None,
    schema: GraphSchema | None,
) -> Operation[dict[Layer, LayerReport]]:
    done: dict[Layer, LayerReport] = {}
    chosen = [layer for layer in LAYERS if layer.name in wanted]
    for layer in chosen:
        if layer.check:
            yield from layer.check(models, corpus, reports)  # before anything is made
    needed = {one.name for layer in chosen for one in layer.needs}
    for layer in LAYERS:
        if layer.name in wanted | needed:
            report = yield from layer.enrich(models, corpus, show, meter, reports, schema)
            if layer.name in wanted or report.made:
                done[layer.name] = report
    if "statements" in wanted:
        for layer in (COMMUNITIES, TYPED):  # which are made from them
            yield from layer.update(models, corpus, show)
    yield from DESCRIPTIONS.update(models, corpus, show)  # what they are made from may be new
    return done


def add_graph_documents(
    models: Models, corpus: str, graph_documents: Sequence[GraphDocument], progress: Progress | None
) -> Operation[GraphDocumentReport]:
    """Keep what others have extracted from the texts of a corpus, and make statements of it."""
    yield from migrate(models, "statements")
    yield from catalog.check_corpus(corpus)
    models, vectors = yield from read_models(models, corpus)
    yield from create_indexes(models.fingerprint, vectors)
    show = until_cancelled((yield GetExecutor()).cancelled, progress)
    report = yield from with_vectors(statements.add(models, corpus, graph_documents, show), vectors)
    for layer in (COMMUNITIES, DESCRIPTIONS, TYPED):  # which are made from statements
        yield from with_vectors(layer.update(models, corpus, show), vectors)
    return report
