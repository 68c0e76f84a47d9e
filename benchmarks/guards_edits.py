"""False edits of real sentences for `benchmarks.guards_named`, by kind.

Each edit takes a sentence and gives the edited one, or None where it does not apply. The edits are
written apart from the guards' own lists and patterns, on purpose.
"""

import re
from collections.abc import Callable, Mapping
from random import Random

Edit = Callable[[str, Random], str | None]

VALUE = r"\d+(?:\.\d+)?\s?(?:%|months?|years?|days?|points?)?"
_SHARE = r"\d+(?:\.\d+)?\s?%"
_PAIR = re.compile(
    rf"(?<![\w.,-])(?P<a>{_SHARE})(?P<between>[^.;\d()]*?[a-z]{{4,}}[^.;\d()]*?"
    r"\b(?:vs\.?|versus|compared (?:with|to)|and|whereas|while)\b[^.;\d()]{0,60}?)"
    rf"(?<![\w.,-])(?P<b>{_SHARE})(?![\w.,%-]|\s*(?:CI|confidence))"
)
_SIDES = re.compile(
    rf"(?<![\w.,-])(?P<a>{_SHARE})(?P<between>,? (?:vs\.?|versus|compared (?:with|to)) )"
    rf"(?P<b>{_SHARE})(?![\w.,%-]|\s*(?:CI|confidence))"
)
_NP = (
    r"(?:the\s+)?[A-Za-z][\w-]*"
    r"(?:\s+(?!than|and|in|with|for|was|were|at|to|by|on|who|had|after|of|following)[A-Za-z][\w-]*)"
    r"{0,2}"
)
_THAN = re.compile(
    rf"\b(?P<p>with|in|for|among)\s+(?P<a>{_NP})\s+(?P<mid>than\s+(?:with|in|for|among)\s+)(?P<b>{_NP})(?=[\s,.;(]|$)"
)
_BESIDE = re.compile(
    r"(?:higher|lower|reduced|improved|increased|superior|better|longer)[^.;,]{0,60}"
    r"\b(?:in|with|for|by) (?:the )?(?P<a>[a-z][a-z-]{4,}(?: (?:group|therapy|arm))?) "
    r"(?P<mid>vs\.?|versus|compared (?:with|to)) (?:the )?"
    r"(?P<b>[a-z][a-z-]{4,}(?: (?:group|therapy|arm))?)(?=[,.;(]|$)"
)
_SUPERIOR = re.compile(
    r"\b(?P<a>[A-Za-z][\w-]{4,})(?P<mid>\s+(?:was|were|is|are)\s+[\w-]*\s*(?:superior|inferior)\s+to\s+)(?P<b>[A-Za-z][\w-]{4,})"
)


def _exchanged(pattern: re.Pattern[str]) -> Edit:
    def edit(sentence: str, _: Random) -> str | None:
        match = pattern.search(sentence)
        if match is None or match["a"].strip().lower() == match["b"].strip().lower():
            return None
        a, b = match.span("a"), match.span("b")
        middle = sentence[a[1] : b[0]]
        return sentence[: a[0]] + match["b"] + middle + match["a"] + sentence[b[1] :]

    return edit


def replaced(pairs: Mapping[str, str], *, both: bool = True) -> Edit:
    """An edit that puts one word of `pairs` for the other, with `both` in either direction."""
    pairs = {old.lower(): new for old, new in pairs.items()}
    table = pairs | ({new.lower(): old for old, new in pairs.items()} if both else {})
    words = "|".join(re.escape(word) for word in sorted(table, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)

    def edit(sentence: str, rng: Random) -> str | None:
        found = list(pattern.finditer(sentence))
        if not found:
            return None
        match = rng.choice(found)
        new = table[match.group().lower()]
        # Where the sentence has both, the edit may be no change of meaning.
        if re.search(rf"(?i)(?<!\w){re.escape(new)}(?!\w)", sentence):
            return None
        new = new.capitalize() if match.start() == 0 else new
        return sentence[: match.start()] + new + sentence[match.end() :]

    return edit


def _invented_number(sentence: str, rng: Random) -> str:
    kind = rng.choice(
        ["NCT0%07d", "PMID 3%07d", "ISRCTN%08d", "10.1056/NEJMoa%07d", "ACTRN126%011d"]
    )
    return f"{sentence.rstrip('. ')} ({kind % rng.randint(1000, 9_999_999)})."


def _changed_identifier(sentence: str, rng: Random) -> str | None:
    match = re.search(r"(?:NCT|ISRCTN|ACTRN|UMIN)\d{6,}", sentence)
    if match is None:
        return None
    at = rng.randrange(match.end() - 6, match.end())
    return sentence[:at] + str((int(sentence[at]) + 1) % 10) + sentence[at + 1 :]


def _other_trial(sentence: str, rng: Random) -> str:
    trial = rng.choice(
        ["COBRA", "CIRCULATE-US", "GALAXY", "ARISTOTLE", "RE-LY", "FOURIER", "SPRINT"]
    )
    return f"In the {trial} trial, {sentence[0].lower()}{sentence[1:]}"


def _wrong_pair(sentence: str, rng: Random) -> str:
    pair = rng.choice(
        [
            "DYNAMIC (NCT04264702)",
            "GALAXY (NCT04068103)",
            "CIRCULATE-US (NCT04264702)",
            "BESPOKE CRC (NCT05174169)",
            "COBRA (NCT04120701)",
        ]
    )
    return f"In {pair}, {sentence[0].lower()}{sentence[1:]}"


def _recommended(sentence: str, rng: Random) -> str:
    body = rng.choice(
        ["NCCN recommends", "ASCO states", "According to the FDA,", "ESMO recommends"]
    )
    return f"{body} that {sentence[0].lower()}{sentence[1:]}".replace(", that", ",")


def _versioned(sentence: str, rng: Random) -> str:
    return f"According to version {rng.randint(1, 6)}.2024, {sentence[0].lower()}{sentence[1:]}"


def _other_year(sentence: str, rng: Random) -> str | None:
    found = list(
        re.finditer(
            r"(?<![\w.,/-])(?:19[5-9]|20[0-2])\d(?![\w.,]\d|\w|\s+(?:patients|women))", sentence
        )
    )
    if not found:
        return None
    match = rng.choice(found)
    new = str(int(match.group()) + rng.choice([-2, -1, 1, 2]))
    return None if new in sentence else sentence[: match.start()] + new + sentence[match.end() :]


# fmt: off
_MONTHS = [
    "January", "February", "March", "April", "June", "July", "August", "September", "October",
    "November", "December",
]
# fmt: on


def _other_month(sentence: str, rng: Random) -> str | None:
    match = re.search(rf"\b(?:{'|'.join(_MONTHS)})\b(?=\s+\d|,)", sentence)
    if match is None:
        return None
    new = rng.choice([month for month in _MONTHS if month not in sentence])
    return sentence[: match.start()] + new + sentence[match.end() :]


def _turned_range(sentence: str, _: Random) -> str | None:
    match = re.search(
        r"\b(?P<a>(?:19|20)\d\d)(?P<mid> (?:to|through) )(?P<b>(?:19|20)\d\d)\b", sentence
    )
    if match is None or match["a"] == match["b"]:
        return None
    return (
        sentence[: match.start()] + match["b"] + match["mid"] + match["a"] + sentence[match.end() :]
    )


_DOSE = re.compile(
    r"(?<![\w.,/-])(?P<n>\d+(?:\.\d+)?)(?P<gap>\s?)(?P<u>mg/kg|mg/m2|mg|g|mcg|IU)(?![\w/])"
)


def _other_dose(sentence: str, rng: Random) -> str | None:
    match = _DOSE.search(sentence)
    if match is None:
        return None
    new = f"{float(match['n']) * rng.choice([2, 0.5, 10]):g}"
    if re.search(rf"(?<!\d){re.escape(new)}(?!\d)", sentence):
        return None
    return sentence[: match.start("n")] + new + sentence[match.end("n") :]


def _other_unit(sentence: str, _: Random) -> str | None:
    match = _DOSE.search(sentence)
    if match is None:
        return None
    new = {"mg/kg": "mg/m2", "mg/m2": "mg/kg", "mg": "mg/kg", "g": "mg", "mcg": "mg", "IU": "mg"}[
        match["u"]
    ]
    return sentence[: match.start("u")] + new + sentence[match.end("u") :]


# fmt: off
_DRUGS = [
    "aspirin", "clopidogrel", "warfarin", "apixaban", "metformin", "cisplatin", "paclitaxel",
    "docetaxel", "tamoxifen", "letrozole", "gefitinib", "imatinib", "rituximab",
    "trastuzumab", "bevacizumab", "ibuprofen", "simvastatin", "atorvastatin", "rosuvastatin",
    "prednisolone", "morphine", "ketamine", "insulin", "glargine", "sitagliptin",
    "liraglutide", "doxorubicin", "gemcitabine", "oxaliplatin", "capecitabine",
    "lenalidomide", "omeprazole", "amoxicillin", "azithromycin", "ciprofloxacin",
    "fluconazole", "fluoxetine", "sertraline", "risperidone", "olanzapine", "lamivudine",
    "zidovudine", "nevirapine", "artemether", "chloroquine", "amlodipine", "lisinopril",
    "losartan", "valsartan", "atenolol", "carvedilol", "spironolactone", "furosemide",
    "methotrexate", "infliximab",
]
# fmt: on
_DRUG = re.compile(rf"\b(?:{'|'.join(_DRUGS)})\b", re.IGNORECASE)


def _other_drug(sentence: str, rng: Random) -> str | None:
    match = _DRUG.search(sentence)
    if match is None:
        return None
    new = rng.choice([drug for drug in _DRUGS if drug not in sentence.lower()])
    return sentence[: match.start()] + new + sentence[match.end() :]


def _swapped_doses(sentence: str, _: Random) -> str | None:
    found = list(_DOSE.finditer(sentence))
    drugs = {match.group().lower() for match in _DRUG.finditer(sentence)}
    if len(found) < 2 or len(drugs) < 2 or found[0].group() == found[1].group():
        return None
    a, b = found[:2]
    between = sentence[a.end() : b.start()]
    if not _DRUG.search(between) and not _DRUG.search(sentence[b.end() :]):
        return None
    return sentence[: a.start()] + b.group() + between + a.group() + sentence[b.end() :]


def _dropped_subgroup(sentence: str, _: Random) -> str | None:
    match = re.match(
        r"(?:In|Among|For) (?:the subgroup of |a subset of )?"
        r"(?:patients|women|men|participants|those) "
        r"(?:with|who|aged|whose) [^,;()]{4,60}, (?P<rest>[^,].{30,})",
        sentence,
    )
    return match["rest"][0].upper() + match["rest"][1:] if match else None


_ROMAN = re.compile(r"(?<=[Ss]tage )(?:III|II|IV|I)(?![\w/-]| (?:and|or|to))")


def _other_stage(sentence: str, _: Random) -> str | None:
    match = _ROMAN.search(sentence)
    if match is None:
        return None
    new = {"I": "II", "II": "III", "III": "II", "IV": "III"}[match.group()]
    return sentence[: match.start()] + new + sentence[match.end() :]


FALSE: Mapping[str, tuple[str, Edit]] = {
    "values swapped": ("arms", _exchanged(_PAIR)),
    "values swapped (side by side)": ("arms", _exchanged(_SIDES)),
    "arms swapped (than)": ("arms", _exchanged(_THAN)),
    "arms swapped (versus)": ("arms", _exchanged(_BESIDE)),
    "winner swapped": ("arms", _exchanged(_SUPERIOR)),
    "other comparator": (
        "arms",
        replaced(
            {
                "placebo": "aspirin",
                "usual care": "placebo",
                "controls": "placebo",
                "standard care": "placebo",
            },
            both=False,
        ),
    ),
    "sex": ("population", replaced({"women": "men", "female": "male", "girls": "boys"})),
    "age": (
        "population",
        replaced({"children": "adults", "infants": "adolescents", "elderly": "young"}),
    ),
    "stage": ("population", _other_stage),
    "status": (
        "population",
        replaced({"positive patients": "negative patients", "-positive": "-negative"}),
    ),
    "disease": (
        "population",
        replaced(
            {
                "breast cancer": "lung cancer",
                "type 2 diabetes": "type 1 diabetes",
                "heart failure": "atrial fibrillation",
                "asthma": "COPD",
                "prostate cancer": "ovarian cancer",
            }
        ),
    ),
    "organism": ("population", replaced({"mice": "rats", "humans": "mice"}, both=False)),
    "line, menopause": (
        "population",
        replaced(
            {
                "first-line": "second-line",
                "postmenopausal": "premenopausal",
                "metastatic": "early-stage",
                "adjuvant": "neoadjuvant",
            }
        ),
    ),
    "subgroup dropped": ("population", _dropped_subgroup),
    "identifier invented": ("named", _invented_number),
    "identifier changed": ("named", _changed_identifier),
    "trial planted": ("named", _other_trial),
    "trial and number mismatched": ("named", _wrong_pair),
    "organization planted": ("named", _recommended),
    "version planted": ("named", _versioned),
    "year": ("dates", _other_year),
    "month": ("dates", _other_month),
    "range turned": ("dates", _turned_range),
    "dose": ("drugs", _other_dose),
    "unit": ("drugs", _other_unit),
    "frequency": (
        "drugs",
        replaced(
            {
                "once daily": "twice daily",
                "weekly": "daily",
                "every 3 weeks": "every 2 weeks",
                "three times daily": "once daily",
                "monthly": "weekly",
            }
        ),
    ),
    "route": (
        "drugs",
        replaced({"oral": "intravenous", "orally": "intravenously", "subcutaneous": "intravenous"}),
    ),
    "drug": ("drugs", _other_drug),
    "doses swapped": ("drugs", _swapped_doses),
}
