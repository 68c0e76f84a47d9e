"""Which keys are remembered while nobody can look them up, and for how long."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from api_gateway.auth.remembered_keys import KEPT, MOST, Remembered

AT = datetime(2026, 11, 24, tzinfo=UTC)


@dataclass(frozen=True)
class Who:
    name: str
    expires_at: datetime | None = None


A, B = Who("a", AT + timedelta(hours=1)), Who("b", AT + timedelta(days=90))


def test_a_key_is_remembered_until_it_expires_or_was_not_seen_for_too_long() -> None:
    known: Remembered[Who] = Remembered()
    known.keep("attest_a", A, AT)
    assert known.find("attest_a", AT + timedelta(minutes=59)) == A
    assert known.find("attest_a", AT + timedelta(hours=1)) is None
    known.keep("attest_b", B, AT)
    assert known.find("attest_b", AT + KEPT) == B
    assert known.find("attest_b", AT + KEPT + timedelta(seconds=1)) is None


def test_no_other_secret_and_no_forgotten_one_is_known() -> None:
    known: Remembered[Who] = Remembered()
    known.keep("attest_a", A, AT)
    assert known.find("attest_b", AT) is None
    assert known.find("", AT) is None
    known.forget("attest_a")
    known.forget("attest_never_seen")
    assert known.find("attest_a", AT) is None


def test_it_holds_no_secret_and_only_so_many_keys() -> None:
    known: Remembered[Who] = Remembered()
    for n in range(MOST + 5):
        known.keep(f"attest_{n}", Who(str(n)), AT)
    assert "attest_" not in repr(vars(known))
    assert known.find("attest_0", AT) is None
    assert known.find(f"attest_{MOST + 4}", AT) == Who(str(MOST + 4))
