"""Score retrieval modes on a question file, and on request the answers of the chat model.

    questions = read_questions(Path("questions.jsonl"))
    with E2G() as e2g:
        result = evaluate(e2g, questions, corpus="passages", modes=["e2g", "dense"], against="dense", k=25)
    print(result.modes["e2g"].overall.scores["R@5"].mean)

Scores are means over questions, with 95 % bootstrap intervals:
`R@n`                fraction of the gold documents among the first n documents
`MRR`                1 / rank of the first gold document, 0 if there is none
`evidence@5 chunks`  fraction of the gold evidence found with k = 5
`evidence@6k tokens` fraction of it found with tokens = 6000
A gold span is found if the retrieved text shows at least half of its characters. A statement is found if one retrieved
passage (merged from neighbouring chunks or windows) has at least 80 % of its content words. `evidence cited` is the
fraction of the gold evidence in the passages that an answer cites. The other scores of answers are those of
`evaluation/answers.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

from e2g_neo4j.answering.methods import METHODS, AnswerOptions, MethodName
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import QueryError
from e2g_neo4j.evaluation.answers import ask, ask_for_answer, chat_model_for, tokens_of
from e2g_neo4j.evaluation.gold import Gold, IndexedCorpus, Piece, Question, Span, count_covered
from e2g_neo4j.evaluation.judging import CRITERIA, Judging, check_citations, judge, judge_model_for, weigh
from e2g_neo4j.evaluation.results import PARTS, CheckedCitations, Evaluation, Outcome, ScoredAnswer, mode_result
from e2g_neo4j.evaluation.words import content_words
from e2g_neo4j.retrieval.options import MAX_TOKENS, RetrievalKeywords, Unit
from e2g_neo4j.retrieval.strategy import check_modes
from e2g_neo4j.retrieval.where import Where
from e2g_neo4j.runtime.requests import Operation, Read, Rows
from e2g_neo4j.types.chat import StreamingChatModel
from e2g_neo4j.types.reports import Progress
from e2g_neo4j.types.results import Answer, Evidence

CUTOFFS = (2, 5, 10, 25)
BUDGETS: dict[str, RetrievalKeywords] = {
    "5 chunks": {"k": 5},
    "2k tokens": {"tokens": 2000},
    "6k tokens": {"tokens": 6000},
    "12k tokens": {"tokens": 12000},
}
"""The budgets for which evidence is scored. Every mode is asked for each of them."""

SPAN_SHOWN = 0.5
WORDS_HELD = 0.8
DOCUMENTS_AT_ONCE = 100


# --- running -----------------------------------------------------------------------------------------


def evaluate(
    e2g: E2G,
    questions: Sequence[Question],
    *,
    corpus: str,
    modes: Sequence[str],
    methods: Sequence[MethodName] = (),
    against: str | None = None,
    k: int = 25,
    unit: Unit | None = None,
    answers: bool = False,
    judged: Judging | None = None,
    llm: bool = False,
    where: Where = (),
    progress: Progress | None = None,
) -> Evaluation:
    """Ask every question in every mode and compare the evidence with the gold.

    Args:
        e2g: The client.
        questions: The questions.
        corpus: The corpus to search. `{book}` is replaced with the question's book without its suffix.
        modes: The modes to evaluate.
        methods: Methods of `E2G.answer` other than "direct" that answer too, in the default mode. They are
            scored by their answers alone, and their times are those of whole answers.
        against: The base mode to compare with. It is evaluated too. None: no comparison.
        k: Number of chunks per question.
        unit: What to rank: windows or whole chunks. Default: that of each mode. Modes that rank whole chunks only are
            asked without it.
        answers: Also answer the questions that have an `answer` with the chat model, and score the answers. They are
            given `settings.evidence_tokens` of evidence, whatever `k` is.
        judged: Also answer all questions without options, and have the judge compare the answers of each mode with
            those of `against`, in one of the ways of `evaluation/judging.py`. With "race", citations are checked too.
        llm: Let the modes that can call the chat model do it. The others are asked without it, unless the chat model
            rewrites a question with a history.
        where: Conditions on the properties of documents, see `RetrievalOptions`.
        progress: Called with (stage, done, total).

    Raises:
        QueryError: A mode is unknown, there are no questions or modes, two questions have the same id, no question has
            what is to be scored, or the base mode or all modes cannot answer from these corpora, for example because
            `enrich` has not made communities.
        ConfigurationError: `answers` or `judged` is set, but no chat model is configured.
        NotFoundError: The corpus does not have the gold of a question.
        E2GError: Any error of `E2G.retrieve`.
    """
    selected = list(dict.fromkeys([*modes, *([against] if against else [])]))
    check_modes(selected, e2g.strategies)
    if not questions or not selected:
        raise QueryError("An evaluation needs at least one question and one mode.")
    if len({question.id for question in questions}) < len(questions):
        raise QueryError("Two questions have the same id. Ids must be unique.")
    if answers and not any(question.answer for question in questions):
        raise QueryError("No question has an answer: add the field `answer`, or evaluate without answers.")
    if judged not in (None, *CRITERIA):
        raise QueryError(f"There is no way of judging {judged!r}: choose among {', '.join(CRITERIA)}.")
    if judged and against is None:
        raise QueryError("Judging compares with a base mode: name it (`--against`).")
    methods = list(dict.fromkeys(methods))
    for method in methods:
        AnswerOptions(method=method)  # raises QueryError if it is unknown
    if "direct" in methods:
        raise QueryError("The method direct is how the modes answer: leave it out of the methods.")
    if methods and not (answers or judged):
        raise QueryError("Methods are scored by their answers: evaluate with answers (`--answers`), or judge them.")
    if judged and all(question.options for question in questions):
        raise QueryError("All questions have options. Only answers in words are judged: evaluate with `--answers`.")
    if not (answers or judged) and not any(question.has_evidence for question in questions):
        raise QueryError("No question has gold_passages or evidence: evaluate with answers (`--answers`), or add them.")
    check_modes(selected, e2g.strategies, llm=llm and not any(question.history for question in questions))
    chat_model = chat_model_for(e2g) if answers or judged else None
    judge_model = judge_model_for(e2g.models) if judged else None
    checker = judge_model if judged == "race" else None
    asking = _Asking(e2g, k, unit, llm, where, chat_model, checker, answers=answers, judged=bool(judged))

    report = progress or (lambda stage, done, total: None)
    names = [corpus_of(question, corpus) for question in questions]
    indexed = {name: load(e2g, name) for name in dict.fromkeys(names)}
    golds = [indexed[name].gold(question) for name, question in zip(names, questions, strict=True)]
    failed: dict[str, str] = {}
    for mode in list(selected):  # warm up: load models, and let the database plan each statement
        try:
            for name in indexed:
                ask(e2g, questions[0].question, corpus=name, **asking.retrieval(questions[0], mode, {"k": k}))
        except QueryError as error:
            if mode == against or selected == [mode]:
                raise
            selected.remove(mode)
            failed[mode] = str(error)

    outcomes: dict[str, list[Outcome]] = {row: [] for row in (*selected, *methods)}
    for number, (question, name, gold) in enumerate(zip(questions, names, golds, strict=True)):
        first = number % len(selected)  # each mode comes first equally often
        for mode in selected[first:] + selected[:first]:
            outcomes[mode].append(asking.outcome_of_mode(mode, question, indexed[name], gold))
        for method in methods if asking.wants_answer(question) and not question.options else ():
            outcomes[method].append(asking.outcome_of_method(method, question, indexed[name], gold))
        report("asking", number + 1, len(questions))
    if judge_model and against:
        bases = {outcome.question: outcome.answer for outcome in outcomes[against]}
        for number, question in enumerate(questions):
            judge_one = partial(_judge_outcome, e2g, judge_model, question, bases=bases)
            if judged == "race" and not question.options:
                judge_one = partial(judge_one, weights=e2g.runner.run(weigh(judge_model, e2g.settings, question.alone)))
            for row, some in outcomes.items():
                if row != against:
                    outcomes[row] = [judge_one(one) if one.question == question.id else one for one in some]
            report("judging", number + 1, len(questions))
    base = {outcome.question: outcome for outcome in outcomes[against]} if against else {}
    results = {
        row: mode_result(
            found,
            {} if row == against else base,
            with_entities=row in selected and "entities" in e2g.strategies[row].needs,
        )
        for row, found in outcomes.items()
        if found
    }
    return Evaluation(
        corpus,
        len(questions),
        k,
        against,
        unit,
        modes=results,
        failed=failed,
        chat_model=chat_model.name if chat_model else None,
        judge_model=judge_model.name if judge_model else None,
        criteria=CRITERIA[judged] if judged else (),
    )


@dataclass(frozen=True, slots=True)
class _Asking:
    """Asks and answers questions. The attributes are arguments of `evaluate`."""

    e2g: E2G
    k: int
    unit: Unit | None
    llm: bool
    where: Where
    chat_model: StreamingChatModel | None
    checker: StreamingChatModel | None
    answers: bool
    judged: bool

    def retrieval(self, question: Question, mode: str, limits: RetrievalKeywords) -> RetrievalKeywords:
        strategy = self.e2g.strategies[mode]
        return {
            **limits,
            "mode": mode,
            "unit": self.unit if strategy.ranks == "windows" else None,
            "llm": self.llm and (strategy.calls_model or bool(question.history)),
            "where": self.where,
            "history": question.history,
        }

    def wants_answer(self, question: Question) -> bool:
        to_judge = self.judged and not question.options
        return bool(self.chat_model and (to_judge or (self.answers and question.answer)))

    def outcome_of_mode(self, mode: str, question: Question, corpus: IndexedCorpus, gold: Gold) -> Outcome:
        """Retrieve in a mode within all budgets, and answer if it is wanted."""
        name, text = corpus.name, question.question
        evidence, parts = ask(self.e2g, text, corpus=name, **self.retrieval(question, mode, {"k": self.k}))
        within: dict[str, Evidence] = {}
        if gold.spans or gold.statements:
            for budget, limits in BUDGETS.items():
                within[budget] = self.e2g.retrieve(text, corpus=name, **self.retrieval(question, mode, limits))
        scores = score(evidence, within, gold, corpus, self.k)
        if self.wants_answer(question):
            limits = RetrievalKeywords(tokens=min(self.e2g.settings.evidence_tokens, MAX_TOKENS))
            scored, answer = ask_for_answer(self.e2g, question, corpus=name, **self.retrieval(question, mode, limits))
            scores |= scored.scores | score_citations(answer, gold, corpus)
            return self._outcome(question, evidence, scores, parts, scored, self._check_answer(question, answer))
        return self._outcome(question, evidence, scores, parts)

    def outcome_of_method(self, method: MethodName, question: Question, corpus: IndexedCorpus, gold: Gold) -> Outcome:
        """Answer by a method other than "direct"."""
        began = perf_counter()
        retrieval = RetrievalKeywords(history=question.history)
        if "where" in METHODS[method].takes:
            retrieval["where"] = self.where
        scored, answer = ask_for_answer(self.e2g, question, corpus=corpus.name, method=method, **retrieval)
        parts = dict.fromkeys(PARTS, 0.0) | {"ranking": perf_counter() - began}
        nothing = Evidence(question.question, (corpus.name,), "global", "", (), (), 0, ())
        evidence = answer.evidence if answer else nothing
        scores = scored.scores | score_citations(answer, gold, corpus)
        return self._outcome(question, evidence, scores, parts, scored, self._check_answer(question, answer))

    def _check_answer(self, question: Question, answer: Answer | None) -> CheckedCitations | None:
        if self.checker is None or answer is None or question.options:
            return None
        return self.e2g.runner.run(check_citations(self.checker, self.e2g.settings, answer))

    def _outcome(
        self,
        question: Question,
        evidence: Evidence,
        scores: dict[str, float],
        parts: dict[str, float],
        answer: ScoredAnswer | None = None,
        checked: CheckedCitations | None = None,
    ) -> Outcome:
        return Outcome(
            question=question.id,
            type=question.type,
            route=evidence.route,
            scores=scores,
            seconds=sum(parts.values()),
            parts=parts,
            round_trips=evidence.round_trips,
            tokens=tokens_of(self.e2g, evidence),
            answer=answer,
            checked=checked,
            entities=len(evidence.entities),
            unknown_entities=len(evidence.unknown_entities),
            pairs=len(evidence.pairs),
            calls=evidence.calls,
            prompt_tokens=evidence.prompt_tokens,
        )


def _judge_outcome(
    e2g: E2G,
    model: StreamingChatModel,
    question: Question,
    outcome: Outcome,
    bases: Mapping[str, ScoredAnswer | None],
    weights: Mapping[str, float] | None = None,
) -> Outcome:
    base = bases[outcome.question]
    if question.options or outcome.answer is None or base is None:
        return outcome
    operation = judge(model, e2g.settings, question.alone, outcome.answer.text, base.text, weights)
    return replace(outcome, judgement=e2g.runner.run(operation))


def corpus_of(question: Question, corpus: str) -> str:
    if "{book}" not in corpus:
        return corpus
    if question.book is None:
        raise QueryError(
            f"Question {question.id} has no book for the corpus name {corpus!r}: use one without {{book}}."
        )
    return corpus.replace("{book}", question.book.rpartition("/")[2].rsplit(".", 1)[0])


def load(e2g: E2G, corpus: str) -> IndexedCorpus:
    """Load the texts of a corpus from the database."""
    indexed = IndexedCorpus(corpus, e2g.models.embedder.token_spans)
    for rows in e2g.runner.run(_chunks(corpus, [document.id for document in e2g.documents(corpus)])):
        indexed.add(rows)
    return indexed


def _chunks(corpus: str, documents: Sequence[str]) -> Operation[list[Rows]]:
    found = []
    for at in range(0, len(documents), DOCUMENTS_AT_ONCE):
        batch = list(documents[at : at + DOCUMENTS_AT_ONCE])
        found.append((yield Read("evaluate/chunks", {"corpus": corpus, "documents": batch})))
    return found


# --- metrics -----------------------------------------------------------------------------------------


def score(
    evidence: Evidence, within: Mapping[str, Evidence], gold: Gold, corpus: IndexedCorpus, k: int
) -> dict[str, float]:
    """Compute the scores of one question from the evidence for k chunks, and within each of BUDGETS."""
    scores: dict[str, float] = {}
    if gold.sources:
        ranked = list(dict.fromkeys(passage.source for passage in evidence.passages))
        scores |= {f"R@{n}": recall(ranked, gold.sources, n) for n in CUTOFFS if n <= k}
        scores["MRR"] = reciprocal_rank(ranked, gold.sources)
    if gold.spans or gold.statements:
        for budget, found in within.items():
            pieces = corpus.pieces(found.passages, BUDGETS[budget].get("tokens"))
            scores[f"evidence@{budget}"] = fraction_found(pieces, gold)
    return scores


def score_citations(answer: Answer | None, gold: Gold, corpus: IndexedCorpus) -> dict[str, float]:
    """Compute the share of the gold that an answer cites. None: no reply was usable."""
    if not (gold.spans or gold.statements):
        return {}
    passages = [one.passage for one in answer.citations if one.fact is None] if answer else []
    return {"evidence cited": fraction_found(corpus.pieces(passages), gold)}


def recall(ranked: Sequence[str], gold: frozenset[str], n: int) -> float:
    return len(gold.intersection(ranked[:n])) / len(gold)


def reciprocal_rank(ranked: Sequence[str], gold: frozenset[str]) -> float:
    """Return 1 / rank of the first gold source, or 0."""
    return next((1 / rank for rank, source in enumerate(ranked, 1) if source in gold), 0.0)


def fraction_found(pieces: Sequence[Piece], gold: Gold) -> float:
    """Return the fraction of the gold spans and statements that the pieces show."""
    shown: dict[str, list[Span]] = defaultdict(list)
    for piece in pieces:
        shown[piece.source] += piece.shows
    found = sum(
        count_covered(start, end, shown[source]) >= SPAN_SHOWN * (end - start) for source, start, end in gold.spans
    )
    if gold.statements:
        held = [content_words(piece.text) for piece in pieces]
        found += sum(any(len(words & one) >= WORDS_HELD * len(words) for one in held) for words in gold.statements)
    return found / (len(gold.spans) + len(gold.statements))
