"""What a guard reports. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a claim may not stand. `code` names the guard, `detail` quotes the texts: it belongs in
    answers, not in logs (invariant 11)."""

    code: str
    detail: str
