"""From the words of a question to its type, tags and PICO, by vocabulary and rules."""

import re
from functools import cache

from knowledge.loader import load
from knowledge.tags import known_words, label, tags
from workers.retrieve.understanding.model import Pico, SubQuery, Understanding


@cache
def _rules() -> list[tuple[str, re.Pattern[str]]]:
    types = load("questions")["query_types"]
    return [(rule["type"], re.compile(rule["pattern"], re.IGNORECASE)) for rule in types]


@cache
def _current_state() -> re.Pattern[str]:
    return re.compile(load("questions")["current_state"], re.IGNORECASE)


def query_type(question: str) -> str:
    """The type whose words occur first in the order of `knowledge/questions.yaml`."""
    return next(name for name, pattern in _rules() if pattern.search(question))


@cache
def _names() -> re.Pattern[str]:
    return re.compile(load("questions")["names"])


def names(question: str) -> tuple[str, ...]:
    """The proper names that `question` asks about, such as trials and societies, as written."""
    known = known_words() | {word.lower() for word in load("questions")["no_names"]}
    found = (match.group() for match in _names().finditer(question))
    return tuple(dict.fromkeys(name for name in found if not _parts(name) <= known))


def _parts(name: str) -> set[str]:
    """A name, or what a compound such as MRD-guided is made of, in lower case."""
    return {part for part in name.lower().split("-") if part not in _ENDINGS}


_ENDINGS = {"guided", "based", "positive", "negative", "informed", "driven", "directed"}


def _pico(question: str, diseases: tuple[str, ...], decisions: tuple[str, ...]) -> Pico:
    against = re.search(
        r"\b(?:vs\.?|versus|compared? (?:with|to))\s+([^?.,;]{3,80}?)"
        r"(?=\s+(?:improv|reduc|increas|lower|affect|chang|help|in\b|for\b|on\b|after\b)|[?.,;]|$)",
        question,
        re.IGNORECASE,
    )
    setting = re.search(
        r"\b(?:in|for)\s+((?:patients?|adults?|women|men|stage|people)\b[^?.,;]{0,80})",
        question,
        re.IGNORECASE,
    )
    outcomes = [word for word in load("vocabulary")["outcomes"] if word in question.lower()]
    condition = label("diseases", diseases[0]) if diseases else None
    return Pico(
        patient=setting.group(1).strip() if setting else condition,
        intervention=label("decisions", decisions[0]) if decisions else None,
        comparison=against.group(1).strip() if against else None,
        outcome=outcomes[0] if outcomes else None,
        condition=condition,
    )


def search_terms(question: str) -> dict[str, list[str]]:
    """The tags that the question itself names: what other places may be asked for (invariant 11).

    Tags that only a patient's context names are not among them.
    """
    return {
        "diseases": list(tags("diseases", question)),
        "decisions": list(tags("decisions", question)),
    }


def understand(question: str, patient_context: str = "") -> Understanding:
    """Read a question; the patient context adds tags but does not decide the type."""
    both = f"{question}\n{patient_context}"
    diseases, decisions = tags("diseases", both), tags("decisions", both)
    specific = tuple(tag for tag in diseases if tag != "solid_tumors") or diseases
    kind = query_type(question)
    area = specific[0] if specific else "general"
    aim = decisions[0] if decisions else kind
    return Understanding(
        query_type=kind,
        classification=f"{area}/{aim}",
        pico=_pico(question, specific, decisions),
        diseases=specific,
        decisions=decisions,
        names=names(question),
        asks_for_today=bool(_current_state().search(question)),
        sub_queries=(SubQuery(question, "whole"),),
    )
