"""Which sentence says what an entity is: eight names, each with the sentence to choose first, by hand."""

from __future__ import annotations

import pytest

from e2g_neo4j.indexing.describing import LONGEST, names_pattern, rate, shorten

SENTENCES = {
    "Theodora Quill": [
        "Theodora Quill, a clockmaker of Lantry, made chronometers for the fleet.",
        "The captains asked for Theodora Quill, who never slept before noon.",
        "Theodora Quill closed the door of the workshop and went home.",
        "In the evening the door was closed by Theodora Quill and by others.",
    ],
    "Luke Farran": [
        "Luke Farran was the keeper of the lighthouse at Gannet Head.",
        "That night Luke Farran climbed the stairs again with a lamp.",
        "Did Luke Farran, the keeper of the lighthouse, see it?",
    ],
    "Tobias Fenn": [
        "They went to see their old friend Tobias Fenn about the money.",
        "Tobias Fenn was not at home when they came to see about it.",
    ],
    "Lantry": [
        "The fleet lay before the port of Lantry until the spring.",
        "The road to Lantry was closed for the whole of that winter.",
    ],
    "Hester": [
        "Only an old servant called Hester, deaf and stubborn, stayed behind.",
        "He called Hester into the room and told her to go away.",
    ],
    "Walter Crail": [
        "The manager of the works, Walter Crail, kept back all the coal.",
        "The works were closed, the coal was gone, and Walter Crail was ill.",
    ],
    "Orla Venn": [
        "Orla Venn visited her brother in the hospital every other week.",
        "Orla Venn's letters were found behind the clock in the hall.",
    ],
    "Josiah": [
        "Josiah is a stout, good-humoured man of fifty with a loud voice.",
        "Josiah was the first to rise from the table on that morning.",
        "Josiah, the time has come to speak of what you did on the ship.",
    ],
}


@pytest.mark.parametrize("name", SENTENCES)
def test_the_sentence_that_defines_is_chosen(name: str) -> None:
    best, *others = (rate(text, names_pattern([name]), 0, "en") or 0 for text in SENTENCES[name])
    assert best > max(others)


def test_other_languages_have_words_of_their_own_or_none() -> None:
    pattern = names_pattern(["Josef Klamm"])
    defining, other = (
        "Josef Klamm war ein Beamter des Schlosses und schwieg.",
        "Josef Klamm sah aus dem Fenster auf das Dorf.",
    )
    assert (rate(defining, pattern, 0, "de") or 0) > (rate(other, pattern, 0, "de") or 0)
    assert rate(defining, pattern, 0, "fi") == rate(other, pattern, 0, "fi")


def test_other_names_and_pronouns_say_less() -> None:
    pattern = names_pattern(["Luke Farran"])
    text = "Luke Farran climbed the stairs again with a lamp and looked out."
    points = [rate(text, pattern, others, "en") for others in range(5)]
    assert points == [4, 2, 0, -2, -2]
    assert rate(f"I saw that {text}", pattern, 0, "en") == 1, "it does not begin with the name, and has a pronoun"


def test_a_name_counts_where_it_is_a_word_and_is_read() -> None:
    assert rate("The Farrans went away from the house.", names_pattern(["Farran"]), 0, "en") is None
    assert rate(f"{'word ' * 60}and then came Luke Farran.", names_pattern(["Luke Farran"]), 0, "en") is None
    assert rate("He met Mr. (Farran) here.", names_pattern(["Mr. (Farran)"]), 0, "en") is not None


def test_a_description_is_short() -> None:
    assert shorten("A keeper.") == "A keeper."
    assert shorten(f"He met Mr. Crail at {'x' * 50} there. {'y' * 300}") == f"He met Mr. Crail at {'x' * 50} there."
    cut = shorten("word, " * 99)
    assert cut.endswith("word…")
    assert LONGEST - 9 < len(cut) <= LONGEST
    assert len(shorten("x" * 400)) <= LONGEST
