"""`attest keys`: what its options mean."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from cli.commands.operation.keys import dollars, expiry
from knowledge.operation.access import access_policy
from tests.grid import grid

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.requirement("OP-3.1")
def test_op_3_1_a_key_ends_after_days_or_with_a_date() -> None:
    assert expiry("90d", NOON) == NOON + timedelta(days=90)
    assert expiry("2027-01-31", NOON) == datetime(2027, 1, 31, tzinfo=UTC)
    assert expiry("2027-01-31T08:00:00+02:00", NOON) == datetime(2027, 1, 31, 6, tzinfo=UTC)
    assert expiry("2027-01-31T08:00", NOON) == datetime(2027, 1, 31, 8, tzinfo=UTC)
    assert expiry(None, NOON) == NOON + timedelta(days=access_policy().keys.expire_days)


@grid(
    "written", ["", "0d", "-1d", "90", "never", "2026-11-22", "2020-01-01", "9999d", "2200-01-01"]
)
def test_a_key_that_never_ends_or_has_ended_is_none(written: str) -> None:
    with pytest.raises(ValueError, match="--expires"):
        expiry(written, NOON)


def test_dollars_are_a_number() -> None:
    assert dollars("2.50") == Decimal("2.50")
    assert dollars(None) is None
    for written in ("", "much", "nan", "inf"):
        with pytest.raises(ValueError, match="--usd-a-day"):
            dollars(written)
