"""What a guard reports. Pure."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a claim may not stand. `code` names the guard, `detail` quotes the texts: it belongs in
    answers, not in logs (invariant 11).

    `unsaid` tells that the passage only does not say it, or not of so many: no claim may stand on
    that, but nothing of the passage speaks against it either.
    """

    code: str
    detail: str
    unsaid: bool = field(default=False, compare=False)
