"""More entity data from what there is: annotated names under other names, and questions made from templates."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from random import Random

from training.coined import coined_names
from training.gazetteer import KINDS
from training.passages import Passage, replace_name

Pools = dict[tuple[str, int], list[str]]
"""Names by label and number of words."""

_TITLE = re.compile(r"^(?:Mr|Mrs|Ms|Miss|Dr|Sir|Lady|Lord|Captain|Colonel|Count|Aunt|Uncle|Madame|Professor|"
                    r"President|King|Queen|Prince|Princess|Saint|St|Senator|General|Major|Judge|Father)\b")  # fmt: skip
_PLAIN = re.compile(r"^[\w.&'’-]+(?: [\w.&'’-]+)*$")
_OF_ANY_LENGTH = frozenset({"ORG", "EVENT", "WORK_OF_ART", "FAC"})


def name_pools(passages: list[Passage], people: list[str], random: Random) -> Pools:
    """The names annotated in `passages`, with their frequency, `people`, once each, and coined names."""
    pools: Pools = defaultdict(list)
    for passage in passages:
        for start, end, label in passage.entities:
            _add(pools, label, passage.text[start:end])
    for name in people:
        _add(pools, "PERSON", name)
        _add(pools, "PERSON", name.split()[-1])
    for name, label in KINDS.items():
        _add(pools, label, name.upper() if len(name) < 4 or "." in name else name.title())
    surnames = [name.split()[-1] for name in people if name.split()[-1].isalpha()]
    places = [name.title() for name, label in KINDS.items() if label == "GPE" and name.isalpha() and len(name) > 3]
    for label, name in coined_names(surnames, places, random, of_each=1500):
        _add(pools, label, name.removeprefix("The ").removeprefix("A "))
    return pools


def _add(pools: Pools, label: str, name: str) -> None:
    if _PLAIN.match(name) and name[:1].isupper():
        pools[_kind(label, name), len(name.split())].append(name)


def _kind(label: str, name: str) -> str:
    return "TITLED" if label == "PERSON" and _TITLE.match(name) else label


def rename(passage: Passage, pools: Pools, random: Random, share: float) -> Passage:
    """The passage with that share of its names replaced, each name the same way everywhere; without word tags."""
    changed = replace(passage, words=[], entities=list(passage.entities))
    new_names: dict[str, str] = {}
    for which, (start, end, label) in enumerate(changed.entities):
        old = passage.text[passage.entities[which][0] : passage.entities[which][1]]
        if label == "DATE" or not _PLAIN.match(old):
            continue
        if old not in new_names:
            words = len(old.split()) if label not in _OF_ANY_LENGTH else random.randint(1, 5)
            pool = pools.get((_kind(label, old), words))
            new_names[old] = random.choice(pool) if pool and random.random() < share else old
        if new_names[old] != changed.text[start:end]:
            changed = replace_name(changed, which, new_names[old])
    return changed


_TEMPLATES = """
Who is {PERSON}?|Who was {PERSON} married to?|What did {PERSON} say to {PERSON}?|Why does {PERSON} leave {GPE}?
Where did {PERSON} meet {PERSON}?|How did {PERSON} die?|When was {PERSON} born?|Who is the father of {PERSON}?
What is the capital of {GPE}?|What happened at {FAC}?|How far is {GPE} from {GPE}?|Who founded {ORG}?
When did {ORG} buy {ORG}?|Who directed {WORK_OF_ART}?|Who wrote {WORK_OF_ART}?|In which year did {EVENT} begin?
How many people live in {GPE}?|What does {PERSON} think of {PERSON}'s brother?|Who played {PERSON} in {WORK_OF_ART}?
Which river flows through {GPE}?|Where is {FAC}?|Was {PERSON} born in {GPE} or in {GPE}?
What is the relationship between {PERSON} and {PERSON}?|Who was president of {GPE} when {ORG} was founded?
What does {PERSON} find in {FAC}?|Does {PRODUCT} work with {PRODUCT}?|What is the price of {PRODUCT}?
Who succeeded {PERSON} as head of {ORG}?|What county is {GPE} in?|Where is the headquarters of {ORG}?
Tell me about {PERSON}|Compare {PERSON} with {PERSON}|Name the wife of {PERSON}|List the members of {ORG}
What led {PERSON} to forgive {PERSON} after the letter?|Which of {PERSON}'s daughters marries {PERSON}?
How does {PERSON} learn that {PERSON} has gone to {GPE}?|Who lives at {FAC} with {PERSON}?
What are the symptoms of the disease?|Which treatment is given first?|How is the tumor removed?
What are the side effects of chemotherapy?|Who was the first emperor of {GPE}?|Which team won {EVENT}?
Who was the mother of the director of {WORK_OF_ART}?|What is the name of the ship on which {PERSON} sails to {LOC}?
Which mountain is higher than {LOC}?|What language is spoken in {GPE}?|When was {LAW} passed?
{PERSON} is a friend of {PERSON}.|{ORG} is based in {GPE}, {GPE}.|{PERSON} was born in {GPE} and studied at {ORG}.
{PERSON} and {PERSON} travelled from {GPE} to {GPE}.|{PERSON} ({PERSON}) joined {ORG} in {GPE}.
{WORK_OF_ART} is a novel by {PERSON}.|{GPE} lies north of {LOC}.|The company sells {PRODUCT} in {GPE}.
"""


def questions(pools: Pools, random: Random, copies: int) -> list[Passage]:
    """Every template `copies` times with names from the pools."""
    by_label: dict[str, list[list[str]]] = defaultdict(list)
    for (label, words), names in sorted(pools.items()):
        if words <= 4:
            by_label["PERSON" if label == "TITLED" else label].append(names)
    made = []
    for template in [t for line in _TEMPLATES.strip().splitlines() for t in line.split("|")] * copies:
        text, entities = "", []
        for piece in re.split(r"(\{\w+\})", template):
            label = piece.strip("{}")
            if piece.startswith("{"):
                name = random.choice(random.choices(by_label[label], [len(n) ** 0.7 for n in by_label[label]])[0])
                entities.append((len(text), len(text) + len(name), label))
                piece = name
            text += piece
        if text.endswith("?") and random.random() < 0.15:
            text = text[:-1]
        made.append(Passage(text, [0], [], entities))
    return made
