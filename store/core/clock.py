"""PostgreSQL's clock.

Whatever one process writes and another compares with the present (what is due, lost, or died
lately) is written and compared by this clock: hosts' clocks differ, and a promise dated by one that
is an hour ahead would wait for an hour.
"""

from datetime import datetime

import sqlalchemy as sa
from sqlmodel import Session

_NOW = sa.select(sa.func.clock_timestamp())


def database_now(session: Session) -> datetime:
    """The present moment of the database, with its time zone; not the start of the transaction."""
    moment: datetime = session.execute(_NOW).scalar_one()
    return moment
