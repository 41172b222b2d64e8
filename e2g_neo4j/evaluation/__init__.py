"""How well retrieval finds what it should: `read_questions` and `evaluate`, and the table and page of a result."""

from e2g_neo4j.evaluation.gold import Question, read_questions
from e2g_neo4j.evaluation.scoring import Evaluation, evaluate

__all__ = ["Evaluation", "Question", "evaluate", "read_questions"]
