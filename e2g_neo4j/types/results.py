"""Results of retrieval and answering, and their JSON form, which is the same everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Any, Literal, Self, TypeAlias

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

Route: TypeAlias = Literal["local", "global"]

REPR_LENGTH = 80
"""Characters of a passage where Python shows it."""

_AS_WRITTEN = 'dir="auto" style="white-space: pre-line"'


class JsonForm:
    """The JSON form of a result: its fields by name. The command line, HTTP and the page have this form too."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON types."""
        values: dict[str, Any] = to_jsonable_python(self)
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the result that `to_dict` made these values of. Unknown names are ignored."""
        kind: Any = cls
        result: Self = _adapter(kind).validate_python(values)
        return result


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entities of the question and the number of edges on the shortest path between them."""

    a: str
    b: str
    hops: int


@dataclass(frozen=True, slots=True)
class Absence:
    """Two entities of the question that no passage mentions together.

    Attributes:
        a: an entity.
        b: another one.
        hops: the number of edges on the shortest path between them, at most 6. None: no path is so short.
        windows: the number of windows that were searched; 0: they are not counted.
    """

    a: str
    b: str
    hops: int | None = None
    windows: int = 0

    def to_sentence(self) -> str:
        """Return the absence as a sentence."""
        path = "no path is shorter than 7 edges"
        if self.hops is not None:
            path = f"the shortest path between them has {self.hops} edge{'s' * (self.hops != 1)}"
        searched = f" of {self.windows:,}" if self.windows else ""
        return f"No passage{searched} mentions {self.a} with {self.b}; {path}."


@dataclass(frozen=True, slots=True)
class Round:
    """One round of the local route: how many pairs and candidate chunks remained at this number of hops."""

    hops: int
    pairs: int
    candidates: int


@dataclass(frozen=True, slots=True)
class TextNode:
    """The text node of the user's graph that a passage is cited from.

    Attributes:
        element_id: the element id of the node.
        key: the key of the node.
        start: where the passage starts in the text of the node.
        end: where the passage ends in the text of the node.
    """

    element_id: str
    key: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What a reader is shown of a passage.

    Attributes:
        text: the sentences of its best part that share most with the question, in their order, at most 400 characters.
            "…" stands for what is left out.
        start: where the first of them starts in the document's text; for a summary, where the passage starts.
        end: where the last of them ends, or the passage.
    """

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reference:
    """A place that refers to a document, by its title or by a hyperlink.

    Attributes:
        text: the words there.
        chunk: the id of the chunk.
    """

    text: str
    chunk: str


@dataclass(frozen=True, slots=True)
class Passage(JsonForm):
    """A piece of evidence: one or more neighbouring windows or chunks, a summary, or a cluster with its summary.

    `excerpt` is what a person reads of it, `text` what a chat model does. Of a passage of several windows or chunks,
    the best one decides about excerpt, page and heading.

    Passages are sorted best first. Scores are only comparable within one result, because their scale depends on the
    mode:

    - `e2g`, local route: the number of different entities of the question in the chunk, plus n / (n + 1) for their n
      occurrences.
    - `e2g_code`, local route: the number of different terms in the chunk, plus a third of the number of its neighbours
      with all of them and n / (n + 1) for their n occurrences.
    - `e2g_normalised`, local route: coverage plus occurrence.
    - `e2g` and its variants, global route, `dense`, `tree` and `raptor`: (1 + cosine) / 2 of the question and the node
      (in `dense`: its nearest window), from 0 to 1. The global route ranks by occurrences first, so scores may rise
      down the list.
    - `fulltext`: BM25.
    - `hybrid`: the sum of 1 / (60 + rank).
    - `auto`, `diffusion` and `routes`: a sum of z-scores, which may be negative.
    - `lightrag` and its variants, `communities`, `lazy` and `graphrag_local`: (1 + cosine) / 2. They do not rank by it
      alone, so scores may rise down the list.
    - `vector_context`: (1 + cosine) / 2, plus .02 times that of the nearer entity of the best relation, if any.
    - `synonyms`: (1 + cosine) / 2, plus .03 times the mean score of the entities of the best relation, if any.
    - `hipporag` and `linear`: the PageRank of the window.
    - `pagerank`: the sum of the PageRank of the entities of its relations; 0 if it was found only by vector.
    - With a reranker, in every mode: its score.
    - In answers by the methods `all_text` and `global`: 0.

    Attributes:
        text: the text of the passage.
        document: the title of the document; for a cluster, of the one that has most of its chunks.
        source: the source of the document.
        start: where the passage starts in the document's text; for a summary, where the text that it covers starts. The
            text of an adopted document consists of its text nodes in order, with a blank line between them.
        end: where it ends.
        score: the score, see above. A merged passage has the best score of its parts.
        level: 0 for text of the document, the level of the tree for a summary or a cluster.
        nodes: the ids of the nodes that the passage consists of.
        path: the ids of the nodes of the summary tree from here to the root; in mode `raptor`, of all clusters above.
        pairs: the pairs of entities of the question that the passage connects.
        page: the page of its best part, or a range such as "3–4". None for a summary.
        heading: the heading of its best part; None if that precedes the first heading, and for a summary.
        corpus: the corpus.
        text_node: in an adopted corpus, the text node of the user's graph that contains the passage. None for a
            summary.
        document_id: the id of the document. Empty for a fact.
        signals: what vectors, words, entities and neighbouring windows contribute to the score, in modes `auto` and
            `diffusion`: standard deviations above the mean of the candidates, times the weight of the signal. Without a
            reranker, they add up to the score. Empty in other modes and with `unit="chunk"`.
        excerpt: what to show of it: sentences of its best window. None for passages of answers by the methods
            `all_text` and `global`, and for facts.
        referred: what refers to its document, if it is here because of this, in modes `auto` and `diffusion`.
    """

    text: str
    document: str
    source: str
    start: int
    end: int
    score: float
    level: int = 0
    nodes: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()
    page: str | None = None
    heading: str | None = None
    corpus: str = ""
    text_node: TextNode | None = None
    document_id: str = ""
    signals: dict[str, float] = field(default_factory=dict, compare=False)
    excerpt: Excerpt | None = field(default=None, compare=False)
    referred: Reference | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        line = " ".join(self.shown.text.split())
        text = line if len(line) <= REPR_LENGTH else f"{line[:REPR_LENGTH]} …"
        return f"Passage({self.document!r}, {self.start}-{self.end}, {text!r})"

    def _repr_html_(self) -> str:
        shown, referred = self.shown, ""
        if self.referred:
            referred = f'<p dir="auto">Another passage refers to it: “{escape(self.referred.text)}”</p>'
        return (
            f'<p dir="auto"><cite>{escape(self.place)}</cite>, characters {shown.start}–{shown.end}</p>'
            f"<blockquote {_AS_WRITTEN}>{escape(shown.text)}</blockquote>{referred}"
        )

    @property
    def shown(self) -> Excerpt:
        """The excerpt, or all of the passage if it has none."""
        return self.excerpt or Excerpt(self.text, self.start, self.end)

    @property
    def place(self) -> str:
        """The document with page and heading, and the level of a summary."""
        page = f"page {self.page}" if self.page else None
        level = f"summary on level {self.level}" if self.level else None
        heading = self.heading if self.heading != self.document else None
        return ", ".join(filter(None, (self.document, page, heading, level)))

    def to_labelled_text(self) -> str:
        """Return the passage in the notation of the paper: `entity1 - entity2: text`."""
        names = "; ".join(f"{pair.a} - {pair.b}" for pair in self.pairs)
        return f"{names}: {self.text}" if names else self.text


@dataclass(frozen=True, slots=True)
class Fact(JsonForm):
    """A relationship of the user's graph between nodes that entities of the question refer to.

    Attributes:
        subject: the name of the start node.
        subject_id: the element id of the start node.
        relationship: the type of the relationship.
        object: the name of the end node.
        object_id: the element id of the end node.
        properties: names and values of the properties of the relationship, as text.
        entities: the entities of the question that refer to one of the nodes.
    """

    subject: str
    subject_id: str
    relationship: str
    object: str
    object_id: str
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    entities: tuple[str, ...] = ()

    def to_sentence(self) -> str:
        """Return the fact as a statement, such as `Ann ACTED_IN Rain (role: Mary)`."""
        more = ", ".join(f"{name}: {value}" for name, value in self.properties.items())
        return f"{self.subject} {self.relationship} {self.object}" + (f" ({more})" if more else "")


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier turn of a conversation: a question, and its answer if there was one."""

    question: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Evidence(JsonForm):
    """The result of `retrieve`.

    Attributes:
        question: the question.
        corpora: the corpora that were searched.
        route: the route that was taken, local or global.
        reason: why this route was taken.
        entities: the entities of the question. In mode `synonyms` those that its keywords mean.
        pairs: pairs of these entities with the length of the shortest path between them.
        hops: the longest path that keeps a pair.
        passages: the passages, best first.
        unknown_entities: names and nouns of the question that no entity of the corpora is called by.
        ignored_entities: entities of the question that are not considered, because it has too many: names come before
            nouns, and rare entities before others. In mode `synonyms`, keywords that are not looked up.
        trace: the rounds of the local route.
        round_trips: the number of requests to the database.
        mode: the retrieval mode; or `all_text` or `global`, the methods that read without one, or `template`.
        facts: relationships of the user's graph of the types that `relationship_types` names, those between two
            entities of the question first.
        entity_types: the types of the entities of the question, by key, as `EntityInfo.type`. If several corpora have
            an entity, the type in the first of them. Unknown types are left out.
        calls: the number of calls of the chat model, with the option `llm` or with earlier turns.
        prompt_tokens: the length of the prompts of these calls.
        completion_tokens: the length of their replies.
        absences: pairs of names in the question that no passage of the searched documents mentions together, closest
            first, at most 10. Only in modes that use entities.
        searched_as: the question that was searched for, if earlier turns changed it; otherwise empty.
        resolved: names of the question that no entity is called by, with the keys of the entities that they are read
            as, the most mentioned first: those whose names have their words, such as "Luke Farran" for "luke", or else
            words that differ from them in one or two letters, such as "Renfield" for "renfeild".
        in_text: those of `unknown_entities` of which the text has a word, as far as it is counted: not in adopted
            corpora, nor in other languages than English.
    """

    question: str
    corpora: tuple[str, ...]
    route: Route
    reason: str
    entities: tuple[str, ...]
    pairs: tuple[Pair, ...]
    hops: int
    passages: tuple[Passage, ...]
    unknown_entities: tuple[str, ...] = ()
    trace: tuple[Round, ...] = ()
    round_trips: int = 0
    mode: str = "e2g"
    facts: tuple[Fact, ...] = ()
    entity_types: Mapping[str, str] = field(default_factory=dict)
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ignored_entities: tuple[str, ...] = ()
    absences: tuple[Absence, ...] = ()
    searched_as: str = ""
    resolved: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    in_text: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Evidence for {self.question!r}: {self.route}, mode {self.mode}, passages: {len(self.passages)}>"

    def _repr_html_(self) -> str:
        notes = "; ".join(self.unknown_stated)
        items = [one._repr_html_() for one in self.passages] + [escape(fact.to_sentence()) for fact in self.facts]
        return (
            f'<p dir="auto"><strong>{escape(self.question)}</strong></p><p dir="auto">{escape(self.reason)}</p>'
            f"{f'<p>{escape(notes)}</p>' if notes else ''}"
            f"<ol>{''.join(f'<li>{item}</li>' for item in items)}</ol>"
        )

    @property
    def unknown_stated(self) -> list[str]:
        """What is known about each of the unknown entities, in words."""
        return [
            f"no entity named “{name}”" + (", but its words occur in the text" if name in self.in_text else "")
            for name in self.unknown_entities
        ]

    @property
    def stand_alone(self) -> str:
        """The question that was searched for."""
        return self.searched_as or self.question

    @property
    def turn(self) -> Turn:
        """This turn for the `history` of the next question."""
        return Turn(self.stand_alone)

    @property
    def corpus(self) -> str:
        """The corpus that was searched, or the first of several."""
        return self.corpora[0]


@dataclass(frozen=True, slots=True)
class Citation(JsonForm):
    """A number that an answer cites, and the passage with document, source and offsets.

    For a fact, the text of the passage is its statement, and the source the element ids of the two nodes.

    Attributes:
        number: the number.
        passage: the passage.
        fact: the fact, if a relationship of a linked graph is cited.
        url: where people can read the passage, in the page of a service. None for a fact, for a corpus without an
            address, and if no service answered.
    """

    number: int
    passage: Passage
    fact: Fact | None = None
    url: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class CitedReport(JsonForm):
    """The report of a community that a point comes from.

    Attributes:
        corpus: the corpus.
        id: the id of the community.
        level: its level, from 1, the finest.
        title: the title of the report.
    """

    corpus: str
    id: str
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Point(JsonForm):
    """A statement that the chat model took from passages or reports, and made the answer of.

    Attributes:
        text: the statement.
        score: how important it is for the answer, from 0 to 100.
        passages: the numbers of the passages that support it, as in citations.
        reports: the reports that it comes from, with the method `global`. Its passages are then, of what each of them
            was made from, the window most like the statement.
    """

    text: str
    score: int
    passages: tuple[int, ...]
    reports: tuple[CitedReport, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer(JsonForm):
    """A chat model's answer and the evidence that it was given.

    Attributes:
        text: the answer; None if no chat model is configured.
        evidence: the result of retrieval.
        given: the passages that fitted into the evidence budget, in reading order, then facts, each as a passage with
            its statement. With the methods `all_text` and `global`: the passages of the points. Citation n is the n-th
            of them.
        citations: the citations in the text.
        dropped: numbers that the model cited although there is no such passage. They are removed from `text`.
        found: False if the evidence does not contain the answer.
        finished: False if the answer was cut off at its maximum length.
        choice: the letter that the model chose, for a question with options.
        distribution: the probability of each letter, if the model returns log-probabilities.
        calls: the number of calls of the chat model, those that found the evidence included.
        prompt_tokens: the length of the prompts of all calls.
        completion_tokens: the length of all replies.
        points: the points that the answer is made of, the most important first. Empty with the method `direct`.
    """

    text: str | None
    evidence: Evidence
    given: tuple[Passage, ...] = ()
    citations: tuple[Citation, ...] = ()
    dropped: tuple[int, ...] = ()
    found: bool = True
    finished: bool = True
    choice: str | None = None
    distribution: Mapping[str, float] | None = None
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    points: tuple[Point, ...] = ()

    def _repr_html_(self) -> str:
        if self.text is None:
            return self.evidence._repr_html_()
        cited = "".join(
            f'<li value="{one.number}">{escape(one.fact.to_sentence()) if one.fact else one.passage._repr_html_()}</li>'
            for one in self.citations
        )
        return (
            f'<p dir="auto"><strong>{escape(self.evidence.question)}</strong></p>'
            f"<p {_AS_WRITTEN}>{escape(self.text)}</p><ol>{cited}</ol>"
        )

    @property
    def turn(self) -> Turn:
        """This turn for the `history` of the next question."""
        return Turn(self.evidence.stand_alone, self.text or "")


Ranks: TypeAlias = Literal["windows", "nodes"]


@dataclass(frozen=True, slots=True)
class ModeInfo:
    """A retrieval mode, and whether corpora can be asked in it.

    Attributes:
        name: the value of the option `mode`.
        summary: what it does, in one sentence.
        source: the paper or system whose retrieval it is.
        ranks: what it ranks: windows, or nodes, which are chunks and what is above them.
        needs: what it cannot do without: `vector` of the question, `full_text` index, `entities` of the question, or a
            layer that `enrich` makes: `communities`, `clusters`, `entity_vectors`, `sentence_vectors`,
            `statements`.
        uses: what it uses if a corpus has it.
        calls_model: whether it calls the chat model if the option `llm` is set.
        available: whether the corpora have what it needs; None: no corpora were named.
        missing: what they lack, with the next step.
    """

    name: str
    summary: str
    source: str
    ranks: Ranks
    needs: tuple[str, ...]
    uses: tuple[str, ...]
    calls_model: bool
    available: bool | None = None
    missing: str | None = None
