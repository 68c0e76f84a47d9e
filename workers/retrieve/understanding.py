"""From the words of a question to its type, tags and PICO, by vocabulary and rules."""

import re
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from knowledge.loader import load


@dataclass(frozen=True)
class Pico:
    """Patient, intervention, comparison, outcome and the primary condition, as far as stated."""

    patient: str | None
    intervention: str | None
    comparison: str | None
    outcome: str | None
    condition: str | None


@dataclass(frozen=True)
class Understanding:
    """What a question asks for. Tags are in the order of their first mention."""

    query_type: str
    classification: str
    pico: Pico
    diseases: tuple[str, ...]
    decisions: tuple[str, ...]
    names: tuple[str, ...]
    asks_for_today: bool

    def as_body(self) -> dict[str, Any]:
        """The part of the answer object that tells how the question was understood."""
        return {
            "query_type": self.query_type,
            "classification": self.classification,
            "pico": asdict(self.pico),
            "tags": {
                "primary_disease": self.diseases[0] if self.diseases else None,
                "diseases": list(self.diseases),
                "primary_decision": self.decisions[0] if self.decisions else None,
                "decisions": list(self.decisions),
            },
            "names": list(self.names),
            "asks_for_today": self.asks_for_today,
        }


@cache
def _rules() -> list[tuple[str, re.Pattern[str]]]:
    types = load("questions")["query_types"]
    return [(rule["type"], re.compile(rule["pattern"], re.IGNORECASE)) for rule in types]


@cache
def _current_state() -> re.Pattern[str]:
    return re.compile(load("questions")["current_state"], re.IGNORECASE)


@cache
def _vocabulary(kind: str) -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern over all words of a kind of tag, longest first, and the tag of each word."""
    tags = {
        word.lower(): tag
        for tag, entry in load("vocabulary")[kind].items()
        for word in entry["words"]
    }
    words = sorted(tags, key=len, reverse=True)
    return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, words))})(?!\w)", re.IGNORECASE), tags


def query_type(question: str) -> str:
    """The type whose words occur first in the order of `knowledge/questions.yaml`."""
    return next(name for name, pattern in _rules() if pattern.search(question))


def tags(kind: str, text: str) -> tuple[str, ...]:
    """The tags of `kind` (diseases or decisions) that `text` names, in order of mention."""
    pattern, by_word = _vocabulary(kind)
    found = (by_word[match.group(1).lower()] for match in pattern.finditer(text))
    return tuple(dict.fromkeys(found))


@cache
def _names() -> re.Pattern[str]:
    return re.compile(load("questions")["names"])


def names(question: str) -> tuple[str, ...]:
    """The proper names that `question` asks about, such as trials and societies, as written."""
    known = set(_vocabulary("diseases")[1]) | set(_vocabulary("decisions")[1])
    known |= {word.lower() for word in load("questions")["no_names"]}
    found = (match.group() for match in _names().finditer(question))
    return tuple(dict.fromkeys(name for name in found if not _parts(name) <= known))


def _parts(name: str) -> set[str]:
    """A name, or what a compound such as MRD-guided is made of, in lower case."""
    return {part for part in name.lower().split("-") if part not in _ENDINGS}


_ENDINGS = {"guided", "based", "positive", "negative", "informed", "driven", "directed"}


def _label(kind: str, tag: str | None) -> str | None:
    return load("vocabulary")[kind][tag]["label"] if tag else None


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
    condition = _label("diseases", diseases[0] if diseases else None)
    return Pico(
        patient=setting.group(1).strip() if setting else condition,
        intervention=_label("decisions", decisions[0] if decisions else None),
        comparison=against.group(1).strip() if against else None,
        outcome=outcomes[0] if outcomes else None,
        condition=condition,
    )


def search_terms(question: str) -> dict[str, list[str]]:
    """The tags that the question itself names: what other places may be asked for (invariant 11).

    Tags that only a patient's context names are not among them.
    """
    return {kind: list(tags(kind, question)) for kind in ("diseases", "decisions")}


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
    )
