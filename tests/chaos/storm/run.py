"""One storm from beginning to end."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import sqlalchemy as sa

from tests.chaos.checker import broken_rules
from tests.chaos.storm import acts
from tests.chaos.storm.clients import Clients
from tests.chaos.storm.history import History
from tests.chaos.storm.schedule import Act, schedule
from tests.chaos.storm.standing import MARK
from tests.chaos.storm.system import System, quiet, ready, running
from tests.fakes.eutils import Eutils
from tests.fakes.web import Clock, FakeWeb
from tests.servers import TRIAL, ingest, wait_until

SETTLE_SECONDS = 240.0
FIRST_SECONDS = 60.0
"""A storm that waits in vain for a first answer begins all the same."""


class Present(Clock):
    """The time as it is."""

    def __call__(self) -> datetime:
        return datetime.now(UTC)


_STOPPED = sa.text(
    """
    SELECT note.id, run.status, run.error FROM note
    LEFT JOIN stage_run AS run ON run.subject = note.id::text
    WHERE note.text LIKE :mark AND NOT EXISTS (
        SELECT FROM dead_letter AS letter
        WHERE letter.subject = note.id::text AND (letter.cause LIKE 'stopped its worker%'
                                                  OR letter.attempts > 4))
    """
)
"""A text that stops its readers is found out, unless the storm took so many of them first."""


@dataclass
class Outcome:
    """What a storm did and what it found."""

    seed: int
    acts: int = 0
    accepted: int = 0
    refused: int = 0
    answered: int = 0
    failed: int = 0
    versions: int = 0
    process_starts: int = 0
    disk_filled: bool = False
    settled_seconds: float = 0.0
    found: list[str] = field(default_factory=list)


def weather(system: System, planned: list[Act], seconds: float) -> None:
    """Let the acts begin and end at their times."""
    began = time.monotonic()
    begins, ends = sorted(planned, key=lambda one: one.at), sorted(planned, key=lambda one: one.end)
    while (now := time.monotonic() - began) < seconds or ends:
        while begins and begins[0].at <= now:
            acts.begin(system, begins.pop(0))
        while ends and ends[0].end <= now:
            acts.end(system, ends.pop(0))
        system.supervise()
        time.sleep(0.05)


def storm(
    seed: int,
    seconds: float,
    *,
    planned: list[Act] | None = None,
    sabotages: Sequence[str] = (),
    settle: float = SETTLE_SECONDS,
) -> Outcome:
    """One storm of so many seconds, and what was found when it was over.

    Args:
        planned: what goes wrong, instead of what the seed draws.
        sabotages: names of `launch.SABOTAGES`, for every process.
        settle: seconds in which everything must have ended after the storm.
    """
    planned = schedule(seed, seconds) if planned is None else planned
    clock = Present(datetime.now(UTC))
    pubmed = Eutils(clock)
    for pmid in (101, 102, 103):
        words = f"In stage {pmid} colon cancer, recurrence-free survival was 90% with zorbinib."
        pubmed.put(pmid, title=f"Zorbinib, invented, {pmid}.", abstract=[("RESULTS", "", words)])
    outcome, history = Outcome(seed, acts=len(planned)), History()
    with FakeWeb(pubmed) as web, running(web.mirrors, sabotages) as system:
        ingest(system.store, TRIAL)
        quiet(system, settle)
        clients = Clients(system.url, history, seed)
        clients.start()
        _first_answer(system, history)
        weather(system, planned, seconds)
        clients.stop()
        system.calm()
        began = time.monotonic()
        if not quiet(system, settle):
            outcome.found.append(f"not quiet after {settle:.0f} s")
        outcome.settled_seconds = round(time.monotonic() - began, 1)
        wait_until(lambda: ready(system), 180, "the gateway answers again")
        clients.read_all()
        outcome.disk_filled = system.disk is not None
        outcome.process_starts = system.starts
        _look(system, history, outcome)
        outcome.refused = clients.refused
    return outcome


def _first_answer(system: System, history: History) -> None:
    """Until somebody has seen an answer there is little to break, and slow machines take long."""
    until = time.monotonic() + FIRST_SECONDS
    while not history.seen and time.monotonic() < until:
        system.supervise()
        time.sleep(0.05)


def _look(system: System, history: History, outcome: Outcome) -> None:
    with system.store.reading() as session:
        outcome.found += [*broken_rules(session), *history.contradictions(session)]
        stopped = session.execute(_STOPPED, {"mark": f"%{MARK}%"}).all()
        outcome.found += [
            f"a text that stops its reader was not found out: {one}" for one in stopped
        ]
        counts = session.execute(
            sa.text(
                "SELECT count(*) FILTER (WHERE status = 'answered') AS answered, "
                "count(*) FILTER (WHERE status = 'failed') AS failed, "
                "(SELECT count(*) FROM document_version) AS versions FROM question"
            )
        ).one()
    outcome.accepted = len(history.accepted)
    outcome.answered, outcome.failed = counts.answered, counts.failed
    outcome.versions = counts.versions
