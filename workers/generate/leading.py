"""How well a claim begins an answer: it says what the question asks for. Pure.

Of an aim, a method, a passing mention of the work that is asked about, or a figure of another kind
than the one asked for, the words often hold more of a question than a result does. What a claim
does is read by its part, its form, its figures and its effects; what that weighs lies in
knowledge/answering/leading.yaml, learned by `python -m benchmarks.leads.train`.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from clinical_text.doc import doc
from clinical_text.effects.estimates import estimates
from clinical_text.effects.words import said_direction
from clinical_text.quantities import Kind, quantities
from clinical_text.schedules import schedules
from knowledge.loader import load
from workers.generate.candidates import Candidate
from workers.generate.facets import part_weight, poses_question, states
from workers.generate.scoring import Scorer
from workers.generate.wording import is_about_itself

_WHAT_IS = re.compile(
    r"(?i)^\W{0,3}(?:what(?:'s|’s|\s(?:is|are|was|were))|who\s(?:is|are|was|were)|define|describe"
    r"|explain|tell\sme\s(?:about|what)|overview\sof)\b"
)
"""Asks what something is: interrogatives and requests of English."""
_UNDECIDED = re.compile(r"(?i)\bwhether\b")
_FIGURES = frozenset({Kind.PERCENT, Kind.RATIO, Kind.COUNT, Kind.DOSE, Kind.DURATION, Kind.CI})
_LEVEL = re.compile(r"\s?(?:CI\b|confidence|credible)")
"""Behind the level of an interval, which is no figure that anybody found."""
_OF_ANOTHER = 2.0
"""What a claim loses that is of another work than the one that the question names (ours)."""
Kinds = Collection[Kind]
_ASKED: Sequence[tuple[re.Pattern[str], Callable[[str, Kinds], bool]]] = (
    (
        re.compile(r"(?i)\bhow\s(?:long|soon|early|late)\b|\bwhen\b|\bhalf-?life\b|\btime\b"),
        lambda _, kinds: Kind.DURATION in kinds,
    ),
    (
        re.compile(r"(?i)\bhow\s(?:often|frequently)\b|\bfrequency\b|\binterval\b"),
        lambda text, kinds: Kind.PERCENT in kinds or bool(schedules(text)),
    ),
    (re.compile(r"(?i)\bdos(?:e|es|age|ing)\b|\bmg\b"), lambda _, kinds: Kind.DOSE in kinds),
    (re.compile(r"(?i)\bhow\smany\b"), lambda _, kinds: Kind.COUNT in kinds),
    (re.compile(r"(?i)\bratio\b|\b[HOR]R\b"), lambda _, kinds: Kind.RATIO in kinds),
    (
        re.compile(r"(?i)\b(?:rates?|percent\w*|proportion|share|sensitivity|specificity)\b"),
        lambda _, kinds: Kind.PERCENT in kinds,
    ),
)
"""By which words a question asks for which kind of figure, and whether a claim has it."""


class Leading:
    """How well claims begin the answer to one question."""

    def __init__(
        self, questions: Sequence[str], form: str, names: Collection[str], scorer: Scorer
    ) -> None:
        """`form`: of the answer (`Asked.type` of the contracts); `names`: of the trials and bodies
        that the question names."""
        text = "\n".join(questions)
        self._names, self._scorer = names, scorer
        particular = not scorer.wanted.isdisjoint(load("questions/answers")["particulars"])
        what_is = _WHAT_IS.match(text) is not None and form not in ("number", "list")
        is_open = not scorer.wanted and (what_is or (form == "trials" and not names))
        self._on_work = particular or is_open
        self._asked = [holds for asks, holds in _ASKED if asks.search(text)]
        self._asks_figure = bool(self._asked) or form == "number"

    def worth(self, candidate: Candidate) -> float:
        """How well a claim begins the answer, higher is better: a logit without its constant."""
        weights: Mapping[str, float] = load("answering/leading")["weights"]
        told = sum(weights[name] * value for name, value in self.features(candidate).items())
        return told - (_OF_ANOTHER if self._names and not candidate.asked_for else 0.0)

    def features(self, candidate: Candidate) -> dict[str, float]:
        """What is weighed, each 0..1."""
        text, section, scorer = candidate.text, candidate.section, self._scorer
        kinds = {one.kind for one in quantities(text) if not _LEVEL.match(text, one.end)}
        of_another_kind = bool(self._asked) and not all(holds(text, kinds) for holds in self._asked)
        found = {
            "states": bool(scorer.wanted) and scorer.states_wanted(candidate),
            "figure": self._asks_figure and not of_another_kind and not _FIGURES.isdisjoint(kinds),
            **({} if self._on_work else _role(text, section)),
            **({} if self._on_work or of_another_kind else _finding(text, kinds)),
        }
        shares = {"fits": scorer.fits(candidate), "covers": scorer.covers(candidate)}
        return shares | {name: float(value) for name, value in found.items()}


def _role(text: str, section: str) -> dict[str, bool]:
    """What a claim does for its work."""
    weight = part_weight(section)
    return {
        "found": weight > 0,
        "before": weight < 0,
        "poses": poses_question(text, section),
        "whether": _UNDECIDED.search(text) is not None,
        "itself": is_about_itself(text),
        "called": states("name", text) or states("identity", text),
        "arms": states("arms", text, section),
    }


def _finding(text: str, kinds: Kinds) -> dict[str, bool]:
    """What it found, and how surely."""
    return {
        "estimate": bool(estimates(text, doc(text).sentences)),
        "tested": not {Kind.CI, Kind.P_VALUE, Kind.RATIO}.isdisjoint(kinds),
        "direction": said_direction(text) is not None,
        "denial": any(doc(text).denials),
        "dose": Kind.DOSE in kinds,
        "duration": Kind.DURATION in kinds,
    }
