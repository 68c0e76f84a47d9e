"""What a question's filters may say, and that retrieval reads them as the gateway did."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from api_gateway.library.schemas import Narrowed
from api_gateway.questions.question_in import QuestionIn
from knowledge.loader import load
from store.documents.records import SourceType
from store.index.filters import Filter
from tests.grid import grid
from workers.retrieve.stage import asked_filter

NAMES = {
    "source_types": get_args(SourceType),
    "diseases": tuple(load("subjects/vocabulary")["diseases"]),
    "decisions": tuple(load("subjects/vocabulary")["decisions"]),
}
DAYS = st.dates(date(1900, 1, 1), date(2100, 1, 1))
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=ZONES)  # noqa: DTZ001
ENDS = (DAYS | MOMENTS).map(lambda one: one.isoformat())


def filtered(**filters: Any) -> QuestionIn:
    return QuestionIn.model_validate({"question": "Why?", "filters": filters})


def refused(filters: object) -> list[tuple[str, str]]:
    """The fields that do not fit, and what is said of each."""
    with pytest.raises(ValidationError) as caught:
        QuestionIn.model_validate({"question": "Why?", "filters": filters})
    return [(".".join(map(str, one["loc"])), one["msg"]) for one in caught.value.errors()]


@given(
    st.fixed_dictionaries(
        {},
        optional={
            name: st.lists(st.sampled_from(names), min_size=1) for name, names in NAMES.items()
        },
    ).filter(bool)
)
def test_names_are_kept_as_given_and_read_by_retrieval(filters: dict[str, list[str]]) -> None:
    options = filtered(**filters).options()
    assert options == {"filters": filters}
    sets: dict[str, Any] = {name: frozenset(names) for name, names in filters.items()}
    assert asked_filter(options) == Filter(**sets)


@pytest.mark.parametrize(
    ("ahead", "fits"),
    [
        (timedelta(days=-400), True),
        (timedelta(), True),
        (timedelta(minutes=4), True),  # a clock may go wrong by so much
        (timedelta(minutes=6), False),
        (timedelta(days=2), False),
    ],
)
def test_a_question_is_asked_as_of_no_moment_to_come(ahead: timedelta, fits: bool) -> None:
    for zone in (UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-14))):
        told = (datetime.now(zone) + ahead).isoformat()
        if fits:
            assert QuestionIn.model_validate({"question": "Why?", "as_of": told}).as_of is not None
            continue
        with pytest.raises(ValidationError, match="lies in the future"):
            QuestionIn.model_validate({"question": "Why?", "as_of": told})


def test_a_day_has_begun_in_utc_before_a_question_is_asked_as_of_it() -> None:
    def asked(told: str) -> QuestionIn:
        return QuestionIn.model_validate({"question": "Why?", "as_of": told})

    today = datetime.now(UTC).date()
    assert asked(today.isoformat()).as_of == today
    days = [one.isoformat() for one in (today + timedelta(days=2), date(2999, 1, 1), date.max)]
    for later in [*days, "9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59+14:00"]:
        with pytest.raises(ValidationError, match="lies in the future"):
            asked(later)


def test_without_filters_no_option_is_kept() -> None:
    assert QuestionIn(question="Why?").options() == {}
    assert QuestionIn(question="Why?", filters=None).options() == {}


@grid("name", NAMES)
@grid("other", ["no_such_name", "", " ", "Pubmed", None, 1, ["pubmed"], "a\x00"])
def test_a_name_that_does_not_exist_is_refused_with_those_that_do(name: str, other: object) -> None:
    [(field, message)] = refused({name: [NAMES[name][0], other]})
    assert field == f"filters.{name}.1"
    for existing in NAMES[name]:
        assert f"'{existing}'" in message
    assert "no_such_name" not in message, "a problem never repeats a value"


def test_tags_of_one_kind_are_none_of_the_other() -> None:
    [(field, _)] = refused({"diseases": [NAMES["decisions"][0]]})
    assert field == "filters.diseases.0"


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_list_is_refused_because_nothing_would_pass(name: str) -> None:
    assert [field for field, _ in refused({name: []})] == [f"filters.{name}"]


@grid(
    ("filters", "field"),
    [
        ({}, "filters"),
        ({"diseases": None}, "filters"),
        ([], "filters"),
        ("pubmed", "filters"),
        ({"diseases": "lung_cancer"}, "filters.diseases"),
        ({"diseases": {"lung_cancer": True}}, "filters.diseases"),
        ({"status": ["retracted"]}, "filters.status"),
        ({"version_ids": []}, "filters.version_ids"),
    ],
)
def test_filters_that_say_nothing_or_something_else_are_refused(
    filters: object, field: str
) -> None:
    assert [name for name, _ in refused(filters)] == [field]


@given(ENDS, ENDS)
def test_a_range_is_taken_if_and_only_if_something_may_lie_in_it(begin: str, end: str) -> None:
    written = {"published_from": begin, "published_to": end}
    read = asked_filter({"filters": written})
    assert read.published_from is not None
    assert read.published_to is not None
    if read.published_from <= read.published_to:
        assert asked_filter(filtered(**written).options()) == read
    else:
        [(field, message)] = refused(written)
        assert field == "filters.published_to"
        assert "swap" in message


def test_a_day_is_a_range_from_its_beginning_to_its_end_in_utc() -> None:
    day = date(2024, 2, 29)
    options = filtered(published_from=str(day), published_to=str(day)).options()
    assert options == {"filters": {"published_from": "2024-02-29", "published_to": "2024-02-29"}}
    assert asked_filter(options) == Filter(
        published_from=datetime.combine(day, time.min, UTC),
        published_to=datetime.combine(day, time.max, UTC),
    )


NO_DAYS = ["2020", "20200101", "1577836800", "2020-13-01", "2023-02-29", "lately", "", 2020, True]


@grid("written", [*NO_DAYS, "2020-01-01T10:00:00", {"year": 2020}])
@grid("name", ["published_from", "published_to"])
def test_what_is_no_day_is_refused_and_never_read_as_seconds(name: str, written: object) -> None:
    assert {field.split(".")[1] for field, _ in refused({name: written})} == {name}


@grid("written", NO_DAYS)
def test_the_day_that_a_question_asks_about_is_never_read_as_seconds(written: object) -> None:
    with pytest.raises(ValidationError) as caught:
        QuestionIn.model_validate({"question": "Why?", "as_of": written})
    assert {one["loc"][0] for one in caught.value.errors()} == {"as_of"}


def test_the_library_counts_a_day_from_its_beginning_to_its_end() -> None:
    day = "2026-01-31"
    asked = Narrowed.model_validate({"published_from": day, "published_to": day})
    assert asked.only == Filter(
        published_from=datetime(2026, 1, 31, tzinfo=UTC),
        published_to=datetime.combine(date(2026, 1, 31), time.max, UTC),
    )
    moment = "2026-01-31T12:00:00+00:00"
    assert Narrowed.model_validate({"published_from": moment, "published_to": moment}).only
    assert Narrowed().only == Filter()


def test_the_library_refuses_a_range_that_ends_before_it_begins() -> None:
    with pytest.raises(ValidationError, match="swap its two ends"):
        Narrowed.model_validate({"published_from": "2026-02-01", "published_to": "2026-01-31"})
    for end in ("published_from", "published_to"):
        assert Narrowed.model_validate({end: "2026-01-31"}).only != Filter()


def test_the_library_is_limited_to_one_kind_of_source_and_one_disease() -> None:
    asked = Narrowed.model_validate({"source_type": "guideline", "disease": "diabetes"})
    assert asked.only == Filter(
        source_types=frozenset(["guideline"]), diseases=frozenset(["diabetes"])
    )
