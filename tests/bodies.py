"""Bodies for tests: what a test does not speak of is filled in, as empty as its form allows."""

import types
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from contracts import Part

P = TypeVar("P", bound=Part)


def filled(form: type[P], /, **given: Any) -> P:
    """A body or part of this form with what is `given`, as JSON values, parts inside it too."""
    return form.model_validate(_filled(form, given))


def _filled(form: type[Part], given: Mapping[str, Any]) -> dict[str, Any]:
    values = dict(given)
    for name, field in form.model_fields.items():
        if name in values:
            values[name] = _inside(field.annotation, values[name])
        elif field.is_required():
            values[name] = _empty(field.annotation)
    return values


def _inside(kind: Any, value: Any) -> Any:
    """The value with the parts in it filled."""
    for one in _kinds(kind):
        if _is_part(one) and isinstance(value, Mapping):
            return _filled(one, value)
        if get_origin(one) is tuple and isinstance(value, (list, tuple)):
            return [_inside(get_args(one)[0], item) for item in value]
        if get_origin(one) is not None and isinstance(value, Mapping) and len(get_args(one)) == 2:
            return {key: _inside(get_args(one)[1], item) for key, item in value.items()}
    return value


def _empty(kind: Any) -> Any:
    kinds = _kinds(kind)
    if type(None) in kinds:
        return None
    (one, *_) = kinds
    if _is_part(one):
        return _filled(one, {})
    origin = get_origin(one)
    if origin is Literal:
        return get_args(one)[0]
    if origin is not None:
        return () if origin is tuple else {}
    return one()


def _kinds(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _is_part(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Part)
