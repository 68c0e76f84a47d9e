"""Messages of old versions become the newest step by step, or say why not."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from messages import InvalidMessage, MessageError, RetrieveV1, Stage, UnknownMessage
from messages.upgrades import UPGRADES, Step, Upgrades, parse_upgraded

NEWEST: dict[str, Any] = json.loads(
    (Path(__file__).parent / "golden" / "retrieve.v1.json").read_text("utf-8")
)["message"]
OLD = {
    "schema": "retrieve.v0",
    "request": NEWEST["request_id"],
    "question_id": NEWEST["question_id"],
    "question_hash": NEWEST["question_hash"],
}
"""A made-up version before the first."""


def _renamed(fields: Mapping[str, object]) -> dict[str, object]:
    kept = {key: value for key, value in fields.items() if key != "request"}
    return {**kept, "request_id": fields["request"]}


STEPS = Upgrades(Step("retrieve.v0", _renamed))


def test_a_message_of_an_old_version_is_read_as_the_newest() -> None:
    assert parse_upgraded(Stage.RETRIEVE, OLD, STEPS) == RetrieveV1.model_validate(NEWEST)


def test_a_message_of_the_newest_version_is_left_as_it_is() -> None:
    assert STEPS.apply(NEWEST) is NEWEST
    assert parse_upgraded(Stage.RETRIEVE, NEWEST).payload() == NEWEST


def test_without_a_step_an_old_version_is_unknown_as_before() -> None:
    with pytest.raises(UnknownMessage):
        parse_upgraded(Stage.RETRIEVE, OLD, UPGRADES)


def test_steps_follow_each_other_up_to_the_last() -> None:
    chain = Upgrades(
        Step("a.v3", lambda fields: {**fields, "three": 1}),
        Step("a.v2", lambda fields: {**fields, "two": 1}),
    )
    assert chain.apply({"schema": "a.v2"}) == {"schema": "a.v4", "two": 1, "three": 1}
    assert chain.apply({"schema": "b.v2"}) == {"schema": "b.v2"}


def test_fields_that_do_not_fit_the_step_are_named_by_no_value() -> None:
    with pytest.raises(InvalidMessage, match=r"retrieve\.v0: its fields do not upgrade") as caught:
        STEPS.apply({"schema": "retrieve.v0", "secret": "zebrafish"})
    assert "zebrafish" not in str(caught.value)


@pytest.mark.parametrize("payload", [None, [], "x", {}, {"schema": 1}, {"schema": ["retrieve.v0"]}])
def test_what_is_no_message_is_refused_as_ever(payload: object) -> None:
    with pytest.raises(MessageError):
        parse_upgraded(Stage.RETRIEVE, payload, STEPS)


@pytest.mark.parametrize("steps", [("a.v1", "a.v1"), ("a",), ("a.v1.v2",)])
def test_steps_that_contradict_each_other_or_name_no_version_are_refused(
    steps: tuple[str, ...],
) -> None:
    with pytest.raises(ValueError, match=r"two steps|is no schema"):
        Upgrades(*[Step(name, dict) for name in steps])
