"""Text to Cypher: a chat model writes a statement for a question, which is checked and run.

It is off unless `E2G_TEXT_TO_CYPHER` is true. A statement of a model reads one corpus (`cypher_parser.wall_in`), and
the user's own graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from neo4j import Driver

from e2g_neo4j.answering.cypher_expressions import UnreadableStatement
from e2g_neo4j.answering.cypher_parser import Walled, check_plan, wall_in
from e2g_neo4j.errors import ConfigurationError, CorpusNotFoundError, InputError, UnusableReplyError
from e2g_neo4j.graph.doctor import OWN_PROPERTIES
from e2g_neo4j.graph.read_only import RejectedStatementError, Rows, open_read
from e2g_neo4j.models.chat.prompts import fence, load_prompt
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import TRIES, Unshown
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.options import check_question
from e2g_neo4j.runtime.cypher import load
from e2g_neo4j.runtime.requests import CallDriver, Chat, Operation, Read
from e2g_neo4j.types.chat import ChatReply, ChatRequest, ChatUsage
from e2g_neo4j.types.ids import HIDDEN_LABELS, OWN_TYPES
from e2g_neo4j.types.statements import StatementResult

PROMPT = Path(__file__).with_name("prompts") / "cypher.txt"

ROWS = 100
"""Maximum number of rows."""

NAMES = 200
"""Maximum number of labels, relationship types and properties each that the prompt names."""

_FENCED = re.compile(r"```(?:cypher|sql)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)


def text_to_cypher(models: Models, question: str, corpus: str) -> Operation[StatementResult]:
    """Let the chat model write a statement, and run it. `E2G.text_to_cypher` executes this operation.

    Args:
        corpus: The corpus that the statement may read.

    Raises:
        ConfigurationError: `E2G_TEXT_TO_CYPHER` is not true, or no chat model is configured.
        CorpusNotFoundError: The corpus has no documents.
        InputError: The statement does more than read labelled nodes of the corpus and the user's graph. It was not run.
        UnusableReplyError: The server rejects all statements that the model wrote.
        ModelError: The model failed.
    """
    settings, model = models.settings, models.chat_model
    if not settings.text_to_cypher:
        raise ConfigurationError(
            "A chat model may not write Cypher here: set E2G_TEXT_TO_CYPHER=true if it may read all of your own graph."
        )
    if model is None:
        raise ConfigurationError("Text to Cypher needs a chat model: set E2G_CHAT_MODEL.")
    check_question(question)
    [state] = yield Read("query/has_documents", {"corpus": corpus})
    if not state["found"]:
        raise CorpusNotFoundError(corpus)
    [names] = yield Read("query/graph_names", {"corpus": corpus, "limit": NAMES})
    instructions, shown = fence(load_prompt(PROMPT, settings.prompts), _further_names(names), rows=ROWS)
    parameters = {"corpus": corpus}
    problem, used = "", ChatUsage()
    not_run: InputError | None = None
    for attempt in range(TRIES):
        request = ChatRequest(
            instructions,
            f"{shown}\n\n{problem}Question: {question}",
            max_tokens=settings.answer_tokens,
            temperature=0.7 if attempt else 0.0,
            seed=attempt,
        )
        reply: ChatReply = yield Chat(model, request, Unshown())
        used.add(reply)
        statement = statement_in(reply.text)
        if not statement:
            problem = "The last reply had no statement.\n\n"
            continue
        try:
            walled = wall_in(statement)
        except UnreadableStatement as why:
            not_run = refusal_error(statement, str(why))
            problem = f"The last statement was {statement}\nIt was not run, because {why}.\n\n"
            continue
        not_run, statement = None, walled.statement
        found: Rows | RejectedStatementError = yield CallDriver(run_for(corpus, walled, parameters))
        if isinstance(found, RejectedStatementError):
            problem = f"The last statement was {statement}\n{found}\n\n"
            continue
        return StatementResult(
            statement,
            parameters,
            found.columns,
            found.rows,
            found.more,
            calls=used.calls,
            prompt_tokens=used.prompt_tokens,
            completion_tokens=used.completion_tokens,
        )
    if not_run is not None:
        raise not_run
    raise UnusableReplyError(
        f"The chat model {model.name} wrote no statement that Neo4j accepts. {' '.join(problem.split())} Ask in "
        "another way, or set another E2G_CHAT_MODEL."
    )


def run_for(
    corpus: str, walled: Walled, parameters: Mapping[str, Any]
) -> Callable[[Driver, str], Rows | RejectedStatementError]:
    """Return a function for `CallDriver` that runs the statement of a model. If the server rejects it, it returns why.

    All is done in one read transaction. Whether labels and relationship types of the user lead to another corpus is
    asked before and after the statement, so that one that appears meanwhile is not returned.

    Args:
        corpus: The only corpus that the statement may read.

    Raises:
        InputError: The statement is refused for its plan, or for another corpus.
    """
    statement = walled.statement
    beside = {"corpus": corpus, "labels": sorted(walled.labels), "types": sorted(walled.types)}

    def call(driver: Driver, database: str) -> Rows | RejectedStatementError:
        try:
            return run(driver, database)
        except RejectedStatementError as error:  # what an operation requests cannot raise errors in it
            return error

    def run(driver: Driver, database: str) -> Rows:
        with open_read(driver, database) as transaction:

            def check_corpora() -> None:
                if walled.labels or walled.types:
                    [state] = transaction.rows(load("query/beside"), beside, 1).rows
                    if state["others"]:
                        raise refusal_error(statement, "a label or relationship type of it leads to another corpus")

            check_corpora()
            if why := check_plan(transaction.explain(statement, parameters)):
                raise refusal_error(statement, why)
            found = transaction.rows(statement, parameters, ROWS)
            check_corpora()
            return found

    return call


def statement_in(reply: str) -> str:
    """Return the statement of a reply: what is fenced, or all of it, without a semicolon at its end."""
    text = without_thought(reply)
    fenced = _FENCED.search(text)
    statement = (fenced[1] if fenced else text).strip()
    if statement.startswith("`"):  # no statement does: all of it is in backticks
        statement = statement.strip("`")
    return statement.rstrip("; \n\t")


def refusal_error(statement: str, why: str) -> InputError:
    """Return the error for a statement that was not run."""
    return InputError(f"The statement of the chat model was not run, because {why}: {statement}")


def _further_names(names: Mapping[str, list[str] | None]) -> str:
    """Return the names of the typed graph and of other graphs, as the prompt lists them."""
    of_labels, of_types, patterns = (names.get(kind) or [] for kind in ("typed_labels", "typed_types", "patterns"))
    typed = [
        "Typed graph:",
        *(f"(:{label}): an entity" for label in of_labels),
        *(f"{pattern} {{count, valid_from, valid_to}}" for pattern in patterns),
        "",
        "Other graphs:",
    ]
    known = {*OWN_PROPERTIES, *HIDDEN_LABELS, *of_labels}
    labels = [one for one in names["labels"] or () if one not in known]
    own = {name for properties in OWN_PROPERTIES.values() for name in properties}
    lines = (
        ("Labels", labels),
        ("Relationship types", [one for one in names["types"] or () if one not in OWN_TYPES and one not in of_types]),
        ("Properties", [one for one in names["properties"] or () if one not in own]),
    )
    others = "\n".join(f"{kind}: {', '.join(found)}" for kind, found in lines) if labels else "None."
    return "\n".join([*(typed if of_labels or of_types else []), others])
