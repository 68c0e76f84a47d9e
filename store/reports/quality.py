"""Quality measurements of answers: one row for each, and the figures over a window of them.

An answer is measured once, when it is sealed. If a window holds no data for a figure, the figure is
unknown (None over 0), never 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, SQLModel

from knowledge.operation.quality import UNKNOWN, Figure
from store.models import AnswerQuality
from store.questions.states import Sealed
from store.reports import model_usage
from store.reports.model_usage import Asked


@dataclass(frozen=True)
class Times:
    """Milliseconds from accepting the question to sealing its answer, and those of each stage."""

    response_ms: float
    stage_ms: Mapping[str, float]


_ADD = sa.insert(SQLModel.metadata.tables[str(AnswerQuality.__tablename__)])


def add(session: Session, question_id: UUID, sealed: Sealed, counted: Mapping[str, Any]) -> Times:
    """Write the measurements of an answer that was sealed in this transaction.

    Args:
        counted: the columns of `answer_quality` except ids and times.

    Returns:
        How long the question took.
    """
    took = (sealed.finished_at - sealed.created_at).total_seconds() * 1000
    times = Times(round(took, 1), sealed.stage_ms)
    cost = counted["cost_usd"]
    row = {
        **counted,
        "cost_usd": None if cost is None else Decimal(cost),
        "question_id": question_id,
        "sealed_at": sealed.finished_at,
        "response_ms": times.response_ms,
        "stage_ms": dict(times.stage_ms),
    }
    session.execute(_ADD, [row])
    return times


_FIGURES = """
    count(*) FILTER (WHERE trial) AS trial_questions,
    avg(nccn::float8 / greatest(sources, 1)) FILTER (WHERE trial) AS nccn_share,
    avg(trial_sources) FILTER (WHERE trial) AS trial_sources,
    count(routing_compliant) AS routed,
    count(*) FILTER (WHERE routing_compliant) AS routed_well,
    coalesce(sum(verified), 0) AS verified,
    coalesce(sum(verified + partial + unverified + conflicting), 0) AS drafted,
    coalesce(sum(quotations), 0) AS quotations,
    coalesce(sum(unanchored), 0) AS unanchored,
    count(*) FILTER (WHERE abstain_reason IS NULL) AS answered,
    coalesce(sum(citations) FILTER (WHERE abstain_reason IS NULL), 0) AS citations,
    coalesce(sum(drafted), 0) AS by_model,
    coalesce(sum(own_words), 0) AS own_words,
    coalesce(sum(source_words), 0) AS source_words,
    coalesce(sum(mended), 0) AS mended,
    coalesce(sum(repaired), 0) AS repaired,
    coalesce(sum(doubts), 0) AS doubts,
    coalesce(sum(doubts_answered), 0) AS doubts_answered,
    coalesce(sum(doubts_standing), 0) AS doubts_standing,
    coalesce(sum(both_judged), 0) AS both_judged,
    coalesce(sum(disagreed), 0) AS disagreed,
    count(believed) AS judged,
    count(*) FILTER (WHERE NOT believed) AS not_believed
"""
_WINDOW = """
    FROM (SELECT *, query_type = 'clinical_trials' AS trial FROM answer_quality
          WHERE sealed_at >= :since AND sealed_at < :until) AS measured
"""


def figures(session: Session, since: datetime, until: datetime) -> dict[str, Figure]:
    """The metrics of the MRD plan (4.1) over the answers sealed in [since, until)."""
    row = session.execute(
        sa.text(f"SELECT {_FIGURES} {_WINDOW}"),
        {"since": since, "until": until},
    ).one()
    return _figures(row)


def figures_by_day(
    session: Session, since: datetime, until: datetime
) -> dict[str, dict[str, Figure]]:
    """The same for each day (UTC) on which an answer was sealed, by its ISO date."""
    rows = session.execute(
        sa.text(
            f"SELECT (sealed_at AT TIME ZONE 'UTC')::date AS day, {_FIGURES} {_WINDOW} "
            "GROUP BY day ORDER BY day"
        ),
        {"since": since, "until": until},
    )
    return {row.day.isoformat(): _figures(row) for row in rows}


def _figures(row: Any) -> dict[str, Figure]:
    return {
        "avg_nccn_share_trial_queries": _mean(row.nccn_share, row.trial_questions),
        "avg_trial_sources_trial_queries": _mean(row.trial_sources, row.trial_questions),
        "routing_compliance_rate": _share(row.routed_well, row.routed),
        "supported_claim_rate": _share(row.verified, row.drafted),
        "unanchored_quote_rate": _share(row.unanchored, row.quotations),
        "citations_per_response": _share(row.citations, row.answered),
        "own_words_rate": _share(row.own_words, row.by_model),
        "source_words_rate": _share(row.source_words, row.by_model),
        "repair_success_rate": _share(row.repaired, row.mended),
        "doubts_answered_rate": _share(row.doubts_answered, row.doubts),
        "doubts_standing_rate": _share(row.doubts_standing, row.doubts),
        "judges_disagree_rate": _share(row.disagreed, row.both_judged),
        "judge_not_believed_rate": _share(row.not_believed, row.judged),
    }


def _mean(value: Any, over: int) -> Figure:
    return Figure(float(value), int(over)) if over else UNKNOWN


def _share(part: int, whole: int) -> Figure:
    return Figure(int(part) / int(whole), int(whole)) if whole else UNKNOWN


def anchors(session: Session) -> Figure:
    """How many anchors the current documents have (MRD "Success Metrics"), as a count over 1.

    Unknown if there is no document: then nothing is missing.
    """
    row = session.execute(
        sa.text(
            "SELECT (SELECT count(*) FROM anchor a JOIN document_version v ON v.id = a.version_id "
            "WHERE v.status = 'current') AS anchors, "
            "EXISTS (SELECT FROM document_version WHERE status = 'current') AS held"
        )
    ).one()
    return Figure(float(row.anchors), 1) if row.held else UNKNOWN


@dataclass(frozen=True)
class Ended:
    """The answers of one question type and one outcome that were sealed in a window."""

    query_type: str
    outcome: str
    """`answered`, or the reason of the abstention."""
    answers: int


@dataclass(frozen=True)
class Counts:
    """Counts of what ended in a window. Times in milliseconds; None: nothing ended."""

    ended: Sequence[Ended]
    failed: int
    response_ms_p50: float | None
    response_ms_p95: float | None
    cost_usd: Decimal
    cost_unknown: int
    """Answers whose cost is not known and not part of `cost_usd`."""
    stops: Mapping[str, int] = field(default_factory=dict)
    """Claims that the gate stopped, by the check that did; one may be stopped by several."""
    asked: Sequence[Asked] = ()
    """Requests to language models, by purpose."""

    @property
    def answers(self) -> int:
        """All answers, abstentions included."""
        return sum(group.answers for group in self.ended)

    @property
    def by_type(self) -> dict[str, int]:
        """Answers by question type."""
        answers: dict[str, int] = {}
        for group in self.ended:
            answers[group.query_type] = answers.get(group.query_type, 0) + group.answers
        return answers

    @property
    def abstained(self) -> dict[str, int]:
        """Abstentions by reason."""
        answers: dict[str, int] = {}
        for group in self.ended:
            if group.outcome != "answered":
                answers[group.outcome] = answers.get(group.outcome, 0) + group.answers
        return answers


_ENDED = sa.text(
    """
    SELECT query_type, coalesce(abstain_reason, 'answered') AS outcome, count(*) AS answers
    FROM answer_quality WHERE sealed_at >= :since AND sealed_at < :until
    GROUP BY 1, 2 ORDER BY 1, 2
    """
)
_TOOK = sa.text(
    """
    SELECT percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY response_ms) AS ms,
           coalesce(sum(cost_usd), 0) AS cost_usd,
           count(*) FILTER (WHERE cost_usd IS NULL) AS cost_unknown
    FROM answer_quality WHERE sealed_at >= :since AND sealed_at < :until
    """
)
_STOPS = sa.text(
    """
    SELECT stopped.key AS name, sum(CAST(stopped.value AS bigint)) AS claims
    FROM answer_quality, jsonb_each_text(stops) AS stopped
    WHERE sealed_at >= :since AND sealed_at < :until GROUP BY 1 ORDER BY 2 DESC, 1
    """
)
_FAILED = sa.text(
    "SELECT count(*) FROM question WHERE status = 'failed' "
    "AND finished_at >= :since AND finished_at < :until"
)


def counts(session: Session, since: datetime, until: datetime) -> Counts:
    """Counts of what ended in [since, until)."""
    window = {"since": since, "until": until}
    took = session.execute(_TOOK, window).one()
    middle, slow = took.ms or (None, None)
    return Counts(
        ended=[
            Ended(row.query_type, row.outcome, row.answers)
            for row in session.execute(_ENDED, window)
        ],
        failed=session.execute(_FAILED, window).scalar_one(),
        response_ms_p50=middle,
        response_ms_p95=slow,
        cost_usd=took.cost_usd,
        cost_unknown=took.cost_unknown,
        stops={row.name: int(row.claims) for row in session.execute(_STOPS, window)},
        asked=model_usage.asked(session, since, until),
    )
