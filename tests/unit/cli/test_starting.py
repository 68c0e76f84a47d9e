"""What cannot be followed is said before anything starts, by the name of its variable."""

from typing import Any

import pytest

from cli.instance.environment_check import WrongSettings, usable
from store.core.settings import Settings
from tests.commands import Attest
from tests.grid import grid


def wrong(**changed: Any) -> str:
    with pytest.raises(WrongSettings) as refused:
        usable(Settings(**changed))
    return str(refused.value)


def test_the_defaults_can_be_followed() -> None:
    usable(Settings())


def test_what_can_be_followed_is_not_complained_of() -> None:
    usable(
        Settings(
            database_url="postgresql://attest:secret@host/attest?host=/run/sockets",
            redis_url="unix:///run/redis.sock?db=0",
            encoder="openai",
            encoder_url="http://encoder:8080/v1",
            encoder_model="m",
            anthropic_api_key="key",
            contact_email="desk@ward.example",
            source_mirrors={"https://api.fda.gov": "http://127.0.0.1:8080/fda"},
            keep_days={"note": 30},
            audit_key="ab" * 32,
        )
    )


@grid(
    ("changed", "says"),
    [
        ({"keep_days": {"notes": 30}}, "ATTEST_KEEP_DAYS: 'notes' is none of question, note"),
        ({"keep_days": {"note": 0}}, "ATTEST_KEEP_DAYS: note is kept for 1 to 36500 days"),
        ({"database_url": "postgresql://host/attest"}, "set both ATTEST_DATABASE_URL and"),
        ({"database_url": "host/attest", "redis_url": "redis://h"}, "ATTEST_DATABASE_URL is no"),
        (
            {"database_url": "postgresql://u:hush@h:x/a", "redis_url": "redis://h"},
            "ATTEST_DATABASE_URL is no",
        ),
        (
            {"database_url": "mysql://u:hush@h/a", "redis_url": "redis://h"},
            "ATTEST_DATABASE_URL is no",
        ),
        (
            {"database_url": "postgresql://h/a", "redis_url": "hush:6379"},
            "ATTEST_REDIS_URL is no",
        ),
        ({"encoder": "openai", "encoder_model": "m"}, "ATTEST_ENCODER_URL must be"),
        ({"encoder": "openai", "encoder_url": "http://e"}, "ATTEST_ENCODER_MODEL is empty"),
        ({"encoder": "hash", "encoder_dimensions": 64}, "ATTEST_ENCODER_DIMENSIONS must be 384"),
        ({"anthropic_api_key": "hush hush"}, "ATTEST_ANTHROPIC_API_KEY has a space"),
        ({"ncbi_api_key": "hush\n"}, "ATTEST_NCBI_API_KEY has a space, a line break"),
        ({"contact_email": "Dr J\u00f6rg <j@x.example>"}, "ATTEST_CONTACT_EMAIL has a space"),
        ({"anthropic_api_key": "k", "anthropic_url": "api.example"}, "ATTEST_ANTHROPIC_URL must"),
        ({"model_url": "here:8000", "model_name": "m"}, "ATTEST_MODEL_URL must be an http"),
        ({"model_url": "http://here:8000"}, "ATTEST_MODEL_NAME is empty"),
        ({"model_name": "m"}, "ATTEST_MODEL_NAME is of no use without ATTEST_MODEL_URL"),
        (
            {"model_url": "http://h", "model_name": "m", "model_key": "hush hush"},
            "ATTEST_MODEL_KEY has a space",
        ),
        (
            {"model_url": "http://h", "model_name": "m", "anthropic_api_key": "k"},
            "not both: one model is asked",
        ),
        (
            {"model_url": "http://h", "model_name": "m", "model_input_usd": 0},
            "set both ATTEST_MODEL_INPUT_USD and",
        ),
        ({"source_mirrors": {"https://a.example": "nonsense"}}, "ATTEST_SOURCE_MIRRORS: what"),
        (
            {"source_mirrors": {"https://a.example/": "http://m"}},
            "'https://a.example/' is no origin",
        ),
        ({"audit_key": "hush"}, "ATTEST_AUDIT_KEY must hold 64 hex digits"),
    ],
)
def test_what_cannot_be_followed_is_named_without_its_secrets(
    changed: dict[str, Any], says: str
) -> None:
    said = wrong(**changed)
    assert says in said
    assert "hush" not in said


def test_everything_that_is_wrong_is_said_at_once() -> None:
    said = wrong(keep_days={"notes": 30}, encoder="openai")
    for name in ("KEEP_DAYS", "ENCODER_URL", "ENCODER_MODEL"):
        assert f"ATTEST_{name}" in said


@pytest.mark.parametrize("command", ["up", "scheduler", "worker"])
def test_whoever_would_die_of_it_does_not_start(
    command: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """None of them comes to look for a server: nothing listens there."""
    data = tmp_path_factory.mktemp("none") / "data"
    attest = Attest(
        {
            "ATTEST_DATA_DIR": str(data),
            "ATTEST_DATABASE_URL": "postgresql://127.0.0.1:1/attest",
            "ATTEST_REDIS_URL": "redis://127.0.0.1:1/0",
            "ATTEST_KEEP_DAYS": '{"notes": 30}',
        }
    )
    done = attest(command)
    assert done.returncode == 1
    assert "'notes' is none of question, note, verification, extraction" in done.stderr
    assert "answers at" not in done.stderr
    assert not data.exists()


@grid(
    ("name", "value"),
    [
        ("ATTEST_RELAY_SECONDS", "inf"),
        ("ATTEST_RELAY_SECONDS", "1e300"),
        ("ATTEST_SHUTDOWN_SECONDS", "inf"),
        ("ATTEST_LEASE_SECONDS", "1e300"),
        ("ATTEST_LOST_AFTER_SECONDS", "1e300"),
        ("ATTEST_ANTHROPIC_SECONDS", "inf"),
        ("ATTEST_BODY_SECONDS", "inf"),
        ("ATTEST_BACKLOG_SECONDS", "1e300"),
        ("ATTEST_BACKLOG_MAX", "99999999999999999999"),
        ("ATTEST_IDLE_WAIT_MS", "99999999999999999999"),
        ("ATTEST_ENCODER_THREADS", "99999999999999999999"),
        ("ATTEST_MAX_BODY_BYTES", "0"),
        ("ATTEST_MAX_BODY_BYTES", "-1"),
        ("ATTEST_KEEP_DAYS", '{"note": "long"}'),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_by_its_variable(name: str, value: str) -> None:
    done = Attest({name: value})("scheduler")
    assert done.returncode == 1
    assert f"attest: {name}: " in done.stderr
    assert "Traceback" not in done.stderr
