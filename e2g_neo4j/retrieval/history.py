"""Earlier turns of a conversation: make a question that refers back to them stand alone.

A chat model rewrites the question. Without one, or if no reply is usable, names of the earlier turns are added to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from e2g_neo4j.models.chat.json_replies import TEXT, object_schema, objects_in
from e2g_neo4j.models.chat.until_usable import TRIES
from e2g_neo4j.models.entities.extraction import extract, unwrap_lines
from e2g_neo4j.models.entities.keywords import keywords
from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.graph import NOUN
from e2g_neo4j.types.results import Turn

if TYPE_CHECKING:  # spaCy takes a second to import
    from spacy.language import Language
    from spacy.tokens import Doc, Token

CARRIED = 5
"""Maximum number of names and nouns that are carried over."""

OF_ANSWER = 2
"""Maximum number of them that an answer contributes: its first names. Longer answers mention more and more others."""

LONGEST = 1000
"""Maximum characters of a question that the chat model has rewritten."""

PROMPT = "stand_alone"

_THIRD_PERSON = "he him his himself she her hers herself it its itself they them their theirs themselves"
REFERRING = frozenset([*_THIRD_PERSON.split(), "this", "these", "those"])
"""Words that mean something said before."""

_CONTINUES = re.compile(r"\W*(?:(?:what|how)\s+about|and|but|or|then)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class StandAlone:
    """A question that stands alone.

    Attributes:
        question: The question to search for.
        note: What was done, as a sentence for the evidence's reason; "" if nothing was.
    """

    question: str
    note: str = ""


def make_stand_alone(
    question: str, history: Sequence[Turn], nlp: Language, chat: ChatCalls | None
) -> Operation[StandAlone]:
    """Return the question with what it needs of the earlier turns.

    Args:
        history: The earlier turns to consider, the latest last.
        nlp: The pipeline that finds names.
        chat: The chat model that rewrites the question. None: names are carried over.
    """
    if not history:
        return StandAlone(question)
    doc = nlp(unwrap_lines(question))
    note = ""
    if chat is not None:
        rewritten = yield from rewrite(question, doc, history, chat)
        if rewritten == question:
            return StandAlone(question)
        if rewritten is not None:
            return StandAlone(rewritten, "The chat model rewrote the question with the earlier turns.")
        note = f"{chat.fault}: the question is not rewritten. "
    names = find_earlier_names(doc, history, nlp)
    if not names:
        return StandAlone(question, note.strip())
    listed = ", ".join(names)
    return StandAlone(f"{question} ({listed})", f"{note}Carried over from earlier turns: {listed}.")


def rewrite(question: str, doc: Doc, history: Sequence[Turn], chat: ChatCalls) -> Operation[str | None]:
    """Have the chat model rewrite a question, with as many of the latest turns as fit. None if no reply is usable."""
    turns = [f"{turn.question}\n{turn.answer}".strip() for turn in history]
    while len(turns) > 1 and chat.count_fitting(PROMPT, question, turns) < len(turns):
        turns = turns[1:]
    parse = partial(rewritten_in, question=question, doc=doc, history=history)
    return (yield from chat.ask(PROMPT, question, turns, object_schema(question=TEXT), parse, most=TRIES))


def refers_back(doc: Doc) -> bool:
    """Return whether a question seems to need what was said before.

    It does if it has a pronoun or begins with "and" or "what about", and if it has no name of its own.
    """
    return continues(doc) or any(map(_refers, doc)) or not _keywords(doc)[0]


def continues(doc: Doc) -> bool:
    """Return whether a question continues the one before, as "And her sister?" does."""
    return bool(_CONTINUES.match(doc.text))


def find_earlier_names(doc: Doc, history: Sequence[Turn], nlp: Language) -> list[str]:
    """Return the names of earlier turns, the latest turn first, that a question needs which refers back to them.

    Of each turn these are the first names of the answer, then those of the question. If there are none at all, or the
    question continues the latest one ("And her sister?"), the common nouns of the latest question are added.
    """
    if not history or not refers_back(doc):
        return []
    own = {key for part in _keywords(doc) for key in part}
    found: dict[str, str] = {}
    for turn in reversed(history):
        if len(found) < CARRIED:
            answered, asked = (_keywords(nlp(unwrap_lines(text)))[0] for text in (turn.answer, turn.question))
            found = found | dict(islice(answered.items(), OF_ANSWER)) | asked
    if continues(doc) or not found:
        found |= _keywords(nlp(unwrap_lines(history[-1].question)))[1]
    return [name for key, name in found.items() if key not in own][:CARRIED]


def _keywords(doc: Doc) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names and the common nouns of a text, in order: by key, how the text spells them."""
    extraction, spelled = extract(doc), keywords(doc)
    names = {key: spelled[key] for key, types in extraction.types.items() if set(types) != {NOUN}}
    return names, {key: spelled[key] for key in extraction.types if key not in names}


def _refers(token: Token) -> bool:
    """Return whether a word means something said before: a pronoun of the third person, or "that" at the end."""
    if token.lower_ in REFERRING:
        return True
    if {"Person=3", "PronType=Prs"}.issubset(str(token.morph).split("|")):  # in other languages
        return True
    return token.lower_ == "that" and (token.i + 1 == len(token.doc) or token.nbor().is_punct)


def rewritten_in(reply: str, *, question: str, doc: Doc, history: Sequence[Turn]) -> str | None:
    """Return the question of a reply such as {"question": "Who taught Orla Venn?"}, or None if it is not usable.

    It is not if it is too long, copies an earlier question, repeats a question that cannot stand alone, or consists
    mostly of words that nobody has said, as the prompt's example does.
    """
    texts = [found["question"] for found in objects_in(reply) if isinstance(found.get("question"), str)]
    text = " ".join(texts[-1].split()) if texts else ""
    said = words_of(text)
    earlier = [words_of(turn.question) for turn in history]
    if not said or len(text) > LONGEST or said in earlier:
        return None
    if said == words_of(question):
        return None if refers_back(doc) and not _keywords(doc)[0] else question
    known = {word for words in (words_of(question), *earlier) for word in words}
    known.update(word for turn in history for word in words_of(turn.answer))
    return text if 2 * sum(word not in known for word in said) <= len(said) else None


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case."""
    return tuple(_WORD.findall(text.casefold()))
