"""Every setting that cannot be read is named at once by its variable, and no value is repeated."""

from tests.commands import Attest


def said(**environment: str) -> str:
    done = Attest({f"ATTEST_{name}": value for name, value in environment.items()})("up")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    return line


def test_all_that_cannot_be_read_is_said_on_one_line() -> None:
    line = said(PORT="abc", LOG_LEVEL="LOUD", KEEP_DAYS="{note:3}", SOURCE_MIRRORS="hush")
    for name in ("PORT", "LOG_LEVEL", "KEEP_DAYS", "SOURCE_MIRRORS"):
        assert f"ATTEST_{name}: " in line
    assert 'ATTEST_KEEP_DAYS: write JSON, for example {"note": 90}' in line


def test_json_of_the_wrong_kind_is_answered_with_an_example() -> None:
    assert 'ATTEST_KEEP_DAYS: write JSON, for example {"note": 90}' in said(KEEP_DAYS="[3]")
    assert "ATTEST_KEEP_DAYS: note: Input should be a valid integer" in said(
        KEEP_DAYS='{"note": "hush"}'
    )


def test_no_value_is_repeated() -> None:
    line = said(PORT="hush", KEY="hush hush", KEEP_DAYS="hush", RERANK="hush", BODY_SECONDS="hush")
    line += said(SOURCE_MIRRORS='{"https://u:hush@h": 3}')
    assert "hush" not in line
