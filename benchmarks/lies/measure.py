"""The liar against the gate, answer after answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from benchmarks.lies.library import Case
from benchmarks.lies.trial import PASSED, Fate, Outcome, drafted, judged
from tests.fakes.liar import Liar
from tests.fakes.messages_api import MessagesApi
from tests.fakes.web import FakeWeb
from workers.language_model.anthropic import AnthropicModel

LEAST_SURVIVING = 0.95
QUERY_TYPES = ("general", "comparison", "guidelines", "clinical_trials", "coverage_policy")
_KEY = "made-up-key-4711"


@dataclass
class Measured:
    """All outcomes, by judge."""

    answers: int
    lying: list[Outcome] = field(default_factory=list)
    honest: list[Outcome] = field(default_factory=list)

    def fates(self, outcomes: Sequence[Outcome], *, true: bool) -> list[Fate]:
        """Of the true claims, or of the lies."""
        return [fate for one in outcomes for fate in one.fates if fate.told.true is true]

    @property
    def lies_supported(self) -> int:
        """How many lies were shown as supported, or had their words in a summary."""
        return sum(
            sum(fate.stopped_at == PASSED and not fate.told.true for fate in one.fates)
            + len(one.in_summary)
            for one in (*self.lying, *self.honest)
        )

    @property
    def bad_hedges(self) -> int:
        """How many hedged claims do not stand around true words of a source."""
        return sum(len(one.bad_hedges) for one in (*self.lying, *self.honest))

    @property
    def surviving(self) -> float:
        """The share of true claims that the honest judge's answers show as supported, in their own
        words."""
        fates = self.fates(self.honest, true=True)
        return sum(one.stopped_at == PASSED for one in fates) / max(1, len(fates))

    @property
    def holds(self) -> bool:
        """Whether what is demanded holds."""
        return not (self.lies_supported or self.bad_hedges) and self.surviving >= LEAST_SURVIVING


def measure(answers: int, found: Iterable[Case], seed: int = 7) -> Measured:
    """Draft so many answers on the evidence that is found, and judge each twice."""
    liar, api = Liar(seed), MessagesApi({_KEY})
    api.writer = liar.writer
    measured = Measured(answers)
    with FakeWeb(api) as web:
        model = AnthropicModel(_KEY, "claude-sonnet-5-5", web.mirrors[api.origin])
        for n, case in enumerate(islice(found, answers)):
            made = drafted(model, liar, case, QUERY_TYPES[n % len(QUERY_TYPES)])
            for honest, outcomes in ((False, measured.lying), (True, measured.honest)):
                liar.honest_judge = honest
                outcomes.append(judged(model, liar, made, case))
            api.asked.clear()
            web.requests.clear()
        model.close()
    return measured
