"""The parts that a question's stages share: their back-off and their outcome when they die."""

from collections.abc import Callable
from typing import Any, TypeVar

from messages import Message, Stage
from store.core.unit_of_work import UnitOfWork
from store.questions.states import failed
from workers.runtime.stage import Context, StageSpec

M = TypeVar("M", bound=Message)
R = TypeVar("R")


def question_stage(
    stage: Stage,
    work: Callable[[Context, M], R],
    commit: Callable[[UnitOfWork, M, R], None],
    *,
    time_limit_seconds: float = 60.0,
    model_waits: float = 0.0,
) -> StageSpec[M, R]:
    """The spec of a question's stage. Back-off is short, because people wait. A question whose
    stage died ends as `failed`, which callers see as an unchecked abstention."""
    return StageSpec(
        stage=stage,
        work=work,
        commit=commit,
        on_dead=_on_dead,
        backoff_seconds=0.5,
        backoff_cap_seconds=30.0,
        time_limit_seconds=time_limit_seconds,
        model_waits=model_waits,
    )


def _on_dead(unit: UnitOfWork, message: Any, cause: str) -> None:
    failed(unit, message.question_id, cause)
