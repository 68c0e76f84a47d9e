"""Extract, evaluate, mend: when to stop, and which attempt is the result. Pure.

One iteration is a function of the document's words, the rubric and the iteration before, and is
data: a stage may commit each before it makes the next, and go on from the stored ones. The rules of
stopping are those of seed marc_v1 section 3.3.2; of all iterations the best is returned, not the
last.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from time import monotonic
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from workers.extract.evaluation.scores import Evaluation
from workers.extract.fields import Attempt
from workers.extract.parts import Parts
from workers.extract.rubrics import Profile, Rubric


class Stop(StrEnum):
    """Why a loop ended."""

    THRESHOLD = "Quality threshold met"
    MAXIMUM = "Max iterations reached"
    NO_GAIN = "Improvement below minimum"
    TIMEOUT = "Timeout exceeded"


class Iteration(BaseModel):
    """One attempt with its evaluation; `gain` is over the iteration before."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: int
    attempt: Attempt
    evaluation: Evaluation
    gain: float | None = None

    @property
    def score(self) -> float:
        """The overall score."""
        return self.evaluation.score.overall

    def as_body(self) -> dict[str, Any]:
        """For the history that a caller sees."""
        return {
            "iteration": self.number,
            "fields": self.attempt.as_body(),
            "score": self.evaluation.score.model_dump(),
            "feedback": self.evaluation.feedback.model_dump(),
            "improvement_from_previous": self.gain,
        }


class Outcome(NamedTuple):
    """The best attempt, how it came about, and why the loop ended."""

    best: Iteration
    history: Sequence[Iteration]
    stopped: Stop
    profile: Profile
    seconds: float

    @property
    def met_threshold(self) -> bool:
        """Whether the best attempt is good enough."""
        return self.best.score >= self.profile.threshold

    @property
    def iterations(self) -> int:
        """How many there were."""
        return len(self.history)

    def as_body(self) -> dict[str, Any]:
        """The metadata that a caller sees."""
        return {
            "final_score": self.best.score,
            "iterations": self.iterations,
            "met_threshold": self.met_threshold,
            "stopped_reason": self.stopped.value,
            "processing_time_ms": round(self.seconds * 1000),
            "iteration_history": [one.as_body() for one in self.history],
        }


Extract = Callable[[Parts, Rubric, Iteration | None], Attempt]
"""Of the words, the rubric and the iteration before: the next attempt."""
Evaluate = Callable[[Parts, Rubric, Attempt], Evaluation]


def iterate(
    parts: Parts,
    rubric: Rubric,
    previous: Iteration | None,
    extract: Extract,
    evaluate: Evaluate,
) -> Iteration:
    """The iteration after `previous`.

    Raises:
        EvaluationFailed: the attempt could not be judged; there is no iteration then.
    """
    attempt = extract(parts, rubric, previous)
    evaluation = evaluate(parts, rubric, attempt)
    gain = None if previous is None else evaluation.score.overall - previous.score
    number = 1 if previous is None else previous.number + 1
    return Iteration(number=number, attempt=attempt, evaluation=evaluation, gain=gain)


def stops(history: Sequence[Iteration], profile: Profile, seconds: float) -> Stop | None:
    """Whether to stop after these iterations, and why; None means another one.

    Args:
        history: at least one iteration, in order.
        seconds: since the loop began.
    """
    last = history[-1]
    if last.score >= profile.threshold:
        return Stop.THRESHOLD
    if len(history) >= profile.iterations:
        return Stop.MAXIMUM
    if last.gain is not None and last.gain < profile.minimum_gain:
        return Stop.NO_GAIN
    if seconds > profile.timeout_seconds:
        return Stop.TIMEOUT
    return None


def best_of(history: Sequence[Iteration]) -> Iteration:
    """The iteration with the highest score, of equals the first."""
    return max(history, key=lambda one: (one.score, -one.number))


def learned(history: Sequence[Iteration], rubric: Rubric, used: Sequence[str]) -> tuple[str, ...]:
    """The fields that the prompt of the best iteration named, for the next document of the type.

    Args:
        used: the fields that were named from the start.
    """
    best = best_of(history)
    named = set(used)
    for one in history[: best.number - 1]:
        feedback = one.evaluation.feedback
        named |= {*feedback.missing_fields, *feedback.priority_fields}
    return tuple(one for one in rubric.fields if one in named)


def run(
    parts: Parts,
    rubric: Rubric,
    profile: Profile,
    extract: Extract,
    evaluate: Evaluate,
    *,
    history: Sequence[Iteration] = (),
    progress: Callable[[Iteration], None] | None = None,
    clock: Callable[[], float] = monotonic,
) -> Outcome:
    """The whole loop in this process.

    Args:
        history: iterations that were made before; the loop goes on after the last of them.
        progress: told of each new iteration.

    Raises:
        EvaluationFailed: an attempt could not be judged.
    """
    began = clock()
    done = list(history)
    stopped = stops(done, profile, 0.0) if done else None
    while stopped is None:
        done.append(iterate(parts, rubric, done[-1] if done else None, extract, evaluate))
        if progress is not None:
            progress(done[-1])
        stopped = stops(done, profile, clock() - began)
    return Outcome(best_of(done), done, stopped, profile, clock() - began)
