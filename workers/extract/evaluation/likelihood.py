"""How likely each field of an attempt is right; learned. Pure.

Independent readers are compared: the rules' value and what its words say for themselves, the
learned reader of labels, cells and paragraphs, the second reading's signs, and what the whole
document is like. A logistic reader weighs them; it is fitted by `benchmarks.likelihood` on
documents whose fields are marked, each read by a field reader that had not seen it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from knowledge.loader import load
from workers.extract.evaluation.bounds import read_share
from workers.extract.evaluation.damage import damage
from workers.extract.evaluation.scores import FieldScore
from workers.extract.fields import Attempt, FieldResult, Status
from workers.extract.parts import Parts
from workers.extract.rubrics import Rubric, field_policies
from workers.extract.span_reader import Stated
from workers.extract.two_readers import read
from workers.extract.units import Placed, shares

Evidence = Mapping[str, float]
_SURE, _UNSURE = 0.9, 0.1
_FEW_LINES = 4
"""Line ends below which a text is one in one line (ours)."""


def evidence(
    parts: Parts, rubric: Rubric, attempt: Attempt, breakdown: Sequence[FieldScore]
) -> dict[str, Evidence]:
    """Of each field of the type what speaks for it and against it, by names of features."""
    judged = {(one.dimension, one.field): one for one in breakdown}
    exact = [one.score for one in breakdown if one.dimension == "accuracy"]
    whole = {
        "damage": min(1.0, 4 * damage(parts.printed).share),
        "unread": 1.0 - read_share(parts, attempt),
        "one line": float(parts.text.strip().count("\n") < _FEW_LINES),
        "doubt elsewhere": 1.0 - sum(exact) / len(exact) if exact else 0.0,
    }
    told, stated = shares(parts), read(parts, rubric.type)
    open_share, open_labels = _unread(parts, attempt, told)
    whole |= {"uncovered": open_share, "open labels": math.log1p(open_labels)}
    found: dict[str, Evidence] = {}
    for field in rubric.fields:
        if field_policies()[field].extent != "document":
            result = attempt.fields.get(field)
            own = dict(_of_field(field, parts, attempt, result, told))
            own |= dict(_of_the_reader(field, result, stated))
            state = "missing" if result is None else result.status.value
            group = f"{'words' if field_policies()[field].kind == 'words' else 'typed'} {state}"
            own |= {f"{name} {group}": value for name, value in whole.items() if value}
            own[f"{rubric.tier(field)} {state}"] = 1.0
            own[f"{rubric.type} {state}"] = 1.0
            own[f"{rubric.type} {field} {state}"] = 1.0
            for dimension in ("completeness", "accuracy"):
                one = judged.get((dimension, field))
                if one is not None and one.score < 1.0:
                    own[f"{dimension} {state}"] = 1.0 - one.score
                if one is not None and one.issues:
                    own[f"issues {dimension} {state}"] = float(len(one.issues))
                if one is not None and one.grave:
                    own["grave"] = 1.0
            found[field] = own
    return found


def _unread(
    parts: Parts, attempt: Attempt, told: Sequence[tuple[Placed, Mapping[str, float]]]
) -> tuple[float, int]:
    """The share of the text that no value covers, and how many labelled values none does."""
    covered = bytearray(len(parts.text))
    for name, result in attempt.fields.items():
        if field_policies()[name].extent != "document":
            for one in result.items:
                covered[one.start : one.end] = b"\1" * (one.end - one.start)
    labels = sum(
        placed.section is not None and not any(covered[placed.start : placed.end])
        for placed, _ in told
    )
    return 1.0 - sum(covered) / max(1, len(covered)), labels


def _of_field(
    field: str,
    parts: Parts,
    attempt: Attempt,
    result: FieldResult | None,
    told: Sequence[tuple[Placed, Mapping[str, float]]],
) -> Iterator[tuple[str, float]]:
    kind = field_policies()[field].kind
    state = "missing" if result is None else result.status.value
    yield "bias", 1.0
    yield state, 1.0
    yield f"{state} {kind}", 1.0
    yield f"{state} {field}", 1.0
    spans = [(one.start, one.end) for one in result.items] if result is not None else []
    here = there = rival = 0.0
    for placed, likely in told:
        share = likely.get(field, 0.0)
        if any(placed.start < end and start < placed.end for start, end in spans):
            if share >= here:
                here, rival = share, max((v for k, v in likely.items() if k != field), default=0.0)
        else:
            there = max(there, share)
    group = f"{'words' if kind == 'words' else 'typed'} {state}"
    yield f"elsewhere {group}", there
    yield f"elsewhere surely {group}", float(there > _SURE)
    if spans and result is not None:
        yield f"here {group}", here
        yield f"here surely {group}", float(here > _SURE)
        yield f"hardly here {group}", float(here < _UNSURE)
        yield f"another's {group}", rival * (1.0 - here)
        yield f"many {group}", math.log(len(spans))
        yield f"by {result.origin} {state}", 1.0
        if kind == "words":
            words = parts.text[spans[0][0] : spans[0][1]]
            yield "long value", math.log1p(len(words.split()))
            yield "cut", float(spans[0][1] >= len(parts.text.rstrip()))
            yield "lines", math.log1p(words.count("\n"))
            inside = sum(spans[0][0] < one.heading_start < spans[0][1] for one in parts.sections)
            yield "labels inside", math.log1p(inside)
            yield f"labels inside {field}", math.log1p(inside)
            yield "shared", float(_shared(field, attempt, spans[0]))


def _of_the_reader(
    field: str, result: FieldResult | None, stated: Stated
) -> Iterator[tuple[str, float]]:
    """How sure the learned reader is of a value's words, and of others (ADR 0064)."""
    state = "missing" if result is None else result.status.value
    kind = "words" if field_policies()[field].kind == "words" else "typed"
    spans = [(one.start, one.end) for one in result.items] if result is not None else []
    here = [stated.share(field, *one) for one in spans]
    if field_policies()[field].many or None in here:
        return
    elsewhere = [
        one.share
        for one in stated.parts(field)
        if not any(one.start < end and start < one.end for start, end in spans)
    ]
    yield f"read elsewhere {kind} {state}", max(elsewhere, default=0.0)
    if spans:
        own = max(one or 0.0 for one in here)
        yield f"read here {kind} {state}", own
        yield f"read surely here {kind} {state}", float(own > _SURE)
        yield f"hardly read here {kind} {state}", float(own < _UNSURE)


def _shared(field: str, attempt: Attempt, span: tuple[int, int]) -> bool:
    """Whether another field's value holds some of the same words."""
    return any(
        one.start < span[1] and span[0] < one.end
        for name, held in attempt.fields.items()
        if name != field and field_policies()[name].extent != "document"
        and held.status is not Status.NOT_PRESENT
        for one in held.items
    )  # fmt: skip


def likelihoods(
    seen: Mapping[str, Evidence], attempt: Attempt, breakdown: Sequence[FieldScore]
) -> dict[str, float]:
    """Of each field of the type how likely it is right, 0-1: what the evidence says, as far as the
    words at its spans and the rules' own reading bear it. A field that is left out is not right."""
    borne = {one.field: one.borne for one in breakdown if one.dimension == "accuracy"}
    return {
        field: likely(weights(), one) * borne.get(field, 1.0) * (field in attempt.fields)
        for field, one in seen.items()
    }


def likely(weights: Mapping[str, float], seen: Evidence) -> float:
    """How likely a field of this evidence is right, 0-1."""
    return 1.0 / (1.0 + math.exp(-sum(weights.get(name, 0.0) * v for name, v in seen.items())))


@cache
def weights() -> Mapping[str, float]:
    """The reader as it was fitted."""
    found: Mapping[str, float] = load("rubrics/likelihood")["weights"]
    return found
