"""The MCP tools. Each checks the caller's scope and corpora before it calls the client."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from typing import Annotated, Any, ParamSpec, TypeAlias, TypeVar

from anyio import to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import Field

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.errors import CorpusNotFoundError, E2GError, NotFoundError, QueryError
from e2g_neo4j.graph import catalog
from e2g_neo4j.retrieval.options import MIN_TOKENS, ModeName, RetrievalOptions
from e2g_neo4j.retrieval.strategies import load_strategies
from e2g_neo4j.service.connections import Step, connect
from e2g_neo4j.service.mcp_results import Explanation, Fitted, Results
from e2g_neo4j.service.mcp_writing import Writer
from e2g_neo4j.service.problems import ProblemError
from e2g_neo4j.service.schemas import Given, History
from e2g_neo4j.settings import MAX_HOPS
from e2g_neo4j.types.chat import StreamingChatModel
from e2g_neo4j.types.graph import EntityCard, EntityInfo
from e2g_neo4j.types.ids import check_corpus_name
from e2g_neo4j.types.reports import DocumentText
from e2g_neo4j.types.results import Answer, Evidence
from e2g_neo4j.types.service import Caller, Scope, TaskInfo

ModelOf: TypeAlias = Callable[[Caller], StreamingChatModel | None]
"""Returns the chat model for a caller."""

Turn: TypeAlias = Callable[[Caller], AbstractAsyncContextManager[None]]
"""Waits for the turn of a caller's search, which lasts as long as the context."""

CallerOf: TypeAlias = Callable[[Any], Caller]
"""Returns who calls, from the HTTP request, or from None over stdio."""

DEFAULT_TOKENS = 2000
"""Length of all passages of a search together, unless `k` or `tokens` says otherwise."""

MOST_TOKENS = 4000

LONGEST_SPAN = 4000
"""Characters that read_passage returns at most."""

LONGEST_TEXT = 1_000_000
"""Characters of a text to index."""

P = ParamSpec("P")
T = TypeVar("T")

Question = Annotated[
    str, Field(min_length=1, max_length=4000, description="The question, in words, with the names it is about.")
]
CorpusName = Annotated[
    str | None,
    Field(max_length=1000, description="The corpus, see list_corpora. May be left out if there is only one."),
]
CorpusNames = Annotated[
    list[str] | None,
    Field(max_length=20, description="The corpora to search, see list_corpora. May be left out if there is only one."),
]
K = Annotated[int | None, Field(ge=1, le=50, description="Number of chunks to return, instead of `tokens`.")]
Tokens = Annotated[
    int | None,
    Field(ge=MIN_TOKENS, le=MOST_TOKENS, description=f"Length of all passages. Default: {DEFAULT_TOKENS}."),
]
NamedMode = Annotated[
    ModeName, Field(description="How to rank. auto suits almost all questions; fulltext finds exact words.")
]
_MODEL_MODES = ", ".join(mode.name for mode in load_strategies().values() if mode.calls_model)
Llm = Annotated[bool, Field(description=f"{RetrievalOptions.summary('llm')} These are {_MODEL_MODES}.")]
Conditions = Annotated[list[str] | None, Field(max_length=20, description=RetrievalOptions.summary("where"))]
DocumentId = Annotated[str, Field(min_length=1, max_length=100, description="The id of the document.")]
Name = Annotated[str, Field(min_length=1, max_length=200)]
EntityType = Annotated[
    str | None, Field(max_length=100, description="Only entities of this type, such as person, place or noun.")
]

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

TOOLS: dict[str, tuple[str, Scope, ToolAnnotations]] = {
    "list_corpora": ("List corpora", "read", READS),
    "search": ("Search documents", "read", READS),
    "explain": ("Explain a search", "read", READS),
    "find_entities": ("Find entities", "read", READS),
    "describe_entity": ("Describe an entity", "read", READS),
    "connect": ("Connect two entities", "read", READS),
    "read_passage": ("Read a document", "read", READS),
    "ask": ("Ask documents", "ask", READS),
    "index_text": ("Index a text", "write", WRITES),
    "task_status": ("State of a task", "write", READS),
    "delete_document": ("Delete a document", "write", WRITES),
}
"""The tools: title, needed scope and hints for the client."""

SCOPES = {name: scope for name, (_, scope, _) in TOOLS.items()}


def with_our_errors(tool: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Report errors of this package to the model with their messages. Others have their messages withheld."""

    @functools.wraps(tool)
    async def report_errors(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await tool(*args, **kwargs)
        except (E2GError, ProblemError) as error:
            raise ToolError(str(error)) from None

    return report_errors


class Tools:
    """The tools, and what their callers may do. See `create_mcp` for the arguments."""

    def __init__(
        self, client: AsyncE2G, caller_of: CallerOf, writer: Writer, model_of: ModelOf | None, turn: Turn | None
    ) -> None:
        self.client, self.caller_of, self.results = client, caller_of, Results(client.models)
        self._writer = writer
        self._model_of = model_of or (lambda _: client.models.chat_model)
        self._turn = turn or (lambda _: nullcontext())

    def caller(self, context: Context[Any, Any], scope: Scope) -> Caller:
        """Return who calls. Raises ToolError without the scope."""
        caller = self.caller_of(context.request_context.request)
        if scope not in caller.scopes:
            raise ToolError(f"This needs the scope {scope!r}, which the key does not have: use another key.")
        return caller

    async def visible(self, caller: Caller) -> dict[str, int]:
        """Return the corpora that the caller may use, with the number of their documents that can be searched."""
        return {name: number for name, number in (await self.client.corpora()).items() if caller.sees(name)}

    async def corpora(self, caller: Caller, names: list[str] | None) -> list[str]:
        """Return the corpora to use: those named, or the only one that the caller may use.

        What exists is read first, so that a foreign corpus is the same as one that does not exist, to the message and
        the time that it takes.
        """
        visible = await self.visible(caller)
        if not names:
            if len(visible) == 1:
                return list(visible)
            listed = f"there are {len(visible)}, see list_corpora" if visible else "there is none yet"
            raise QueryError(f"Name a corpus: {listed}.")
        for name in names:
            if name not in visible:
                raise CorpusNotFoundError(name)
        return list(dict.fromkeys(names))

    async def corpus(self, caller: Caller, name: str | None) -> str:
        """The same for one corpus."""
        [corpus] = await self.corpora(caller, [name] if name else None)
        return corpus

    async def list_corpora(self, context: Context[Any, Any]) -> Annotated[CallToolResult, Fitted[dict[str, int]]]:
        """List the corpora that can be searched, with their number of documents."""
        visible = await self.visible(self.caller(context, "read"))
        return await to_thread.run_sync(self.results.corpora, visible)

    async def search(
        self,
        context: Context[Any, Any],
        question: Question,
        corpora: CorpusNames = None,
        k: K = None,
        tokens: Tokens = None,
        mode: NamedMode = "auto",
        llm: Llm = False,
        where: Conditions = None,
    ) -> Annotated[CallToolResult, Fitted[Evidence]]:
        """Find the passages of indexed documents that answer a question, best first. Cite them by their numbers, the
        first as [1]. A whole question with full names works better than keywords."""
        found = await self._retrieve(context, question, corpora, k, tokens, mode=mode, llm=llm, where=where or ())
        return await to_thread.run_sync(self.results.passages, found)

    async def explain(
        self,
        context: Context[Any, Any],
        question: Question,
        corpora: CorpusNames = None,
        k: K = None,
        tokens: Tokens = None,
        mode: NamedMode = "auto",
        llm: Llm = False,
        where: Conditions = None,
    ) -> Annotated[CallToolResult, Fitted[Explanation]]:
        """Explain how `search` finds its passages: the entities of the question, the paths between them, the route that
        was taken and why, and Cypher that shows the evidence in Neo4j Browser."""
        found = await self._retrieve(context, question, corpora, k, tokens, mode=mode, llm=llm, where=where or ())
        return await to_thread.run_sync(self.results.explanation, found)

    async def ask(
        self,
        context: Context[Any, Any],
        question: Question,
        corpora: CorpusNames = None,
        where: Conditions = None,
        history: History = None,
    ) -> Annotated[CallToolResult, Fitted[Answer]]:
        """Let the configured chat model answer a question from the documents, with citations. This costs tokens of that
        model; `search` returns the passages without it."""
        caller = self.caller(context, "ask")
        chosen = await self.corpora(caller, corpora)
        model = self._model_of(caller)
        options = RetrievalOptions.of({"where": where or (), "history": history or ()})
        async with aclosing(self.client.stream(question, corpora=chosen, options=options, chat_model=model)) as pieces:
            async with nullcontext() if history else self._turn(caller):  # the chat model rewrites the question first
                await anext(pieces)  # the evidence
            [given] = [piece async for piece in pieces if isinstance(piece, Answer)]
        return await to_thread.run_sync(self.results.answer, given)

    async def find_entities(
        self,
        context: Context[Any, Any],
        query: Annotated[
            str, Field(max_length=200, description="Part of a name, or words; empty: those in most chunks.")
        ] = "",
        corpus: CorpusName = None,
        type: EntityType = None,
        limit: Annotated[int, Field(ge=1, le=100, description="How many at most.")] = 20,
    ) -> Annotated[CallToolResult, Fitted[list[EntityInfo]]]:
        """Find people, places, things and terms of a corpus by a part of their name or by words of their description,
        names before nouns, those in most chunks first."""
        chosen = await self.corpus(self.caller(context, "read"), corpus)
        found = await self.client.entities(query, corpus=chosen, type=type, limit=limit)
        return await to_thread.run_sync(self.results.entities, found)

    async def describe_entity(
        self,
        context: Context[Any, Any],
        name: Annotated[Name, Field(description="Name of an entity, see find_entities.")],
        corpus: CorpusName = None,
    ) -> Annotated[CallToolResult, Fitted[EntityCard]]:
        """Tell who or what an entity of a corpus is: a sentence about it, its other names, how often which documents
        mention it, its neighbours in the graph, and its community."""
        chosen = await self.corpus(self.caller(context, "read"), corpus)
        found = await self.client.describe_entity(name, corpus=chosen)
        return await to_thread.run_sync(self.results.card, found)

    async def connect(
        self,
        context: Context[Any, Any],
        a: Annotated[Name, Field(description="Name of an entity, see find_entities.")],
        b: Annotated[Name, Field(description="Name of another entity.")],
        corpus: CorpusName = None,
        hops: Annotated[int, Field(ge=1, le=MAX_HOPS, description="Maximum length of the path, in edges.")] = 4,
    ) -> Annotated[CallToolResult, Fitted[list[Step]]]:
        """Find out how two entities are connected: the shortest path between them through entities that share
        sentences, with sentences for each step."""
        caller = self.caller(context, "read")
        chosen = await self.corpus(caller, corpus)
        async with self._turn(caller):
            steps = await self.client.runner.run(connect(chosen, a, b, hops))
        return await to_thread.run_sync(self.results.connection, steps, hops)

    async def read_passage(
        self,
        context: Context[Any, Any],
        document: DocumentId,
        start: Annotated[int, Field(ge=0, le=2**40, description="First character.")] = 0,
        end: Annotated[
            int | None, Field(ge=1, le=2**40, description=f"End, at most {LONGEST_SPAN} characters after start.")
        ] = None,
        corpus: CorpusName = None,
    ) -> Annotated[CallToolResult, Fitted[DocumentText]]:
        """Read the text of a document, such as what surrounds a passage. Start and end are character offsets, as in
        citations. At most 4,000 characters are returned; read on from where they end."""
        chosen = await self.corpus(self.caller(context, "read"), corpus)
        until = start + LONGEST_SPAN if end is None else min(end, start + LONGEST_SPAN)
        found = await self.client.runner.run(catalog.text(chosen, document, start, until))
        return await to_thread.run_sync(self.results.span, found)

    async def index_text(
        self,
        context: Context[Any, Any],
        corpus: Annotated[str, Field(min_length=1, max_length=1000, description="The corpus; a new name makes one.")],
        title: Annotated[Name, Field(description="Names the document. The same title again replaces it.")],
        text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT, description="The text of the document.")],
        properties: Annotated[Given, Field(description="By name: texts, numbers, booleans or lists of them.")] = None,
    ) -> Annotated[CallToolResult, Fitted[TaskInfo]]:
        """Index a text as a document of a corpus. Returns a task: it is done, or task_status tells when."""
        caller = self.caller(context, "write")
        check_corpus_name(corpus)
        if not caller.sees(corpus):
            raise CorpusNotFoundError(corpus)
        return self.results.task(await self._writer.index_text(caller, corpus, title, text, properties))

    async def task_status(
        self, context: Context[Any, Any], task: Annotated[str, Field(min_length=1, max_length=64)]
    ) -> Annotated[CallToolResult, Fitted[TaskInfo]]:
        """Return the state of a task of index_text or delete_document: queued, running, succeeded, failed or
        cancelled."""
        caller = self.caller(context, "write")
        found = await self._writer.task(caller, task)
        if found is None or not caller.sees(found.corpus):
            raise NotFoundError(f"There is no task {task!r}: use an id that index_text or delete_document returned.")
        return self.results.task(found)

    async def delete_document(
        self, context: Context[Any, Any], corpus: Name, document: DocumentId
    ) -> Annotated[CallToolResult, Fitted[TaskInfo]]:
        """Delete a document of a corpus, with everything that only it contributed. This cannot be undone."""
        caller = self.caller(context, "write")
        chosen = await self.corpus(caller, corpus)
        await self.client.runner.run(catalog.document(chosen, document))
        return self.results.task(await self._writer.delete_document(caller, chosen, document))

    async def _retrieve(
        self, context: Context[Any, Any], question: str, corpora: CorpusNames, k: K, tokens: Tokens, **how: Any
    ) -> Evidence:
        caller = self.caller(context, "read")
        if how["llm"]:
            self.caller(context, "ask")
        chosen = await self.corpora(caller, corpora)
        limit = tokens or (DEFAULT_TOKENS if k is None else MOST_TOKENS)
        options = RetrievalOptions.of({"k": k, "tokens": limit, **how})  # type: ignore[typeddict-item]
        model = self._model_of(caller) if options.llm else None
        # calls of the chat model would keep others waiting
        async with nullcontext() if options.llm else self._turn(caller):
            return await self.client.retrieve(question, corpora=chosen, options=options, chat_model=model)


def add_tools(server: MCPServer[Any], tools: Tools, *, chat: bool, write: bool) -> None:
    """Add the tools to a server: `ask` only if there is a chat model, and those that change corpora only to write."""
    for name, (title, scope, hints) in TOOLS.items():
        if (chat or scope != "ask") and (write or scope != "write"):
            tool = getattr(tools, name)
            description = " ".join(tool.__doc__.split())
            server.add_tool(with_our_errors(tool), title=title, annotations=hints, description=description)
