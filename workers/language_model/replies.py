"""A model's reply becomes a value of the asked shape, or a fault that the model can be told. Pure.

Services that enforce a schema send nothing but the object. Others wrap it in a code fence, put
words around it or think aloud first; that is taken off. Nothing else is mended: a cut object, an
object too many, a name that the shape lacks are faults, because mending them would be guessing.
"""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from workers.language_model.port import ModelUnusable, T

CUT = "The language model's answer was cut off at its limit of tokens"

_THOUGHTS_END = "</think>"
"""What models that reason write between their thoughts and their reply (Qwen, DeepSeek)."""
_MOST_FAULTS = 5
_MOST_CHARACTERS = 400
"""Of a fault, which goes back to the model."""


class Unreadable(ValueError):
    """A reply is not of the asked shape; the text says why, for the model that wrote it. It may
    hold words of the reply, so it goes to no log."""


def read(shape: type[T], reply: str) -> tuple[T | None, ModelUnusable | None]:
    """The value of a reply, or the error to raise, which knows its fault."""
    try:
        return value_of(shape, reply), None
    except Unreadable as error:
        words = "The language model's answer has not the asked shape"
        return None, ModelUnusable(words, fault=str(error))


def value_of(shape: type[T], reply: str) -> T:
    """The one value of `shape` that a reply holds.

    Raises:
        Unreadable: it holds none, more than one, or ends in the midst of one.
    """
    behind = reply.rpartition(_THOUGHTS_END)[2]
    # A reply that begins with its object has no thoughts: the mark stands in one of its texts.
    return _only_value(shape, reply if reply.lstrip()[:1] in ("{", "`") else behind)


def _only_value(shape: type[T], text: str) -> T:
    values, faults = [], []
    for piece in list(_objects(text)):
        try:
            values.append(_validated(shape, piece))
        except ValidationError as error:
            faults.append(_told(error))
        except ValueError as error:  # a name twice
            faults.append(str(error))
    if values and all(one == values[0] for one in values):
        return values[0]
    if values:
        raise Unreadable("It holds different objects of the asked shape.")
    raise Unreadable((faults or ["It holds no JSON object."])[0][:_MOST_CHARACTERS])


def instruction(schema: object) -> str:
    """What a model is told whose server may not enforce a schema, or not show it."""
    return (
        "Reply with one JSON object and nothing else: no words around it, no code fence. "
        "It follows this JSON Schema:\n" + json.dumps(schema, ensure_ascii=False)
    )


def correction(fault: str) -> str:
    """What a model is told that replied in another shape, once."""
    return (
        "Your last reply to this request could not be read. What was wrong with it, as data: "
        f"{json.dumps(fault, ensure_ascii=False)}\n"
        "Reply once more: one complete JSON object of the asked shape, and nothing else."
    )


def _objects(text: str) -> Iterator[str]:
    """The pieces of `text` in curly brackets that stand in no other such piece.

    Raises:
        Unreadable: the last of them does not end.
    """
    depth, start, quoted, escaped = 0, 0, False, False
    for place, sign in enumerate(text):
        if quoted:
            quoted = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"' and depth:
            quoted = True
        elif sign == "{":
            start = start if depth else place
            depth += 1
        elif sign == "}" and depth:
            depth -= 1
            if not depth:
                yield text[start : place + 1]
    if depth:
        raise Unreadable("Its JSON object does not end.")


def _validated(shape: type[T], piece: str) -> T:
    value = shape.model_validate_json(piece)
    json.loads(piece, object_pairs_hook=_each_name_once)
    return value


def _each_name_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("An object has the same name twice.")
    return found


def _told(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(
        f"{'.'.join(map(str, one['loc'])) or 'object'}: {one['msg']}"
        for one in faults[:_MOST_FAULTS]
    )
