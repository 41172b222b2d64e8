"""`evaluate` modes with the questions of a file (`read_questions`), or `compare` them for one question."""

from e2g_neo4j.evaluation.comparison import Comparison, ModeEvidence, compare
from e2g_neo4j.evaluation.gold import Question, read_questions
from e2g_neo4j.evaluation.results import Evaluation
from e2g_neo4j.evaluation.scoring import evaluate

__all__ = ["Comparison", "Evaluation", "ModeEvidence", "Question", "compare", "evaluate", "read_questions"]
