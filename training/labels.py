"""What kind of thing a name is: a small classifier, trained on the annotated names, for those without a label."""

from __future__ import annotations

from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from training.gazetteer import KINDS
from training.passages import Passage


def features(passage: Passage, start: int, end: int) -> dict[str, float]:
    name = passage.text[start:end]
    words = name.split()
    before = passage.text[max(0, start - 40) : start].lower().split()
    after = passage.text[end : end + 40].lower().split()
    found = {"length": float(len(words)), f"first={words[0].lower()}": 1, f"last={words[-1].lower()}": 1}
    found |= {f"word={w.lower()}": 1 for w in words}
    found |= {f"end={words[-1].lower()[-3:]}": 1, f"shape={_shape(words[0])}": 1, f"of={'of' in words}": 1}
    found |= {f"before={w}": 1 for w in before[-2:]} | {f"after={w}": 1 for w in after[:2]}
    found |= {f"just-before={before[-1] if before else ''}": 1, f"just-after={after[0] if after else ''}": 1}
    found |= {f"kind={KINDS[w.lower()]}": 2 for w in (name, words[0], words[-1]) if w.lower() in KINDS}
    return found


def _shape(word: str) -> str:
    return "upper" if word.isupper() else "title" if word.istitle() else "other"


def train_classifier(passages: list[Passage]) -> Pipeline:
    rows, labels = [], []
    for passage in passages:
        for start, end, label in passage.entities:
            rows.append(features(passage, start, end))
            labels.append(label)
    model = make_pipeline(DictVectorizer(), LogisticRegression(C=2.0, max_iter=300, class_weight=None))
    return model.fit(rows, labels)


def label_names(model: Pipeline, passage: Passage, spans: list[tuple[int, int]]) -> list[tuple[int, int, str]]:
    if not spans:
        return []
    guesses = model.predict([features(passage, start, end) for start, end in spans])
    return [
        (start, end, KINDS.get(passage.text[start:end].lower(), str(guess)))
        for (start, end), guess in zip(spans, guesses, strict=True)
    ]
