"""What a source record may say of its moments: nothing that no other time zone can hold."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from store.documents.records import SourceRecord
from tests.grid import grid

FIELDS = ["published_at", "fetched_at"]


@grid("field", FIELDS)
@grid(
    "moment",
    [
        "9999-12-31T23:59:59-05:00",
        "9999-12-31T12:00:00Z",
        "0001-01-01T00:00:00+05:00",
        "0001-01-01T12:00:00Z",
    ],
)
def test_a_moment_at_the_end_of_the_calendar_is_refused_in_words(field: str, moment: str) -> None:
    with pytest.raises(ValidationError) as raised:
        SourceRecord.model_validate({"title": "t", "text": "x", field: moment})
    (error,) = raised.value.errors()
    assert error["loc"] == (field,)
    assert "from 0001-01-02 to 9999-12-30 in UTC" in error["msg"]


ZONES = st.timedeltas(timedelta(hours=-23), timedelta(hours=23))


@pytest.mark.parametrize("field", FIELDS)
@given(moment=st.datetimes(), offset=ZONES)
def test_every_moment_that_is_taken_can_be_read_in_any_time_zone(
    field: str, moment: datetime, offset: timedelta
) -> None:
    given = moment.replace(tzinfo=timezone(offset))
    try:
        record = SourceRecord.model_validate({"title": "t", "text": "x", field: given})
    except ValidationError:
        return
    held: datetime = getattr(record, field)
    for hours in (-23, 23):
        held.astimezone(UTC).astimezone(timezone(timedelta(hours=hours)))


@pytest.mark.parametrize("written", ["2024", "2024-03", 2024, 1_700_000_000, "1700000000", ""])
def test_a_year_or_a_number_is_no_moment(written: object) -> None:
    with pytest.raises(ValidationError, match="published_precision"):
        SourceRecord.model_validate({"title": "t", "text": "x", "published_at": written})


def test_a_moment_is_taken_as_it_is_written() -> None:
    at = datetime(2024, 3, 1, tzinfo=UTC)
    for written in (at, "2024-03-01T00:00:00Z", "2024-03-01T01:00:00+01:00"):
        record = SourceRecord.model_validate({"title": "t", "text": "x", "published_at": written})
        assert record.published_at == at
