"""What is written in PostgreSQL's own binary form is read back as it was."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import hypothesis.strategies as st
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings

from store.core.copying import (
    copy_rows,
    int4,
    int8,
    jsonb,
    ordered_uuid,
    text_array,
    timestamptz,
    uuid_array,
)
from store.core.unit_of_work import Store

_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
_ONCE = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@_ONCE
@given(texts=st.lists(_TEXT), ids=st.lists(st.uuids()))
def test_an_array_holds_what_was_put_into_it(
    store: Store, texts: list[str], ids: list[UUID]
) -> None:
    with store.reading() as session:
        row = session.execute(
            sa.text("SELECT CAST(:texts AS varchar[]) AS texts, CAST(:ids AS uuid[]) AS ids"),
            {"texts": text_array(texts), "ids": uuid_array(ids)},
        ).one()

    assert row.texts == texts
    assert row.ids == ids


@_ONCE
@given(
    small=st.integers(-(2**31), 2**31 - 1),
    large=st.integers(-(2**63), 2**63 - 1),
    moment=st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-5))])),
    text=_TEXT,
)
def test_a_copied_row_is_read_back(
    store: Store, small: int, large: int, moment: datetime, text: str
) -> None:
    with store.unit_of_work("test") as work:
        session = work.session
        session.execute(
            sa.text(
                "CREATE TEMPORARY TABLE copied (a int, b bigint, c timestamptz, d varchar,"
                " e jsonb, f uuid, g int) ON COMMIT DROP"
            )
        )
        made = ordered_uuid()
        fields = (int4(small), int8(large), timestamptz(moment), text, jsonb(b'{"k": [1]}'))
        copy_rows(session, "copied", tuple("abcdefg"), [(*fields, made.bytes, None)])
        row = session.execute(sa.text("SELECT * FROM copied")).one()

    assert tuple(row) == (small, large, moment, text, {"k": [1]}, made, None)


def test_new_ids_are_of_version_7_and_sort_by_the_time_they_were_made() -> None:
    before = ordered_uuid()
    later = datetime.now(UTC).timestamp() * 1000

    assert (before.version, before.variant) == (7, "specified in RFC 4122")
    assert 0 <= later - (before.int >> 80) < 60_000
    assert len({ordered_uuid() for _ in range(1000)}) == 1000
