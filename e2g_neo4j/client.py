"""The Python client."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from e2g_neo4j.answering.global_search import Level
from e2g_neo4j.answering.methods import AnswerOptions, MethodName, answer
from e2g_neo4j.answering.text_to_cypher import text_to_cypher
from e2g_neo4j.client_base import SyncClient
from e2g_neo4j.graph import catalog, doctor
from e2g_neo4j.graph.schema import Applied, Part
from e2g_neo4j.indexing import enriching, naming, operations, reindexing
from e2g_neo4j.indexing.archive import exporting
from e2g_neo4j.indexing.archive.contents import Format
from e2g_neo4j.indexing.operations import Source
from e2g_neo4j.retrieval.options import RetrievalKeywords, RetrievalOptions
from e2g_neo4j.retrieval.requirements import list_modes
from e2g_neo4j.retrieval.retrieve import retrieve
from e2g_neo4j.retrieval.templates import run_template
from e2g_neo4j.types.chat import StreamingChatModel
from e2g_neo4j.types.graph import Alias, EntityCard, EntityInfo, GraphDocument
from e2g_neo4j.types.ids import corpora_to_ask
from e2g_neo4j.types.properties import Properties, check_names
from e2g_neo4j.types.reports import (
    Adoption,
    AdoptReport,
    ArchiveInfo,
    DocumentInfo,
    DocumentText,
    EnrichReport,
    Finding,
    GraphDocumentReport,
    IndexReport,
    Layer,
    LinkReport,
    Progress,
    ReferenceInfo,
    ReindexReport,
    Removable,
    ReportKind,
)
from e2g_neo4j.types.results import Answer, Evidence, ModeInfo
from e2g_neo4j.types.statements import StatementResult

if TYPE_CHECKING:
    from neo4j.graph import Path as GraphPath


class E2G(SyncClient):
    """Index documents into Neo4j and ask them. Thread-safe; a context manager that closes its own driver.

    Calls for one corpus are given its name as `corpus`.

    Args:
        driver: a neo4j driver to borrow, left open in the end; None: one of its own, to the configured server, or else
            to the managed one, which is started when it is not running.
        settings: None: those of the environment and `.env`.
        chat_model: any langchain-core chat model, for summaries and answers; None: the one that the settings name, if
            any.
        embedder: an embedding model (`models.embedding.base.Embedder`); None: the one that the settings name.
        nlp: a spaCy pipeline; None: the one that the settings name.
        strategies: retrieval modes besides those of this package.

    Raises:
        UnreachableError, AccessError, DatabaseError: every call may raise these.
        NotFoundError: the corpus has no document; not raised by `index`, `adopt` and `import_corpus`.
    """

    def migrate(self, parts: Collection[Part] = ()) -> list[Applied]:
        """Bring the schema up to date, and return what was applied. Calls that write do so by themselves.

        `parts` are created too, which are otherwise created with their first use: those of layers, "links"
        and "service". Raises MigrationError if the schema differs from the migrations in a way that none can mend."""
        return self._run(operations.migrate(self.models, *parts))

    def index(
        self,
        sources: Iterable[Source],
        *,
        corpus: str,
        progress: Progress | None = None,
        budget_tokens: int | None = None,
        properties: Properties | None = None,
        language: str | None = None,
        strict: bool = False,
        prune: bool = False,
        dry_run: bool = False,
    ) -> IndexReport:
        """Index files, folders, globs or documents into a corpus.

        Unchanged documents are skipped, changed ones replaced. A document becomes queryable once it is fully indexed.
        All sources are read before anything is written. What cannot be read is left out and listed in the report. A
        file with the text of one that is gone is taken for this one, renamed. Summaries by a chat model are cached in
        the database, so that an interrupted run continues where it stopped.

        Args:
            sources: what to index.
            progress: called with (stage, done, total), from several threads.
            budget_tokens: tokens that the chat model and the server of an embedding model may cost; None: no limit.
            properties: properties of all of these documents, added to those that they have themselves, such as
                `{"author": "Bram Stoker", "year": 1897}`; a document with neither keeps those that are stored. `where`
                restricts questions by them.
            language: the language of a new corpus, such as "de"; None: that of most of the text.
            strict: index nothing unless all sources can be read.
            prune: delete the documents whose files are gone from the folders among the sources.
            dry_run: only report what would be done and its cost. Calls no chat model and changes nothing.

        Raises:
            ReadingError: no source can be read, or with `strict`, one cannot.
            InputError: the corpus was adopted, or is in another language, or a property is invalid.
            FingerprintError: the models of the corpus are not available.
            ModelError: the chat model failed; the message names the summary.
            BudgetError: the next call might exceed the budget.
        """
        how: dict[str, Any] = {"language": language, "strict": strict, "prune": prune, "dry_run": dry_run}
        given = list(sources), corpus, progress, budget_tokens, properties
        return self._run(operations.index(self.models, *given, **how))

    def resume(self, *, corpus: str, progress: Progress | None = None, budget_tokens: int | None = None) -> IndexReport:
        """Index again, from their files, the documents of a corpus that are not ready: see `documents`. An adopted
        corpus is adopted again with the same options. `failed` of the report has the documents whose files cannot be
        read. Raises what `index` raises."""
        return self._run(operations.resume(self.models, corpus, progress, budget_tokens))

    def delete(self, targets: Iterable[str | Path] | None = None, *, corpus: str) -> list[DocumentInfo]:
        """Delete documents, with everything that only they contributed, one transaction a document.

        Args:
            targets: ids of documents, their files, the folders or JSON Lines files that they are in, or their titles;
                None: the whole corpus.

        Raises:
            NotFoundError, QueryError, InputError: a target or the corpus does not exist; several documents have this
                title; the corpus was adopted. Nothing is deleted.
        """
        return self._run(operations.delete(self.models, None if targets is None else list(targets), corpus))

    def retrieve(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        options: RetrievalOptions | None = None,
        chat_model: StreamingChatModel | None = None,
        **retrieval: Unpack[RetrievalKeywords],
    ) -> Evidence:
        """The evidence for a question: passages, best first, with the route that was taken and why.

        Args:
            corpus, corpora: the corpus to ask; or several, one by one: what is found is ranked together, and every
                passage names its corpus.
            options: the options of retrieval as one object.
            chat_model: the chat model for `llm`; None: that of the client.
            **retrieval: the options of retrieval one by one, the fields of `RetrievalOptions`.

        Raises:
            QueryError: the question or an option is out of range, no document has a property that `where` names, or the
                mode needs the full-text index, which an adopted corpus is not in.
            FingerprintError: the models of the corpus are not available.
            ConfigurationError: `llm` is set, but no chat model is configured.
            ModelError: with `llm`, the chat model failed.
        """
        chosen, options = corpora_to_ask(corpus, corpora), RetrievalOptions.of(retrieval, options, self.strategies)
        return self._ask(retrieve(self.models, question, chosen, options, chat_model))

    def modes(self, corpora: Sequence[str] = ()) -> list[ModeInfo]:
        """The retrieval modes: what each does and needs; with `corpora`, in which modes they can be asked."""
        return self._run(list_modes(self.strategies, corpora))

    def paths(self, evidence: Evidence) -> list[GraphPath]:
        """Why a question got this evidence, as at most 300 paths of the graph: between the entities of the question,
        from them to the chunks of the evidence, and from those up the tree. Nodes carry their vectors."""
        return self._run(catalog.paths(evidence))

    def answer(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        choices: Sequence[str] = (),
        method: MethodName = "direct",
        level: Level | None = None,
        max_tokens: int | None = None,
        options: RetrievalOptions | None = None,
        chat_model: StreamingChatModel | None = None,
        progress: Progress | None = None,
        **retrieval: Unpack[RetrievalKeywords],
    ) -> Answer:
        """The chat model's answer from the evidence that `retrieve` finds, with citations; without text where no chat
        model is configured, unless a template answers. Raises what `retrieve` raises, and ModelError.

        Args:
            corpus, corpora, options: as `retrieve`.
            choices: 2 to 26 answers to choose from, named by a letter; empty: a free answer.
            method: what to answer from: one of `METHODS` in `e2g_neo4j.answering.methods`. Only "direct" takes
                choices.
            level: with "global", the level of the reports, from 1, the finest, or "dynamic" for reports that the chat
                model chooses; None: the finest level with eight batches at most, about.
            max_tokens: tokens of the answer at most, if it is less than `settings.answer_tokens`.
            chat_model: the chat model; None: that of the client.
            progress: called with (stage, done, total) as batches are read, from other threads.
            **retrieval: as `retrieve`; only `history` with "global", and `where` too with "all_text".
        """
        chosen, options = corpora_to_ask(corpus, corpora), RetrievalOptions.of(retrieval, options, self.strategies)
        how = AnswerOptions(options, choices, method, level, max_tokens)
        return self._ask(answer(self.models, question, chosen, how, chat_model, progress))

    def stream(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        choices: Sequence[str] = (),
        method: MethodName = "direct",
        level: Level | None = None,
        max_tokens: int | None = None,
        options: RetrievalOptions | None = None,
        chat_model: StreamingChatModel | None = None,
        progress: Progress | None = None,
        **retrieval: Unpack[RetrievalKeywords],
    ) -> Generator[Evidence | str | Answer]:
        """As `answer`, as it is made: first the `Evidence`, then the text in pieces, last the `Answer`."""
        chosen, options = corpora_to_ask(corpus, corpora), RetrievalOptions.of(retrieval, options, self.strategies)
        how = AnswerOptions(options, choices, method, level, max_tokens)
        return self._stream(answer(self.models, question, chosen, how, chat_model, progress))

    def run_template(self, name: str, parameters: Mapping[str, Any] | None = None, *, corpus: str) -> StatementResult:
        """The rows of a Cypher template, at most 1000, and the parameters that were used. `e2g template` lists the
        templates and their parameters."""
        return self._ask(run_template(self.settings, name, parameters or {}, corpus))

    def text_to_cypher(self, question: str, *, corpus: str) -> StatementResult:
        """The rows, at most 100, of a Cypher statement that the chat model writes, if `settings.text_to_cypher` allows
        it. Raises InputError if it does more than read the corpus and your own graph; it is not run then."""
        return self._ask(text_to_cypher(self.models, question, corpus))

    def corpora(self) -> dict[str, int]:
        """The corpora and how many documents of each can be asked."""
        return self._run(catalog.corpora())

    def documents(self, corpus: str) -> list[DocumentInfo]:
        """The documents of a corpus, with their state."""
        return self._run(catalog.documents(corpus))

    def text(self, document: str, *, corpus: str, start: int = 0, end: int | None = None) -> DocumentText:
        """The text of a document from `start` to `end`, at most a million characters: what a citation with these
        offsets cites.

        Args:
            document: its id, source, file or title.
            start, end: the first character, and the one after the last; None, or too many: the end of the text.

        Raises:
            NotFoundError: the corpus has no such document that queries can see.
            QueryError: several documents have this title.
            InputError: the span is empty or outside the text, or text nodes have changed since they were adopted.
        """
        return self._run(catalog.text_of(document, corpus, start, end))

    def entities(self, query: str = "", *, corpus: str, type: str | None = None, limit: int = 50) -> list[EntityInfo]:
        """At most `limit` entities of a corpus, names before nouns, those in most chunks first: those with `query` in
        their name, or in a name that resolves to them, then those whose description has its words, and of the `type`,
        such as `person` or `noun`."""
        return self._run(catalog.entities(corpus, query, type, limit))

    def describe_entity(self, name: str, *, corpus: str) -> EntityCard:
        """What the corpus tells about an entity: its description, mentions by document, neighbours, community, and
        linked nodes of your graph.

        Args:
            name: its name, or one that resolves to it.

        Raises:
            NotFoundError: the corpus has no documents, or no such entity.
        """
        return self._run(catalog.describe_entity(corpus, name))

    def references(self, document: str | None = None, *, corpus: str, limit: int = 50) -> list[ReferenceInfo]:
        """Which documents refer to which, by their titles or by hyperlinks, sorted by title, at most `limit`; with a
        `document`, an id, title, source or file name, only references from it and to it. Raises what `text` does."""
        return self._run(catalog.references(corpus, document, limit))

    def merges(self, query: str = "", *, corpus: str, limit: int = 1000) -> list[Alias]:
        """Which names resolve to another entity, such as a surname alone, in which document and why; and those that
        `split` keeps apart, or that `merge` was told of but that occur nowhere now. The most frequent ones first, at
        most `limit`."""
        return self._run(catalog.merges(corpus, query, limit))

    def merge(self, name: str, into: str, *, corpus: str) -> list[Alias]:
        """Make a name, such as "Miss Quill", resolve to another one, in future documents too. Returns what it resolves
        to now, by document. `into` is the name of the entity that it means, or one that resolves to it. `split` keeps
        the name apart again; `join` leaves it to the rules.

        Raises:
            NotFoundError: one of the names does not occur in the corpus.
            InputError: both are the same name, or `into` resolves to `name`.
        """
        return self._run(naming.merge(self.models, name, into, corpus))

    def split(self, name: str, *, corpus: str, document: str | None = None) -> list[Alias]:
        """Keep a name apart from the entities it resolves to, in future documents too. Returns what it resolved to.
        This undoes `merge`. `document` is the id, title, source or file name of one in which the name is somebody
        else's: there it means an entity called by name and title, "Alan Pryce, Letters", also after updates. Returns
        what it resolves to there now.

        Raises:
            NotFoundError: the name resolves to no other entity, or the document does not mention it.
            QueryError: several documents have this title.
        """
        return self._run(naming.split(self.models, name, document, corpus))

    def join(self, name: str, *, corpus: str) -> list[Alias]:
        """Leave a name to the rules again: undo `split` or `merge`. Returns what the name resolves to now. Raises
        NotFoundError if the name is neither kept apart nor merged by hand."""
        return self._run(naming.join(self.models, name, corpus))

    def enrich(
        self,
        *,
        corpus: str,
        layers: Sequence[Layer] | None = None,
        progress: Progress | None = None,
        budget_tokens: int | None = None,
        reports: ReportKind | None = None,
        graph_schema: Path | Mapping[str, Any] | None = None,
        prefix: str | None = None,
        without: Sequence[Removable] = (),
        dry_run: bool = False,
    ) -> EnrichReport:
        """Make layers that some modes need: communities of entities with reports, clusters of chunks with summaries,
        vectors of sentences and of the names of entities, descriptions of entities; and, if they are named, statements,
        which the chat model extracts, and the typed graph, which is made of statements. Later changes keep all of them
        up to date.

        Args:
            layers: some of `sentences`, `communities`, `clusters`, `entities`, `descriptions`, `statements` and
                `typed`. None: all but the last two, or none with `without`. Clusters include sentences.
            progress, budget_tokens: as `index`, for statements and reports.
            reports: `llm`: the chat model writes the reports of communities; `extractive`: they are sentences of the
                corpus. None: as before, at first extractive.
            graph_schema: the types of entities and of relationships that statements and the typed graph have: the path
                of a JSON file, or what is in it. The corpus keeps it. None: as before, at first none.
            prefix: what labels and relationship types of the typed graph begin with. None: that of the schema.
            without: layers to remove: `typed`.
            dry_run: only estimate what the chat model would cost.

        Raises:
            FingerprintError: the models of the corpus are not available.
            ConfigurationError: statements or reports need a chat model, and none is configured; or another graph uses
                names of the typed graph.
            BudgetError: the budget is used up. The replies so far are cached.
            InputError: a layer is unknown, the schema cannot be used, or others change the corpus all the time.
        """
        return self._run(
            enriching.enrich(
                self.models,
                corpus,
                layers,
                progress,
                budget_tokens,
                reports=reports,
                graph_schema=graph_schema,
                prefix=prefix,
                without=without,
                dry_run=dry_run,
            )
        )

    def reindex(self, *, corpus: str, progress: Progress | None = None) -> ReindexReport:
        """Give a corpus the vectors of the embedding model of the settings, or of `embedder`.

        The vectors that it has answer until those of the new model are complete. Texts, entities, names, summaries and
        the spaCy pipeline stay, and so do the windows: one that is too long for the new model gets the mean of several
        vectors. An interrupted call is continued by the next one. `progress` is called as by `index`.

        Raises:
            FingerprintError: another call has given it another model meanwhile.
            ModelError: the model cannot be loaded, or failed. The corpus keeps the vectors that it has.
        """
        return self._run(reindexing.reindex(self.models, corpus, progress))

    def add_graph_documents(
        self, graph_documents: Iterable[GraphDocument], *, corpus: str, progress: Progress | None = None
    ) -> GraphDocumentReport:
        """Add what another extractor has found in the texts of a corpus, as statements: `GraphDocument`s of LangChain,
        or those that `e2g_neo4j.integrations.neo4j_graphrag.graph_documents` makes of the graph of an extractor. Calls
        no chat model. Returns how many statements were added, and what was left out.

        The text of each graph document is looked for in the documents of the corpus, as it is but for white space; or
        its metadata name a chunk of the corpus, as `id` or `chunk_id`. Pass all graph documents at once: each call
        makes the statements of the corpus again. What was added about the same texts before is replaced.

        Raises:
            FingerprintError: the models of the corpus are not available.
            InputError: the corpus has text that no chat model has read yet, or others change the corpus all the time.
                The graph documents are kept.
        """
        return self._run(enriching.add_graph_documents(self.models, corpus, list(graph_documents), progress))

    def link(
        self,
        *,
        corpus: str,
        label: str | Sequence[str],
        name: str,
        aliases: str | None = None,
        type: str | None = None,
        dry_run: bool = False,
    ) -> LinkReport:
        """Link the entities of a corpus to nodes of your own graph by `REFERS_TO {method, score, property}`.

        Names of these nodes are also found in the texts where the entity pipeline missed them, from now on. The same
        call again updates links and names of these labels. Nodes that a relationship ties to the text nodes of an
        adopted corpus are linked to entities of these texts. Raises InputError if no node has such a label and a text
        as its name, or no entity has the type.

        Args:
            label: the label of the nodes, or several.
            name: their property with the name, a text or a list of texts.
            aliases: their property with other names.
            type: link only entities of this type, such as `person`.
            dry_run: only report.
        """
        return self._run(naming.link(self.models, corpus, label, name, aliases, type, dry_run=dry_run))

    def links(self, *, corpus: str, label: str | None = None) -> dict[str, int]:
        """How many links a corpus has, by the labels of the nodes, such as `Actor:Person`; with a `label`, those to
        nodes that have it."""
        return self._run(naming.links(corpus, label))

    def unlink(self, *, corpus: str, label: str | None = None) -> int:
        """Remove the links of a corpus, or those to nodes with a label, and the mentions that only names of these nodes
        have found. Returns how many links there were."""
        return self._run(naming.unlink(self.models, corpus, label))

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
        properties: Sequence[str] = (),
        progress: Progress | None = None,
        budget_tokens: int | None = None,
    ) -> AdoptReport:
        """Make a corpus of text nodes that are in the database already. Their texts are not copied, and nothing of them
        changes; `unadopt` removes all that is added. The same call again updates the corpus.

        A node is one chunk, of up to 1,000,000 characters. Passages have a `text_node`. Nodes without text, key or
        document are counted and skipped.

        Args:
            label: the label of the nodes.
            text: their property with the text, or several, separated by commas, such as "title,plot": the text is
                theirs, joined by blank lines.
            key: their property that identifies them within their document.
            order: the property that sorts the nodes of one document; None: `key`.
            document: the property that names a node's document; None: see `part_of`.
            part_of: the type of the relationship from a node to its document's node; with neither, all nodes are one
                document.
            properties: the names of properties that the documents take over, so that `where` can filter by them: with
                `part_of` from the document's node, otherwise from its text nodes. Another list in a later call replaces
                them.
            progress, budget_tokens: as `index`.

        Raises:
            InputError: there is no such node, two of a document have one key, a property is missing everywhere or has a
                value that a document cannot have, the corpus was indexed, or adopted with other options; nothing is
                written. Besides, what `index` raises.
        """
        adoption = Adoption(label, text, key, order, document, part_of, check_names(properties))
        return self._run(operations.adopt(self.models, corpus, adoption, progress, budget_tokens))

    def unadopt(self, *, corpus: str) -> list[DocumentInfo]:
        """Remove everything that `adopt` and `link` wrote for a corpus, and return the documents it had. Raises
        InputError if the corpus was indexed, not adopted."""
        return self._run(operations.unadopt(self.models, corpus))

    def doctor(self) -> list[Finding]:
        """Check whether the database is fit for use, without changing it."""
        return self._run(doctor.examine(self.models, self.settings.neo4j_database))

    def stats(self, corpus: str) -> dict[str, int]:
        """How much a corpus holds, as flat numbers."""
        return self._run(catalog.stats(corpus))

    def export_corpus(self, file: str | Path, *, corpus: str, format: Format = "archive") -> ArchiveInfo:
        """Write a corpus to a file, as one consistent state. Memory is bounded; writers of the corpus wait.

        Args:
            file: the file to write; it must not exist.
            format: "archive", for `import_corpus`: everything, vectors bit for bit, cached summaries and the
                fingerprint; or "graphml", for other tools.

        Raises:
            InputError: the corpus was adopted, or the file exists or cannot be written.
            ArchiveError: a value is larger than an archive can hold.
        """
        return self._run(exporting.export_corpus(Path(file), corpus, format))

    def import_corpus(self, file: str | Path, *, corpus: str | None = None) -> ArchiveInfo:
        """Make a corpus from an archive. Its documents become queryable one after the other, as in `index`.

        `file` is an archive of `export_corpus`, `corpus` another name for the corpus; None: its own. Under its own name
        it is exactly what was exported; under another it is what indexing would give. If this fails, nothing is left;
        if it was killed, the same call continues it.

        Raises:
            ArchiveError: the archive is damaged; nothing is written.
            FingerprintError: it was made with other models.
            InputError: the corpus exists already.
        """
        return self._run(operations.import_corpus(self.models, Path(file), corpus))
