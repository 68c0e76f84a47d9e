"""A setting whose name is mistyped is not followed, and somebody believes that it is."""

import pytest

from cli.instance.environment_check import WrongSettings, unknown_variables, usable
from store.core.settings import Settings
from tests.commands import Attest


@pytest.mark.parametrize(
    ("mistyped", "meant"),
    [
        ("ATTEST_REQUIRE_KEY", "ATTEST_REQUIRE_KEYS"),
        ("ATTEST_KEEP_DAY", "ATTEST_KEEP_DAYS"),
        ("ATTEST_ANTHROPIC_KEY", "ATTEST_ANTHROPIC_API_KEY"),
        ("attest_log_levels", "ATTEST_LOG_LEVEL"),
    ],
)
def test_a_mistyped_setting_is_refused_with_the_one_that_was_meant(
    mistyped: str, meant: str
) -> None:
    with pytest.raises(WrongSettings, match=f"{mistyped} is no setting: .*{meant}") as refused:
        usable(Settings(), {mistyped: "hush", "HOME": "/"})
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    "other",
    [
        "ATTEST_POSTGRES_PASSWORD",  # compose reads these itself
        "ATTEST_REDIS_PASSWORD",
        "ATTEST_GATEWAY_SERVICE_HOST",  # Kubernetes gives these to every container
        "ATTEST_GATEWAY_PORT_8321_TCP",
    ],
)
def test_what_resembles_no_setting_keeps_nothing_from_starting(other: str) -> None:
    usable(Settings(), {other: "x"})


def test_what_does_nothing_is_named_to_whoever_starts_an_instance() -> None:
    given = {"ATTEST_POSTGRES_PASSWORD": "x", "ATTEST_PORT": "1", "ATTEST_WARD": "3", "PATH": ""}
    assert unknown_variables(given) == ["ATTEST_WARD"]


@pytest.mark.parametrize("command", ["up", "worker", "scheduler", "gateway"])
def test_no_process_starts_open_because_a_letter_is_missing(command: str) -> None:
    attest = Attest(
        {
            "ATTEST_REQUIRE_KEY": "true",
            "ATTEST_DATABASE_URL": "postgresql://127.0.0.1:1/attest",
            "ATTEST_REDIS_URL": "redis://127.0.0.1:1/0",
        }
    )
    done = attest(command)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "ATTEST_REQUIRE_KEY is no setting: did you mean ATTEST_REQUIRE_KEYS?" in line
