"""Which sentence says what an entity is, from its words alone.

Sentences that define come first: "X, a surgeon of Lantry, …", "X was a surgeon", "the surgeon, X", "a surgeon called
X", "X, who …". Otherwise the sentence counts in which the entity is most central: it begins with its full name and has
few other names. All is counted in whole points, so that no result depends on rounding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple, TypeAlias

LONGEST = 300
"""Maximum length of a description."""

ROOM = 40
"""Characters of a description after the name."""

SHORT = 40
"""Length below which a sentence says little."""

NEVER = r"(?!)"
"""A pattern of no words."""


class DefiningWords(NamedTuple):
    """Words that define, as patterns.

    Attributes:
        determiner: before a noun.
        be: between a name and what it is.
        who: after a name.
        called: before a name.
        deictic: words that say little outside their place, such as "I".
        own: before who or what belongs to a name.
        kind: what people are.
        place: what places are.
        empty: nouns that say nothing.
        word: a word that is no name, as far as capital letters tell.
    """

    determiner: str
    be: str
    who: str
    called: str
    deictic: str
    own: str = NEVER
    kind: str = NEVER
    place: str = NEVER
    empty: str = NEVER
    word: str = r"[^\W\d_A-Z][\w’'-]*"


DEFINING_WORDS = {
    "en": DefiningWords(
        r"(?:(?i:(?:so \w+ )?an?|(?:one of )?(?:the|my|his|her|its|our|their))|(?:[A-Z][\w.-]+ )?[A-Z][\w-]+[’']s?)",
        r"(?:is|was|are|were|became|becomes|remained)(?: (?:now|once|still|also|then|only|both|indeed|not))?",
        r"(?:who|whose|whom|which)",
        r"(?:called|named|known as|name (?:of [\w ]{1,30} )?(?:is|was))",
        r"(?:I|me|you|thou|thee)",
        r"(?:his|her|its)",
        "(?:"
        "actor|actress|admiral|agent|apprentice|archbishop|architect|artist|attorney|aunt|author|baby|"
        "bachelor|baker|banker|barber|baron|baronet|beadle|beauty|bishop|blacksmith|bookseller|boy|"
        "brother|builder|burglar|butcher|butler|captain|carpenter|cashier|chairman|chemist|chief|"
        "child|clergyman|clerk|coachman|colonel|companion|composer|convict|cook|count|"
        "countess|cousin|criminal|curate|dancer|daughter|dealer|dean|detective|director|doctor|dog|"
        "driver|duchess|duke|economist|editor|emperor|employer|engineer|explorer|family|farmer|"
        "farrier|father|fellow|fiancée?|fiddler|fisherman|founder|friend|gardener|general|gentleman|"
        "girl|governess|governor|grandfather|grandmother|guardian|guest|guide|hawker|heathen|heir|"
        "heiress|hero|heroine|historian|horse|housekeeper|hunter|husband|innkeeper|inspector|inventor|"
        "jew|journalist|judge|keeper|king|knight|lad|lady|landlady|landlord|lawyer|leader|lecturer|"
        "lieutenant|lord|lover|magistrate|maid|maker|manager|master|mate|mathematician|matron|mayor|"
        "merchant|midshipman|miller|miner|minister|mistress|monk|mother|musician|nephew|niece|"
        "nobleman|novelist|nun|nurse|officer|old man|old woman|orphan|owner|painter|parish-clerk|"
        "parson|partner|patient|peasant|peddler|pedlar|philosopher|physician|pilot|pioneer|pirate|"
        "poet|policeman|politician|president|priest|prince|princess|professor|publisher|pupil|queen|"
        "rector|sailor|scholar|schoolmaster|schoolmistress|scientist|sculptor|secretary|sergeant|"
        "servant|sexton|shepherd|sheriff|singer|sister|smith|smuggler|soldier|solicitor|son|spinster|"
        "squire|statesman|steward|stranger|student|surgeon|surveyor|sweetheart|tailor|teacher|thief|"
        "tradesman|translator|traveller|tutor|uncle|undertaker|valet|vicar|victim|waiter|watchman|"
        "weaver|wheelwright|widow|widower|wife|witch|writer|young man|young woman|youngster"
        ")",
        "(?:"
        "abbey|barony|boat|bridge|cabin|capital|castle|cathedral|church|city|colony|continent|"
        "country|county|district|estate|farm|forest|hall|hamlet|harbour|hill|hotel|house|inn|island|"
        "kingdom|lake|lighthouse|manor|mansion|mill|mountain|ocean|parish|park|port|province|river|"
        "school|sea|ship|square|station|street|suburb|town|valley|vessel|village"
        ")",
        r"(?:first|last|only|next|same|other|one|more|most|least|less|\w+est|\w+ing|time|day|night|morning|evening|"
        r"way|thing|face|eyes?|hands?|head|arms?|voice|heart|mind|body|lips|hair|word|words|fact|two|three|four|five|six)",
    ),
    "de": DefiningWords(
        r"(?:ein|eine|einer|eines|der|die|das|mein|meine|sein|seine|ihr|ihre|unser|unsere)",
        r"(?:ist|war|sind|waren|wurde|wird)(?: (?:jetzt|einst|noch|auch|nur))?",
        r"(?:der|die|das|dessen|deren)",
        r"(?:namens|genannt|heißt|hieß)",
        r"(?:ich|mich|mir|du|dich|dir|Sie|dies|diese|dieser|dort|hier)",
        word=r"[^\W\d_][\w’'-]*",
    ),
    "fr": DefiningWords(
        r"(?:une?|les?|la|l[’']|mon|ma|son|sa|notre|leur)",
        r"(?:est|était|sont|étaient|fut|devint)(?: (?:maintenant|aussi|encore))?",
        r"(?:qui|dont|que)",
        r"(?:appelée?|nommée?)",
        r"(?:je|j[’']|me|moi|tu|vous|ceci|cela|ici)",
    ),
    "es": DefiningWords(
        r"(?:un|una|el|la|los|las|mi|su|nuestro|nuestra)",
        r"(?:es|era|son|eran|fue|fueron)(?: (?:ahora|también|todavía))?",
        r"(?:que|quien|cuyo|cuya)",
        r"(?:llamad[oa])",
        r"(?:yo|me|mí|tú|usted|esto|eso|aquí|allí)",
    ),
    "it": DefiningWords(
        r"(?:un|uno|una|il|lo|la|i|gli|le|l[’']|un[’'])(?: (?:mio|mia|suo|sua|nostro|nostra))?",
        r"(?:è|era|sono|erano|fu|furono|divenne)(?: (?:ora|anche|ancora))?",
        r"(?:che|cui|il quale|la quale)",
        r"(?:chiamat[oa]|di nome)",
        r"(?:io|mi|me|tu|lei|questo|questa|quello|qui)",
    ),
}
"""By language. Sentences of others are chosen by how central the entity is."""

Place: TypeAlias = tuple[str, int, tuple[int, int]]
"""Sorts sentences in reading order: document, chunk, and span in the chunk."""

Patterns: TypeAlias = tuple[tuple[re.Pattern[str] | None, re.Pattern[str] | None, int], ...]


@cache
def patterns_of(language: str) -> Patterns:
    """Return what stands before and after a name that a sentence defines, and what this is worth."""
    words = DEFINING_WORDS.get(language)
    if words is None:
        return ()
    be, determiner, who, place = words.be, words.determiner, words.who, words.place
    kind = rf"(?:{words.kind}|{place})"
    noun = rf"(?:(?!{words.empty}\b|{who}\b|\w+[’']s\b){words.word})"
    some = rf"(?:{noun}[ ,]+){{0,3}}"
    spoken = r"(?!my (?:dear|child|boy|friend|lad|girl|lady|lord|love|son|good)\b)"
    subject = r"(?:^|[;:—(“\"]\s*|--|\b(?:and|that|und|et|y|e)\s+)[‘“\"]?$"
    end = r"\s*(?:[.;:—)”]|,(?!\s*(?:and|or|with|und|et|y|e)\b)|--|$)"
    closed = rf"(?={end}|\s+(?:of|from|in|at|on|to|where|{who}|von|aus|de|di|du|del)\b)"
    return tuple(
        (re.compile(before) if before else None, re.compile(after) if after else None, points)
        for before, after, points in (
            (subject, rf"\s+{be}\s+{determiner}\s+{some}{noun}", 3),  # X was a surgeon
            (subject, rf"\s+{be}\s+{determiner}\s+(?:[\w’'-]+,?\s+){{0,4}}?{kind}\b", 4),
            (subject, rf"\s+{be}\s+(?:\w+\s+)?{noun}\s+(?:and|und|et|y|e)\s+{noun}\s*[,;.]", 2),  # X was old and deaf
            (subject, rf"(?:\s+[\w’'-]+){{1,5}}\s+as\s+{determiner}\s+{some}{kind}\b", 3),  # X served as a surgeon
            ("", rf"\s*,\s+{spoken}{determiner}\s+{some}{noun}{closed}", 4),  # X, a surgeon of Lantry,
            (
                "",
                rf"\s*,\s+{spoken}(?:{determiner}\s+(?:[\w-]+[’']s\s+)?{some}|{noun}\s+)?{kind}(?:\s+(?:and|und|et|y|e)\s+{noun})?{closed}",
                4,
            ),
            (rf"\b{determiner}\s+{some}{noun},\s+$", end, 2),  # the surgeon, X,
            (rf"\b{determiner}\s+(?:{noun},?\s+){{0,3}}{kind},\s+$", rf"(?!,\s+{determiner}\b){end}", 4),
            (rf"\b{determiner}\s+(?:{noun},?\s+){{0,3}}{kind}\s+$", "", 5),  # my friend X
            (rf"\b{determiner}\s+(?:{noun},?\s+){{0,3}}{place}\s+of\s+$", "", 4),  # the town of X
            (rf"\b(?:{be}|{noun},?)\s+{words.called}\s+$", end, 5),  # a surgeon called X
            (subject, rf"(?:[\s,]+[\w’'-]+){{1,8}}\s+{words.own}\s+{some}{kind}\b(?![’'])", 1),  # X visited her brother
            (rf"^{determiner}\s.*\s{be}\s+$", end, 3),  # the oldest man was X
            ("", rf"\s*,\s+{who}\b", 1),
        )
    )


def names_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of the names of an entity."""
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(re.escape(name) for name in longest_first)})(?!\w)")


def rate(text: str, names: re.Pattern[str], others: int, language: str) -> int | None:
    """Return how much a sentence says about what an entity is; None if it is not named in it.

    Args:
        text: the sentence, with single spaces.
        names: the spellings of the entity, and its other names, see `names_pattern`.
        others: how many other names the sentence has.
    """
    found = [one for one in names.finditer(text) if one.end() <= LONGEST - ROOM]
    if not found:
        return None
    words = DEFINING_WORDS.get(language)
    defined = max(defines(text, *one.span(), language) for one in found)
    points = 2 * defined
    points += 2 * (text[: found[0].start()].strip("“”‘’\"'_ ").lower() in ("", "the"))
    points += max(min(len(one[0].split()), 3) for one in found)
    points -= (1 if defined > 1 else 2) * min(others, 3) + 2 * bool(re.match(r"[’']s?\b", text[found[0].end() :]))
    points -= min(len(re.findall(rf"\b{words.deictic}\b", text)), 3) if words else 0
    points -= text.startswith(("“", '"'))
    ending = text.rstrip("”’\"'")
    points -= 8 * ending.endswith("?") + 4 * ending.endswith("!")
    points -= 2 * (len(text) > LONGEST) + 6 * (len(text) < SHORT)
    return points


def defines(text: str, start: int, end: int, language: str) -> int:
    """Return how well a sentence defines the name from `start` to `end`."""
    before, after = text[:start], text[end : end + LONGEST]
    return sum(
        points
        for earlier, later, points in patterns_of(language)
        if (later is None or later.match(after)) and (earlier is None or earlier.search(before))
    )


def shorten(text: str) -> str:
    """Return a text of at most LONGEST characters: whole sentences of it, or its beginning."""
    if len(text) <= LONGEST:
        return text
    ends = [one.end() for one in re.finditer(r"\w{4,}[.!?][”’\"']?(?= )", text[: LONGEST + 1])]
    if ends:
        return text[: ends[-1]]
    begun = text[: LONGEST - 1]
    return (begun.rpartition(" ")[0] or begun).rstrip(",;:—- ") + "…"
