"""Asks a running gateway at given moments, whatever became of the questions before."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx
import sqlalchemy as sa

from benchmarks.load.figures import Asked, Depth, Outcome
from store.core.unit_of_work import Store

POLL_SECONDS = 30
LOOK_SECONDS = 0.25
_DEPTH = sa.text(
    "SELECT count(*) AS waiting, coalesce(extract(epoch FROM now() - min(created_at)), 0) AS oldest"
    " FROM question WHERE status IN ('queued', 'running')"
)


def ask_all(
    url: str, texts: Sequence[str], moments: Sequence[float], patience_seconds: float
) -> list[Asked]:
    """Ask `texts` in turn at `moments` (seconds from now), each on its own; wait for every end.

    Args:
        patience_seconds: a question that has not ended so long after the last moment is left.
    """
    return asyncio.run(_ask_all(url, texts, moments, patience_seconds))


async def _ask_all(
    url: str, texts: Sequence[str], moments: Sequence[float], patience_seconds: float
) -> list[Asked]:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=200)
    timeout = httpx.Timeout(POLL_SECONDS + 15)
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=timeout) as client:
        begun = time.monotonic()
        until = begun + (moments[-1] if moments else 0.0) + patience_seconds
        return list(
            await asyncio.gather(
                *(
                    _ask(client, texts[number % len(texts)], begun, moment, until)
                    for number, moment in enumerate(moments)
                )
            )
        )


async def _ask(
    client: httpx.AsyncClient, text: str, begun: float, moment: float, until: float
) -> Asked:
    await asyncio.sleep(max(0.0, begun + moment - time.monotonic()))
    sent = time.monotonic() - begun
    outcome: Outcome = "failed"
    try:
        accepted = await client.post("/v1/questions", json={"question": text})
        if accepted.status_code == httpx.codes.ACCEPTED:
            outcome = await _end(client, accepted.json()["id"], until)
        elif accepted.status_code == httpx.codes.TOO_MANY_REQUESTS:
            outcome = "refused"
    except httpx.TransportError:
        outcome = "failed"
    ended = None if outcome == "open" else time.monotonic() - begun
    return Asked(moment, sent, ended, outcome)


async def _end(client: httpx.AsyncClient, question_id: str, until: float) -> Outcome:
    """How the question ended, waited for by long polls."""
    while time.monotonic() < until:
        found = await client.get(f"/v1/questions/{question_id}", params={"wait": POLL_SECONDS})
        status = found.json().get("status")
        if status in ("answered", "failed"):
            return "answered" if status == "answered" else "failed"
    return "open"


@contextmanager
def looking(store: Store) -> Iterator[list[Depth]]:
    """Looks at the queue four times a second until the block ends."""
    found: list[Depth] = []
    over = threading.Event()
    begun = time.monotonic()

    def look() -> None:
        while not over.wait(LOOK_SECONDS):
            with contextlib.suppress(sa.exc.SQLAlchemyError), store.reading() as session:
                row = session.execute(_DEPTH).one()
                at = time.monotonic() - begun
                found.append(Depth(at, row.waiting, float(row.oldest)))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join(10)


def drained(store: Store, seconds: float) -> bool:
    """Wait until no question is under way; whether that came in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with store.reading() as session:
            if session.execute(_DEPTH).one().waiting == 0:
                return True
        time.sleep(0.2)
    return False
