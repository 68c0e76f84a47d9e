"""The report as sentences and tables of text: the same on the page and in the file. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from store.core.plurals import counted
from store.reports.model_usage import Asked
from store.reports.quality import Counts
from store.reports.quality_report import Judged, QualityReport
from store.reports.week_report import WeekReport
from store.sources.source_report import SourceReport

UNKNOWN = "unknown"
NOTHING_HELD = "nothing held"
FINE = "Nothing to report."


@dataclass(frozen=True)
class Table:
    """Rows of text under a title; `empty` is shown if there are no rows."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    empty: str = FINE


def title(report: WeekReport) -> str:
    """The title of the whole report."""
    return f"Attest, {_day(report.quality.since)} to {_day(report.quality.until)} (UTC)"


def summary(report: WeekReport) -> str:
    """The report in a few sentences."""
    counts = report.quality.counts
    missed = len(report.quality.missed)
    abstained = sum(counts.abstained.values())
    return (
        f"{counted(counts.answers, 'answer')} sealed, {abstained} of them abstained; "
        f"{counted(counts.failed, 'question')} failed. {_took(counts)}"
        f"{missed} of {len(report.quality.metrics)} metrics miss their target. "
        f"{counted(sum(death.died for death in report.deaths), 'message')} died."
    )


def _took(counts: Counts) -> str:
    half, most = counts.response_ms_p50, counts.response_ms_p95
    if half is None or most is None:
        return ""
    return f"Half of them took up to {half / 1000:.1f} s, 95% up to {most / 1000:.1f} s. "


def tables(report: WeekReport) -> list[Table]:
    """Every table of the report; missed targets come first."""
    return [
        *_of_metrics(report.quality),
        _trend(report),
        *_of_questions(report.quality),
        Table(
            "Sources, as they stood when this was written",
            ("source", "status", "age, hours", "limit, hours", "inside its limit", "last complete"),
            [_source(source) for source in _late_first(report.sources)],
            "No source is followed.",
        ),
        *_of_dead_letters(report),
        costs(report.quality.counts),
        Table(
            "Answers that were recalled",
            ("state", "answers"),
            [(state, str(count)) for state, count in report.recalled.items() if count],
            "No answer was recalled.",
        ),
        Table(
            "What readers say of answers",
            ("judgment", "readers"),
            [(judgment, str(many)) for judgment, many in report.judged.items()],
            "Nobody said anything.",
        ),
    ]


def _of_metrics(quality: QualityReport) -> list[Table]:
    return [
        Table(
            "Targets missed",
            ("metric", "value", "target", "over", "alert", "what it is"),
            [_judged(metric) for metric in quality.missed],
            "Every target that can be judged is met.",
        ),
        Table(
            "All metrics",
            ("metric", "value", "target", "over", "state", "what it is"),
            [_described(metric) for metric in _misses_first(quality.metrics)],
        ),
    ]


def _of_questions(quality: QualityReport) -> list[Table]:
    return [
        Table(
            "Questions by type",
            ("type", "outcome", "answers"),
            [
                (_words(row.query_type), _words(row.outcome), str(row.answers))
                for row in quality.counts.ended
            ],
            "No answer was sealed.",
        ),
        stops(quality.counts),
    ]


def stops(counts: Counts) -> Table:
    """The claims that the gate stopped, by the check that did."""
    return Table(
        "Claims that the gate stopped",
        ("check", "claims"),
        [(_check(check), str(claims)) for check, claims in counts.stops.items()],
        "It stopped none.",
    )


def costs(counts: Counts) -> Table:
    """The requests to language models by purpose, with their costs and times."""
    return Table(
        "Costs of language models",
        (
            *("purpose", "requests", "US dollars", "cost not known"),
            *("US dollars each, half below", "95% below"),
            *("seconds, half faster", "95% faster"),
        ),
        [_asked(one) for one in counts.asked],
        "No language model was asked.",
    )


def _trend(report: WeekReport) -> Table:
    names = [judged.name for judged in report.quality.metrics if not judged.metric.standing]
    shown = [name for name in names if any(name in day.figures for day in report.quality.trend)]
    return Table(
        "Day by day",
        ("day", "answered", "abstained", *shown),
        [
            (
                day.day,
                str(day.answered),
                str(day.abstained),
                *(f"{figures[name].value:.4g}" if name in figures else "-" for name in shown),
            )
            for day, figures in (
                (day, quality.figures)
                for day, quality in zip(report.days, report.quality.trend, strict=True)
            )
        ],
    )


_JUDGES = {"judge": "the language model's verdict", "verifier": "the verifier"}


def _check(name: str) -> str:
    kind = name.removeprefix("doubt ")
    return _JUDGES.get(name) or f"{'hard fact' if kind == name else 'doubt'}: {_words(kind)}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _asked(one: Asked) -> tuple[str, ...]:
    each = [_known(cost, "{:.4f}") for cost in (one.cost_p50, one.cost_p95)]
    took = [_known(None if ms is None else ms / 1000, "{:.2f}") for ms in (one.ms_p50, one.ms_p95)]
    total = f"{one.cost_usd:.4f}"
    return (_words(one.purpose), str(one.requests), total, str(one.unpriced), *each, *took)


def _known(value: float | None, form: str) -> str:
    return UNKNOWN if value is None else form.format(value)


def _of_dead_letters(report: WeekReport) -> list[Table]:
    return [
        Table(
            "Dead letters of the week",
            ("stage", "error", "died", "still open"),
            [
                (death.stage, death.error_type, str(death.died), str(death.open))
                for death in report.deaths
            ],
            "Nothing died.",
        ),
        Table(
            "Dead letters still open, of any age",
            ("stage", "open", "leases taken over so far"),
            [
                (queue.stage, str(queue.dead_letters), str(queue.takeovers))
                for queue in report.queues
                if queue.dead_letters or queue.takeovers
            ],
            "None is open.",
        ),
    ]


def _misses_first(metrics: Sequence[Judged]) -> list[Judged]:
    order = ("missed", "met", "untargeted", "unknown")
    return sorted(metrics, key=lambda metric: order.index(metric.state))


def _judged(one: Judged) -> tuple[str, ...]:
    alert = {True: "yes", False: "no", None: "-"}[one.alerting]
    return one.name, value(one), _target(one), str(one.figure.over), alert, one.metric.says


def _described(one: Judged) -> tuple[str, ...]:
    metric = one.metric
    return one.name, value(one), _target(one), str(one.figure.over), one.state, metric.says


def value(one: Judged) -> str:
    """The metric's value as text; never 0 for an unknown value."""
    if one.figure.value is None:
        return NOTHING_HELD if one.metric.standing else UNKNOWN
    return f"{one.figure.value:.4g}"


def _target(one: Judged) -> str:
    return one.metric.target.words() if one.metric.target else "-"


def _late_first(sources: Sequence[SourceReport]) -> list[SourceReport]:
    return sorted(
        sources, key=lambda source: (source.in_sla is not False, source.status != "degraded")
    )


def _source(one: SourceReport) -> tuple[str, ...]:
    inside = {True: "yes", False: "no", None: "-"}[one.in_sla]
    return (
        one.name,
        one.status,
        UNKNOWN if one.age_hours is None else f"{one.age_hours:.1f}",
        "-" if one.sla_hours is None else f"{one.sla_hours:g}",
        inside,
        UNKNOWN if one.last_success_at is None else f"{one.last_success_at:%Y-%m-%d %H:%M}",
    )


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
