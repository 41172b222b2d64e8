"""Named entities from treebanks: GUM's annotated mentions trimmed to names, and names read off a tree.

GUM marks every mention with a kind but does not say which are names. A mention is taken for a name when its
head is a proper noun, and trimmed to that name. EWT marks no mentions; there the name is read off the tree:
a proper noun with the words that hang on it by name-building relations.
"""

from __future__ import annotations

import re

from training.conllu import Token, Tree

_FACILITY = re.compile(
    r"\b(airport|abbey|arena|bridge|building|castle|cathedral|cemetery|center|centre|chapel|church|court|"
    r"dam|gallery|gate|hall|harbou?r|highway|hotel|house|hospital|inn|library|mall|market|monument|mosque|"
    r"museum|palace|park|plaza|port|prison|restaurant|road|square|stadium|station|street|temple|terminal|"
    r"theat(?:er|re)|tower|tunnel|avenue|zoo|wall|lodge|mill|school|theatre|stairs|line|pub|café|cafe)s?\b",
    re.I,
)
_LOCATION = re.compile(
    r"\b(africa|alps|america|antarctica|asia|atlantic|bay|beach|canal|cape|caribbean|coast|desert|earth|"
    r"east|europe|falls|forest|gulf|hill|hills|island|islands|isle|jupiter|lake|lakes|mars|mediterranean|"
    r"moon|mount|mountain|mountains|north|northern|ocean|pacific|peninsula|plain|plains|plateau|reef|river|"
    r"rocky|sahara|sea|south|southern|sun|valley|volcano|west|western|northeast|eastern|region|creek|cove|"
    r"canyon|district|mt)\b",
    re.I,
)
_ADDRESS = re.compile(r"://|www\.|\w@\w+\.")
_LANGUAGES = (
    "english french german spanish latin greek italian russian chinese mandarin japanese arabic hebrew "
    "portuguese dutch swedish polish turkish hindi urdu persian korean gaelic welsh irish sanskrit"
)
_LANGUAGE = frozenset(_LANGUAGES.split())
_LAW = re.compile(r"\b(act|amendment|bill|constitution|convention|law|protocol|treaty|charter|code)\b", re.I)
_DATED = re.compile(
    r"\b(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|"
    r"nov(ember)?|dec(ember)?|(mon|tues|wednes|thurs|fri|satur|sun)day|1[0-9]{3}s?|20[0-9]{2}s?|"
    r"[0-9]+ (BCE?|CE|AD)|AD [0-9]+)\b",
    re.I,
)
_NOT_FIRST = frozenset({"DET", "PUNCT", "ADP", "SYM", "PART", "CCONJ"})
_BINDS = frozenset({"of", "for", "de", "&"})
_BUILDS_NAMES = frozenset({"flat", "compound", "goeswith", "nummod", "flat:foreign", "nmod:unmarked", "nmod:desc"})


def gum_entities(tree: Tree) -> tuple[list[tuple[int, int, str]], set[int]]:
    """Entities (first token, last token plus one, label) and the tokens about which nothing is known."""
    found: list[tuple[int, int, str]] = []
    taken: set[int] = set()
    for mention in sorted(tree.mentions, key=lambda m: (m.start - m.end, m.start)):
        entity = _time(tree, mention.start, mention.end) if mention.kind == "time" else None
        if mention.kind != "time" and not _joins_names(tree, mention.start, mention.end):
            entity = _name(tree, mention.kind, mention.start, mention.end)
        if entity and not taken.intersection(range(entity[0], entity[1])):
            found.append(entity)
            taken.update(range(entity[0], entity[1]))
    unknown = {i for i, t in enumerate(tree.tokens) if t.upos == "PROPN" and i not in taken}
    return sorted(found), unknown


def _joins_names(tree: Tree, start: int, end: int) -> bool:
    """Whether it is a list of names ("Chao and Yang") that are mentions on their own."""
    tokens = tree.tokens
    head = next((i for i in range(start, end) if not start <= tokens[i].head < end), start)
    parts = [i for i in range(head + 1, end) if tokens[i].deprel == "conj" and tokens[i].head == head]
    return any(m.start >= start and any(m.start <= i < m.end and m.start > head for i in parts) for m in tree.mentions)


def _time(tree: Tree, start: int, end: int) -> tuple[int, int, str] | None:
    start, end = _trim(tree.tokens, start, end)
    text = " ".join(t.form for t in tree.tokens[start:end])
    return (start, end, "DATE") if start < end and _DATED.search(text) and end - start <= 6 else None


def _name(tree: Tree, kind: str, start: int, end: int) -> tuple[int, int, str] | None:
    tokens = tree.tokens
    head = next((i for i in range(start, end) if not start <= tokens[i].head < end), start)
    if tokens[head].upos != "PROPN":
        return None
    start, end = _trim(tokens, start, end)
    if kind in {"person", "organization", "place"}:
        end = _before_preposition(tokens, start, end, kind)
    if not start <= head < end:
        return None
    if kind == "person":  # "academic and professor Marc Lamont Hill": the name alone
        first = head
        while first > start and (tokens[first - 1].upos == "PROPN" or tokens[first - 1].form[:1].isupper()):
            first -= 1
        start = first
    while start < head and tokens[start].form[:1].islower() and tokens[start].upos != "PROPN":
        start += 1
    while kind in {"person", "place"} and end > head + 1 and tokens[end - 1].form[:1].islower():
        end -= 1  # "Coron Island itself"
    text = " ".join(t.form for t in tokens[start:end])
    label = None if _ADDRESS.search(text) or (text.islower() and end - start == 1) else _label(kind, text)
    return (start, end, label) if label else None


def _trim(tokens: list[Token], start: int, end: int) -> tuple[int, int]:
    """Without determiners in front, and without what follows a comma, bracket, dash or relative pronoun."""
    for i in range(start + 1, end):
        token = tokens[i]
        clause = token.deprel.startswith(("acl", "appos", "parataxis", "advcl")) and token.head < i
        if token.form in {",", "(", "[", "--", "—", "–", ":", ";"} and token.upos == "PUNCT":
            end = i
            break
        if clause:
            end = min(_left_edge(tokens, i, start), i)
            break
    while start < end and (tokens[start].upos in _NOT_FIRST or tokens[start].xpos == "PRP$"):
        start += 1
    while (
        end > start
        and (tokens[end - 1].upos in {"PUNCT", "PART", "ADP", "CCONJ", "DET"})
        and not (tokens[end - 1].form == "." and tokens[end - 1].head < 0)
    ):
        end -= 1
    return start, end


def _before_preposition(tokens: list[Token], start: int, end: int, kind: str) -> int:
    """Where "from the Civic Party" or "in Columbus" begins. "of" belongs to a name, save "of the" to a person's."""
    for i in range(start + 1, end):
        word = tokens[i].form
        of_the = word == "of" and i + 1 < end and tokens[i + 1].upos == "DET" and kind == "person"
        if tokens[i].upos == "ADP" and (of_the or word in {"from", "in", "at", "on", "with", "by", "to", "near"}):
            return i
    return end


def _left_edge(tokens: list[Token], root: int, lowest: int) -> int:
    inside = {root}
    edge = root
    for i in range(root - 1, lowest, -1):
        if tokens[i].head in inside:
            inside.add(i)
            edge = i
    return edge


def _label(kind: str, text: str) -> str | None:
    if kind in {"person", "animal"}:
        return "PERSON"
    if kind == "organization":
        return "ORG"
    if kind == "event":
        return "EVENT"
    if kind == "place":
        if _FACILITY.search(text):
            return "FAC"
        return "LOC" if _LOCATION.search(text) else "GPE"
    if kind == "object":
        return "PRODUCT"
    if kind == "abstract":
        if text.lower() in _LANGUAGE:
            return "LANGUAGE"
        return "LAW" if _LAW.search(text) else "WORK_OF_ART"
    return None


def tree_names(tree: Tree) -> list[tuple[int, int]]:
    """Names read off a tree that has no mentions: (first token, last token plus one), in order."""
    tokens = tree.tokens
    children: list[list[int]] = [[] for _ in tokens]
    for i, token in enumerate(tokens):
        if token.head >= 0:
            children[token.head].append(i)
    names = []
    taken: set[int] = set()
    proper = [i for i, t in enumerate(tokens) if t.upos == "PROPN"]
    for head in sorted(proper, key=lambda i: (_hangs_on_name(tokens, i), i)):
        if head in taken:
            continue
        inside = _grow(tokens, children, head)
        start = end = head
        while start - 1 in inside - taken:
            start -= 1
        while end + 1 in inside - taken:
            end += 1
        start, end = _trim(tokens, start, end + 1)
        if start < end and not taken.intersection(range(start, end)):
            names.append((start, end))
            taken.update(range(start, end))
    return sorted(names)


def _hangs_on_name(tokens: list[Token], i: int) -> bool:
    token = tokens[i]
    parent = tokens[token.head] if token.head >= 0 else None
    return bool(parent and parent.upos == "PROPN" and token.deprel in _BUILDS_NAMES)


def _grow(tokens: list[Token], children: list[list[int]], head: int) -> set[int]:
    inside = {head}
    for child in children[head]:
        token = tokens[child]
        capital = token.form[:1].isupper()
        builds = token.deprel in _BUILDS_NAMES and (capital or token.upos in {"PROPN", "NUM"})
        describes = token.deprel == "amod" and capital and child < head
        of_name = (
            token.deprel == "nmod"
            and capital
            and any(tokens[c].deprel == "case" and tokens[c].form.lower() in _BINDS for c in children[child])
        )
        joined = token.deprel == "conj" and capital and any(tokens[c].form == "&" for c in children[child])
        if builds or describes or of_name or joined:
            inside |= _subtree(tokens, children, child)
        elif token.upos == "PUNCT" and token.form in {"-", ".", "'"}:
            inside.add(child)
    return inside


def _subtree(tokens: list[Token], children: list[list[int]], root: int) -> set[int]:
    inside = {root}
    for child in children[root]:
        if not tokens[child].deprel.startswith(("acl", "appos", "parataxis")):
            inside |= _subtree(tokens, children, child)
    return inside
