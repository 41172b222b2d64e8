"""Evaluate retrieval and answers: `evaluate` modes with a question file of `read_questions`, or `compare` them for one
question."""

from e2g_neo4j.evaluation.comparison import Comparison, ModeEvidence, compare
from e2g_neo4j.evaluation.gold import Question, read_questions
from e2g_neo4j.evaluation.results import Evaluation
from e2g_neo4j.evaluation.scoring import evaluate

__all__ = ["Comparison", "Evaluation", "ModeEvidence", "Question", "compare", "evaluate", "read_questions"]
