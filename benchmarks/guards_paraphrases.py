"""True light paraphrases of real sentences for `benchmarks.guards_named`, by kind."""

import re
from collections.abc import Mapping
from random import Random

from benchmarks.guards_edits import VALUE, Edit, replaced


def _led_in(sentence: str, rng: Random) -> str | None:
    lead = rng.choice(
        ["The study found that", "The authors report that", "According to the source,"]
    )
    first = sentence.split(" ", 1)[0]
    kept = first if not first.istitle() or len(first) == 1 else first.lower()
    return f"{lead} {kept}{sentence[len(first) :]}"


def _without_brackets(sentence: str, _: Random) -> str | None:
    short = re.sub(r"\s*\([^()]*\)", "", sentence)
    return short if short != sentence and len(short) > 40 else None


def _turned_pair(sentence: str, _: Random) -> str | None:
    """ "15% in A vs 28% in B" told as "28% in B vs 15% in A"."""
    match = re.search(
        rf"(?P<a>{VALUE} (?:in|with|for) (?:the )?[\w-]+(?: [\w-]+){{0,2}}?)"
        r"(?P<mid>,? (?:vs\.?|versus|compared with|and) )"
        rf"(?P<b>{VALUE} (?:in|with|for) (?:the )?[\w-]+(?: (?!and|at|with|in|for)[\w-]+){{0,2}})"
        r"(?=[,.;]|$)",
        sentence,
    )
    if match is None:
        return None
    return (
        sentence[: match.start()] + match["b"] + match["mid"] + match["a"] + sentence[match.end() :]
    )


def _first_clause(sentence: str, _: Random) -> str | None:
    head, found, _rest = sentence.partition("; ")
    return f"{head}." if found and len(head) > 40 and "(" not in head else None


def _compared_first(sentence: str, _: Random) -> str | None:
    match = re.match(
        r"(?P<lead>(?:Compared|In comparison) with [^,()]{4,50}), (?P<rest>[^.;]{20,})\.$", sentence
    )
    return (
        f"{match['rest'][0].upper()}{match['rest'][1:]}, {match['lead'].lower()}."
        if match
        else None
    )


TRUE: Mapping[str, Edit] = {
    "verbatim": lambda sentence, _: sentence,
    "lead-in": _led_in,
    "brackets dropped": _without_brackets,
    "first clause": _first_clause,
    "pair told from the other side": _turned_pair,
    "comparison moved": _compared_first,
    "synonyms": replaced(
        {
            "participants": "patients",
            "subjects": "participants",
            "showed": "demonstrated",
            "showed that": "found that",
            "reduced": "lowered",
            "similar": "comparable",
        },
        both=False,
    ),
    "connector": replaced(
        {"vs.": "versus", "versus": "compared with", "compared to": "compared with"}, both=False
    ),
    "measure": replaced(
        {"hazard ratio": "HR", "odds ratio": "OR", "confidence interval": "CI"}, both=False
    ),
    "frequency writing": replaced(
        {
            "once daily": "once a day",
            "twice daily": "bid",
            "every 3 weeks": "q3w",
            "weekly": "once a week",
            "daily": "per day",
        },
        both=False,
    ),
    "month writing": replaced(
        {
            "January": "Jan",
            "September": "Sept",
            "October": "Oct",
            "December": "Dec",
            "august": "Aug",
        },
        both=False,
    ),
    "brand": replaced(
        {
            "warfarin": "Coumadin",
            "trastuzumab": "Herceptin",
            "imatinib": "Gleevec",
            "rituximab": "Rituxan",
            "bevacizumab": "Avastin",
        },
        both=False,
    ),
    "population writing": replaced(
        {
            "children": "pediatric patients",
            "elderly": "older adults",
            "postmenopausal": "post-menopausal",
        },
        both=False,
    ),
    "transition dropped": lambda sentence, _: (
        re.sub(
            r"^(?:However|Moreover|In conclusion|Furthermore|Thus|Therefore|In addition), (\w)",
            lambda m: m[1].upper(),
            sentence,
        )
        if re.match(
            r"(?:However|Moreover|In conclusion|Furthermore|Thus|Therefore|In addition), ", sentence
        )
        else None
    ),
}
