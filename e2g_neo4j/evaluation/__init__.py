"""Evaluate retrieval with question files: `read_questions`, `evaluate`, and reports."""

from e2g_neo4j.evaluation.gold import Question, read_questions
from e2g_neo4j.evaluation.scoring import Evaluation, evaluate

__all__ = ["Evaluation", "Question", "evaluate", "read_questions"]
