"""What a passage is to a pasted statement that it does not bear out. Pure.

Code alone cannot tell a passage that says otherwise from one that speaks of something else: the
verifier can. So what code found is told as speaking against the statement only where the verifier
leans that way too, and the verifier alone must be sure; else it says why nothing was verified.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from knowledge.answering.judging import judging_policy
from workers.verify.claims import Located
from workers.verify.guards.assertion import is_denied
from workers.verify.guards.finding import Finding
from workers.verify.guards.trials import gives_away_a_known_number
from workers.verify.judges.deciding import denies

Relation = Literal["supported", "contradicted", "not_stated"]
Detail = tuple[str, str]

UNSURE = "unsure"
PAIR = "trial_identifier"
"""The code of a number that is said of a trial that has another one."""
_MISSING = "name"
"""The doubt about words that the passage lacks: it states nothing in their place."""
_ASSERTED = "certainty"
"""The doubt about what the passage does not say as a fact, among it what it denies."""
_CONTRADICTED = ("contradicted", "the passage says otherwise")
_NOT_STATED = (
    UNSURE,
    "the passage does not say so in its own words, and nobody is sure that it means it",
)


@dataclass(frozen=True)
class Told:
    """What a passage is to a statement, and why."""

    relation: Relation
    details: tuple[Detail, ...]


def speaks_against(codes: Collection[str]) -> bool:
    """Whether one of the codes of a statement's findings makes it wrong."""
    return not {*codes} <= {UNSURE, "no_passage", "too_short", "too_long", "too_much"}


def told(located: Located, facts: Sequence[Finding]) -> Told:
    """The relation of its passage to a statement that is not supported, and what is told of it.

    Whose a known trial number is does not hang on the passage.
    """
    doubts = located.doubts
    read, likely = located.reading, judging_policy().sure.likely
    stated = any(not one.unsaid for one in facts) or any(one.kind != _MISSING for one in doubts)
    leans = read is not None and read.contradicted == max(read)
    of_it = read is None or read.not_enough < likely
    asked = any(one.kind == _ASSERTED for one in doubts)
    denied = of_it and asked and is_denied(located.text, located.passage)
    against = denies(located) or denied or (stated and leans)
    of_it = of_it or against
    details = [
        (one.code if (of_it and not one.unsaid) or _is_known(one, located) else UNSURE, one.detail)
        for one in facts
    ]
    details += [
        (one.kind if against and one.kind != _MISSING else UNSURE, one.detail) for one in doubts
    ]
    if against and not speaks_against([code for code, _ in details]):
        details.insert(0, _CONTRADICTED)
    details.sort(key=lambda one: not speaks_against([one[0]]))
    found = tuple(dict.fromkeys(details)) or (_NOT_STATED,)
    return Told("contradicted" if speaks_against([found[0][0]]) else "not_stated", found)


def _is_known(one: Finding, located: Located) -> bool:
    return one.code == PAIR and gives_away_a_known_number(located.text)
