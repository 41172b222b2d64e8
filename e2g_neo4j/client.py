"""The Python client: `E2G` and `AsyncE2G`, the same calls.

with E2G() as e2g:
    e2g.index(["dracula.txt"], corpus="novels")
    for passage in e2g.retrieve("How does Van Helsing know Dracula?", corpus="novels").passages:
        print(passage.document, passage.start, passage.text)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from neo4j import AsyncDriver, Driver

from e2g_neo4j import database, migrate
from e2g_neo4j.archive import Format
from e2g_neo4j.archive.exporting import export
from e2g_neo4j.bridge import Bridged
from e2g_neo4j.chat import chatting
from e2g_neo4j.chat.chatting import ChatReply
from e2g_neo4j.citing import CitationFilter
from e2g_neo4j.migrate import Applied, MigrationInfo
from e2g_neo4j.model import (
    Adoption,
    AdoptReport,
    Alias,
    Answer,
    ArchiveInfo,
    DocumentInfo,
    EntityInfo,
    Evidence,
    Finding,
    IndexPlan,
    IndexReport,
    LinkReport,
    Progress,
)
from e2g_neo4j.queries import Chat, Embed, Read, Rows, Story, Write
from e2g_neo4j.retrieval import DEFAULT_MODE, Mode
from e2g_neo4j.settings import Settings
from e2g_neo4j.stories import TOKENS, Source, Stories, asked
from e2g_neo4j.threads import in_thread

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from neo4j.graph import Path as GraphPath

T = TypeVar("T")

STOPPING = 10.0
"""Seconds that a cancelled run of indexing may take to stop. Nothing of it is published after that either."""


class E2G:
    """Index documents into Neo4j and ask them. Thread-safe; a context manager that closes its own driver.

    Args:
        driver: a neo4j driver to borrow, left open in the end; None: one of its own, to the configured server
            or else to the managed one, which is started when it is not running.
        settings: None: those of the environment and `.env`.
        chat_model: any langchain-core chat model, for summaries and answers; None: the one that the settings name, if
            any.

    Every call may raise UnreachableError, AccessError or another DatabaseError.
    """

    def __init__(
        self,
        driver: Driver | None = None,
        *,
        settings: Settings | None = None,
        chat_model: BaseChatModel | None = None,
    ) -> None:
        self._stories = Stories(settings, chat_model)
        self.settings = self._stories.settings
        self._borrowed = driver is not None
        self._driver = driver or database.open_driver(database.address(self.settings))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the driver, unless it is borrowed."""
        if not self._borrowed:
            self._driver.close()

    def migrate(self) -> list[Applied]:
        """Bring the schema up to date and return what was applied. `index` does so by itself. Raises MigrationError."""
        return migrate.migrate(
            self._driver, self.settings.neo4j_database, embedding_dimensions=self._stories.dimensions
        )

    def migrations(self) -> list[MigrationInfo]:
        """The migrations and what the database knows of them."""
        return migrate.info(self._driver, self.settings.neo4j_database)

    def validate(self) -> None:
        """Raise MigrationError unless the schema is what the migrations say."""
        migrate.validate(self._driver, self.settings.neo4j_database)

    def index(
        self,
        sources: Iterable[Source],
        *,
        corpus: str,
        progress: Progress | None = None,
        budget_tokens: int | None = None,
    ) -> IndexReport:
        """Bring files, folders, globs or documents into a corpus.

        A document that is there unchanged is left alone, a changed one replaced; each becomes visible when it is
        whole. Everything is read before anything is written. `progress` is called with (stage, done, total). A corpus
        that was adopted is refused with an InputError.
        What a chat model summarised is remembered in the database, so that a run that was stopped goes on from there.
        Raises ReadingError for what cannot be read, FingerprintError for an index made with other models, ModelError
        that names the summary where the chat model failed, and BudgetError before it costs more than `budget_tokens`
        of prompts and replies.
        """
        self.migrate()
        return self._drive(self._stories.index(list(sources), corpus, progress, budget_tokens, self._perform))

    def resume(self, *, corpus: str, progress: Progress | None = None, budget_tokens: int | None = None) -> IndexReport:
        """Index again, from their files, the documents of a corpus that are not ready: see `status`.

        A document whose file cannot be read is reported in `failed`, and the others are indexed. A corpus that was
        adopted is adopted again, with the same options. Raises NotFoundError where there is no document, and what
        `index` raises.
        """
        self.migrate()
        return self._drive(self._stories.resume(corpus, progress, budget_tokens, self._perform))

    def delete(self, targets: Iterable[str | Path] | None = None, *, corpus: str) -> list[DocumentInfo]:
        """Delete documents, with all that they alone contributed, and return them. None: the whole corpus.

        A target is the id of a document, its file, the folder or JSON Lines file that it is in, or its title. Each
        document goes in one transaction. Raises NotFoundError for a target or corpus that is not there, and QueryError
        for a title that several documents have, and InputError where the corpus was adopted; then nothing is deleted.
        """
        self.migrate()
        return self._drive(self._stories.delete(None if targets is None else list(targets), corpus))

    def status(self, corpus: str | None = None) -> dict[str, list[DocumentInfo]]:
        """The documents of a corpus, or of all, with what became of them. Raises NotFoundError where there is none."""
        return self._drive(self._stories.status(corpus))

    def plan(self, sources: Iterable[Source], *, corpus: str) -> IndexPlan:
        """What `index` would do and what that would cost, without calling the chat model or changing anything.

        Raises ReadingError for what cannot be read.
        """
        return self._drive(self._stories.plan(list(sources), corpus, self._perform))

    def retrieve(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        k: int | None = None,
        hops: int | None = None,
        mode: Mode = DEFAULT_MODE,
        through: Sequence[str] = (),
    ) -> Evidence:
        """The evidence for a question. `k` chunks (None: settings.top_k), `hops` edges (None: settings.hops).

        `corpora` instead of `corpus` asks several at once, one by one: what is found in all of them is ranked together,
        and every passage says its corpus.

        `through` names types of relationships of somebody else's graph, such as ACTED_IN, that `link` has joined the
        corpus to: `facts` are then at most 25 of them around the question's entities, for one round trip more.

        Raises QueryError for a question, k, hops, mode or type out of range, and for a mode that asks the full-text
        index about a corpus that was adopted, NotFoundError for a corpus without documents, FingerprintError for an
        index made with other models.
        """
        return self._drive(self._stories.retrieve(question, asked(corpus, corpora), k, hops, mode, through))

    def paths(self, evidence: Evidence) -> list[GraphPath]:
        """Why a question got this evidence, as at most 300 paths of the graph: between the entities of the question,
        from them to the chunks of the evidence, and from those up the tree. Nodes carry their vectors.
        """
        return self._drive(self._stories.paths(evidence))

    def answer(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        k: int | None = None,
        hops: int | None = None,
        mode: Mode = DEFAULT_MODE,
        options: Sequence[str] = (),
        through: Sequence[str] = (),
    ) -> Answer:
        """The chat model's answer from the evidence that `retrieve` finds; no text where none is configured.

        With `options`, at most 26, it chooses one of them by its letter. Raises what `retrieve` raises, and
        ModelError when the chat model fails.
        """
        return self._drive(self._stories.answer(question, asked(corpus, corpora), k, hops, mode, options, through))

    def stream(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        k: int | None = None,
        hops: int | None = None,
        mode: Mode = DEFAULT_MODE,
        through: Sequence[str] = (),
    ) -> Iterator[str | Answer]:
        """As `answer`, in pieces of text as the chat model writes them; the last item is the whole `Answer`."""
        story = self._stories.answer(question, asked(corpus, corpora), k, hops, mode, (), through)
        step = _advance(story, None)
        while not isinstance(step, _End):
            if isinstance(step, Chat):
                heard = _Heard(step)
                for piece in chatting.stream(step.model, step.request):
                    if shown := heard.add(piece):
                        yield shown
                reply: Any = heard.reply
            else:
                reply = self._reply(step)
            step = _advance(story, reply)
        yield step.value

    def corpora(self) -> dict[str, int]:
        """The corpora and how many documents of each can be asked."""
        return self._drive(self._stories.corpora())

    def documents(self, corpus: str) -> list[DocumentInfo]:
        """The documents of a corpus. Raises NotFoundError where there is none."""
        return self._drive(self._stories.documents(corpus))

    def entities(self, query: str = "", *, corpus: str, limit: int = 50) -> list[EntityInfo]:
        """The entities of a corpus, those in most chunks first; with `query` in their name, or in one that stands for
        them. Raises NotFoundError where there is no document."""
        return self._drive(self._stories.entities(corpus, query, limit))

    def merges(self, query: str = "", *, corpus: str) -> list[Alias]:
        """Which names stand for another entity, such as a surname alone, in which document and why; and those that
        `split` keeps apart. Raises NotFoundError where there is no document."""
        return self._drive(self._stories.merges(corpus, query))

    def split(self, name: str, *, corpus: str) -> list[Alias]:
        """Keep a name apart from all that it stands for, in documents to come too, and return what that was.

        The documents that have it are read again by spaCy, from the database. Raises NotFoundError for a name that
        stands for no other.
        """
        self.migrate()
        return self._drive(self._stories.split(name, corpus))

    def join(self, name: str, *, corpus: str) -> list[Alias]:
        """Undo `split` and return what the name stands for then. Raises NotFoundError where it is not kept apart."""
        self.migrate()
        return self._drive(self._stories.join(name, corpus))

    def link(
        self, *, corpus: str, label: str, name: str, aliases: str | None = None, dry_run: bool = False
    ) -> LinkReport:
        """Join the entities of a corpus to the nodes of somebody else's that they are, and report how.

        The nodes have `label`; `name` and `aliases` are properties of theirs that hold a text or a list of texts. What
        is written are relationships (:Entity)-[:REFERS_TO {method, score}]->(node), nothing else. The same call again
        changes nothing; after changes on either side it brings the links of this label up to date. `dry_run`: only
        report. Raises InputError where no node has the label and a text as its name, NotFoundError for a corpus
        without documents.
        """
        if not dry_run:
            self.migrate()
        return self._drive(self._stories.link(corpus, label, name, aliases, dry_run))

    def unlink(self, *, corpus: str, label: str | None = None) -> int:
        """Remove what `link` wrote for a corpus, or of that what leads to nodes with a label, and return how many there
        were. Raises NotFoundError for a corpus without documents."""
        self.migrate()
        return self._drive(self._stories.unlink(corpus, label))

    def adopt(
        self,
        *,
        corpus: str,
        label: str,
        text: str = "text",
        key: str = "id",
        order: str | None = None,
        document: str | None = None,
        part_of: str | None = None,
        progress: Progress | None = None,
        budget_tokens: int | None = None,
    ) -> AdoptReport:
        """Make a corpus of text nodes of somebody else's that are in the database already, and report what was done.

        Their texts are not copied, and nothing of theirs changes; `unadopt` removes all of it. The nodes have `label`;
        `text` and `key` are properties of theirs: the text, and what identifies the node within its document. `order`
        is the property that sorts the nodes of one document, None: `key`. `document` is the property that says of which
        document a node is, or `part_of` the type of the relationship that leads from it to the document's node; with
        neither all are one document. A node is one chunk, of up to 1,000,000 characters. Nodes without text, key or
        document are counted and left alone.

        The same call again brings the corpus up to date with what the nodes are then. Its passages have a `text_node`;
        its summaries hold sentences of the texts, or what a chat model makes of them. Raises InputError, before
        anything is written, where there is no such node, two of a document have one key, the corpus was indexed, or
        adopted with other options; and what `index` raises but for ReadingError.
        """
        self.migrate()
        adoption = Adoption(label, text, key, order, document, part_of)
        return self._drive(self._stories.adopt(corpus, adoption, progress, budget_tokens, self._perform))

    def unadopt(self, *, corpus: str) -> list[DocumentInfo]:
        """Remove all that `adopt` and `link` wrote for a corpus, and return the documents it had. Raises NotFoundError
        where there is none, InputError where it was indexed."""
        self.migrate()
        return self._drive(self._stories.unadopt(corpus))

    def doctor(self) -> list[Finding]:
        """What the database is fit for, and what would get in the way. Changes nothing."""
        return self._drive(self._stories.doctor())

    def stats(self, corpus: str) -> dict[str, int]:
        """How much a corpus holds, as flat numbers. Raises NotFoundError where there is nothing."""
        return self._drive(self._stories.stats(corpus))

    def export_corpus(self, file: str | Path, *, corpus: str, format: Format = "archive") -> ArchiveInfo:
        """Write a corpus to a file, in one state of it: an archive for `import_corpus`, or "graphml" for others.

        An archive holds everything: vectors bit for bit, remembered summaries, and what the index was made with. Memory
        is bounded. Writers of the corpus wait meanwhile; readers do not. Raises NotFoundError for a corpus without
        documents, InputError for one that was adopted and for a file that exists or cannot be written, ArchiveError for
        a property that an archive cannot hold.
        """
        return export(self._driver, self.settings.neo4j_database, Path(file), corpus, format)

    def import_corpus(self, file: str | Path, *, corpus: str | None = None) -> ArchiveInfo:
        """Make a corpus out of an archive, under its own name or another one. It is all there or nothing.

        Queries find it when it is complete. Under its own name it is exactly what was exported; under another one the
        ids of its documents are those that indexing would give them there. Raises ArchiveError, before anything is
        written, for an archive that is damaged; FingerprintError for one that was made with other models; InputError
        for a corpus that is there already.
        """
        return self._stories.import_corpus(Path(file), corpus, self.migrate, self._perform)

    def _drive(self, story: Story[T]) -> T:
        try:
            step = _advance(story, None)
            while not isinstance(step, _End):
                step = _advance(story, self._reply(step))
            return step.value
        finally:
            story.close()  # ends what the story does beside this

    def _reply(self, step: Read | Write | Embed | Chat) -> Any:
        match step:
            case Embed():
                return self._stories.vector(step)
            case Chat():
                return chatting.ask(step.model, step.request)
            case _:
                return self._perform(step)

    def _perform(self, step: Read | Write) -> Rows:
        if isinstance(step, Read):
            return database.read(self._driver, self.settings.neo4j_database, step)
        return database.write(self._driver, self.settings.neo4j_database, step)


class AsyncE2G:
    """As `E2G`, to be awaited: database and chat model are spoken to asynchronously, and what needs the processor
    runs in a thread, so that the event loop stays free. A call that is cancelled ends soon, whatever the chat model is
    doing; of an index run that is cancelled, what was complete stays, as after any other end.
    """

    def __init__(
        self,
        driver: AsyncDriver | None = None,
        *,
        settings: Settings | None = None,
        chat_model: BaseChatModel | None = None,
    ) -> None:
        self._stories = Stories(settings, chat_model)
        self.settings = self._stories.settings
        self._borrowed = driver is not None
        self._driver = driver
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the driver, unless it is borrowed."""
        if self._driver is not None and not self._borrowed:
            await self._driver.close()

    async def migrate(self) -> list[Applied]:
        """As `E2G.migrate`."""
        dimensions = await asyncio.to_thread(lambda: self._stories.dimensions)
        return await self._in_thread(partial(migrate.migrate, embedding_dimensions=dimensions))

    async def migrations(self) -> list[MigrationInfo]:
        """As `E2G.migrations`."""
        return await self._in_thread(migrate.info)

    async def validate(self) -> None:
        """As `E2G.validate`."""
        await self._in_thread(migrate.validate)

    async def index(
        self,
        sources: Iterable[Source],
        *,
        corpus: str,
        progress: Progress | None = None,
        budget_tokens: int | None = None,
    ) -> IndexReport:
        """As `E2G.index`; `progress` is called from other threads."""
        await self.migrate()
        perform, stop = self._perform_from_threads(await self._connected()), Event()
        watched = _until(stop, progress)
        return await self._drive(self._stories.index(list(sources), corpus, watched, budget_tokens, perform), stop)

    async def resume(
        self, *, corpus: str, progress: Progress | None = None, budget_tokens: int | None = None
    ) -> IndexReport:
        """As `E2G.resume`; `progress` is called from other threads."""
        await self.migrate()
        perform, stop = self._perform_from_threads(await self._connected()), Event()
        return await self._drive(self._stories.resume(corpus, _until(stop, progress), budget_tokens, perform), stop)

    async def delete(self, targets: Iterable[str | Path] | None = None, *, corpus: str) -> list[DocumentInfo]:
        """As `E2G.delete`."""
        await self.migrate()
        return await self._drive(self._stories.delete(None if targets is None else list(targets), corpus))

    async def status(self, corpus: str | None = None) -> dict[str, list[DocumentInfo]]:
        """As `E2G.status`."""
        return await self._drive(self._stories.status(corpus))

    async def plan(self, sources: Iterable[Source], *, corpus: str) -> IndexPlan:
        """As `E2G.plan`."""
        perform = self._perform_from_threads(await self._connected())
        return await self._drive(self._stories.plan(list(sources), corpus, perform))

    async def retrieve(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        k: int | None = None,
        hops: int | None = None,
        mode: Mode = DEFAULT_MODE,
        through: Sequence[str] = (),
    ) -> Evidence:
        """As `E2G.retrieve`."""
        return await self._drive(self._stories.retrieve(question, asked(corpus, corpora), k, hops, mode, through))

    async def paths(self, evidence: Evidence) -> list[GraphPath]:
        """As `E2G.paths`."""
        return await self._drive(self._stories.paths(evidence))

    async def answer(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        k: int | None = None,
        hops: int | None = None,
        mode: Mode = DEFAULT_MODE,
        options: Sequence[str] = (),
        through: Sequence[str] = (),
    ) -> Answer:
        """As `E2G.answer`."""
        return await self._drive(
            self._stories.answer(question, asked(corpus, corpora), k, hops, mode, options, through)
        )

    async def stream(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        k: int | None = None,
        hops: int | None = None,
        mode: Mode = DEFAULT_MODE,
        through: Sequence[str] = (),
    ) -> AsyncIterator[str | Answer]:
        """As `E2G.stream`, for `async for`."""
        driver = await self._connected()
        story = self._stories.answer(question, asked(corpus, corpora), k, hops, mode, (), through)
        try:
            step = await in_thread(_advance, story, None)
            while not isinstance(step, _End):
                if isinstance(step, Chat):
                    heard = _Heard(step)
                    async for piece in chatting.stream_async(step.model, step.request):
                        if shown := heard.add(piece):
                            yield shown
                    reply: Any = heard.reply
                else:
                    reply = await self._reply(driver, step)
                step = await in_thread(_advance, story, reply)
            yield step.value
        finally:
            _close(story)

    async def corpora(self) -> dict[str, int]:
        """As `E2G.corpora`."""
        return await self._drive(self._stories.corpora())

    async def entities(self, query: str = "", *, corpus: str, limit: int = 50) -> list[EntityInfo]:
        """As `E2G.entities`."""
        return await self._drive(self._stories.entities(corpus, query, limit))

    async def merges(self, query: str = "", *, corpus: str) -> list[Alias]:
        """As `E2G.merges`."""
        return await self._drive(self._stories.merges(corpus, query))

    async def split(self, name: str, *, corpus: str) -> list[Alias]:
        """As `E2G.split`."""
        await self.migrate()
        return await self._drive(self._stories.split(name, corpus))

    async def join(self, name: str, *, corpus: str) -> list[Alias]:
        """As `E2G.join`."""
        await self.migrate()
        return await self._drive(self._stories.join(name, corpus))

    async def link(
        self, *, corpus: str, label: str, name: str, aliases: str | None = None, dry_run: bool = False
    ) -> LinkReport:
        """As `E2G.link`."""
        if not dry_run:
            await self.migrate()
        return await self._drive(self._stories.link(corpus, label, name, aliases, dry_run))

    async def unlink(self, *, corpus: str, label: str | None = None) -> int:
        """As `E2G.unlink`."""
        await self.migrate()
        return await self._drive(self._stories.unlink(corpus, label))

    async def adopt(
        self,
        *,
        corpus: str,
        label: str,
        text: str = "text",
        key: str = "id",
        order: str | None = None,
        document: str | None = None,
        part_of: str | None = None,
        progress: Progress | None = None,
        budget_tokens: int | None = None,
    ) -> AdoptReport:
        """As `E2G.adopt`; `progress` is called from other threads."""
        await self.migrate()
        perform, stop = self._perform_from_threads(await self._connected()), Event()
        adoption = Adoption(label, text, key, order, document, part_of)
        story = self._stories.adopt(corpus, adoption, _until(stop, progress), budget_tokens, perform)
        return await self._drive(story, stop)

    async def unadopt(self, *, corpus: str) -> list[DocumentInfo]:
        """As `E2G.unadopt`."""
        await self.migrate()
        return await self._drive(self._stories.unadopt(corpus))

    async def doctor(self) -> list[Finding]:
        """As `E2G.doctor`."""
        return await self._drive(self._stories.doctor())

    async def documents(self, corpus: str) -> list[DocumentInfo]:
        """As `E2G.documents`."""
        return await self._drive(self._stories.documents(corpus))

    async def stats(self, corpus: str) -> dict[str, int]:
        """As `E2G.stats`."""
        return await self._drive(self._stories.stats(corpus))

    async def export_corpus(self, file: str | Path, *, corpus: str, format: Format = "archive") -> ArchiveInfo:
        """As `E2G.export_corpus`."""
        return await self._in_thread(partial(export, file=Path(file), corpus=corpus, format=format))

    async def import_corpus(self, file: str | Path, *, corpus: str | None = None) -> ArchiveInfo:
        """As `E2G.import_corpus`."""
        perform = self._perform_from_threads(await self._connected())
        loop = asyncio.get_running_loop()

        def migrate() -> object:
            return asyncio.run_coroutine_threadsafe(self.migrate(), loop).result()

        return await asyncio.to_thread(self._stories.import_corpus, Path(file), corpus, migrate, perform)

    async def _connected(self) -> AsyncDriver:
        async with self._opening:
            if self._driver is None:
                where = await asyncio.to_thread(database.address, self.settings)
                self._driver = database.open_async_driver(where)
            return self._driver

    async def _in_thread(self, call: Callable[[Driver, str], T]) -> T:
        """What is written for a sync driver, over the one that we have."""
        bridged: Any = Bridged(await self._connected(), asyncio.get_running_loop())
        return await asyncio.to_thread(call, bridged, self.settings.neo4j_database)

    async def _drive(self, story: Story[T], stop: Event | None = None) -> T:
        driver = await self._connected()
        try:
            step = await _advanced(story, None, stop)
            while not isinstance(step, _End):
                step = await _advanced(story, await self._reply(driver, step), stop)
            return step.value
        finally:
            await in_thread(_close, story)

    async def _reply(self, driver: AsyncDriver, step: Read | Write | Embed | Chat) -> Any:
        match step:
            case Embed():
                return await asyncio.to_thread(self._stories.vector, step)
            case Chat():
                return await chatting.ask_async(step.model, step.request)
            case _:
                return await self._perform(driver, step)

    async def _perform(self, driver: AsyncDriver, step: Read | Write) -> Rows:
        if isinstance(step, Read):
            return await database.read_async(driver, self.settings.neo4j_database, step)
        return await database.write_async(driver, self.settings.neo4j_database, step)

    def _perform_from_threads(self, driver: AsyncDriver) -> Callable[[Read | Write], Rows]:
        bridge = Bridged(driver, asyncio.get_running_loop())
        return lambda step: bridge.wait(self._perform(driver, step))


class _Heard:
    """A streamed reply as far as it was heard: what of it may be shown, and in the end the whole."""

    def __init__(self, step: Chat) -> None:
        self._citations = CitationFilter(step.passages)
        self.reply: ChatReply | None = None

    def add(self, piece: str | ChatReply) -> str:
        if isinstance(piece, ChatReply):
            self.reply = piece
            return self._citations.end()
        return self._citations.add(piece)


@dataclass(frozen=True, slots=True)
class _End(Generic[T]):
    value: T


def _advance(story: Story[T], reply: Any) -> Read | Write | Embed | Chat | _End[T]:
    """The next request of a story, or its end; StopIteration itself cannot cross from one thread to another."""
    try:
        return story.send(reply)
    except StopIteration as end:
        return _End(end.value)


async def _advanced(story: Story[T], reply: Any, stop: Event | None) -> Read | Write | Embed | Chat | _End[T]:
    """As `_advance`, in a thread. Where the caller is cancelled, a story that listens to `stop` gets STOPPING seconds
    to come to its end; any other is left alone.
    """
    step = asyncio.ensure_future(in_thread(_advance, story, reply))
    try:
        return await asyncio.shield(step)
    except asyncio.CancelledError:
        if stop is None:
            step.cancel()
        else:
            stop.set()
            step.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody else asks for it
            await asyncio.wait([step], timeout=STOPPING)
        raise


def _until(stop: Event, progress: Progress | None) -> Progress:
    """Progress that ends, once `stop` is set, whatever reports it."""

    def watched(stage: str, done: int, total: int) -> None:
        # Tokens are reported before the reply that they were spent on is kept.
        if stop.is_set() and stage != TOKENS:
            raise asyncio.CancelledError
        if progress:
            progress(stage, done, total)

    return watched


def _close(story: Story[Any]) -> None:
    with suppress(ValueError):  # the last step of a cancelled story may still be under way
        story.close()
