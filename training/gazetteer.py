"""Names that everybody knows, written down by hand: they type names of the treebank that carry no label."""

from __future__ import annotations

_LISTS = {
    "GPE": """afghanistan albania algeria america argentina armenia australia austria azerbaijan bahrain bangladesh
        belarus belgium bolivia bosnia botswana brazil britain bulgaria burma cambodia cameroon canada chile china
        colombia croatia cuba cyprus denmark ecuador egypt england estonia ethiopia fiji finland france georgia germany
        ghana greece guatemala haiti honduras hungary iceland india indonesia iran iraq ireland israel italy jamaica
        japan jordan kazakhstan kenya kuwait laos latvia lebanon liberia libya lithuania luxembourg malaysia mali malta
        mexico moldova mongolia morocco mozambique myanmar namibia nepal netherlands nicaragua nigeria norway oman
        pakistan palestine panama paraguay peru philippines poland portugal qatar romania russia rwanda scotland
        senegal serbia singapore slovakia slovenia somalia spain sudan sweden switzerland syria taiwan tanzania
        thailand tunisia turkey uganda ukraine uruguay uzbekistan venezuela vietnam wales yemen zambia zimbabwe
        u.s. us usa u.s.a. uk u.k. uae ussr alabama alaska arizona arkansas california colorado connecticut delaware
        florida hawaii idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan
        minnesota mississippi missouri montana nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah
        vermont virginia washington wisconsin wyoming ontario quebec alberta manitoba saskatchewan tx ca ny fl nj pa
        london paris berlin rome madrid vienna moscow tokyo beijing shanghai delhi mumbai calcutta chicago boston
        houston dallas austin atlanta seattle denver detroit miami philadelphia baghdad tehran kabul islamabad karachi
        cairo jerusalem gaza damascus beirut fallujah basra mosul tikrit najaf dublin edinburgh glasgow manchester
        liverpool birmingham oxford cambridge sydney melbourne toronto montreal vancouver ottawa bangkok hanoi manila
        jakarta seoul pyongyang istanbul ankara athens lisbon brussels amsterdam stockholm oslo copenhagen helsinki
        warsaw prague budapest zurich geneva milan venice florence naples barcelona munich frankfurt hamburg dubai
        portland phoenix tucson pittsburgh cleveland orlando tampa memphis nashville baltimore sacramento""",
    "LOC": """africa asia europe antarctica mars venus jupiter saturn mercury neptune uranus pluto atlantic pacific
        mediterranean himalayas alps andes caribbean scandinavia balkans""",
    "ORG": """enron microsoft google apple ibm intel nasa fbi cia nsa un nato eu al-qaeda hamas hezbollah fema epa ferc
        congress senate parliament pentagon honda toyota ford bmw nissan walmart wal-mart starbucks mcdonalds amazon
        ebay facebook twitter yahoo verizon comcast at&t gop bbc cnn reuters ap nbc abc cbs fox npr aclu isda""",
    "PRODUCT": """iphone ipod ipad windows linux android xbox playstation word excel outlook kindle firefox""",
    "PERSON": """bush obama clinton cheney rumsfeld saddam hussein putin blair reagan gandhi mandela einstein darwin
        newton jesus muhammad god allah john mary james robert michael william david richard joseph thomas charles
        daniel matthew anthony mark donald steven paul andrew joshua kenneth kevin brian george edward ronald timothy
        jason jeffrey ryan jacob gary nicholas eric jonathan stephen larry justin scott brandon benjamin samuel
        gregory frank alexander raymond patrick jack dennis jerry patricia jennifer linda elizabeth barbara susan
        jessica sarah karen lisa nancy betty margaret sandra ashley kimberly emily donna michelle carol amanda melissa
        deborah stephanie rebecca sharon laura cynthia dorothy amy kathleen angela shirley anna brenda pamela emma
        nicole helen samantha katherine christine debra rachel carolyn janet catherine maria heather diane ruth julie
        vince sara tana jeff kay mike jim bob tom bill steve chris dan""",
}
KINDS = {name: kind for kind, names in _LISTS.items() for name in names.split()}
KINDS |= dict.fromkeys(["united states", "united kingdom", "new york", "new zealand", "saudi arabia", "hong kong",
                        "los angeles", "san francisco", "new orleans", "las vegas", "north korea", "south korea",
                        "sri lanka", "south africa", "puerto rico", "washington dc", "washington d.c.", "san diego",
                        "great britain", "new jersey", "new mexico", "new delhi", "tel aviv"], "GPE")  # fmt: skip
KINDS |= dict.fromkeys(["middle east", "persian gulf", "west bank", "north america", "south america",
                        "gulf of mexico", "latin america"], "LOC")  # fmt: skip
