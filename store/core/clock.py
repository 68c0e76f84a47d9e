"""PostgreSQL's clock.

Times that one process writes and another compares with the present (what is due, lost, or died
lately) are written and compared by this clock. Hosts' clocks differ: an outbox message dated by a
host that is an hour ahead would wait for an hour.
"""

from datetime import datetime

import sqlalchemy as sa
from sqlmodel import Session

_NOW = sa.select(sa.func.clock_timestamp())


def database_now(session: Session) -> datetime:
    """The current time of the database, with its time zone; not the start of the transaction."""
    moment: datetime = session.execute(_NOW).scalar_one()
    return moment
