"""The costs of language models: every request is recorded before it is sent and after it ended.

A row begins as `asked`, with the maximum of tokens that the request can use, and ends with its
outcome. A process that dies in between leaves the row as it is, so that a request that may be
billed is never lost, and one call is one row however often its caller restarts.
"""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

import sqlalchemy as sa
from sqlmodel import Session, SQLModel, col

from store.models import ModelUsage

ASKED = "asked"
"""The outcome of a request that is in progress, or whose process died."""

_REPLIED = ("proposed", "refused", "unusable")

_BUDGET_LOCK = 0x4174746573740003  # "Attest", 3: one transaction at a time checks a budget


@dataclass(frozen=True)
class Unpriced:
    """Requests to one model whose cost is not known: their tokens, or the maximum of these."""

    model: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Spent:
    """The cost of some requests: US dollars where known, else tokens."""

    known: Decimal
    unpriced: tuple[Unpriced, ...]
    requests: int
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class Total:
    """Requests of one purpose with one outcome, and their known costs, for operators."""

    purpose: str
    outcome: str
    requests: int
    cost_usd: Decimal
    unpriced: int


@dataclass(frozen=True)
class Asked:
    """Requests for one purpose in a window; times in milliseconds, costs in US dollars. Quantiles
    are of those whose time and whose cost is known; None where there are none."""

    purpose: str
    requests: int
    cost_usd: Decimal
    unpriced: int
    ms_p50: float | None
    ms_p95: float | None
    cost_p50: float | None
    cost_p95: float | None


@dataclass(frozen=True)
class DayCost:
    """The cost of language models on a day (UTC), without that of the `unpriced` requests."""

    day: date
    cost: Decimal
    requests: int
    unpriced: int


def lock_budgets(session: Session) -> None:
    """Wait for the lock on budgets, and hold it until this transaction ends."""
    session.execute(sa.select(sa.func.pg_advisory_xact_lock(_BUDGET_LOCK)))


def begin(session: Session, row: ModelUsage) -> int:
    """Record a request before it is sent; returns the id for `end`."""
    session.add(row)
    session.flush()
    return row.id


def end(
    session: Session,
    usage_id: int,
    *,
    outcome: str,
    model: str,
    tokens: tuple[int, int, int, int] | None,
    cost_usd: Decimal | None,
    ms: float,
) -> None:
    """Record the outcome of a request.

    Args:
        tokens: uncached input, output, read from the cache, written to the cache; None keeps the
            maximum, for a request that may be billed without a reply.
        cost_usd: US dollars; None: not known.
        ms: from sending it to its end, in milliseconds.
    """
    row = session.get_one(ModelUsage, usage_id)
    row.outcome, row.model, row.cost_usd, row.ms = outcome, model, cost_usd, ms
    if tokens is not None:
        row.input_tokens, row.output_tokens = tokens[:2]
        row.cache_read_tokens, row.cache_write_tokens = tokens[2:]


def spent(
    session: Session,
    *,
    subject: str | None = None,
    since: datetime | None = None,
    owner: str | None = None,
) -> Spent:
    """The cost of requests, including those in progress.

    Args:
        subject: only requests for this subject, such as a question's id.
        since: only requests from this time on.
        owner: only requests for questions and texts of this owner.
    """
    all_input = ModelUsage.input_tokens + ModelUsage.cache_read_tokens
    rows = session.execute(
        sa.select(
            col(ModelUsage.model),
            col(ModelUsage.cost_usd).is_(None),
            sa.func.count(),
            sa.func.coalesce(sa.func.sum(col(ModelUsage.cost_usd)), 0),
            sa.func.sum(all_input + ModelUsage.cache_write_tokens),
            sa.func.sum(col(ModelUsage.output_tokens)),
        )
        .where(*_chosen(subject, since), *_of(owner))
        .group_by(col(ModelUsage.model), col(ModelUsage.cost_usd).is_(None))
        .order_by(col(ModelUsage.model))
    ).all()
    return Spent(
        sum((Decimal(cost) for _, _, _, cost, _, _ in rows), Decimal(0)),
        tuple(
            Unpriced(model, int(read), int(written))
            for model, open_, _, _, read, written in rows
            if open_
        ),
        sum(count for _, _, count, _, _, _ in rows),
        tuple(dict.fromkeys(row[0] for row in rows)),
    )


def cost_of_subject(subject: str) -> str:
    """An SQL expression for the US dollars paid for a subject; null if the cost of any request for
    it is not known.

    Args:
        subject: the SQL expression of the subject.
    """
    return f"""
        (SELECT CASE WHEN count(*) = count(cost_usd) THEN coalesce(sum(cost_usd), 0) END
         FROM model_usage WHERE model_usage.subject = {subject})
    """  # noqa: S608  our own names


_COST = sa.text(f"SELECT {cost_of_subject(':subject')}")


def cost_of(session: Session, subject: str) -> Decimal | None:
    """See `cost_of_subject`."""
    cost: Decimal | None = session.execute(_COST, {"subject": subject}).scalar_one()
    return cost


def ended(session: Session, subject: str, purpose: str, outcome: str) -> int:
    """How many requests for a subject had this outcome: a durable count of a stage's tries."""
    number: int = session.execute(
        sa.select(sa.func.count()).where(
            col(ModelUsage.subject) == subject,
            col(ModelUsage.purpose) == purpose,
            col(ModelUsage.outcome) == outcome,
        )
    ).scalar_one()
    return number


def replied(session: Session, subject: str, purpose: str) -> int:
    """How many requests for a subject a model replied to, whatever it said."""
    return sum(ended(session, subject, purpose, one) for one in _REPLIED)


_ASKED = sa.text(
    """
    SELECT purpose, count(*) AS requests, coalesce(sum(cost_usd), 0) AS cost_usd,
           count(*) FILTER (WHERE cost_usd IS NULL) AS unpriced,
           percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY ms) AS ms,
           percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY cost_usd::float8) AS cost
    FROM model_usage WHERE at >= :since AND at < :until
    GROUP BY purpose ORDER BY cost_usd DESC, purpose
    """
)


def asked(session: Session, since: datetime, until: datetime) -> list[Asked]:
    """The requests in [since, until) by purpose, the most expensive first."""
    none = (None, None)
    return [
        Asked(
            row.purpose,
            row.requests,
            Decimal(row.cost_usd),
            row.unpriced,
            *(row.ms or none),
            *(row.cost or none),
        )
        for row in session.execute(_ASKED, {"since": since, "until": until})
    ]


_BY_DAY = sa.text(
    """
    SELECT (at AT TIME ZONE 'UTC')::date AS day, coalesce(sum(cost_usd), 0) AS cost,
           count(*) AS requests, count(*) FILTER (WHERE cost_usd IS NULL) AS unpriced
    FROM model_usage WHERE at >= :since GROUP BY day ORDER BY day
    """
)


def by_day(session: Session, since: datetime) -> list[DayCost]:
    """The cost of each day since `since`; days without a request are left out."""
    return [DayCost(**row._mapping) for row in session.execute(_BY_DAY, {"since": since})]


def _chosen(subject: str | None, since: datetime | None) -> list[sa.ColumnElement[bool]]:
    chosen: list[sa.ColumnElement[bool]] = []
    if subject is not None:
        chosen.append(col(ModelUsage.subject) == subject)
    if since is not None:
        chosen.append(col(ModelUsage.at) >= since)
    return chosen


_UUID = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


def _of(owner: str | None) -> list[sa.ColumnElement[bool]]:
    """Conditions that the subject is a row of `owner`, in any table with an owner column."""
    if owner is None:
        return []
    subject = col(ModelUsage.subject)
    key = sa.case((subject.regexp_match(_UUID), sa.cast(subject, sa.Uuid)))
    owned = [
        table
        for table in SQLModel.metadata.sorted_tables
        if "owner" in table.c and "id" in table.c and isinstance(table.c.id.type, sa.Uuid)
    ]
    return [
        sa.or_(*(sa.exists().where(table.c.id == key, table.c.owner == owner) for table in owned)),
    ]
