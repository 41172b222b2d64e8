"""Make a layer of a corpus, such as its communities, and keep it up to date.

What a layer contains depends on the visible graph alone, and on replies of a chat model, which are cached. So after any
updates it is that of a fresh corpus. New nodes are staged in bounded transactions and published in one, if the corpus
has not changed meanwhile; otherwise the layer is made again. Nodes that are the same are kept, with their vectors. What
a killed run has staged is discarded by the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any
from uuid import uuid4

from e2g_neo4j.errors import ConfigurationError, CorpusChangedError, CorpusNotFoundError
from e2g_neo4j.graph.lease import write_locked
from e2g_neo4j.graph.writer import purge
from e2g_neo4j.models.chat.usage import UsageMeter, cost
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.reports import Layer as LayerName
from e2g_neo4j.types.reports import LayerReport, Progress, ReportKind, TokenUsage

ATTEMPTS = 5
"""How often a layer is made again because the corpus has changed meanwhile."""

NOTHING = LayerReport()
"""The report of a layer of which nothing was made."""


class ChangedError(Exception):
    """The corpus has changed while a layer was made."""


class RepliesMissingError(Exception):
    """A chat model would have to be asked, and none may be. The message is for the user."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer.

    Attributes:
        name: Its name. Its statements are in the folder of this name.
        revision: The property of the corpus with the revision that the layer was made from. "": it is never outdated.
        making: What happens while it is made, such as "its communities were made".
        make: Makes it once. Raises ChangedError to be called again, RepliesMissingError if a chat model is missing.
        needs: Layers that are made before.
        check: Raises ConfigurationError if the layer cannot be made.
        plan: Estimates what the chat model would cost. None: the layer never needs it.
        staged: The label of its nodes while they are staged, if it has any.
    """

    name: LayerName
    revision: str
    making: str
    make: Callable[[Making], Operation[LayerReport]]
    needs: tuple[Layer, ...] = ()
    check: Callable[[Models, str, ReportKind | None], Operation[object]] | None = None
    plan: Callable[[Models, str, ReportKind | None], Operation[LayerReport]] | None = None
    staged: str = ""

    def enrich(
        self,
        models: Models,
        corpus: str,
        progress: Progress | None = None,
        meter: UsageMeter | None = None,
        reports: ReportKind | None = None,
    ) -> Operation[LayerReport]:
        """Make the layer, or what of it has changed.

        Args:
            meter: Counts the use of the chat model. Without it, the chat model is not used.
            reports: Who writes the reports of communities. None: the same as before; at first they are extractive.

        Raises:
            NotFoundError: The corpus has no documents.
            ConfigurationError: A chat model is needed, and none is configured.
            BudgetError: The budget is used up. The replies so far are cached.
            CorpusChangedError: The corpus kept changing.
        """
        if self.check:
            yield from self.check(models, corpus, reports)
        try:
            return (yield from self.attempt(Making(self, models, corpus, progress, meter, reports, asked=True)))
        except RepliesMissingError as error:
            raise ConfigurationError(str(error)) from None

    def update(
        self, models: Models, corpus: str, progress: Progress | None = None, meter: UsageMeter | None = None
    ) -> Operation[None]:
        """Bring the layer up to date, if the corpus has it.

        Without a chat model or a meter, nothing is asked for. If a reply is not cached then, the layer stays as it is,
        which `e2g doctor` reports.
        """
        if not self.revision:
            return
        state = yield from read_state(corpus)
        if state[self.revision] is not None and state[self.revision] != state["revision"]:
            with suppress(RepliesMissingError):
                yield from self.attempt(Making(self, models, corpus, progress, meter))

    def attempt(self, making: Making) -> Operation[LayerReport]:
        """Make the layer until the corpus does not change meanwhile."""
        for attempt in range(ATTEMPTS):
            making.attempt, making.state = attempt, (yield from read_state(making.corpus))
            if not making.state["found"]:
                raise CorpusNotFoundError(making.corpus)
            if making.state["moved"]:
                break  # in each attempt: these are no longer the models of the corpus
            yield from purge(making.corpus)  # also counts edges: of all documents that this revision has
            try:
                for layer in self.needs:
                    yield from layer.make(replace(making, layer=layer))
                report = yield from self.make(making)
            except ChangedError:
                continue
            yield from purge(making.corpus)
            return report
        raise CorpusChangedError(making.corpus, ATTEMPTS, self.making, self.name)


@dataclass(slots=True)
class Making:
    """The making of a layer.

    Attributes:
        meter: Counts the use of the chat model. None: it must not be asked.
        reports: Who writes the reports of communities. None: the same as before.
        asked: Whether somebody asked for the layer, as opposed to an update.
        state: The row of `layers/state` that this attempt has read.
        attempt: The number of the attempt, from 0.
        made: What was made in attempts before and stays.
        used: Counts the use of the chat model, also without `meter`.
        run: The id of what is being staged.
        staged: The number of nodes that are staged.
    """

    layer: Layer
    models: Models
    corpus: str
    progress: Progress | None = None
    meter: UsageMeter | None = None
    reports: ReportKind | None = None
    asked: bool = False
    state: Mapping[str, Any] = field(default_factory=dict)
    attempt: int = 0
    made: int = 0
    used: UsageMeter = field(init=False)
    run: str = ""
    staged: int = 0

    def __post_init__(self) -> None:
        self.used = self.meter or UsageMeter()

    def show(self, stage: str, done: int, total: int) -> None:
        if self.progress:
            self.progress(stage, done, total)

    def remember(self, level: int, replies: int) -> None:
        """Count replies that were cached, in the first attempt."""
        for _ in range(0 if self.attempt else replies):
            self.used.count_cached(level)

    def usage_of(self, level: int) -> TokenUsage:
        """Return the use of the chat model."""
        return self.used.levels.get(level, TokenUsage())

    def begin(self) -> Operation[None]:
        """Begin to stage, and discard what an interrupted run has staged."""
        self.run, self.staged = uuid4().hex, 0
        yield write_locked("layers/discard", self.corpus, staged=self.layer.staged)

    def stage(self, rows: Sequence[Mapping[str, Any]]) -> Operation[None]:
        """Stage nodes in one transaction."""
        yield from self.add("stage", rows)
        self.staged += len(rows)

    def add(self, statement: str, rows: Sequence[Mapping[str, Any]]) -> Operation[None]:
        """Write something about staged nodes in one transaction."""
        parameters = {"corpus": self.corpus, "run": self.run, "rows": rows}
        yield from self.write((self._statement_name(statement), parameters))

    def set_revision(self) -> Operation[None]:
        """Note that the layer is up to date, if it has no nodes of its own."""
        revision = {"layer": self.layer.revision, "revision": self.state["revision"]}
        yield from self.write(("layers/set_revision", {"corpus": self.corpus, **revision}))

    def publish(
        self, *more: tuple[str, dict[str, Any]], stored: Sequence[str] | None = None, **parameters: object
    ) -> Operation[None]:
        """Make the staged nodes visible, in one transaction with other statements.

        Args:
            *more: The other statements.
            stored: The ids of the statements of the corpus, which must still be the same. None: they are not compared.
            **parameters: Further parameters of the publication.
        """
        held = {"corpus": self.corpus, "run": self.run, "revision": self.state["revision"]}
        yield from self.write((self._statement_name("publish"), held | parameters), *more, stored=stored)

    def write(self, *statements: tuple[str, dict[str, Any]], stored: Sequence[str] | None = None) -> Operation[None]:
        """Write in one transaction. Raises ChangedError if the corpus or the layer has changed, or staged nodes are
        gone."""
        hold = {
            "corpus": self.corpus,
            "revision": self.state["revision"],
            "layer": self.layer.revision,
            "made_from": self.state[self.layer.revision],
            "run": self.run,
            "staged": self.staged,
            "stored": stored,
        }
        if not (yield Write(statements, ("layers/hold", hold))):
            raise ChangedError

    def _statement_name(self, statement: str) -> str:
        return f"{self.layer.name}/{statement}"


def hash_of(*parts: str) -> str:
    """Return a hash of several texts."""
    return sha256("\0".join(parts).encode()).hexdigest()


def read_state(corpus: str) -> Operation[Mapping[str, Any]]:
    """Read the revision of a corpus, and those that its layers were made from."""
    [state] = yield Read("layers/state", {"corpus": corpus})
    return dict(state)


def with_usage(models: Models, usage: TokenUsage, report: LayerReport = NOTHING) -> LayerReport:
    """Return a report with the use of the chat model and its price."""
    price = cost({0: usage}, models.settings.price_prompt, models.settings.price_completion)
    return replace(report, usage=usage, cost=price)
