"""Coined names of organizations, events, places and works: the patterns such names follow, filled by chance."""

from __future__ import annotations

from random import Random

_LISTS = {
    "body": """Bulletin|Times|Herald|Gazette|Post|Tribune|Chronicle|University|College|Museum|Hospital|
        Bank|Airlines|Council|Orchestra|Symphony|Police Department|Fire Department|
        Chamber of Commerce|Historical Society|Zoo|Public Library|School District|Medical Center|
        Institute of Technology|State University|Stock Exchange|Railway|Electric Company|
        Football Association|Rugby Union|United|City Council|Board of Education|Press|Opera|Ballet|
        Art Gallery""",
    "office": """Ministry|Department|Bureau|Office|Board|Committee|Commission|Institute|Center|Centre|
        School|College|Faculty|Academy|Secretary|Society|Association|Federation|Council|Campaign|
        Foundation|Agency""",
    "field": """Health|Education|Agriculture|Trade|Labor|Energy|Defence|Foreign Affairs|Home Affairs|
        Public Works|Medicine|Science|Technology|Human Rights|Fine Arts|Music|Law|Economics|
        Food Safety|Human Services|Disease Control|Water Resources|Space Research|Child Welfare|
        Cancer Research|Natural History|Social Security|Finance""",
    "scope": """World|International|National|American|British|European|African|Asian|Royal|Federal|United|
        Central|Global|Australian|Canadian|Indian|Japanese|German|French|Chinese|Pan-American|
        Democratic|Republican|Liberal|Labour""",
    "group": """Organization|Organisation|Union|Party|Alliance|League|Front|Federation|Association|Bank|
        Fund|Committee|Congress|Agency|Forum|Court|Council|Institute|Society|Press|Service|
        Administration|Confederation|Athletic Association""",
    "firm": """Corporation|Company|Industries|Motors|Systems|Software|Pharmaceuticals|Records|Pictures|
        Studios|Entertainment|Gaming|Energy|Holdings|Group|Partners|Brothers|Foundation|Press|
        Technologies|Airlines|Foods|Bank|Inc|Ltd""",
    "contest": """Olympics|Marathon|Games|Open|Grand Prix|Film Festival|World Cup|Championship|Championships|
        Cup|Summit|Conference|Expo|Super Bowl|Paralympics|Jazz Festival|Derby|elections""",
    "ordeal": """War|Revolution|Rebellion|Crisis|Uprising|Campaign|Offensive|Accords|Riots|Earthquake|
        Massacre|Conference""",
    "building": """Airport|International Airport|Bridge|Cathedral|Palace|Castle|Station|Stadium|Tower|Hall|
        Square|Park|Museum of Art|Music Hall|Hotel|Street|Avenue|Road|Theatre|Opera House|
        High School|Library|Abbey|Market""",
    "nature": """River|Mountains|Valley|Bay|Island|Islands|Peninsula|Desert|Hills|Sea|Falls|Forest|Coast|
        Canyon|Reef""",
    "quality": """Red|Black|White|Golden|Silent|Secret|Last|Lost|Dark|Broken|Hidden|Long|Perfect|Little|
        Great|Wild|Blue|Digital|Invisible|Sweet|Final|Burning|Midnight|Strange|Modern""",
    "theme": """Night|River|Garden|Kingdom|Dream|Heart|Road|House|World|Summer|Winter|Star|City|Game|
        Life|Love|Shadow|Story|Song|Empire|Island|Mirror|Storm|Destruction|Domain|Prophet|
        Stranger|Sea|Moon""",
    "series": """Galaxy|Pixel|Falcon|Model|Boeing|Type|Mark|Airbus|Nova|Atlas|Core|Series|Version|
        PlayStation|Windows""",
}  # fmt: skip
_WORDS = {name: [word.strip() for word in words.split("|")] for name, words in _LISTS.items()}

_PATTERNS = {
    "ORG": [
        "{place} {body}", "{place} {body}", "{scope} {group}", "{scope} {field} {group}", "{office} of {field}",
        "{office} for {field}", "{office} of {field} and {field}", "University of {place}", "Bank of {place}",
        "{person} {firm}", "{person} {firm}", "{person} & {person}", "{quality} {theme} {firm}", "{theme} {firm}",
        "{scope} {group} of {place}", "{field} {group}", "{field} {office} {place}", "{place} {place} {body}",
    ],
    "EVENT": [
        "{place} {contest}", "{year} {place} {contest}", "{year} {contest}", "Battle of {place}", "Siege of {place}",
        "{place} {ordeal}", "{scope} {ordeal}", "{scope} Civil War", "Treaty of {place}", "Cyclone {person}",
        "Hurricane {person}", "World War II", "World War I", "{scope} {contest}", "{place} Festival",
    ],
    "FAC": ["{person} {building}", "{place} {building}", "{quality} {building}", "St. {person} Church"],
    "LOC": ["{person} {nature}", "{quality} {nature}", "Lake {person}", "Mount {person}", "Cape {person}",
            "Gulf of {place}", "Bay of {place}"],
    "GPE": ["Port {person}", "Saint {person}", "New {place}", "{person} County", "{quality} Hill", "North {place}",
            "South {place}", "{person}ville", "{person}ton", "Republic of {place}"],
    "WORK_OF_ART": [
        "The {quality} {theme}", "{quality} {theme}", "The {theme} of the {theme}", "{person}'s {theme}",
        "{theme} of {place}", "A {quality} {theme}", "{theme} and {theme}", "The {theme}", "The {person} {theme}",
        "{person} and the {quality} {theme}",
    ],
    "PRODUCT": ["{series} {number}", "{series} X{number}", "{person} {number}", "{series} {person}"],
}  # fmt: skip


def coined_names(people: list[str], places: list[str], random: Random, of_each: int) -> list[tuple[str, str]]:
    """Pairs of label and name, `of_each` for every label. `people` and `places` are single words to build with."""
    made = []
    for label, patterns in _PATTERNS.items():
        for _ in range(of_each):
            name = random.choice(patterns)
            for slot in ("person", "place", *_WORDS):
                while f"{{{slot}}}" in name:
                    words = {"person": people, "place": places}.get(slot) or _WORDS[slot]
                    name = name.replace(f"{{{slot}}}", random.choice(words), 1)
            name = name.replace("{year}", str(random.randint(1850, 2025)))
            made.append((label, name.replace("{number}", str(random.randint(1, 99)))))
    return made
