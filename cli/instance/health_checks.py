"""What `attest status` makes of what it sees: for each part whether it is well, and what to do.

Pure. The limits are those of the alerts in `ops/alerts.yml`; a test compares them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli.output.tables import counted
from store.audit.audit import ChainReport
from store.pipeline.circuits import StageState
from store.pipeline.queue_report import QueueReport, UnderWay
from store.sources.source_report import SourceReport

QUEUE_OLD_SECONDS = 900
QUESTION_OLD_SECONDS = 120
OUTBOX_LAG_SECONDS = 30
AFFECTED_SECONDS = 900
CLOCK_SECONDS = 60
"""Ours: clocks that are set by NTP differ by far less, and leases are shorter."""
DISK_FREE_SHARE = 0.05
"""Ours: what PostgreSQL still has room to work in; below it `attest status` says so."""


@dataclass(frozen=True)
class Check:
    """One part. It is well if there is nothing to do about it."""

    name: str
    said: str
    do: str = ""

    @property
    def well(self) -> bool:
        """Whether nobody has to look."""
        return not self.do


def redis(policy: str | None) -> Check:
    """Args: by what it chooses what to drop when it is full; None: it drops nothing, as it must."""
    if policy is None:
        return Check("redis", "answers")
    said = f"where it is full it drops messages ({policy})"
    return Check("redis", said, "set its maxmemory-policy to noeviction")


def workers(
    listening: Mapping[str, int],
    logs: Path | None = None,
    silent_seconds: Sequence[float] | None = None,
) -> Check:
    """Args: for each stage, how many processes listen for its messages; the folder of the logs,
    where `attest up` starts them again; since when each that hangs has said nothing."""
    missing = [stage for stage, many in listening.items() if not many]
    if not missing and silent_seconds:
        since = _span(max(silent_seconds))
        said = f"every stage has one, but {len(silent_seconds)} said nothing for {since}"
        again = ": attest up starts it again" if logs is not None else ", and start it again"
        do = f"it is stopped (state T in ps) or its host is away: let it go on, or kill it{again}"
        return Check("workers", said, do)
    if not missing:
        return Check("workers", "every stage has one")
    do = f"start them: attest up, or attest worker --stage {missing[0]}; see their logs"
    if logs is not None:
        do = f"attest up starts them again; if they do not come, see {logs}"
    return Check("workers", f"none for {', '.join(missing)}", do)


def scheduler(heard: bool, logs: Path | None = None) -> Check:
    """Args: whether one said lately that it lives; `logs` as above."""
    if heard:
        return Check("scheduler", "runs")
    if logs is not None:
        do = f"attest up starts it again; if it does not come, see {logs / 'scheduler.log'}"
        return Check("scheduler", "none runs", do)
    return Check("scheduler", "none runs", "start it: attest up, or attest scheduler; see its log")


def stages(found: Sequence[StageState]) -> Check:
    """Whether any is paused, and why."""
    resting = [one for one in found if one.state != "closed"]
    if not resting:
        return Check("stages", "all work")
    told = "; ".join(
        f"{one.stage}: {'circuit open' if one.state == 'open' else 'paused'}"
        + (f" ({one.reason})" if one.reason else "")
        + f", {counted(one.held, 'message')} held"
        for one in resting
    )
    return Check("stages", told, f"mend the cause, then attest stages resume {resting[0].stage}")


def queues(found: Sequence[QueueReport], lag_seconds: float) -> Check:
    """How much waits, where, and for how long."""
    waiting = sum(one.due + one.published for one in found)
    if not waiting:
        return Check("queues", "empty")
    oldest = max(found, key=lambda one: one.oldest_seconds)
    age = f"the oldest for {_span(oldest.oldest_seconds)} ({oldest.stage})"
    said = f"{counted(waiting, 'message')}, {age}"
    if lag_seconds > OUTBOX_LAG_SECONDS:
        return Check(
            "queues", said, "nothing is published: see whether the scheduler reaches Redis"
        )
    if oldest.oldest_seconds > QUEUE_OLD_SECONDS:
        do = f"start more workers of stage {oldest.stage}, or see whether it is paused"
        return Check("queues", said, do)
    return Check("queues", said)


def work(found: Sequence[UnderWay]) -> Check:
    """Whether what is under way goes on, and what to do about what does not."""
    standing = [one for one in found if one.stands]
    if not standing:
        if not found:
            return Check("work", "none is under way")
        longest = max(found, key=lambda one: one.longest_seconds)
        many = counted(sum(one.many for one in found), "piece")
        age = f"the longest for {_span(longest.longest_seconds)} ({longest.stage})"
        return Check("work", f"{many} under way, {age}")
    said = "; ".join(
        f"{one.stage} stands: "
        + ", ".join(
            told
            for told in (
                f"{one.late} past its time limit" if one.late else "",
                f"{one.left} left by its worker" if one.left else "",
            )
            if told
        )
        + f", the oldest begun {_span(one.longest_seconds)} ago by {one.worker}"
        for one in standing
    )
    worst = max(standing, key=lambda one: one.longest_seconds)
    if worst.late:
        do = (
            f"end its process: kill -9 {worst.worker.rpartition(':')[2]} on "
            f"{worst.worker.rpartition(':')[0]}; the work is then done alone, and is a dead letter "
            "if it is at fault (docs/operations.md, “A stage that stands”)"
        )
    else:
        do = (
            f"see that a worker of {worst.stage} and the scheduler live: attest up, or attest "
            f"worker --stage {worst.stage} (docs/operations.md, “A stage that stands”)"
        )
    return Check("work", said, do)


def questions(unfinished: int, oldest_seconds: float) -> Check:
    """Whether anybody waits for an answer for too long."""
    if not unfinished:
        return Check("questions", "none waits")
    many = counted(unfinished, "question")
    said = f"{many} at work, the oldest for {_span(oldest_seconds)}"
    late = oldest_seconds > QUESTION_OLD_SECONDS
    return Check("questions", said, "see stages and queues above" if late else "")


def dead_letters(found: Sequence[QueueReport]) -> Check:
    """What died and nobody resolved."""
    died = {one.stage: one.dead_letters for one in found if one.dead_letters}
    if not died:
        return Check("dead letters", "none is open")
    said = ", ".join(f"{stage} {many}" for stage, many in died.items())
    do = "attest dead-letters list --group, mend the cause, then replay or discard"
    return Check("dead letters", f"{sum(died.values())} open ({said})", do)


def sources(found: Sequence[SourceReport]) -> Check:
    """Whether what is followed is inside its limits and was ever seen whole."""
    followed = [one for one in found if one.active]
    ailing = {one.name: why for one in found if (why := _ailment(one))}
    if ailing:
        said = "; ".join(f"{name} {why}" for name, why in ailing.items())
        return Check(
            "sources", said, "attest sources says why; attest refresh SOURCE tries at once"
        )
    if not followed:
        return Check("sources", "none is followed")
    return Check("sources", f"{counted(len(followed), 'source')} followed, all in time")


def _ailment(one: SourceReport) -> str:
    """What is wrong with a source, in a word; empty: nothing."""
    if one.status == "degraded":
        return "fails"
    if one.in_sla is False:
        return "is late"
    return (
        f"never completed {never} of {len(one.active)} queries"
        if (never := incomplete(one))
        else ""
    )


def incomplete(one: SourceReport) -> int:
    """How many of its queries failed and were never complete: the age of another one hides them."""
    return sum(watch.cursor_at is None and bool(watch.last_error) for watch in one.active)


def recalls(affected: int, oldest_seconds: float) -> Check:
    """Whether answers wait to be checked again because their sources changed."""
    if not affected:
        return Check("answers", "none waits to be checked again")
    many = counted(affected, "answer")
    said = f"{many} to be checked again, the oldest for {_span(oldest_seconds)}"
    late = oldest_seconds > AFFECTED_SECONDS
    return Check(
        "answers", said, "see stage recall; attest recalls list --state affected" if late else ""
    )


def audit(report: ChainReport, head: int) -> Check:
    """Whether the newest events of the chain hold; all of them take long."""
    if not report.whole:
        do = "attest audit verify names the first bad event; keep the database as it is"
        return Check("audit", f"the chain is broken: {report.reason}", do)
    if report.events == head:
        return Check("audit", f"all {head} events hold")
    return Check(
        "audit", f"the newest {report.events} of {head} events hold (attest audit verify: all)"
    )


def clock(ahead_seconds: float, apart_seconds: float) -> Check:
    """Whether time goes on, and is the same here and in the database.

    Args:
        ahead_seconds: how much later than now the latest event of the audit was.
        apart_seconds: between this machine's clock and the database's.
    """
    if ahead_seconds > CLOCK_SECONDS:
        said = f"it was {_span(ahead_seconds)} later before: the clock was set back, or was wrong"
        return Check("clock", said, "set it by NTP; what was promised then is done at that time")
    if apart_seconds > CLOCK_SECONDS:
        said = f"this machine and the database are {_span(apart_seconds)} apart"
        return Check("clock", said, "set both by NTP: leases and freshness go by it")
    return Check("clock", "goes on")


def disk(free: int, total: int, where: str) -> Check:
    """Room where the database writes."""
    said = f"{free / 2**30:.1f} GiB of {total / 2**30:.1f} free at {where}"
    low = free < total * DISK_FREE_SHARE
    return Check("disk", said, "make room: what cannot be written is refused" if low else "")


def _span(seconds: float) -> str:
    seconds = max(0.0, seconds)  # of what a wrong clock wrote (`clock` tells)
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
