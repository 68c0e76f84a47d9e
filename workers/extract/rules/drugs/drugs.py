"""Drugs with their dose, route and frequency. Whether they are taken, `medicines` says. Pure."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from math import inf
from typing import NamedTuple

from workers.extract.fields import Found
from workers.extract.patients import patients
from workers.extract.rubrics import alternatives
from workers.extract.rules.drugs.drug_names import drugs_named
from workers.extract.rules.laboratory.lab_parts import lab_named
from workers.extract.rules.texts.numbers import sure_number
from workers.extract.values import Medication

_FORM = (
    r"(?:tablets?|tabs?\.?|capsules?|caps?\.?|inj(?:ection)?\.?|syrup|syp\.?|suspension|"
    r"solution|inhaler|cream|ointment|drops?)"
)
_CHANGED = (
    r"(?:(?:increas|decreas|reduc|rais|chang|adjust|taper|titrat|up-?titrat|wean|lower)ed|cut)"
    r"(?:\s++(?:up|down|back|further))?"
)
_CHANGE = r"(?:increase|decrease|reduce|raise|change|adjust|taper|titrate|wean|lower)"
_TO = (
    r"(?:dose\s++)?(?:(?:was|is|were|has\s++been|to\s++be)\s++)?"
    rf"(?:(?:{_CHANGED}|{_CHANGE})\s++)?(?:from|to)\s++"
)
_FIGURE = (
    r"(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|(?:0,\d{1,4}|\d+,\d{1,2})(?!\d)|\d+(?:\.\d+)?|"
    r"(?<![^\s(-])\.\d{1,4})"
)
_DOSE = (
    rf"(?P<dose>{_FIGURE}(?:/\d+(?:[.,]\d+)?)?)\s*+"
    rf"(?:(?:-|–|—|to)\s*+(?P<most>{_FIGURE})\s*+)?"
    r"(?P<unit>(?:mg|mcg|microg(?:rams?)?|units?|iu|grams?|g)\s?/\s?(?:\d{1,3}(?:\.\d)?\s?)?ml|meq|mg/m2|mg/m²|mg/kg|mg|microg(?:rams?)?|milligrams?|grams?|mcg|µg|ug|g|units?|iu|ml|mL|tsp|tsf|teaspoon(?:ful)?s?|%)"
    r"(?:/(?:dose|act(?:uation)?|puff|spray|inhalation|tab(?:let)?|cap(?:sule)?|vial|amp(?:oule)?|sachet)(?![a-z])|/\d{1,4}(?:\.\d{1,3})?\s?(?:mg|mcg|g)(?![a-z/]))?+"
    r"(?![A-Za-z/]|\s*+/\s*+d?l|\s++(?:of\s++)?(?:p?rbcs?|rcc|blood|ffp|plasma|platelets|packed)\b)"
)
_DAY = r"(?:mon|tues?|wed(?:nes)?|thurs?|thu|fri|sat(?:ur)?|sun)(?:day)?"
_AND = r"(?:\s*+[,/&]\s*+(?:and\s++)?|\s++(?:and|to|through)\s++|\s?[-–]\s?)"
_DAYS = (
    rf"(?:(?:every|each)\s++{_DAY}s?(?:{_AND}{_DAY}s?){{0,6}}+|(?:on\s++)?{_DAY}s?(?:{_AND}{_DAY}s?){{1,6}}+|"
    rf"(?:on\s++)?(?<![a-z])(?:{_DAY})(?<=day)s)"
)
"""Days of the week on which a drug is taken; one day alone ("on Monday") is none of every week."""
_TIMES = r"(?:\d{1,2}(?:\s?(?:-|–|to|or)\s?\d{1,2})?|one|two|three|four|five|six)"
_A_DAY = r"(?:daily|weekly|monthly|nightly|(?:a|per|each|every)\s++(?:day|week|month))"
_OFTEN = (
    rf"(?:(?:(?:once|twice|thrice)(?:\s++or\s++twice)?|(?:up\s++to\s++)?{_TIMES}\s*+(?:times|x))\s*+{_A_DAY}|"
    rf"once\s++every\s++\w+|every\s++(?:{_TIMES}|\w+)\s++(?:hours?|hrs?|days?|weeks?|months?)|"
    r"(?:every|each)\s++(?:other\s++|second\s++|third\s++)?(?:morning|evening|night|day|week|month)|"
    r"(?:in\s++the|at)\s++(?:mornings?|evenings?|noon)|(?:on\s++)?alternate\s++days|"
    r"(?:before|after|with|at)\s++(?:breakfast|lunch|dinner|supper|tea|bed)(?:time)?|"
    r"at\s++\d{1,2}(?::\d\d)?\s?[ap]\.?m\.?|"
    r"q\s?\d+(?:\s?-\s?\d+)?\s?h(?:rs?)?|qam|qpm|qhs|qd|qod|od|b\.?i\.?d\.?|t\.?i\.?d\.?|q\.?i\.?d\.?|b\.?d\.?|"
    r"t\.?d\.?s\.?|q\.?d\.?s\.?|nocte|mane|o\.m\.|o\.n\.|o[mn](?=\s*+(?:[,;|\n]|$))|fortnightly|hs|prn|nightly|at\s++(?:bedtime|night)|daily|weekly|monthly|as\s++needed|stat|"
    rf"[0-4½]\s?-\s?[0-4½]\s?-\s?[0-4½](?:\s?-\s?[0-4½])?(?!\s?-?\d)|"
    rf"once(?!\s++(?:every|daily|weekly|monthly|nightly|a|per|in|or)\b))(?![a-z])(?:\s++(?:on\s++)?{_DAYS}(?![a-z]))?+"
)
_OFTEN = rf"(?:{_OFTEN}|{_DAYS}(?![a-z]))"
_ROUTE = r"(?P<route>p\.?o\.?|p/o|s/c|i/v|i/m|p/r|by\s++mouth|orally|oral|i\.?v\.?|" \
         r"intravenous(?:ly)?|s\.?c\.?|subq|subcut(?:aneous(?:ly)?)?|i\.?m\.?|" \
         r"intramuscular(?:ly)?|topical(?:ly)?|sublingual(?:ly)?|inhaled|pr|" \
         r"rectal(?:ly)?)"  # fmt: skip
_DRUG = re.compile(
    rf"(?im)(?:^[ \t]*+"
    rf"(?:(?:\|[ \t]*+)?(?:\d{{1,2}}(?:[.)]|[ \t]*+\||(?=[ \t]{{2}}))|#\d{{1,2}}[.):]?|[-•*|])"
    rf"[ \t]*+)?|"
    rf"(?<=[;,:|\]])\s*+|(?<=\t)(?=[A-Za-z])|"
    rf"(?<=\.)\s++|(?<=\w\s[-–])\s++|\band\s++|"
    rf"\bon\s++|\bof\s++|\bgiven\s++|\bprescribed\s++|\bcontinue\s++|\bstart(?:ed)?\s++|\btakes?\s++|\bgive\s++|\brx:?\s++|"
    r"\b(?:stop|taking)\s++|(?:\b(?:switched|changed)|(?<=\dmg)|(?<=\d mg))\s++to\s++|"
    r"\b(?:replaced|substituted)\s++(?:by|with)\s++)"
    rf"(?:{_FORM}\s++)?"
    r"(?P<name>[A-Za-z][A-Za-z\-]{2,30}(?:(?<=-)[A-Z]\d{1,2})?"
    r"(?:[ /](?:[A-Za-z][A-Za-z\-]{2,20}|[A-Z]\d{1,2})){0,2}?)"
    r"(?:\s++(?:m/r|MR|SR|XL|XR|ER|LA|CR|EC|IR|HFA))?"
    rf"(?:\s*+\((?P<also>[A-Za-z][A-Za-z0-9 /.®-]{{1,30}})\))?"
    rf"(?:\s*+[,:|]\s++|\s++[-–—]\s++|\s++\((?=\d)|\s++)(?:{_FORM}\s++)?"
    rf"(?P<change>{_TO})?{_DOSE}"
)
_DOSE_ALONE = re.compile(rf"(?i)\A{_DOSE}")
CALLED = re.compile(
    rf"(?i)(?:(?P<form>{_FORM})\s++)?"
    r"(?P<name>[a-z][a-z0-9/+-]{1,60}+(?: [a-z][a-z0-9+-]{1,60}+)?)"
    rf"(?=\s*+(?:$|[,;(–-]|\d)|\s++(?:{_FORM}|{_OFTEN}|{_ROUTE})(?![a-z]))"
    r"(?:\s(?P<dose>\d{2,4}(?:\.\d)?|[5-9]|\d\.\d{1,2})(?=\s(?!\s*+[-–])|$|,))?"
)
"""An entry of a list that begins as that of a drug does: form, name, strength without a unit."""
_NOT_A_DRUG = re.compile(
    r"(?i)^(?:approximately|about|of|and|the|with|total|dose|blood|fluid|received|given|"
    r"weight|loss|"
    r"measuring|hemoglobin|creatinine|glucose|albumin|was|is|"
    r"(?:sodium|potassium|calcium)(?!\s(?!levels?\b|today\b)[a-z]{5,40}\b)|"
    r"contrast|ebl|estimated|admission|arrival|discharge|transfer|presentation|sats?|spo2|saturations?|fio2|oxygen)\b"
)
_TIMES_AHEAD = re.compile(rf"(?i)^{_OFTEN}\s++(?P<and>and\s++)?")
_FORM_OR_ROUTE = re.compile(rf"(?i){_FORM}|{_ROUTE}")
_SIG = re.compile(r"(?i)\bsig\s?:[^\n]{0,40}$|\bsig\s?:\s*+$")
_SIG_REACH = 60
_UNITS = {"meq": "mEq", "microgram": "mcg", "microg": "mcg", "milligram": "mg", "gram": "g"}
_STRENGTH = re.compile(
    r"(?i)\s{0,5}(?:cream|ointment|powder|solution|gel|lotion|drops|spray|shampoo|paste|foam|patch)\b"
)
"""Behind a share: it is the strength of something that is put on."""
_VOLUMES = frozenset(["ml", "%"])
_MOST_DOSE = {"g": 100.0, "%": 100.0}
"""The most of a dose by unit: more is the weight of a newborn or an organ (ours)."""
_CHANGED_TO = re.compile(
    rf"(?i)\s{{0,40}}+(?:{_OFTEN}\s*+)?(?:,\s*+)?(?:(?:and|then|dose|was|is|has\s++been|now)\s++){{0,6}}+"
    rf"(?:(?:(?P<sure>{_CHANGED})\s++)?to\s++|(?P<arrow>-{{1,9}}>|→)\s*+){_DOSE}"
)
_SENTENCE_END = re.compile(r"[;\n]|\.\s++(?=[A-Z])")
_NEXT_DOSE = re.compile(r"(?i)(?<![\d.,/(])\d[\d.,]*+\s*+(?:mg|mcg|µg|ug|g|units?|iu)(?![a-z])")
_REACH = 90
"""Characters behind a dose in which its frequency ends (ours)."""
_AS_WORDS = r"(?!(?:and|plus|with|then|but|or|not)\b)[\w-]++"
_SAID = re.compile(
    rf"(?i)(?<![a-z])(?P<freq>{_OFTEN})(?!\s*+,?\s*+(?:except|but\b|(?:and|or)\s++{_OFTEN}))|"
    rf"(?<![a-z]){_ROUTE}(?![a-z])|"
    rf"\((?!\s*+(?:{_OFTEN}|{_ROUTE.replace('?P<route>', '?:')})(?![a-z]))[^()\n]{{1,40}}\)|"
    r"[\s,:|().–-]|"
    rf"(?:(?:\d{{1,2}}|half|one|two|three|an?|each)\s++)?{_FORM}(?![a-z])|(?:1|one)(?=\s++{_OFTEN})|"
    rf"(?:{_TIMES}\s++)?(?:puffs?|sprays?|sachets?|patch(?:es)?|inh)(?![a-z])|"
    rf"(?:mdi|dpi|accuhaler|turbohaler|via\s++(?:a\s++)?spacer)(?![a-z])|i{{1,3}}(?=\s++{_OFTEN})|"
    rf"(?:for|x)\s*+\d{{1,3}}\s*+(?:days?|weeks?|months?)\b|"
    rf"for\s++(?:{_AS_WORDS}\s++){{1,3}}?(?={_OFTEN})|"
    r"(?:takes?|taking|to\s++be\s++taken|given?|sig|er|xr|xl|sr|cr|ec|la|dose|"
    r"(?:extended|sustained|delayed|immediate|modified)[\s-]release|enteric[\s-]coated|chewable|"
    r"(?:with|before|after)\s++(?:food|meals?|breakfast|lunch|dinner|water|milk))(?![a-z])"
)
"""What a rule reads behind a dose: times, routes, forms, and words that change neither."""


@cache
def _ahead() -> re.Pattern[str]:
    """A word in front of a drug that is no part of its name."""
    policy = patients()
    words = alternatives(policy.medicines.before_the_name + policy.relatives.every)
    return re.compile(rf"(?i)^(?:{_FORM}|{words})\s++")


@cache
def _verb() -> re.Pattern[str]:
    """A verb of taking or telling, with all before it ("father took")."""
    words = patients()
    told = (*words.medicines.taken, *words.medicines.refused, *words.companions)
    return re.compile(
        rf"(?i)^.*?\b(?:{alternatives(tuple(one for one in told if ' ' not in one))})\s++"
    )


def _drug(name: str) -> str:
    """The drug without verbs, forms, relatives and times in front of it."""
    while match := _ahead().match(name) or _verb().match(name) or _TIMES_AHEAD.match(name):
        name = name[match.end() :]
    return name.strip()


@cache
def _no_name() -> frozenset[str]:
    """Words that no drug's name ends in: verbs and prepositions."""
    words = patients().medicines
    every = {*words.before_the_name, *words.taken, *words.refused, *words.ended}
    return frozenset(one for one in every if not _FORM_OR_ROUTE.fullmatch(one))


class _Named(NamedTuple):
    """A drug with its first dose."""

    match: re.Match[str]
    name: str
    start: int
    ahead: int
    """Where the words before it end: a time in front of it may be either's."""


def _named(match: re.Match[str]) -> _Named | None:
    """The drug of a match; None where its words are no drug's."""
    words = match["name"]
    name = _drug(words)
    if _NOT_A_DRUG.match(name) or name.lower().split()[-1] in _no_name():
        return None
    if lab_named(name) and told(match.string[match.end() : match.end() + _REACH])[0] is None:
        # "vitamin B12 1000 mcg daily" is taken, "vitamin B12 188 pg" is measured
        return None
    if match["change"] and match["unit"].lower() in _VOLUMES:
        return None
    if match["unit"] == "%" and not (
        drugs_named(name) or _STRENGTH.match(match.string, match.end())
    ):
        return None
    if _SIG.search(match.string, max(0, match.start() - _SIG_REACH), match.start("name")):
        # "Sig: Inject 0.5 mg" says how what stands before it is taken
        return None
    if match["unit"] == "G" and "\n" in match.string[match.end("dose") : match.start("unit")]:
        # "ECOG  1", and in the next line "G. Eligible"
        return None
    start = match.start("name") + words.find(name)
    if _is_the_drug(match["also"]) and not drugs_named(name):
        # "Ecosprin (aspirin) 75 mg": the brand stands before its drug
        name = match["also"]
    time = _TIMES_AHEAD.search(words)
    ahead = start if time is None or time["and"] else match.start("name") + time.start()
    return _Named(match, name, start, ahead)


def _is_the_drug(words: str | None) -> bool:
    """Whether words are the name of one drug and nothing else."""
    told = drugs_named(words) if words else ()
    return words is not None and [(one.start, one.end) for one in told] == [(0, len(words))]


def medications(text: str) -> Iterator[Found]:
    """Drugs with a dose, and route and frequency where nothing unread stands before them."""
    named = [one for match in _DRUG.finditer(text) if (one := _named(match)) is not None]
    for one, later in zip_longest(named, named[1:]):
        given = _given(text, one.match)
        dose, dose_to = _doses(given)
        if dose is None or (
            given is not one.match
            and not (given["sure"] or given["arrow"])
            and not one.match["change"]
        ):
            continue
        rest = _own_words(text, given, later.ahead if later else len(text))
        frequency, route, end = _by_sig(text, given.end()) or told(rest)
        value = Medication(
            name=one.name,
            dose=dose,
            dose_to=dose_to,
            unit=_unit(given),
            route=re.sub(r"[./]", "", route.lower()) if route else None,
            frequency=" ".join(frequency.lower().split()) if frequency else None,
        )
        yield Found(value, one.start, given.end() + end)


def dose_of(words: str) -> tuple[float, str] | None:
    """The dose that words begin with, and its unit; None where they begin with none."""
    given = _DOSE_ALONE.match(words)
    dose, _ = _doses(given) if given is not None else (None, None)
    return None if given is None or dose is None else (dose, _unit(given))


def _unit(given: re.Match[str]) -> str:
    written = re.sub(r"\s{0,3}/\s{0,3}", "/", given["unit"].lower()).replace("ml", "mL")
    if "/" in written:
        return re.sub(r"(?<=/\d)(?=mL)|(?<=/\d\d)(?=mL)", " ", written)
    written = "ml" if written == "mL" else written
    return _UNITS.get(written.rstrip("s"), written)


def _doses(given: re.Match[str]) -> tuple[float | None, float | None]:
    """The dose, and the most of a range; of one that was changed "from 5 to 10 mg" what it is now.

    None where it cannot be read, or is more than there can be.
    """
    most = _MOST_DOSE.get(_unit(given), inf)
    dose = sure_number(given["dose"].split("/")[0], most)
    upper = sure_number(given["most"], most) if given["most"] else None
    if given["most"] and "from" in (given.groupdict().get("change") or "").lower():
        dose, upper = upper, None
    if dose is None or dose > most or (given["most"] and upper is not None and upper > most):
        return None, None
    # "875-125 mg" are two drugs in one tablet
    return dose, upper if upper is not None and upper > dose else None


def _given(text: str, match: re.Match[str]) -> re.Match[str]:
    """The dose that counts: of one that was changed, the last."""
    while later := _CHANGED_TO.match(text, match.end()):
        match = later
    return match


def _own_words(text: str, dose: re.Match[str], later: int) -> str:
    """What is said of a dose: up to the next drug, the next dose, or the end of the sentence."""
    begin = dose.end()
    words = _SENTENCE_END.split(text[begin : min(later, begin + _REACH)])[0]
    for other in _NEXT_DOSE.finditer(words):
        if other.group() != text[dose.start("dose") : begin]:
            return words[: other.start()]
    return words


_SIGNED = re.compile(
    r"(?i)[^:\n]{0,60}(?:\n[^:\n]{0,60})?\bsig\s?:(?P<words>[^\n]{0,90}(?:\n(?!\s*+\d{1,2}[.)])[^\n]{1,90})?)"
)
"""Behind a dose: what the signature of the prescription says, in one line or two."""
_FREQUENCY = re.compile(rf"(?i)(?<![a-z0-9]){_OFTEN}")
_WAY = re.compile(rf"(?i)(?<![a-z]){_ROUTE}(?![a-z])")


def _by_sig(text: str, at: int) -> tuple[str | None, str | None, int] | None:
    """Frequency and route of a signature, and how far they reach behind the dose."""
    signed = _SIGNED.match(text, at, min(len(text), at + 300))
    if signed is None:
        return None
    often, way = _FREQUENCY.search(signed["words"]), _WAY.search(signed["words"])
    ends = [one.end() for one in (often, way) if one is not None]
    end = signed.start("words") - at + max(ends, default=0)
    return often and often.group(), way and way["route"], end if ends else 0


def told(words: str) -> tuple[str | None, str | None, int]:
    """Frequency, route, and how far they reach; behind words that no rule reads there are none."""
    frequency = route = None
    at = end = 0
    while match := _SAID.match(words, at):
        at = match.end()
        frequency, route = frequency or match["freq"], route or match["route"]
        if match["freq"] or match["route"]:
            end = at
    return frequency, route, end
