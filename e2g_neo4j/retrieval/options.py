"""The retrieval options: declaration, validation and documentation.

Both clients, the commands that ask and the retrievers accept them as keywords; the help of the command line, HTTP, MCP
and the documentation show what is said here. To add an option, add a field to `RetrievalOptions` and to
`RetrievalKeywords`, use it in `retrieval/retrieve.py`, and add a line to `cli/options.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Annotated, Any, Literal, Self, TypeAlias, TypedDict, cast, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PrivateAttr,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from e2g_neo4j.errors import QueryError
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.retrieval.strategies import DEFAULT_MODE, load_strategies
from e2g_neo4j.retrieval.strategy import Strategies, Strategy, unknown_mode
from e2g_neo4j.retrieval.where import WHERE_SCHEMA, Condition, Where, conditions, format_value
from e2g_neo4j.settings import MAX_HOPS, Settings
from e2g_neo4j.types.results import Turn

MAX_K = 1000
"""Maximum of `k`."""

MAX_RELATIONSHIP_TYPES = 50
"""Maximum number of relationship types."""

MAX_TYPE = 1000
"""Maximum characters of a relationship type."""

LINKING_TYPES = frozenset(["REFERS_TO", "STANDS_FOR"])
"""The types that lead from corpora to the user's graph. Facts along them would show entities of other corpora."""

MAX_WITHOUT = 50
"""Maximum number of entities that are left out."""

MAX_QUESTION = 10_000
"""Maximum characters of a question."""

MAX_HISTORY = 1000
"""Maximum number of earlier turns."""

TURNS = 5
"""Number of earlier turns that count, the latest ones."""

TURN_CHARACTERS = 1000
"""Characters of their questions and answers that count, the first ones."""

MIN_TOKENS = 50
"""Minimum of `tokens`."""

MAX_TOKENS = 1_000_000
"""Maximum of `tokens`."""

Unit: TypeAlias = Literal["window", "chunk"]
"""What a mode ranks and returns. A chunk of 1200 tokens has about five windows."""


class _InstalledMode:
    """The schema of the names of modes. It is made when it is read, since packages with modes import this one."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"enum": list(load_strategies()), "type": "string"}


ModeName: TypeAlias = Annotated[str, _InstalledMode()]
"""The name of a mode."""


def _option(default: Any, summary: str, details: str = "") -> Any:
    """Declare an option. Command line and MCP show the summary; HTTP and the documentation also the details."""
    return Field(default, description=f"{summary}\n\n{details}".strip())


class RetrievalOptions(BaseModel):
    """The options of a question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    k: int | None = _option(
        None,
        f"Number of chunks to return, 1 to {MAX_K}. Default: that of the mode, or E2G_TOP_K; no limit with `tokens`.",
        "Modes that rank windows return as many as have the text of k chunks.",
    )
    tokens: int | None = _option(
        None,
        f"Maximum length of all passages together, in tokens of the embedding model, {MIN_TOKENS} to {MAX_TOKENS:,}. "
        "Default: no limit; for an answer, E2G_EVIDENCE_TOKENS.",
        "The last passage is cut to fit; mode `raptor` skips passages that do not fit.",
    )
    hops: int | None = _option(
        None,
        f"Longest path between two entities of the question, in edges, 1 to {MAX_HOPS}. Default: E2G_HOPS.",
        "In mode `routes` also how far neighbours of entities may be, at most 2.",
    )
    mode: ModeName = _option(DEFAULT_MODE, "Name of a mode, see `e2g modes`.")
    unit: Unit | None = _option(
        None,
        "What to rank, `window` or `chunk`. Default: that of the mode.",
        "Modes that rank nodes always return whole chunks.",
    )
    relationship_types: tuple[str, ...] = _option(
        (),
        f"Relationship types of your graph, such as ACTED_IN, at most {MAX_RELATIONSHIP_TYPES}: its facts too.",
        "The evidence then has up to 25 `facts`: relationships of these types around the nodes that `link` connected "
        "to the question's entities. This takes one more round trip.",
    )
    llm: bool = _option(
        False,
        "Let the mode call the chat model to find evidence. Only for modes that can.",
        "With `history`, the chat model rewrites the question, in any mode.",
    )
    where: Annotated[tuple[Condition, ...], WithJsonSchema(WHERE_SCHEMA)] = _option(
        (),
        "Search only documents whose properties meet all of these conditions, such as year>=1890, at most 50.",
        'A mapping such as `{"author": "Bram Stoker", "year": {">=": 1890}}`, where a list of values means one of '
        'them; or texts such as `["year>=1890"]`. This takes one more round trip.',
    )
    without: tuple[str, ...] = _option(
        (),
        f"Names of entities to leave out, at most {MAX_WITHOUT}, to see what each contributes.",
        "The question is answered as if it did not name them; in modes `auto` and `diffusion`, no window gets anything "
        "for them either.",
    )
    history: tuple[Turn, ...] = _option(
        (),
        'Earlier turns of the conversation, the latest last, for a question such as "And her sister?".',
        f"At most {MAX_HISTORY}: `Turn` objects or mappings with `question` and `answer`. If the question refers back "
        f"to them, it is completed with them before it is searched for. The last {TURNS} count, with the first "
        f"{TURN_CHARACTERS} characters of each question and answer.",
    )

    _strategies: Strategies = PrivateAttr(default_factory=load_strategies)

    def model_post_init(self, context: Any) -> None:
        """Take the modes to choose from, if others than the installed ones are given as context."""
        if context is not None:
            self._strategies = context

    @property
    def strategy(self) -> Strategy:
        """The mode."""
        return self._strategies[self.mode]

    @field_validator("unit", mode="before")
    @classmethod
    def _check_unit(cls, unit: Any) -> Any:
        if unit is not None and unit not in get_args(Unit):
            raise ValueError(f"There is no unit {format_value(unit)}: choose window or chunk.")
        return unit

    @field_validator("relationship_types", mode="before")
    @classmethod
    def _types(cls, types: Any) -> Any:
        listed = isinstance(types, Sequence | Set) and not isinstance(types, str)
        if not listed:
            raise ValueError("relationship_types must be a list of non-empty types, such as ACTED_IN.")
        if len(types) > MAX_RELATIONSHIP_TYPES:
            raise ValueError(
                f"relationship_types has {len(types)} relationship types: choose at most {MAX_RELATIONSHIP_TYPES}."
            )
        if not all(isinstance(one, str) and one.strip() and len(one) <= MAX_TYPE for one in types):
            raise ValueError(
                f"relationship_types must be a list of types of 1 to {MAX_TYPE} characters, such as ACTED_IN."
            )
        if own := LINKING_TYPES.intersection(types):
            raise ValueError(
                f"relationship_types has {min(own)}, which connects entities and chunks of this program to your graph: "
                "choose types of your own graph."
            )
        return tuple(dict.fromkeys(types))

    @field_validator("where", mode="before")
    @classmethod
    def _conditions(cls, where: Any) -> Any:
        return () if where is None else conditions(where)

    @field_validator("without", mode="before")
    @classmethod
    def _keys(cls, names: Any) -> Any:
        listed = isinstance(names, Sequence | Set) and not isinstance(names, str)
        if not listed or len(names) > MAX_WITHOUT or not all(isinstance(one, str) for one in names):
            raise ValueError(f"without must be a list of at most {MAX_WITHOUT} names of entities.")
        keys = [entity_key(one[:MAX_QUESTION]) for one in names]
        if not all(keys):
            raise ValueError("without has a name without letters or digits: name entities of the corpus.")
        return tuple(dict.fromkeys(keys))

    @field_validator("history", mode="before")
    @classmethod
    def _turns(cls, history: Any) -> Any:
        listed = isinstance(history, Sequence) and not isinstance(history, str)
        if not listed:
            raise ValueError("history must be a list of turns, each with a question and optionally an answer.")
        if len(history) > MAX_HISTORY:
            raise ValueError(f"history has {len(history)} turns: pass at most {MAX_HISTORY}, the latest.")
        return tuple(map(_turn, history[-TURNS:]))

    @model_validator(mode="after")
    def _in_range(self) -> Self:
        if self.mode not in self._strategies:
            raise ValueError(unknown_mode(self.mode, self._strategies))
        if self.k is not None and not 1 <= self.k <= MAX_K:
            raise ValueError(f"k is {self.k}: choose a number of chunks from 1 to {MAX_K}.")
        if self.tokens is not None and not MIN_TOKENS <= self.tokens <= MAX_TOKENS:
            raise ValueError(f"tokens is {self.tokens}: choose a number of tokens from {MIN_TOKENS} to {MAX_TOKENS}.")
        if self.unit == "window" and self.strategy.ranks != "windows":
            raise ValueError(f"Mode {self.mode} ranks whole chunks: choose another mode, or leave out the unit.")
        if self.hops is not None and not 1 <= self.hops <= MAX_HOPS:
            raise ValueError(f"hops is {self.hops}: choose a number of edges from 1 to {MAX_HOPS}.")
        if self.relationship_types and "entities" not in self.strategy.needs:
            choices = ", ".join(one.name for one in self._strategies.values() if "entities" in one.needs)
            raise ValueError(f"Mode {self.mode} does not use entities, which facts depend on: choose among {choices}.")
        if self.without and "entities" not in self.strategy.needs:
            choices = ", ".join(one.name for one in self._strategies.values() if "entities" in one.needs)
            raise ValueError(f"Mode {self.mode} does not use entities: choose among {choices}, or leave out without.")
        if self.llm and not (self.strategy.calls_model or self.history):
            choices = ", ".join(one.name for one in self._strategies.values() if one.calls_model)
            raise ValueError(f"Mode {self.mode} does not call a chat model: choose among {choices}, or leave out llm.")
        return self

    @classmethod
    def of(
        cls,
        keywords: RetrievalKeywords,
        options: RetrievalOptions | None = None,
        strategies: Strategies | None = None,
    ) -> RetrievalOptions:
        """Create options from keywords, or return those that are given.

        Args:
            keywords: The options.
            strategies: The modes to choose from. Default: those that are installed.

        Raises:
            QueryError: A value is invalid.
            TypeError: A keyword is unknown, or both are given.
        """
        values: dict[str, Any] = dict(keywords)
        if options is not None:
            if values:
                raise TypeError(f"Got options and the keyword {min(values)!r}: pass one or the other.")
            return options
        if unknown := values.keys() - cls.model_fields.keys():
            raise TypeError(f"There is no option {min(unknown)!r}: choose among {', '.join(cls.model_fields)}.")
        try:
            return cls.model_validate(values, context=strategies)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            message = str(fault["msg"]).removeprefix("Value error, ")
            raise QueryError(message if fault["type"] == "value_error" else f"{fault['loc'][0]}: {message}.") from None

    @classmethod
    def summary(cls, option: str) -> str:
        """Return what an option does, in a sentence or two."""
        return (cls.model_fields[option].description or "").partition("\n\n")[0]

    def keywords(self) -> RetrievalKeywords:
        """Return the options as keywords for a client method."""
        values: dict[str, Any] = {name: getattr(self, name) for name in RetrievalOptions.model_fields}
        return cast(RetrievalKeywords, values)

    def fill(self, settings: Settings) -> FilledOptions:
        """Return the options with defaults from the settings."""
        default = self.strategy.top_k or settings.top_k
        k = self.k or (default if self.tokens is None else MAX_K)
        hops = settings.hops if self.hops is None else self.hops
        unit = self.unit or ("window" if self.strategy.ranks == "windows" else "chunk")
        values = {**self.keywords(), "k": k, "hops": hops, "unit": unit}
        return FilledOptions.model_validate(values, context=self._strategies)


class FilledOptions(RetrievalOptions):
    """Options in which `k`, `hops` and `unit` are set."""

    k: int
    hops: int
    unit: Unit


class RetrievalKeywords(TypedDict, total=False):
    """The fields of `RetrievalOptions` as keywords."""

    k: int | None
    tokens: int | None
    hops: int | None
    mode: str
    unit: Unit | None
    relationship_types: Sequence[str]
    llm: bool
    where: Where
    without: Sequence[str]
    history: Sequence[Turn | Mapping[str, str]]


def _turn(given: Any) -> Turn:
    """Return a turn with as much of its texts as counts. Raise ValueError if it is none."""
    if isinstance(given, Turn):
        given = {"question": given.question, "answer": given.answer}
    if not isinstance(given, Mapping) or not given.keys() <= {"question", "answer"}:
        raise ValueError("A turn of history is a mapping with question and answer, and nothing else.")
    question, answer = given.get("question"), given.get("answer") or ""
    if not (isinstance(question, str) and question.strip() and isinstance(answer, str)):
        raise ValueError("A turn of history needs a question, and its question and answer must be texts.")
    return Turn(_characters(question[:TURN_CHARACTERS]), _characters(answer[:TURN_CHARACTERS]))


def _characters(text: str) -> str:
    """Replace unpaired surrogates, which are no characters: an answer may have been cut anywhere."""
    return text.encode("utf-8", "replace").decode()


def check_question(question: str) -> None:
    """Raise QueryError if the question is empty, too long or not valid Unicode."""
    if len(question) > MAX_QUESTION:
        raise QueryError(
            f"The question has {len(question)} characters; the maximum is {MAX_QUESTION}. Shorten it, or index the "
            "text and ask about it."
        )
    if not question.strip():
        raise QueryError('The question is empty: ask something, for example `e2g query "Who is …?"`.')
    if any("\ud800" <= character <= "\udfff" for character in question):
        raise QueryError("The question contains an unpaired surrogate, which is not a valid character: correct it.")
