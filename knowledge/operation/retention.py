"""How long texts from users are kept (`retention.yaml`)."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal, get_args

from pydantic import Field

from knowledge.loader import Policy, load

TextKind = Literal["question", "note", "verification", "extraction"]
KINDS: tuple[TextKind, ...] = get_args(TextKind)
BY_AGE = "retention"
"""The reason of automatic deletions only."""

Days = Annotated[int, Field(ge=1, le=36_500)]


class RetentionPolicy(Policy):
    """The days that each kind of text is kept, and the reasons for deletions."""

    keep_days: Mapping[TextKind, Days | None]
    batch: Annotated[int, Field(ge=1)]
    reasons: Mapping[str, str]


class NotKept(ValueError):
    """`ATTEST_KEEP_DAYS` is invalid; the message says why."""


@cache
def retention_policy() -> RetentionPolicy:
    """The policy."""
    return RetentionPolicy.model_validate(load("operation/retention"))


def keep_days(given: Mapping[str, int]) -> dict[TextKind, int]:
    """The days by kind of text, without the kinds that are kept for ever.

    Args:
        given: the setting, which overrides the file.

    Raises:
        NotKept: it has an unknown kind or an invalid number of days.
    """
    for kind, days in given.items():
        if kind not in KINDS:
            raise NotKept(f"ATTEST_KEEP_DAYS: {kind[:40]!r} is none of {', '.join(KINDS)}")
        if not 1 <= days <= 36_500:
            raise NotKept(f"ATTEST_KEEP_DAYS: {kind} is kept for 1 to 36500 days")
    wanted = {kind: given.get(kind, retention_policy().keep_days.get(kind)) for kind in KINDS}
    return {kind: days for kind, days in wanted.items() if days is not None}


def reason_given(reason: str) -> str:
    """Returns `reason` if a person may give it.

    Raises:
        ValueError: it is not in the policy or is the one of automatic deletions; lists the others.
    """
    allowed = [name for name in retention_policy().reasons if name != BY_AGE]
    if reason not in allowed:
        raise ValueError(f"the reason is one of {', '.join(allowed)}")
    return reason
