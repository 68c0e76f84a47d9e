"""Judges for `attest status` whether each part is well, and says what to do.

Pure functions. The limits are those of the alerts in `ops/alerts.yml`; a test compares them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from store.audit.audit import ChainReport
from store.core.plurals import counted
from store.operations.partitions import Listed
from store.pipeline.circuits import StageState
from store.pipeline.queue_report import QueueReport, UnderWay
from store.sources.source_report import SourceReport

QUEUE_OLD_SECONDS = 900
QUESTION_OLD_SECONDS = 120
OUTBOX_LAG_SECONDS = 30
AFFECTED_SECONDS = 900
CLOCK_SECONDS = 60
"""Our choice: clocks set by NTP differ by far less than this, and leases are shorter."""
DISK_FREE_SHARE = 0.05
"""Our choice: the free share of the disk below which `attest status` warns; PostgreSQL still has
room to work."""


@dataclass(frozen=True)
class Check:
    """The state of one part. The part is well if there is nothing to do about it."""

    name: str
    said: str
    do: str = ""

    @property
    def well(self) -> bool:
        """True if nobody has to do anything."""
        return not self.do


def redis(policy: str | None) -> Check:
    """`policy`: by which a full Redis drops keys; None if it drops none, as it must."""
    if policy is None:
        return Check("redis", "answers")
    text = f"where it is full it drops messages ({policy})"
    return Check("redis", text, "set its maxmemory-policy to noeviction")


def partitions(held: Sequence[Listed]) -> list[Check]:
    """Report partitions of the index that answers are searched without, or wait for."""
    lacking = [one for one in held if one.chunks is None or one.state in ("off", "rebuilding")]
    ailing = [one for one in lacking if one.versions]
    if not ailing:
        return [Check("partitions", f"{counted(len(held), 'server')} answer")] if held else []
    names = ", ".join(f"{one.name} ({one.state})" for one in ailing)
    do = "bring its server back, then attest partitions add NAME; if it is lost: rebuild NAME"
    return [Check("partitions", f"not searched: {names}", do)]


def workers(
    listening: Mapping[str, int],
    logs: Path | None = None,
    silent_seconds: Sequence[float] | None = None,
) -> Check:
    """Report stages without a worker, and workers that hang.

    Args:
        listening: for each stage, the number of processes that listen for its messages.
        logs: the folder of the logs, if `attest up` restarts the workers.
        silent_seconds: for each worker that hangs, the seconds since its last sign of life.
    """
    missing = [stage for stage, many in listening.items() if not many]
    if not missing and silent_seconds:
        since = _span(max(silent_seconds))
        text = f"every stage has one, but {len(silent_seconds)} said nothing for {since}"
        again = ": attest up starts it again" if logs is not None else ", and start it again"
        do = f"it is stopped (state T in ps) or its host is away: let it go on, or kill it{again}"
        return Check("workers", text, do)
    if not missing:
        return Check("workers", "every stage has one")
    do = f"start them: attest up, or attest worker --stage {missing[0]}; see their logs"
    if logs is not None:
        do = f"attest up starts them again; if they do not come, see {logs}"
    return Check("workers", f"none for {', '.join(missing)}", do)


def scheduler(heard: bool, logs: Path | None = None) -> Check:
    """Report whether a scheduler runs. `heard`: it gave a sign of life lately; `logs` as above."""
    if heard:
        return Check("scheduler", "runs")
    if logs is not None:
        do = f"attest up starts it again; if it does not come, see {logs / 'scheduler.log'}"
        return Check("scheduler", "none runs", do)
    return Check("scheduler", "none runs", "start it: attest up, or attest scheduler; see its log")


def stages(found: Sequence[StageState]) -> Check:
    """Report which stages are paused or have an open circuit, and why."""
    stopped = [stage for stage in found if stage.state != "closed"]
    if not stopped:
        return Check("stages", "all work")
    text = "; ".join(
        f"{stage.stage}: {'circuit open' if stage.state == 'open' else 'paused'}"
        + (f" ({stage.reason})" if stage.reason else "")
        + f", {counted(stage.held, 'message')} held"
        for stage in stopped
    )
    return Check("stages", text, f"mend the cause, then attest stages resume {stopped[0].stage}")


def queues(found: Sequence[QueueReport], lag_seconds: float) -> Check:
    """Report how many messages wait, where, and for how long."""
    waiting = sum(queue.due + queue.published for queue in found)
    if not waiting:
        return Check("queues", "empty")
    oldest = max(found, key=lambda queue: queue.oldest_seconds)
    age = f"the oldest for {_span(oldest.oldest_seconds)} ({oldest.stage})"
    text = f"{counted(waiting, 'message')}, {age}"
    if lag_seconds > OUTBOX_LAG_SECONDS:
        return Check(
            "queues", text, "nothing is published: see whether the scheduler reaches Redis"
        )
    if oldest.oldest_seconds > QUEUE_OLD_SECONDS:
        do = f"start more workers of stage {oldest.stage}, or see whether it is paused"
        return Check("queues", text, do)
    return Check("queues", text)


def work(found: Sequence[UnderWay]) -> Check:
    """Report work in progress, and work that stands still with what to do about it."""
    stuck = [entry for entry in found if entry.stands]
    if not stuck:
        if not found:
            return Check("work", "none is under way")
        longest = max(found, key=lambda entry: entry.longest_seconds)
        many = counted(sum(entry.many for entry in found), "piece")
        age = f"the longest for {_span(longest.longest_seconds)} ({longest.stage})"
        return Check("work", f"{many} under way, {age}")
    text = "; ".join(
        f"{entry.stage} stands: "
        + ", ".join(
            part
            for part in (
                f"{entry.late} past its time limit" if entry.late else "",
                f"{entry.left} left by its worker" if entry.left else "",
            )
            if part
        )
        + f", the oldest begun {_span(entry.longest_seconds)} ago by {entry.worker}"
        for entry in stuck
    )
    worst = max(stuck, key=lambda entry: entry.longest_seconds)
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
    return Check("work", text, do)


def questions(unfinished: int, oldest_seconds: float) -> Check:
    """Report questions that wait too long for an answer."""
    if not unfinished:
        return Check("questions", "none waits")
    many = counted(unfinished, "question")
    text = f"{many} at work, the oldest for {_span(oldest_seconds)}"
    late = oldest_seconds > QUESTION_OLD_SECONDS
    return Check("questions", text, "see stages and queues above" if late else "")


def dead_letters(found: Sequence[QueueReport]) -> Check:
    """Report dead letters that nobody has resolved."""
    died = {queue.stage: queue.dead_letters for queue in found if queue.dead_letters}
    if not died:
        return Check("dead letters", "none is open")
    text = ", ".join(f"{stage} {many}" for stage, many in died.items())
    do = "attest dead-letters list --group, mend the cause, then replay or discard"
    return Check("dead letters", f"{sum(died.values())} open ({text})", do)


def sources(found: Sequence[SourceReport]) -> Check:
    """Report followed sources that are late or fail, or have a query that never completed."""
    followed = [source for source in found if source.active]
    ailing = {source.name: why for source in found if (why := _ailment(source))}
    if ailing:
        text = "; ".join(f"{name} {why}" for name, why in ailing.items())
        return Check(
            "sources", text, "attest sources says why; attest refresh SOURCE tries at once"
        )
    if not followed:
        return Check("sources", "none is followed")
    return Check("sources", f"{counted(len(followed), 'source')} followed, all in time")


def _ailment(one: SourceReport) -> str:
    """Return what is wrong with a source, in a few words; empty if nothing is."""
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
    """Count the queries that failed and never completed: the age of another one hides them."""
    return sum(watch.cursor_at is None and bool(watch.last_error) for watch in one.active)


def recalls(affected: int, oldest_seconds: float) -> Check:
    """Report answers that wait to be checked again because their sources changed."""
    if not affected:
        return Check("answers", "none waits to be checked again")
    many = counted(affected, "answer")
    text = f"{many} to be checked again, the oldest for {_span(oldest_seconds)}"
    late = oldest_seconds > AFFECTED_SECONDS
    return Check(
        "answers", text, "see stage recall; attest recalls list --state affected" if late else ""
    )


def audit(report: ChainReport, head: int) -> Check:
    """Report whether the newest events of the chain hold; checking all events takes long."""
    if not report.whole:
        do = "attest audit verify names the first bad event; keep the database as it is"
        return Check("audit", f"the chain is broken: {report.reason}", do)
    if report.events == head:
        return Check("audit", f"all {head} events hold")
    return Check(
        "audit", f"the newest {report.events} of {head} events hold (attest audit verify: all)"
    )


def clock(ahead_seconds: float, apart_seconds: float) -> Check:
    """Report a clock that was set back, or differs between this machine and the database.

    Args:
        ahead_seconds: how far the latest event of the audit lies in the future.
        apart_seconds: the difference between this machine's clock and the database's.
    """
    if ahead_seconds > CLOCK_SECONDS:
        text = f"it was {_span(ahead_seconds)} later before: the clock was set back, or was wrong"
        return Check("clock", text, "set it by NTP; what was promised then is done at that time")
    if apart_seconds > CLOCK_SECONDS:
        text = f"this machine and the database are {_span(apart_seconds)} apart"
        return Check("clock", text, "set both by NTP: leases and freshness go by it")
    return Check("clock", "goes on")


def disk(free: int, total: int, where: str) -> Check:
    """Report the free space where the database writes."""
    text = f"{free / 2**30:.1f} GiB of {total / 2**30:.1f} free at {where}"
    low = free < total * DISK_FREE_SHARE
    return Check("disk", text, "make room: what cannot be written is refused" if low else "")


def _span(seconds: float) -> str:
    seconds = max(0.0, seconds)  # negative after a wrong clock, which `clock` reports
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
