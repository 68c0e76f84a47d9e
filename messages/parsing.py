"""Parses the JSON of a message into a typed message, or raises the reason why it cannot."""

import re
from collections.abc import Mapping

from pydantic import ValidationError

from messages.models import MESSAGES, Message
from messages.stages import Stage


class MessageError(ValueError):
    """A message that can never succeed as it is: it becomes a dead letter at once.

    Error texts repeat nothing of the message but names that are in this code (invariant 11).
    """


class UnknownMessage(MessageError):
    """The message names no schema that this code has ever had."""


class FutureMessage(MessageError):
    """The schema version is newer than this code: the worker is older than the sender."""


class InvalidMessage(MessageError):
    """The fields do not fit the schema."""


_SCHEMA = re.compile(r"([a-z]{1,20})\.v([1-9][0-9]{0,8})")
_BY_SCHEMA: dict[str, type[Message]] = {
    str(model.model_fields["schema_"].default): model for model in MESSAGES
}
_NEWEST: dict[str, int] = {}
for _schema in _BY_SCHEMA:
    _name, _, _number = _schema.partition(".v")
    _NEWEST[_name] = max(_NEWEST.get(_name, 0), int(_number))


def parse(stage: Stage, payload: object) -> Message:
    """Parse `payload`, received on the queue of `stage`, into a typed message.

    Raises:
        UnknownMessage: no such schema, or one that belongs to another stage.
        FutureMessage: a newer version than this code has.
        InvalidMessage: the fields do not fit.
    """
    if not isinstance(payload, Mapping):
        raise InvalidMessage(f"a message is a JSON object, this is a {type(payload).__name__}")
    schema = payload.get("schema")
    if not isinstance(schema, str):
        raise UnknownMessage("the message names no schema")
    named = _SCHEMA.fullmatch(schema)
    if named is None or named[1] not in _NEWEST:
        raise UnknownMessage("the message names a schema that was never in use")
    if named[1] != stage.value:
        raise UnknownMessage(f"schema {schema!r} does not belong on the queue {stage.value!r}")
    if int(named[2]) > _NEWEST[stage.value]:
        raise FutureMessage(
            f"schema {schema!r} is newer than this worker (it knows up to "
            f"v{_NEWEST[stage.value]}): upgrade the workers, then replay"
        )
    model = _BY_SCHEMA.get(schema)
    if model is None:
        raise UnknownMessage(f"schema {schema!r} is no longer in use")
    try:
        return model.model_validate(dict(payload))
    except ValidationError as error:
        raise InvalidMessage(f"{schema}: {_reasons(model, error)}") from None


def _reasons(model: type[Message], error: ValidationError) -> str:
    """The fields with their broken rules. A field that the model does not have is not named."""
    fields = {field.alias or name for name, field in model.model_fields.items()}
    first = error.errors(include_input=False, include_url=False, include_context=False)[:3]
    return "; ".join(
        f"{e['loc'][0] if e['loc'] and e['loc'][0] in fields else 'another field'}: {e['type']}"
        for e in first
    )
