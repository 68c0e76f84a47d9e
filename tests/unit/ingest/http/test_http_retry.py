"""When a source is asked again, and how long the wait is."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from workers.http.retry import backoff_seconds, is_passing, retry_after_seconds

AT = datetime(2026, 3, 2, 12, tzinfo=UTC)
WEEK = 7 * 24 * 3600.0


@grid(
    ("value", "seconds"),
    [
        ("0", 0.0),
        (" 20 ", 20.0),
        ("1.5", 1.5),
        ("53578", 53578.0),
        ("9" * 18, WEEK),
        ("Mon, 02 Mar 2026 12:00:20 GMT", 20.0),
        ("Monday, 02-Mar-26 12:00:20 GMT", 20.0),
        ("Mon Mar  2 12:00:20 2026", 20.0),
        ("Mon, 02 Mar 2026 14:00:20 +0200", 20.0),
        ("Mon, 02 Mar 2026 12:00:20", 20.0),
        ("Mon, 02 Mar 2026 11:59:00 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", WEEK),
        (None, None),
        ("", None),
        ("-5", None),
        ("soon", None),
        ("1e9", None),
        ("٣", None),
        ("9" * 400, None),
        ("Mon, 99 Mar 2026 12:00:20 GMT", None),
        ("Mon, 02 Mar 2026 12:00:20 +99999999", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_or_nothing(
    value: str | None, seconds: float | None
) -> None:
    assert retry_after_seconds(value, AT) == seconds


@given(st.one_of(st.text(), st.text(alphabet="MonFriMar0123456789:,+- GMT", max_size=40)))
def test_no_retry_after_breaks_the_client(value: str) -> None:
    seconds = retry_after_seconds(value, AT)
    assert seconds is None or 0 <= seconds <= WEEK


def test_back_off_doubles_and_differs() -> None:
    for tries, middle in ((1, 1.0), (2, 2.0), (3, 4.0)):
        drawn = [backoff_seconds(tries) for _ in range(200)]
        assert min(drawn) >= middle * 0.5
        assert max(drawn) <= middle * 1.5
        assert len(set(drawn)) > 100


def test_only_what_passes_is_tried_again() -> None:
    assert [
        status for status in (200, 301, 400, 401, 403, 404, 410, 422) if is_passing(status)
    ] == []
    assert all(is_passing(status) for status in (408, 429, 500, 502, 503, 504, 529, 599))
