"""From the JSON that travelled back to a typed message, or the reason why not."""

from collections.abc import Mapping

from pydantic import ValidationError

from messages.models import MESSAGES, Message
from messages.stages import Stage


class MessageError(ValueError):
    """A message that can never succeed as it is: it becomes a dead letter at once."""


class UnknownMessage(MessageError):
    """It names no schema that this code has ever had."""


class FutureMessage(MessageError):
    """A newer version of a schema that this code knows: the worker is older than the sender."""


class InvalidMessage(MessageError):
    """Its fields do not fit its schema."""


_BY_SCHEMA: dict[str, type[Message]] = {
    str(model.model_fields["schema_"].default): model for model in MESSAGES
}
_NEWEST: dict[str, int] = {}
for _name in _BY_SCHEMA:
    _stage, _, _number = _name.partition(".v")
    _NEWEST[_stage] = max(_NEWEST.get(_stage, 0), int(_number))


def parse(stage: Stage, payload: object) -> Message:
    """The typed message that `payload` is, for the queue of `stage`.

    Raises:
        UnknownMessage: no such schema, or one that belongs to another stage.
        FutureMessage: a newer version than this code has.
        InvalidMessage: the fields do not fit; values are not repeated in the text.
    """
    if not isinstance(payload, Mapping):
        raise InvalidMessage(f"a message is a JSON object, this is a {type(payload).__name__}")
    schema = payload.get("schema")
    if not isinstance(schema, str):
        raise UnknownMessage("the message names no schema")
    name, _, number = schema.partition(".v")
    if name != stage.value or name not in _NEWEST:
        raise UnknownMessage(f"schema {schema[:40]!r} does not belong on the queue {stage.value!r}")
    if number.isdecimal() and int(number) > _NEWEST[name]:
        raise FutureMessage(
            f"schema {schema[:40]!r} is newer than this worker (it knows up to v{_NEWEST[name]}): "
            "upgrade the workers, then replay"
        )
    model = _BY_SCHEMA.get(schema)
    if model is None:
        raise UnknownMessage(f"schema {schema[:40]!r} was never in use")
    try:
        return model.model_validate(dict(payload))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[:3]
        where = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'message'}: {e['msg']}" for e in first)
        raise InvalidMessage(f"{schema}: {where}") from None
