"""Entities, references, communities, merged names, links to other graphs, and adopted text nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request

from e2g_neo4j.errors import NotFoundError
from e2g_neo4j.graph import catalog
from e2g_neo4j.indexing import operations
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.service.access import GraphAdmin, Reader, VisibleCorpus, Writer
from e2g_neo4j.service.connections import Quote, find_quotes
from e2g_neo4j.service.problems import error_responses
from e2g_neo4j.service.schemas import NewAdoption, NewLayers, NewLinks, NewMerge, NewSplit
from e2g_neo4j.service.state import state_of
from e2g_neo4j.service.uploads import Submit
from e2g_neo4j.types.graph import Alias, CommunityCard, EntityCard, EntityInfo, Neighbourhood
from e2g_neo4j.types.reports import ReferenceInfo
from e2g_neo4j.types.service import TaskInfo

router = APIRouter(prefix="/v1/corpora/{corpus}", tags=["entities"])


@router.get("/entities", responses=error_responses(404))
async def list_entities(
    request: Request,
    corpus: VisibleCorpus,
    _: Reader,
    q: Annotated[str, Query(max_length=1000, description="A part of the name, or words of the description.")] = "",
    type: Annotated[str | None, Query(max_length=100, description="Only this type, such as `person`.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> list[EntityInfo]:
    """List the entities of a corpus: names before nouns, those in most chunks first."""
    return await state_of(request).client.entities(q, corpus=corpus, type=type, limit=limit)


@router.get("/entities/{name:path}", responses=error_responses(404))
async def describe_entity(request: Request, corpus: VisibleCorpus, name: str, caller: Reader) -> EntityCard:
    """Describe an entity, by one of its names: what it is, mentions by document, neighbours and community.

    Only a key with the scope `admin` for all corpora sees the nodes of your graph that it is linked to.
    """
    card = await state_of(request).client.describe_entity(name, corpus=corpus)
    return card if caller.is_graph_admin else replace(card, linked=())


@router.get("/neighbourhood/{name:path}", responses=error_responses(404))
async def describe_neighbourhood(
    request: Request,
    corpus: VisibleCorpus,
    name: str,
    _: Reader,
    limit: Annotated[int, Query(ge=1, le=100)] = 30,
) -> Neighbourhood:
    """List the entities that share most sentences with one, and how they are linked with each other."""
    return await state_of(request).client.runner.run(catalog.describe_neighbourhood(corpus, name, limit))


@router.get("/sentences", responses=error_responses(404))
async def list_sentences(
    request: Request,
    corpus: VisibleCorpus,
    _: Reader,
    a: Annotated[str, Query(max_length=1000, description="A name of an entity.")],
    b: Annotated[str | None, Query(max_length=1000, description="A name of another one.")] = None,
    document: Annotated[str | None, Query(max_length=1000, description="Only sentences of this document.")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 25,
) -> list[Quote]:
    """List sentences that mention an entity, or two, from the chunks that do most often, in reading order."""
    return await state_of(request).client.runner.run(find_quotes(corpus, a, b or a, limit, document))


@router.get("/shared-entities", responses=error_responses(404))
async def list_shared_entities(
    request: Request,
    corpus: VisibleCorpus,
    _: Reader,
    document: Annotated[list[str], Query(min_length=1, max_length=10, description="Ids of documents.")],
    only: Annotated[bool, Query(description="Only entities that no other document mentions.")] = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> list[EntityInfo]:
    """List the entities that all of some documents mention: names before nouns, those in fewest documents first."""
    return await state_of(request).client.runner.run(catalog.shared_entities(corpus, document, only, limit))


@router.get("/communities/{community}", responses=error_responses(404))
async def describe_community(request: Request, corpus: VisibleCorpus, community: str, _: Reader) -> CommunityCard:
    """Describe a community: its report, its members, and the communities above and below it."""
    return await state_of(request).client.runner.run(catalog.describe_community(corpus, community))


@router.get("/references", responses=error_responses(404))
async def list_references(
    request: Request,
    corpus: VisibleCorpus,
    _: Reader,
    document: Annotated[str | None, Query(max_length=1000, description="Only references from it and to it.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> list[ReferenceInfo]:
    """List which documents refer to which, by their titles or by hyperlinks, sorted by title."""
    return await state_of(request).client.references(document, corpus=corpus, limit=limit)


@router.get("/merges", responses=error_responses(404))
async def list_merges(
    request: Request,
    corpus: VisibleCorpus,
    _: Reader,
    q: Annotated[str, Query(max_length=1000, description="A part of the name.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> list[Alias]:
    """List which names resolve to another entity, and why, and which are kept apart, the most frequent first."""
    return await state_of(request).client.merges(q, corpus=corpus, limit=limit)


@router.put("/merges/{name:path}", responses=error_responses(404))
async def merge_name(request: Request, corpus: VisibleCorpus, name: str, merge: NewMerge, _: Writer) -> list[Alias]:
    """Make a name resolve to another one. Repeating this has no effect. Splitting the name undoes it."""
    return await state_of(request).client.merge(name, merge.into, corpus=corpus)


@router.put("/splits/{name:path}", responses=error_responses(404))
async def split_name(
    request: Request, corpus: VisibleCorpus, name: str, _: Writer, split: NewSplit | None = None
) -> list[Alias]:
    """Keep a name apart from the entities that it resolves to, everywhere or in one document. Repeating this has no
    effect."""
    client = state_of(request).client
    document = split.document if split else None
    try:
        return await client.split(name, corpus=corpus, document=document)
    except NotFoundError:
        found = await client.runner.run(catalog.aliases(corpus, key=entity_key(name)))
        apart = [one for one in found if one.apart]
        if not apart:
            raise
        # an earlier request may have been broken off before this
        await client.runner.run(operations.update_own_layers(client.models, corpus))
        return apart


@router.delete("/splits/{name:path}", responses=error_responses(404))
async def join_name(request: Request, corpus: VisibleCorpus, name: str, _: Writer) -> list[Alias]:
    """Undo a split or a merge by hand: the rules decide about the name again."""
    return await state_of(request).client.join(name, corpus=corpus)


@router.post("/enrich", status_code=202, responses=error_responses(404))
async def enrich(corpus: VisibleCorpus, _: Writer, submit: Submit, new: NewLayers | None = None) -> TaskInfo:
    """Make communities, clusters, and vectors of the names of entities and of sentences that have none.

    Statements are extracted by the chat model, if they are named.
    """
    parameters = new.model_dump(exclude_none=True) if new else {}
    return await submit("enrich", corpus, parameters)


@router.get("/links", responses=error_responses(404))
async def count_links(
    request: Request, corpus: VisibleCorpus, _: GraphAdmin, label: Annotated[str | None, Query(max_length=1000)] = None
) -> dict[str, int]:
    """Count the links of a corpus to nodes of other graphs, by their labels."""
    return await state_of(request).client.links(corpus=corpus, label=label)


@router.post("/links", status_code=202, responses=error_responses(404))
async def link(corpus: VisibleCorpus, links: NewLinks, _: GraphAdmin, submit: Submit) -> TaskInfo:
    """Link the entities of a corpus to nodes of another graph in the database."""
    return await submit("link", corpus, links.model_dump())


@router.delete("/links", status_code=202, responses=error_responses(404))
async def unlink(
    corpus: VisibleCorpus, _: GraphAdmin, submit: Submit, label: Annotated[str | None, Query(max_length=1000)] = None
) -> TaskInfo:
    """Remove the links of a corpus, or those to nodes with a label."""
    return await submit("unlink", corpus, {"label": label})


@router.post("/adoption", status_code=202, responses=error_responses(404))
async def adopt(corpus: VisibleCorpus, adoption: NewAdoption, _: GraphAdmin, submit: Submit) -> TaskInfo:
    """Make a corpus of text nodes that are in the database already."""
    return await submit("adopt", corpus, adoption.model_dump())


@router.delete("/adoption", status_code=202, responses=error_responses(404))
async def unadopt(corpus: VisibleCorpus, _: GraphAdmin, submit: Submit) -> TaskInfo:
    """Remove everything that adopting and linking wrote for a corpus."""
    return await submit("unadopt", corpus, {})
