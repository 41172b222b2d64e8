"""Ask a chat model what parts of a text state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from e2g_neo4j.indexing.asking import SummaryCache, TextTask, key_of
from e2g_neo4j.indexing.graph_schema import GraphSchema, Type
from e2g_neo4j.indexing.statements.replies import STATUSES, STRONGEST, Claim, parse
from e2g_neo4j.indexing.typed.names import DESCRIBED, OTHER, RELATED
from e2g_neo4j.models.chat.base import TooLongError
from e2g_neo4j.models.chat.json_replies import TEXT, list_schema, number_schema, object_schema
from e2g_neo4j.models.chat.prompts import fault_of_empty, fill_prompt, load_prompt
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import JudgedReply
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatModel, ChatReply, ChatUsage
from e2g_neo4j.types.documents import TokenSpans
from e2g_neo4j.types.reports import TokenUsage

MOST = 16
"""Statements that the prompt asks for at most."""

ENOUGH = 8
"""Statements that a reply must have if it is cut off. With less, it is asked for again."""

REPLY_TOKENS = 700
"""The expected length of a reply."""

LEVEL = 0
"""Where the usage of the chat model for statements is counted. Summaries have the levels from 1."""

NO_SCHEMA = GraphSchema()

_PROMPTS = Path(__file__).with_name("prompts")
_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "subject": TEXT,
    "subject_type": TEXT,
    "predicate": TEXT,
    "object": TEXT,
    "object_type": TEXT,
    "description": TEXT,
    "keywords": list_schema(TEXT, 3),
    "strength": number_schema(1, STRONGEST),
}
_CLAIM_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "status": {"type": "string", "enum": list(STATUSES)},
    "period": TEXT,
}


def statements_schema(least: int, *, claims: bool = False, graph_schema: GraphSchema = NO_SCHEMA) -> dict[str, Any]:
    """Return the JSON schema of a reply with so many statements at least. Claims have a status and a period, too.
    Statements for a schema have a period, and its names."""
    fields = {**_FIELDS, **(_CLAIM_FIELDS if claims else {})}
    if graph_schema != NO_SCHEMA:
        fields["period"] = TEXT
    if graph_schema.relationships:
        fields["predicate"] = _one_of(*(one.name for one in graph_schema.relationships), DESCRIBED, RELATED)
    if graph_schema.entities:
        fields["subject_type"] = _one_of(*(one.name for one in graph_schema.entities), OTHER)
        fields["object_type"] = _one_of(*(one.name for one in graph_schema.entities), OTHER, "")
    return object_schema(statements=list_schema(object_schema(**fields), MOST, least=least))


def _one_of(*names: str) -> dict[str, Any]:
    return {"type": "string", "enum": [*dict.fromkeys(names)]}


def _further_prompts(prompts: Path | None, claims: bool, graph_schema: GraphSchema) -> Iterator[str]:
    """Yield what the prompt says about claims and about the schema."""
    if claims:
        yield load_prompt(_PROMPTS / "claims.txt", prompts)
    if graph_schema.entities:
        types = _lines(graph_schema.entities)
        yield _filled(_PROMPTS / "entity_types.txt", prompts, types=types, other=OTHER)
    if graph_schema.relationships:
        types = _lines(graph_schema.relationships)
        yield _filled(_PROMPTS / "relationship_types.txt", prompts, types=types, described=DESCRIBED, related=RELATED)


def _filled(prompt: Path, prompts: Path | None, **values: str) -> str:
    return fill_prompt(load_prompt(prompt, prompts), **values).replace("$", "$$")


def _lines(types: Iterable[Type]) -> str:
    """Return a line about each type, as the prompts list them."""
    return "\n".join(
        " ".join(
            [
                f"- {one.name}",
                *([f"({', '.join(f'{a or OTHER} to {b or OTHER}' for a, b in one.patterns)})"] if one.patterns else []),
                *([f"= {', '.join(one.aliases)}"] if one.aliases else []),
            ]
        )
        + (f": {' '.join(one.description.split())}" if one.description else "")
        for one in types
    )


class StatementTask(TextTask):
    """Asks a chat model for statements.

    Args:
        claims: whether statements have a status and a period.
        graph_schema: the types and relationships that it is told to find.
    """

    stage, level = "statements", LEVEL
    tokens, values = REPLY_TOKENS, {"most": MOST}
    least: ClassVar[int]

    def __init__(
        self,
        model: ChatModel,
        *,
        prompts: Path | None = None,
        concurrency: int = 1,
        claims: bool = False,
        graph_schema: GraphSchema = NO_SCHEMA,
    ) -> None:
        further = [*_further_prompts(prompts, claims, graph_schema)]
        super().__init__(model, prompts=prompts, concurrency=concurrency, further=further)
        self.schema = statements_schema(self.least, claims=claims, graph_schema=graph_schema)

    def judge(self, reply: ChatReply) -> JudgedReply:
        """Return a reply without thinking, and how many statements it has."""
        said = without_thought(reply.text).strip()
        return JudgedReply(said, len(parse(said).claims), fault_of(said, reply))


class MissedStatements(StatementTask):
    """Asks a chat model what a list of statements lacks: GraphRAG's gleaning."""

    prompt, least = _PROMPTS / "statements_more.txt", 0

    def text_of(self, text: str, claims: Iterable[Claim]) -> str:
        """Return what is read: a text, and what was found in it."""
        lines = (f"- {one.subject} | {one.predicate} | {one.object or '-'} | {one.text}" for one in claims)
        return "\n".join([text, "", "Listed:", *lines])


class StatementExtractor(StatementTask):
    """Asks a chat model what texts state.

    The schema wants at least one statement: small models take the empty list for the shortest answer. What is said
    about no entity of the text is left out later.

    Args:
        gleanings: how often the model is asked what it has missed, at most. Its replies are cached as one.
    """

    prompt, least = _PROMPTS / "statements.txt", 1

    def __init__(
        self,
        model: ChatModel,
        *,
        prompts: Path | None = None,
        concurrency: int = 1,
        claims: bool = False,
        graph_schema: GraphSchema = NO_SCHEMA,
        gleanings: int = 0,
    ) -> None:
        super().__init__(model, prompts=prompts, concurrency=concurrency, claims=claims, graph_schema=graph_schema)
        missed = MissedStatements(model, prompts=prompts, claims=claims, graph_schema=graph_schema)
        self._missed = [missed] * gleanings
        self._alone = self.name
        if gleanings:
            self.name = f"{self.name}-{gleanings}-{self._missed[0].name}"

    @classmethod
    def of(cls, models: Models, graph_schema: GraphSchema = NO_SCHEMA) -> StatementExtractor | None:
        """Return the extractor of the configured chat model; None without one."""
        if models.chat_model is None:
            return None
        return cls(models.chat_model, **cls.options(models.settings), graph_schema=graph_schema)

    @classmethod
    def options(cls, settings: Settings) -> dict[str, Any]:
        return {**super().options(settings), "claims": settings.claims, "gleanings": settings.gleanings}

    def estimate(self, texts: Iterable[str], token_spans: TokenSpans, usage: TokenUsage) -> None:
        """Add to the usage what it would cost to ask about texts. A reply has the expected length."""
        texts = list(texts)
        super().estimate(texts, token_spans, usage)
        for number, missed in enumerate(self._missed, 1):
            missed.estimate((missed.text_of(text, []) for text in texts), token_spans, usage)
            usage.prompt_tokens += number * self.tokens * len(texts)

    def ask(self, key: str, text: str, cache: SummaryCache, meter: UsageMeter) -> None:
        """Ask about a text, then what the reply lacks, until it lacks nothing, and cache the replies as one.

        The first reply is cached at once, because the budget may be used up after it. An unusable reply to a question
        for more adds nothing, nor does one that would not fit into the context of the model.
        """
        if not self._missed:
            super().ask(key, text, cache, meter)
            return
        first = key_of(f"{self.name}-first", text)
        said = cache.find(key_of(self._alone, text)) or cache.find(first)
        if said is None:
            said, used = self.best_reply(text, meter)
            cache.keep(first, said, model=self.model.name, used=used)
        total = ChatUsage()
        for missed in self._missed:
            claims = parse(said).claims
            if not claims:
                break
            try:
                more, used = missed.best_reply(missed.text_of(text, claims), meter)
            except TooLongError:
                break
            total.add_all(used)
            if not set(parse(more).claims).difference(claims):
                break
            said = f"{said}\n{more}"
        cache.keep(key, said, model=self.model.name, used=total)


def keys_of(names: Iterable[str], text: str) -> list[str]:
    """Return the keys of the cache for a text, by the names of several extractors."""
    return [key_of(name, text) for name in names]


def fault_of(said: str, reply: ChatReply) -> str:
    """Return why a reply is not a usable list of statements; "" if it is.

    Args:
        said: the reply without thinking.
    """
    parsed = parse(said)
    if reply.finish == "length" and len(parsed.claims) < ENOUGH:
        return f"it was not finished after {reply.completion_tokens} tokens"
    if parsed.usable:
        return ""
    if reply.finish == "refusal":
        return "the model refused"
    if not said:
        return fault_of_empty(reply)
    return "it has no JSON object with statements that have a subject, a predicate and an object or a description"
