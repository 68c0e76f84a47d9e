"""For how long words are kept, and which reasons there are to erase them."""

import pytest

from knowledge.operation.retention import (
    BY_AGE,
    KINDS,
    NotKept,
    keep_days,
    reason_given,
    retention_policy,
)


@pytest.mark.requirement("OP-6.3")
def test_op_6_3_every_kind_of_text_is_kept_for_ever_unless_somebody_says_otherwise() -> None:
    assert set(retention_policy().keep_days) == set(KINDS)
    assert keep_days({}) == {}


def test_the_setting_goes_before_the_file() -> None:
    assert keep_days({"note": 30, "question": 365}) == {"note": 30, "question": 365}


@pytest.mark.parametrize("given", [{"letters": 3}, {"note": 0}, {"note": -1}, {"note": 99_999}])
def test_days_that_make_no_sense_are_refused_by_the_name_of_the_setting(
    given: dict[str, int],
) -> None:
    with pytest.raises(NotKept, match="ATTEST_KEEP_DAYS"):
        keep_days(given)


@pytest.mark.parametrize("reason", [BY_AGE, "", "because Mr Example asked", "Requested"])
def test_a_reason_is_a_name_of_the_policy_never_words(reason: str) -> None:
    with pytest.raises(ValueError, match="requested") as refused:
        reason_given(reason)
    assert "Example" not in str(refused.value)


def test_every_reason_but_the_clocks_may_be_given() -> None:
    for name in retention_policy().reasons:
        if name != BY_AGE:
            assert reason_given(name) == name
