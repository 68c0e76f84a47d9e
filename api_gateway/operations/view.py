"""Views of the operators' overview: sources and limits, queues, dead letters, cost. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api_gateway.pages.clocks import dollars, span_of_hours
from api_gateway.pages.wording import Badge
from store.core.plurals import counted
from store.core.settings import Settings
from store.pipeline.circuits import StageState
from store.pipeline.queue_report import QueueReport
from store.reports.model_usage import Spent
from workers.language_model import table_of

IN_TIME = Badge("In time", "good", "check", "All that is followed was looked for within its limit")
IN_TIME_YET = Badge(
    "In time so far", "warn", "clock", "What is held is not too old yet, but nothing new comes"
)
LATE = Badge("Late", "bad", "warning", "Something that is followed is older than its limit")
FAILING = Badge(
    "Failing", "bad", "cross", "It failed; it is left alone until it may be asked again"
)
NO_LIMIT = Badge("No limit", "quiet", "clock", "It is followed, and no limit is set for its age")
NOT_FOLLOWED = Badge("Not followed", "quiet", "question", "Nothing is followed there now")

STAGE: Mapping[str, Badge] = {
    "closed": Badge("Works", "good", "check", "Its messages are worked on"),
    "open": Badge(
        "Stopped itself", "bad", "cross", "Too much died: a message is tried now and then"
    ),
    "paused": Badge("Paused", "warn", "half", "An operator stopped it: its messages wait"),
}
JOB: Mapping[str, Badge] = {
    "running": Badge("At work", "quiet", "clock", "A worker holds it"),
    "waiting": Badge("Tries again", "warn", "half", "It failed and waits for its next attempt"),
    "done": Badge("Done", "good", "check", "Its result is written"),
    "dead": Badge("Gave up", "bad", "cross", "It became a dead letter"),
}
_NO_STAGE = Badge("Unknown", "bad", "question", "Its state is none that this release knows")


def source_line(body: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of a source, from the `body` of `store.sources.source_report`.

    `followed` counts its queries, `incomplete` those that failed and were never complete. The
    queries themselves are left out: one may have come from a question.
    """
    age, limit = body["age_hours"], body["sla_hours"]
    active = [watch for watch in body["watches"] if watch["active"]]
    told = {name: value for name, value in body.items() if name != "watches"}
    return told | {
        "badges": _source_badges(body),
        "age": "never" if age is None else span_of_hours(age),
        "limit": "none" if limit is None else span_of_hours(limit),
        "followed": len(active),
        "incomplete": sum(1 for one in active if one["cursor_at"] is None and one["last_error"]),
    }


def _source_badges(body: Mapping[str, Any]) -> list[Badge]:
    badges = [FAILING] if body["status"] == "degraded" else []
    if body["in_sla"] is False:
        badges.append(LATE)
    elif body["in_sla"]:
        badges.append(IN_TIME_YET if badges else IN_TIME)
    elif any(watch["active"] for watch in body["watches"]):
        badges.append(NO_LIMIT)
    else:
        badges.append(NOT_FOLLOWED)
    return badges


@dataclass(frozen=True)
class StageLine:
    """A stage and its queue."""

    state: StageState
    queue: QueueReport

    @property
    def name(self) -> str:
        """The name of the stage."""
        return self.state.stage

    @property
    def badge(self) -> Badge:
        """Its state in words."""
        return STAGE.get(self.state.state, _NO_STAGE)

    @property
    def works(self) -> bool:
        """Whether its messages are processed."""
        return self.state.state == "closed"

    @property
    def waiting(self) -> int:
        """The number of messages that are promised and not ended."""
        queue = self.queue
        return queue.due + queue.published + queue.delayed + self.state.held

    @property
    def oldest(self) -> str:
        """The age of its oldest message in words; empty if there is none."""
        return seconds(self.queue.oldest_seconds) if self.queue.oldest_seconds else ""


def stage_lines(states: Iterable[StageState], queues: Iterable[QueueReport]) -> list[StageLine]:
    """All stages of `states` with their queues, in the order of the chain."""
    known = {queue.stage: queue for queue in queues}
    return [StageLine(one, known.get(one.stage, QueueReport(one.stage))) for one in states]


def seconds(many: float) -> str:
    """An age in words: seconds up to a minute, then as `span_of_hours`."""
    return f"{many:.0f} s" if many < 60 else span_of_hours(many / 3600)


def cost_words(spent: Spent) -> tuple[str, str]:
    """The known cost, and the number of requests and of tokens without a known cost."""
    detail = f"{counted(spent.requests, 'request')} to language models"
    if spent.unpriced:
        tokens = sum(usage.input_tokens + usage.output_tokens for usage in spent.unpriced)
        detail += f"; the cost of up to {tokens:,} tokens is not known and not in it"
    return dollars(spent.known), detail


@dataclass(frozen=True)
class Tile:
    """One figure of the overview; `badge` is set if it is good or bad by itself."""

    label: str
    value: str
    detail: str
    badge: Badge | None = None
    href: str | None = None


def tiles(
    sources: Sequence[Mapping[str, Any]], stages: Sequence[StageLine], spent: Spent
) -> list[Tile]:
    """The figures at the top of the overview."""
    return [_sources_tile(sources), _stages_tile(stages), *_work_tiles(stages), _cost_tile(spent)]


def _sources_tile(sources: Sequence[Mapping[str, Any]]) -> Tile:
    judged = [
        source for source in sources if not {NOT_FOLLOWED, NO_LIMIT}.intersection(source["badges"])
    ]
    good = sum(1 for source in judged if {IN_TIME, IN_TIME_YET}.intersection(source["badges"]))
    failing = sum(1 for source in sources if FAILING in source["badges"])
    state = LATE if good < len(judged) else FAILING if failing else IN_TIME if judged else None
    return Tile(
        "Sources in time",
        f"{good} of {len(judged)}" if judged else "none",
        f"{failing} failing" if failing else "none failing" if judged else "nothing is followed",
        state,
        "#sources",
    )


def _stages_tile(stages: Sequence[StageLine]) -> Tile:
    stopped = [stage for stage in stages if not stage.works]
    worst = next(
        (stage for stage in stopped if stage.badge.tone == "bad"), next(iter(stopped), None)
    )
    return Tile(
        "Stages that work",
        f"{len(stages) - len(stopped)} of {len(stages)}",
        ", ".join(stage.name for stage in stopped) + " stopped" if stopped else "none stopped",
        worst.badge if worst else STAGE["closed"],
        "#stages",
    )


def _work_tiles(stages: Sequence[StageLine]) -> list[Tile]:
    waiting = sum(stage.waiting for stage in stages)
    dead = sum(stage.queue.dead_letters for stage in stages)
    held = sum(stage.state.held for stage in stages)
    return [
        Tile(
            "Messages waiting",
            f"{waiting:,}",
            f"{held:,} of them held" if held else "none held",
            None,
            "#stages",
        ),
        Tile(
            "Dead letters",
            f"{dead:,}",
            "open, of all stages",
            Badge("Look", "warn", "warning", "Somebody must decide on them") if dead else None,
            "/operate/dead-letters",
        ),
    ]


def _cost_tile(spent: Spent) -> Tile:
    value, detail = cost_words(spent)
    return Tile("Cost today (UTC)", value, detail, None, "/operate/quality#cost")


def model_tile(settings: Settings, spent: Spent) -> Tile:
    """The language model that was asked today or, as far as the gateway's settings say, is asked
    from now on, and what its tokens cost."""
    own = settings.model_name if settings.model_url else settings.anthropic_model
    is_set = settings.model_url or settings.anthropic_api_key
    models = list(dict.fromkeys([*([own] if is_set else []), *spent.models]))
    if not models:
        detail = "none was asked today: answers are sentences of their sources"
        return Tile("Language model", "none", detail, None, "/operate/quality#cost")
    table, million = table_of(settings), 1_000_000
    read, written = (table.at_most(models[0], *of) for of in ((million, 0), (0, million)))
    detail = f"a million tokens cost at most {dollars(read)} read, {dollars(written)} written"
    return Tile("Language model", ", ".join(models), detail, None, "/operate/quality#cost")
