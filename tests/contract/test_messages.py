"""What travels between stages: every version stays readable, and no version carries words."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

import messages
from messages import (
    MESSAGES,
    FutureMessage,
    GenerateV1,
    IngestV1,
    InvalidMessage,
    Message,
    MessageError,
    RetrieveV1,
    Stage,
    UnknownMessage,
    parse,
)

GOLDEN = Path(__file__).parent / "golden"
SCHEMAS = {str(model.model_fields["schema_"].default): model for model in MESSAGES}


def golden(schema: str) -> dict[str, Any]:
    """The stored example of one version: `message`, its `subject` and its `input_hash`."""
    body: dict[str, Any] = json.loads((GOLDEN / f"{schema}.json").read_text("utf-8"))
    return body


def retrieve(**changes: object) -> dict[str, object]:
    """A valid retrieve message with some fields changed; None takes a field away."""
    body = {**golden("retrieve.v1")["message"], **changes}
    return {key: value for key, value in body.items() if value is not None}


def test_every_version_has_a_golden_file_and_every_golden_file_a_version() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(SCHEMAS)


@pytest.mark.requirement("DC-2")
@pytest.mark.parametrize("schema", SCHEMAS)
def test_dc_2_a_golden_message_is_read_by_its_stage_and_written_back_unchanged(schema: str) -> None:
    stored = golden(schema)
    message = parse(SCHEMAS[schema].stage, stored["message"])
    assert type(message) is SCHEMAS[schema]
    assert message.payload() == stored["message"]
    assert SCHEMAS[schema].model_validate_json(json.dumps(stored["message"])) == message


@pytest.mark.parametrize("schema", SCHEMAS)
def test_subject_and_input_hash_of_a_version_never_change(schema: str) -> None:
    """They are keys of the ledger: work that waits there would be done a second time."""
    stored = golden(schema)
    message = parse(SCHEMAS[schema].stage, stored["message"])
    assert message.subject == stored["subject"]
    assert message.input_hash() == stored["input_hash"]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_invariant_11_a_message_has_ids_hashes_and_numbers_only(schema: str) -> None:
    def names_no_text(field: dict[str, Any]) -> bool:
        if field.get("type") == "array":
            return names_no_text(field["items"])
        is_hash = field.get("pattern") == "^[0-9a-f]{64}$"
        is_number = field.get("type") == "integer"
        return "const" in field or field.get("format") == "uuid" or is_hash or is_number

    fields = SCHEMAS[schema].model_json_schema(by_alias=True)["properties"]
    assert [name for name, field in fields.items() if not names_no_text(field)] == []


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_message_is_frozen(schema: str) -> None:
    message = parse(SCHEMAS[schema].stage, golden(schema)["message"])
    with pytest.raises(ValueError, match="frozen"):
        message.request_id = uuid4()  # type: ignore[misc]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_request_that_asks_does_not_change_the_work(schema: str) -> None:
    body = golden(schema)["message"]
    again = parse(SCHEMAS[schema].stage, {**body, "request_id": str(uuid4())})
    assert again.input_hash() == golden(schema)["input_hash"]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_everything_else_in_a_message_changes_the_work(schema: str) -> None:
    body = golden(schema)["message"]
    for name in set(body) - {"schema", "request_id"}:
        other: object = "f" * 64 if name.endswith("_hash") else str(uuid4())
        other = body[name] + 1 if isinstance(body[name], int) else other
        changed = {**body, name: [other] if name == "version_ids" else other}
        assert parse(SCHEMAS[schema].stage, changed).input_hash() != golden(schema)["input_hash"]


def test_each_stage_has_exactly_one_newest_message() -> None:
    assert [model.stage for model in MESSAGES] == list(Stage)


@pytest.mark.parametrize(
    "schema",
    ["retrieve.v0", "retrieve.v01", "retrieve.v", "retrieve", "", "retrieve.v" + "9" * 5000],
    ids=["zero", "padded", "no number", "no version", "empty", "endless"],
)
def test_a_schema_that_never_was_is_unknown(schema: str) -> None:
    with pytest.raises(UnknownMessage, match="never in use"):
        parse(Stage.RETRIEVE, retrieve(schema=schema))


@pytest.mark.parametrize("schema", [None, 1, ["retrieve.v1"], {"name": "retrieve.v1"}])
def test_a_message_that_names_no_schema_is_unknown(schema: object) -> None:
    with pytest.raises(UnknownMessage, match="names no schema"):
        parse(Stage.RETRIEVE, retrieve(schema=schema))


@pytest.mark.parametrize("stage", [stage for stage in Stage if stage is not Stage.RETRIEVE])
def test_a_message_on_the_wrong_queue_is_refused(stage: Stage) -> None:
    with pytest.raises(UnknownMessage, match="does not belong on the queue"):
        parse(stage, retrieve())


@pytest.mark.parametrize("number", ["2", "10", "999999999"])
def test_a_future_version_says_that_the_worker_is_too_old(number: str) -> None:
    with pytest.raises(FutureMessage, match="upgrade the workers"):
        parse(Stage.RETRIEVE, retrieve(schema=f"retrieve.v{number}"))


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"question_id": None}, "question_id: missing"),
        ({"question_hash": None}, "question_hash: missing"),
        ({"request_id": None}, "request_id: missing"),
        ({"question_id": "not an id"}, "question_id: uuid_parsing"),
        ({"question_id": 5}, "question_id: uuid_type"),
        ({"question_hash": "A" * 64}, "question_hash: string_pattern_mismatch"),
        ({"question_hash": "a" * 64 + "\n"}, "question_hash: string_pattern_mismatch"),
        ({"question_hash": ["a"]}, "question_hash: string_type"),
        ({"text": "words"}, "another field: extra_forbidden"),
    ],
)
def test_fields_that_do_not_fit_are_named_with_the_rule(
    changes: dict[str, object], where: str
) -> None:
    with pytest.raises(InvalidMessage, match=where):
        parse(Stage.RETRIEVE, retrieve(**changes))


@pytest.mark.parametrize("payload", [None, 3, "retrieve.v1", [], [retrieve()]])
def test_what_is_no_json_object_is_invalid(payload: object) -> None:
    with pytest.raises(InvalidMessage, match="JSON object"):
        parse(Stage.RETRIEVE, payload)


@pytest.mark.parametrize("ids", [[], [str(uuid4())] * 1001])
def test_a_message_names_at_least_one_and_at_most_a_thousand_versions(ids: list[str]) -> None:
    with pytest.raises(InvalidMessage, match="version_ids"):
        parse(Stage.EMBED, {**golden("embed.v1")["message"], "version_ids": ids})


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": "zebrafish.v1"},
        {"schema": "retrieve.zebrafish"},
        {"schema": "zebrafish zebrafish"},
        {"question_id": "zebrafish"},
        {"question_hash": "zebrafish"},
        {"zebrafish": 1},
        {"request_id": {"zebrafish": 1}},
    ],
)
def test_invariant_11_the_reason_repeats_nothing_that_was_sent(changes: dict[str, object]) -> None:
    with pytest.raises(MessageError) as raised:
        parse(Stage.RETRIEVE, retrieve(**changes))
    assert "zebrafish" not in str(raised.value)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_changes = st.dictionaries(
    st.sampled_from(["schema", "request_id", "question_id", "question_hash", "more"]), _json
)


@given(changes=_changes, stage=st.sampled_from(list(Stage)))
def test_whatever_comes_is_a_message_or_a_message_error(
    changes: dict[str, Any], stage: Stage
) -> None:
    try:
        message = parse(stage, {**golden("retrieve.v1")["message"], **changes})
    except MessageError:
        return
    assert isinstance(message, RetrieveV1)


def test_one_item_and_one_question_never_share_a_key() -> None:
    one = uuid4()
    asked = GenerateV1(request_id=uuid4(), question_id=one, retrieval_hash="0" * 64)
    read = IngestV1(request_id=uuid4(), item_id=one, content_hash="0" * 64)
    assert asked.subject == read.subject
    assert (asked.stage, asked.input_hash()) != (read.stage, read.input_hash())


def test_the_public_names_of_the_package_are_these() -> None:
    assert messages.__all__ == sorted(messages.__all__, key=lambda name: (not name.isupper(), name))
    assert {model.__name__ for model in MESSAGES} <= set(messages.__all__)
    assert set(messages.__all__) >= {"Message", "MessageError", "Stage", "parse", "MESSAGES"}
    assert all(hasattr(messages, name) for name in messages.__all__)
    assert issubclass(MESSAGES[0], Message)
