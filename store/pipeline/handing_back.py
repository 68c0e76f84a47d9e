"""Hands back the unfinished work of a worker that was told to stop: another worker begins it at
once, and the interrupted attempt is not counted."""

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
    """Make this work available to other workers; returns how many pieces were handed back.

    Work that is being committed, or that another worker holds by now, is left alone. A later commit
    of the stopped worker is refused, because its token is stale.
    """
    held = list(claims)
    values = {"ids": [claim.run_id for claim in held], "tokens": [claim.token for claim in held]}
    return int(session.execute(_HAND_BACK, values).scalar_one())
