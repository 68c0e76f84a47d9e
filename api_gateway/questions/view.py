"""The view of a question on its page and in the history. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api_gateway.pages.clocks import Moment, milliseconds, moment, published
from api_gateway.pages.wording import STAGES, STATUS, Badge, badge
from api_gateway.schemas import QuestionOut


@dataclass(frozen=True)
class StageView:
    """A step of the chain. `status` is pending, running, waiting, done or dead."""

    name: str
    title: str
    detail: str
    status: str
    took: str


@dataclass(frozen=True)
class QuestionView:
    """The head of a question's page, and the progress of its stages."""

    id: str
    text: str
    status: str
    badge: Badge
    asked: Moment | None
    finished: Moment | None
    took: str
    limits: Sequence[tuple[str, str]]
    stages: Sequence[StageView]
    error: str | None

    @property
    def is_open(self) -> bool:
        """Whether the question will still change by itself."""
        return self.status in ("queued", "running")


def question_view(found: QuestionOut, options: Mapping[str, Any]) -> QuestionView:
    """The view of a question.

    Args:
        options: the options of the question; only those that limit the answer are shown.
    """
    took = ""
    if found.finished_at is not None:
        took = milliseconds((found.finished_at - found.created_at).total_seconds() * 1000)
    limits = [("as of", _as_of(options["as_of"]))] if options.get("as_of") else []
    if options.get("patient_context"):
        limits.append(("with", "patient context"))
    for name, value in (found.filters or {}).items():
        shown = ", ".join(value) if isinstance(value, list) else value
        limits.append((name.replace("_", " "), shown.replace("_", " ")))
    return QuestionView(
        id=str(found.id),
        text=found.question,
        status=found.status,
        badge=badge(STATUS, found.status),
        asked=moment(found.created_at),
        finished=moment(found.finished_at),
        took=took,
        limits=limits,
        stages=_stages(found),
        error=found.error["detail"] if found.error else None,
    )


def _as_of(value: str) -> str:
    """The day or moment as of which the question is answered, in words."""
    shown = moment(value) if "T" in value else published(value)
    return shown.words if shown else value


def _stages(found: QuestionOut) -> list[StageView]:
    timings = {step.stage: step for step in found.timings}
    shown = []
    for name, (title, detail) in STAGES.items():
        timing = timings.get(name)
        shown.append(
            StageView(
                name=name,
                title=title,
                detail=detail,
                status=timing.status if timing else "pending",
                took=milliseconds(timing.ms) if timing and timing.status == "done" else "",
            )
        )
    return shown
