"""Work that a worker which was told to stop could not finish, handed back: somebody else begins it
at once, and the attempt that nobody let end is not counted."""

from collections.abc import Iterable

import sqlalchemy as sa
from sqlmodel import Session

from store.pipeline.ledger import Claim

_HAND_BACK = sa.text(
    """
    WITH free AS (
        SELECT run.id FROM stage_run AS run
        JOIN unnest(CAST(:ids AS bigint[]), CAST(:tokens AS bigint[])) AS held (id, token)
             USING (id, token)
        WHERE run.status = 'running' FOR UPDATE OF run SKIP LOCKED),
    given AS (
        UPDATE stage_run SET status = 'waiting', lease_until = NULL,
                             attempts = greatest(attempts - 1, 0)
        FROM free WHERE stage_run.id = free.id RETURNING stage_run.outbox_id),
    sent AS (
        UPDATE outbox SET status = 'pending', publish_count = 0, not_before = clock_timestamp()
        FROM given WHERE outbox.id = given.outbox_id AND outbox.status = 'published')
    SELECT count(*) FROM given
    """
)


def hand_back(session: Session, claims: Iterable[Claim]) -> int:
    """Let this work wait for its next worker; returns how many pieces that were.

    What is being committed, or has another holder by now, is left alone; what the stopped worker
    still comes to commit is refused, as its token holds no more.
    """
    held = list(claims)
    given = {"ids": [one.run_id for one in held], "tokens": [one.token for one in held]}
    return int(session.execute(_HAND_BACK, given).scalar_one())
