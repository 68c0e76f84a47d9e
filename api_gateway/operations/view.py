"""What operators see first: sources against their limits, queues, dead letters, cost. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from api_gateway.pages.clocks import Moment, milliseconds, moment, span_of_hours
from api_gateway.pages.wording import Badge
from store.pipeline.circuits import StageState
from store.pipeline.queue_report import QueueReport
from store.reports.model_usage import Spent

IN_TIME = Badge("In time", "good", "check", "All that is followed was looked for within its limit")
LATE = Badge("Late", "bad", "warning", "Something that is followed is older than its limit")
FAILING = Badge(
    "Failing", "bad", "cross", "It failed; it is left alone until it may be asked again"
)
NO_LIMIT = Badge("No limit", "quiet", "clock", "It is followed, and no limit is set for its age")
NOT_FOLLOWED = Badge("Not followed", "quiet", "question", "Nothing is followed there now")

STAGE: Mapping[str, Badge] = {
    "closed": Badge("Works", "good", "check", "Its messages are worked on"),
    "open": Badge("Circuit open", "bad", "cross", "Too much died: a message is tried now and then"),
    "paused": Badge("Paused", "warn", "half", "An operator stopped it: its messages wait"),
}
_NO_STAGE = Badge("Unknown", "bad", "question", "Its state is none that this release knows")


@dataclass(frozen=True)
class SourceLine:
    """A source against its limit. `age` is that of the oldest query that is followed there, of
    those that were ever complete; `incomplete` ones failed and never were."""

    name: str
    title: str
    tier: str
    badges: Sequence[Badge]
    reason: str | None
    age: str
    limit: str
    late_since: Moment | None
    followed: int
    incomplete: int
    documents: int
    succeeded: Moment | None
    error: str | None
    failed: Moment | None
    next_run: Moment | None


def source_line(body: Mapping[str, Any]) -> SourceLine:
    """The view of a source, from the `body` of `store.sources.source_report`.

    The queries themselves are left out: one may have come from a question.
    """
    age, limit = body["age_hours"], body["sla_hours"]
    return SourceLine(
        name=body["name"],
        title=body["title"],
        tier=body["tier"] or "",
        badges=_source_badges(body),
        reason=body["reason"],
        age="never" if age is None else span_of_hours(age),
        limit="none" if limit is None else span_of_hours(limit),
        late_since=moment(body["breached_since"]),
        followed=sum(1 for one in body["watches"] if one["active"]),
        incomplete=sum(
            1
            for one in body["watches"]
            if one["active"] and one["cursor_at"] is None and one["last_error"]
        ),
        documents=body["documents"],
        succeeded=moment(body["last_success_at"]),
        error=body["last_error"],
        failed=moment(body["last_error_at"]),
        next_run=moment(body["next_run_at"]),
    )


def _source_badges(body: Mapping[str, Any]) -> list[Badge]:
    found = [FAILING] if body["status"] == "degraded" else []
    if body["in_sla"] is False:
        found.append(LATE)
    elif body["in_sla"]:
        found.append(IN_TIME)
    elif any(one["active"] for one in body["watches"]):
        found.append(NO_LIMIT)
    else:
        found.append(NOT_FOLLOWED)
    return found


@dataclass(frozen=True)
class StageLine:
    """A stage and its queue: counts of messages, and ages in words."""

    name: str
    badge: Badge
    reason: str | None
    changed_by: str | None
    changed: Moment | None
    next_try: Moment | None
    due: int
    published: int
    working: int
    delayed: int
    held: int
    oldest: str
    recent: int
    slow: str
    dead_letters: int

    @property
    def works(self) -> bool:
        """Whether its messages are worked on."""
        return self.badge == STAGE["closed"]

    @property
    def waiting(self) -> int:
        """All that is promised and not ended."""
        return self.due + self.published + self.delayed + self.held


def stage_lines(states: Iterable[StageState], queues: Iterable[QueueReport]) -> list[StageLine]:
    """Every stage of `states` beside its queue, in the order of the chain."""
    by_stage = {one.stage: one for one in queues}
    return [_stage_line(one, by_stage.get(one.stage, QueueReport(one.stage))) for one in states]


def _stage_line(state: StageState, queue: QueueReport) -> StageLine:
    stopped = state.state != "closed"
    return StageLine(
        name=state.stage,
        badge=STAGE.get(state.state, _NO_STAGE),
        reason=state.reason if stopped else None,
        changed_by=state.changed_by if stopped else None,
        changed=moment(state.changed_at) if stopped else None,
        next_try=moment(state.probe_at) if state.state == "open" else None,
        due=queue.due,
        published=queue.published,
        working=queue.working,
        delayed=queue.delayed,
        held=state.held,
        oldest=seconds(queue.oldest_seconds) if queue.oldest_seconds else "",
        recent=queue.recent,
        slow=milliseconds(queue.seconds[1] * 1000) if queue.seconds else "",
        dead_letters=queue.dead_letters,
    )


def seconds(many: float) -> str:
    """An age that may be short: seconds up to a minute, then as `span_of_hours`."""
    return f"{many:.0f} s" if many < 60 else span_of_hours(many / 3600)


def dollars(cost: Decimal) -> str:
    """US dollars; a cost under one dollar to a hundredth of a cent."""
    return f"US$ {cost:,.4f}" if 0 < cost < 1 else f"US$ {cost:,.2f}"


def cost_words(spent: Spent) -> tuple[str, str]:
    """What was paid, and what else is to be said of it."""
    told = f"{spent.requests} request{'' if spent.requests == 1 else 's'} to language models"
    if spent.unpriced:
        tokens = sum(one.input_tokens + one.output_tokens for one in spent.unpriced)
        told += f"; the cost of up to {tokens:,} tokens is not known and not in it"
    return dollars(spent.known), told


@dataclass(frozen=True)
class Tile:
    """One figure of the overview; `badge` where it is good or bad by itself."""

    label: str
    value: str
    detail: str
    badge: Badge | None = None
    href: str | None = None


def tiles(sources: Sequence[SourceLine], stages: Sequence[StageLine], spent: Spent) -> list[Tile]:
    """The figures on top of the overview."""
    return [_sources_tile(sources), _stages_tile(stages), *_work_tiles(stages), _cost_tile(spent)]


def _sources_tile(sources: Sequence[SourceLine]) -> Tile:
    judged = [one for one in sources if not {NOT_FOLLOWED, NO_LIMIT}.intersection(one.badges)]
    good = sum(1 for one in judged if IN_TIME in one.badges)
    failing = sum(1 for one in sources if FAILING in one.badges)
    state = LATE if good < len(judged) else FAILING if failing else IN_TIME if judged else None
    return Tile(
        "Sources in time",
        f"{good} of {len(judged)}" if judged else "none",
        f"{failing} failing" if failing else "none failing" if judged else "nothing is followed",
        state,
        "#sources",
    )


def _stages_tile(stages: Sequence[StageLine]) -> Tile:
    stopped = [one for one in stages if not one.works]
    worst = next((one for one in stopped if one.badge.tone == "bad"), next(iter(stopped), None))
    return Tile(
        "Stages that work",
        f"{len(stages) - len(stopped)} of {len(stages)}",
        ", ".join(one.name for one in stopped) + " stopped" if stopped else "none stopped",
        worst.badge if worst else STAGE["closed"],
        "#stages",
    )


def _work_tiles(stages: Sequence[StageLine]) -> list[Tile]:
    waiting = sum(one.waiting for one in stages)
    dead = sum(one.dead_letters for one in stages)
    held = sum(one.held for one in stages)
    return [
        Tile("Messages waiting", f"{waiting:,}", f"{held:,} of them held", None, "#stages"),
        Tile(
            "Dead letters",
            f"{dead:,}",
            "open, of all stages",
            Badge("Look", "warn", "warning", "Somebody must decide on them") if dead else None,
            "/operate/dead-letters",
        ),
    ]


def _cost_tile(spent: Spent) -> Tile:
    value, told = cost_words(spent)
    return Tile("Cost today (UTC)", value, told, None, "/operate/quality#cost")
