"""How effects are written: names of measures, intervals, p values, what joins two arms.

All patterns expect dashes folded by `normalize.fold_dashes`: a sign is U+2212, a dash is `-`.
"""

import re
from decimal import Decimal

from clinical_text.normalize import MINUS
from knowledge.matching.literals import needs

GAP = 20
"""White space: a sentence with a gap of 20 is laid out in columns, and is not read."""


def bounded(written: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, its white space and words without end bounded, so that it takes at each place a
    number of steps that does not grow with the text.

    No word has 60 letters.
    """
    for free, held in (
        (r"\s+", rf"\s{{1,{GAP}}}+"),  # given back to nobody: else gaps multiply
        (r"\s*", rf"\s{{0,{GAP}}}"),
        (r"[\s-]+", rf"[\s-]{{1,{GAP}}}"),
        (r"[\s/-]+", rf"[\s/-]{{1,{GAP}}}"),
        (r"\w+", r"\w{1,60}"),
        (r"[\w-]*", r"[\w-]{0,60}"),
        (r"[\w'-]*", r"[\w'-]{0,60}"),
        (r"[\w/+'-]*", r"[\w/+'-]{0,60}"),
        (r"[\w/+'-]+", r"[\w/+'-]{1,60}"),
    ):
        written = written.replace(free, held)
    return re.compile(written, flags)


NUMBER = (
    rf"(?:[{MINUS}+]\s?)?(?:\d{{1,3}}(?:,\d{{3}}){{1,6}}(?!\d)|\d{{1,6}})(?:[.·]\d{{1,8}})?(?!\d)"
    rf"|(?:[{MINUS}+]\s?)?[.·]\d{{1,8}}"
)

# A name may be qualified ("adjusted", "pooled"); only the case that prints a measure counts, for
# "or" is a word. Cox models also give "subdistribution" ratios; a rate ratio is read as an RR.
# Each alternative begins with a letter or a class of them, which is looked at before it is tried.
MEASURE = bounded(
    r"""
    (?<![\w-])(?:
      (?P<HR> [hH](?i:azards?[\s-]ratios?) | HRs? | (?:a|adj|s|u|c)HRs? )
    | (?P<OR> [oO](?i:dds[\s-]ratios?) | ORs? | (?:a|adj|u|c|MH-)ORs? )
    | (?P<RR> [rR](?i:elative[\s-]risks?(?!\s+(?:reduction|increase)) | isk[\s-]ratios?
        | ate[\s-]ratios?) | [iIıİ](?i:ncidence[\s-](?:rate|risk)[\s-]ratios?)
        | RRs? | (?:a|adj|I|aI)RRs? )
    | (?P<SMD> [sSſ](?i:tandardi[sz]ed\s+(?:mean\s+)?(?:mean\s+)?differences?) | SMDs? )
    | (?P<RD> [rR](?i:(?:isk|ate)[\s-]differences?)
        | [aA](?i:bsolute\s+(?:(?:risk|rate)[\s-]differences?
            | (?:risk\s+|rate\s+)?(?:reductions?|increases?|differences?)))
        | RDs? | aRDs? | ARDs? | ARRs? )
    | (?P<MD> (?=[abdelmptwABDELMPTW])(?i:(?:(?:weighted|adjusted|estimated|least[\s-]squares?
        |between[\s-]group|treatment|pooled)\s+){0,3}(?:mean\s+)?(?:treatment\s+)?
        differences?(?:\s+in\s+means)?) | MDs? | [aW]MDs? )
    )(?![\w-])
    """,
    re.VERBOSE,
)
MEASURE_NEEDS = needs(MEASURE)
ABBREVIATED = bounded(r"[A-Za-z-]{0,3}(?:HR|OR|RR|MD|RD|ARR|ARD)s?")

_INTERVAL_NAME = (
    r"(?:Cr?I(?:s\b|(?!\w))|CI95|(?i:(?:confidence|credible)\s+(?:intervals?|limits?)))"
)
_LEVEL = r"(?P<level>(?:[89]\d(?:[.·]\d{1,2})?))\s?%\s*-?\s*"
# "(95% CI)" before the value, as in "OR (95% CI): 1.2 (0.9-1.6)".
CI_BEFORE_VALUE = bounded(
    rf"\s*(?:and\s+)?[\[(,]?\s*{_LEVEL}{_INTERVAL_NAME}(?:\s*[\[(]\s*(?:95\s?%\s*)?Cr?I\s*[\])])?\s*[\])]?"
)
INTERVAL_AFTER = bounded(
    rf"[\s,;:]{{0,20}}[\[(]{{0,3}}\s*(?:with\s+|and\s+)?(?:an?\s+|the\s+)?(?:\w+-sided\s+)?(?:{_LEVEL})?"
    rf"{_INTERVAL_NAME}(?:\s*[\[(]\s*(?:95\s?%\s*)?Cr?I\s*[\])])?(?:\s*95\s?%)?"
    rf"[\s,:;=\[(]{{0,20}}(?:(?:of|from|was|is|ranging from)\s+)?(?P<low>{NUMBER})\s?%?"
    rf"[a-zA-Z/ ]{{0,12}}?"
    rf"\s*(?:-|{MINUS}|,|;|to|and)\s*(?P<high>{NUMBER})(?P<unit>\s?%)?"
)
BARE_INTERVAL = bounded(
    rf"[\s,;]{{0,20}}[\[(]\s*(?P<low>{NUMBER})\s?%?\s*(?:-|{MINUS}|,|;|to)\s*(?P<high>{NUMBER})"
    rf"\s?%?\s*[\]),;]"
)
UNIT_WORDS = bounded(r"\s*[^\d()\[\];:,.]{1,24}(?:\d{1,5}[^\d()\[\];:,.]{1,24})?(?=[\[(,;])")
"""A unit in words between a difference and its interval: "6.2 events per 100 patient-years (…"."""
_EQUALS = (
    r"(?:\s*(?:was|were|is|are|of|as|at|to|=|≈|~|:|,|;|\(|\[|\)|\]|-|about|approximately)){0,30}\s*"
)
_SHORT = r"(?:\s*[\[(]\s*[A-Za-z-]{2,5}\s*[\])])?"
LEAD = bounded(
    rf"{_SHORT}(?P<about>\s*,?\s*(?:for|of|in|with|between|comparing|on|at)\s"
    rf"[^;()\[\]]{{1,110}}?)?{_EQUALS}"
)
"""What may stand between the name of a measure and its value."""
NEXT_OF_LIST = bounded(r"[\s\])]{0,20}(?:,|;|and|,\s*and|or|vs\.?|versus)\s*")

_ASIDE = r"(?:\s*[\[(][^()\[\]]{0,60}[\])])?\s*"
_PEOPLE = "patients|participants|subjects|women|men|children|those|adults|cases|people|eyes"
_OF_PEOPLE = rf"(?:of\s+(?:the\s+)?(?:{_PEOPLE})\s+)?"
_INTO = (
    r"(?:in|with|for|among|on|after|of|under|given|receiving|assigned\s+to|treated\s+with|from)\s+"
)
_COMPARED = r"vs\.?|versus|(?:as\s+)?compared\s+(?:with|to)|against|in\s+comparison\s+with"
PERCENT_AGAINST = bounded(rf"(?i){_ASIDE},?\s*(?:{_COMPARED})\s*(?:only\s+|just\s+)?")
"""Two percentages side by side: all that stands between them."""
PERCENT_AND = bounded(rf"(?i){_ASIDE}(?:and|vs\.?|versus)\s*")
ARM_AFTER = bounded(
    rf"(?i){_ASIDE}{_OF_PEOPLE}{_INTO}(?P<arm>[^,;:()\[\]%]{{2,60}}?)\s*,?\s+"
    rf"(?:and|while|whereas|but|than|{_COMPARED})\s+(?:(?:only|just|with|in)\s+){{0,2}}"
)
"""The first arm after its percentage: "15% in the A group and [28%]"."""
ARM_BEFORE = bounded(
    rf"(?i)(?:\s*[;,][^()%]{{0,40}})?[\s,)\]]{{0,20}}(?:\([^()]{{0,40}}\)\s*)?"
    rf"(?:than\s+(?:in|for|with|among)|{_COMPARED}|and)\s+"
    rf"(?P<named>[^,;:()\[\]%]{{2,60}}?)\s*[\[(]\s*(?:\d{{1,9}}\s*(?:/|of)\s*\d{{1,9}}\s*(?:[;,(]\s*)?)?"
)
"""The second arm before its percentage: "(38%) compared with the control group ([60%]"."""
NAMED_BEFORE = bounded(
    r"(?i)(?P<arm>[^,;:()\[\]%.]{2,60}?)\s*[\[(]\s*(?:\d{1,9}/\d{1,9}\s*(?:[;,(]\s*)?)?$"
)
SECOND_ARM = bounded(
    rf"(?i){_ASIDE}{_OF_PEOPLE}{_INTO}(?P<arm>[^,;:.()\[\]%]{{2,60}}?)(?=\s*(?:[,;:.()\[\]]|$|"
    r"\s(?:and|at|during|within|after|while|whereas|but|had|was|were|who)\s))"
)
BOTH_ARMS = bounded(
    r"(?i)[^;:.()%]{0,60}?\b(?:in|for|with)\s+(?:the\s+)?(?P<first>[^,;:.()%]{1,40}?)\s+and\s+"
    r"(?:the\s+)?(?P<second>[^,;:.()%]{1,40}?)(?:\s+(?:groups?|arms?|cohorts?)|,?\s+respectively)"
)


def decimal(written: str) -> Decimal:
    """The number that `NUMBER` found."""
    plain = written.replace(",", "").replace("·", ".").replace(MINUS, "-")
    return Decimal("".join(plain.split()))
