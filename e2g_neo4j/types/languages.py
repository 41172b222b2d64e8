"""What differs by language: its name, the analyzer of full-text indexes, and words in and around names.

Words are in lower case, and without full stops. Stop words are spaCy's.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

OTHER = "standard-no-stop-words"
"""The analyzer of languages without one. It has no stems."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language.

    Attributes:
        name: its English name.
        analyzer: the analyzer of Neo4j for it. `thai` is not used: without the locale data of a complete Java, it stops
            the database.
        capitals: whether names begin with a capital letter.
    """

    name: str
    analyzer: str = OTHER
    capitals: bool = True


LANGUAGES = {
    "ar": Language("Arabic", "arabic", capitals=False),
    "bg": Language("Bulgarian", "bulgarian"),
    "bn": Language("Bengali", capitals=False),
    "ca": Language("Catalan", "catalan"),
    "cs": Language("Czech", "czech"),
    "da": Language("Danish", "danish"),
    "de": Language("German", "german"),
    "el": Language("Greek", "greek"),
    "en": Language("English", "english"),
    "es": Language("Spanish", "spanish"),
    "et": Language("Estonian"),
    "eu": Language("Basque"),
    "fa": Language("Persian", capitals=False),
    "fi": Language("Finnish", "finnish"),
    "fr": Language("French", "french"),
    "ga": Language("Irish"),
    "gu": Language("Gujarati", capitals=False),
    "he": Language("Hebrew", capitals=False),
    "hi": Language("Hindi", "hindi", capitals=False),
    "hr": Language("Croatian"),
    "hu": Language("Hungarian", "hungarian"),
    "hy": Language("Armenian"),
    "id": Language("Indonesian"),
    "is": Language("Icelandic"),
    "it": Language("Italian", "italian"),
    "ja": Language("Japanese", "cjk", capitals=False),
    "kn": Language("Kannada", capitals=False),
    "ko": Language("Korean", "cjk", capitals=False),
    "la": Language("Latin"),
    "lt": Language("Lithuanian"),
    "lv": Language("Latvian", "latvian"),
    "mk": Language("Macedonian"),
    "ml": Language("Malayalam", capitals=False),
    "mr": Language("Marathi", capitals=False),
    "ms": Language("Malay"),
    "nb": Language("Norwegian", "norwegian"),
    "nl": Language("Dutch", "dutch"),
    "pl": Language("Polish"),
    "pt": Language("Portuguese", "portuguese"),
    "ro": Language("Romanian", "romanian"),
    "ru": Language("Russian", "russian"),
    "sk": Language("Slovak"),
    "sl": Language("Slovenian"),
    "sq": Language("Albanian"),
    "sr": Language("Serbian"),
    "sv": Language("Swedish", "swedish"),
    "ta": Language("Tamil", capitals=False),
    "te": Language("Telugu", capitals=False),
    "th": Language("Thai", capitals=False),
    "tr": Language("Turkish", "turkish"),
    "uk": Language("Ukrainian"),
    "ur": Language("Urdu", capitals=False),
    "vi": Language("Vietnamese"),
    "zh": Language("Chinese", "cjk", capitals=False),
}
"""The languages that are told apart, by their codes in spaCy. Words in and around names are in `name_words`."""


def name_of(language: str) -> str:
    """Return the English name of a language, or its code if there is none."""
    return LANGUAGES[language].name if language in LANGUAGES else language


def words_suffix(language: str) -> str:
    """Return the suffix of the full-text indexes of a language, by its code. Those of English have none."""
    return "" if language == "en" else _suffix(LANGUAGES[language].analyzer if language in LANGUAGES else OTHER)


def _suffix(analyzer: str) -> str:
    return f"_{analyzer.partition('-')[0]}"


ANALYZERS = {_suffix(one.analyzer): one.analyzer for one in LANGUAGES.values() if one.analyzer != "english"}
"""The analyzers of indexes with a suffix."""


def _words(text: str) -> frozenset[str]:
    """Return words, also as they are in keys of entities: without accents."""
    unaccented = "".join(one for one in unicodedata.normalize("NFD", text) if not unicodedata.combining(one))
    return frozenset(text.split()) | frozenset(unaccented.replace("œ", "oe").split())


@dataclass(frozen=True, slots=True)
class NameWords:
    """Words in and around names in a language.

    Attributes:
        men: titles of men.
        wives: titles of wives.
        married: further titles of married women.
        unmarried: titles of unmarried women.
        offices: titles of anybody.
        before_husbands_names: titles that may precede the full name of the husband, as in Mrs. Joe Gargery.
        before_given_names: titles that may precede a given name alone, as in Sir William or Miss Lucy.
        particles: what surnames may begin with.
        elisions: particles without a space after them, as in d'Artagnan.
        suffixes: what may follow a name.
        surnames_at_best: words that are not given names, but may end a name, as in Mary King.
        salutations: words that may precede any name of a person, as in Dear Miss Quill.
        not_in_names: words that no name of a person has.
        articles: words before common nouns, where these are written with a capital letter.
        calendar: months and days.
        noun_endings: endings of common nouns, likewise.
        possessive: the ending of a possessive without an apostrophe, as in Annas Haus.
        plurals: endings of the name of a family, as in the Bennets.
        hyphenated: whether two words with a hyphen are one given name, as in Jean-Baptiste.
    """

    men: frozenset[str] = frozenset()
    wives: frozenset[str] = frozenset()
    married: frozenset[str] = frozenset()
    unmarried: frozenset[str] = frozenset()
    offices: frozenset[str] = frozenset()
    before_husbands_names: frozenset[str] = frozenset()
    before_given_names: frozenset[str] = frozenset()
    particles: frozenset[str] = frozenset()
    elisions: tuple[str, ...] = ()
    suffixes: frozenset[str] = frozenset()
    surnames_at_best: frozenset[str] = frozenset()
    salutations: frozenset[str] = frozenset()
    not_in_names: frozenset[str] = frozenset()
    articles: frozenset[str] = frozenset()
    calendar: frozenset[str] = frozenset()
    noun_endings: tuple[str, ...] = ()
    possessive: str = ""
    plurals: tuple[str, ...] = ()
    hyphenated: bool = False

    @property
    def titles(self) -> frozenset[str]:
        """All titles."""
        return self.men | self.wives | self.married | self.unmarried | self.offices


_ENGLISH = NameWords(
    men=_words("mr mister sir lord master squire monsieur don herr signor signore senor baron"),
    wives=_words("mrs madame frau mme"),
    married=_words("lady madam dame signora senora"),
    unmarried=_words("miss mademoiselle fraulein mlle signorina senorita"),
    offices=_words(
        "ms dr doctor prof professor rev reverend captain capt colonel col major general gen lieutenant sergeant "
        "admiral count judge justice president senator governor inspector constable lawyer nurse parson bishop "
        "commander commodore superintendent detective corporal sheriff vicar rabbi"
    ),
    before_husbands_names=_words("mrs madame frau mme"),
    before_given_names=_words("sir lady lord dame miss madam master don"),
    particles=_words("van von der den de du la le di da del della dos ter"),
    suffixes=_words("jr sr junior senior esq esquire phd md"),
    surnames_at_best=_words(
        "poor old young little good fair sweet late friend husband wife cousin uncle aunt brother sister father mother "
        "son daughter king queen prince princess duke duchess earl emperor pope saint st"
    ),
    salutations=_words("dear dearest"),
    not_in_names=_words(
        "dear dearest papa mamma majesty god almighty messrs messieurs misses of for and the to in at on by with from "
        "meanwhile however then now but yet so still thus hence perhaps suddenly today yesterday also"
    ),
    calendar=_words(
        "january february march april may june july august september october november december "
        "monday tuesday wednesday thursday friday saturday sunday "
        "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun"
    ),
    plurals=("s", "es"),
)

_FRENCH = NameWords(
    men=_words("m monsieur sieur messire mr mister sir lord baron comte vicomte marquis chevalier abbé"),
    wives=_words("mme madame mrs"),
    married=_words("lady dame baronne comtesse vicomtesse marquise"),
    unmarried=_words("mlle mademoiselle miss"),
    offices=_words(
        "dr docteur pr professeur maître capitaine commandant colonel général lieutenant sergent amiral juge président "
        "présidente sénateur gouverneur inspecteur commissaire curé pasteur évêque rabbin"
    ),
    before_husbands_names=_words("mme madame mrs"),
    before_given_names=_words("sir lady lord dame mlle mademoiselle miss maître"),
    particles=_words("de du des la le les van von der den di da del della"),
    elisions=("d'",),
    suffixes=_words("jr junior"),
    surnames_at_best=_words(
        "pauvre vieux vieille jeune petit petite bon bonne feu ami amie mari femme cousin cousine oncle tante frère "
        "sœur père mère fils fille roi reine prince princesse duc duchesse empereur impératrice pape saint "
        "sainte st ste"
    ),
    salutations=_words("cher chère"),
    not_in_names=_words(
        "cher chère papa maman majesté dieu messieurs mesdames mesdemoiselles mm mmes et ou au aux à en dans par pour "
        "sur avec chez"
    ),
    calendar=_words(
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre "
        "lundi mardi mercredi jeudi vendredi samedi dimanche"
    ),
    hyphenated=True,
)

_GERMAN = NameWords(
    men=_words("herr herrn freiherr graf grafen baron junker mr mister sir lord monsieur"),
    wives=_words("frau mrs madame mme"),
    married=_words("gräfin baronin freifrau lady dame"),
    unmarried=_words("fräulein frl komtess miss mademoiselle mlle"),
    offices=_words(
        "dr doktor prof professor professorin hauptmann oberst major general leutnant feldwebel admiral kapitän "
        "richter richterin präsident präsidentin senator senatorin inspektor kommissar kommissarin pfarrer pfarrerin "
        "pastor bischof bürgermeister lehrer lehrerin schwester meister rabbiner"
    ),
    before_husbands_names=_words("mrs mme madame"),
    before_given_names=_words("sir lady lord junker fräulein miss schwester meister"),
    particles=_words("van von vom zu zum zur der den de du la le di da del della"),
    suffixes=_words("jr sr junior senior"),
    surnames_at_best=_words(
        "arme armer armen alte alter alten junge junger jungen kleine kleiner kleinen gute guter guten liebe lieber "
        "freund freundin mann vetter kusine base onkel tante bruder vater mutter sohn tochter könig königin "
        "prinz prinzessin herzog herzogin kaiser kaiserin papst sankt st"
    ),
    salutations=_words("liebe lieber liebste liebster"),
    not_in_names=_words("papa mama majestät gott herren und oder in im an am auf bei mit aus für nach des dem das"),
    articles=_words(
        "der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines "
        "mein meine meinen meinem meiner meines dein deine deinen deinem deiner deines "
        "sein seine seinen seinem seiner seines ihr ihre ihren ihrem ihrer ihres "
        "unser unsere unseren unserem unserer unseres euer eure euren eurem eurer eures "
        "dieser diese dieses diesen diesem jener jene jenes jenen jenem jeder jede jedes jeden jedem "
        "welcher welche welches welchen welchem alle allen aller zwei drei vier "
        "im am beim vom zum zur ins ans"
    ),
    calendar=_words(
        "januar februar märz april mai juni juli august september oktober november dezember "
        "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag"
    ),
    noun_endings=(
        "ung",
        "ungen",
        "heit",
        "heiten",
        "keit",
        "keiten",
        "schaft",
        "schaften",
        "tion",
        "tionen",
        "nis",
        "tät",
    ),
    possessive="s",
    hyphenated=True,
)

_NAME_WORDS = {"en": _ENGLISH, "fr": _FRENCH, "de": _GERMAN}

_NONE = NameWords()
"""For Chinese, jieba splits off what surrounds names."""


def name_words(language: str) -> NameWords:
    """Return the words in and around names in a language, by its code. Those of languages without a table are empty."""
    return _NAME_WORDS.get(language, _NONE)
