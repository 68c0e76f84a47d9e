"""What users ask of a source: refresh what is followed, follow a query, or ask it once."""

from datetime import datetime

from sqlmodel import col, select

from store.core.unit_of_work import UnitOfWork
from store.models import Refresh, Watch
from store.sources import refreshes, watches


class NothingFollowed(LookupError):
    """No query is followed at the source, so there is nothing to refresh."""


def refresh_followed(work: UnitOfWork, source: str, at: datetime) -> list[Refresh]:
    """Promise a refresh of every query followed at `source`, the longest followed first.

    A refresh that is already under way is returned as it is.

    Raises:
        NothingFollowed: no query is followed there.
    """
    followed = select(Watch).where(col(Watch.source) == source, col(Watch.active))
    active = list(work.session.exec(followed.order_by(col(Watch.created_at), col(Watch.id))))
    if not active:
        raise NothingFollowed(f"nothing is followed at {source}: name a query to follow")
    return [refreshes.request(work, watch, "user", at) for watch in active]


def refresh_query(
    work: UnitOfWork, source: str, query: str, at: datetime, *, keep: bool = True
) -> Refresh:
    """Promise a refresh of one query; with `keep` the query is followed from now on.

    Without `keep` it is asked this once; an existing watch on it is not changed.
    """
    if keep:
        return refreshes.request(work, watches.follow(work, source, query, "user", at), "user", at)
    same = select(Watch).where(col(Watch.source) == source, col(Watch.query) == query)
    watch = work.session.exec(same).one_or_none()
    if watch is None:
        made = watches.follow(work, source, query, "user", at)
        watch = watches.stop(work, made.id, at)
    return refreshes.request(work, watch, "user", at)
