"""Commands in the environment that compose.yaml gives them: secrets in files, nothing to write."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.instance.environment_check import usable
from store.core.settings import Settings, get_settings
from tests.commands import Attest

ROOT = Path(__file__).resolve().parents[3]
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
OURS = sorted(name for name, one in SERVICES.items() if one["image"].startswith("attest"))


def environment(service: str, secrets: Path, **env: str) -> dict[str, str]:
    """What Docker Compose makes of the service's environment with this `.env`."""

    def value(found: re.Match[str]) -> str:
        name, operator, other = found.groups()
        held = env.get(name, "")
        return (other if held else "") if operator == ":+" else (held or other)

    written = SERVICES[service]["environment"]
    filled = {
        name: re.sub(r"\$\{(\w+)(:-|:\+)([^}]*)\}", value, text) for name, text in written.items()
    }
    return {name: text.replace("/run/secrets", str(secrets)) for name, text in filled.items()}


@pytest.fixture
def secrets(settings: Settings, tmp_path: Path) -> Path:
    """The folder of secrets, for the servers of the test; what is optional is empty."""
    folder = tmp_path / "secrets"
    folder.mkdir()
    for service in OURS:
        for name in SERVICES[service]["secrets"]:
            (folder / name).write_text("\n")
    (folder / "database_url").write_text(f"{settings.database_url}\n")
    (folder / "redis_url").write_text(f"{settings.redis_url}\n")
    return folder


@pytest.mark.parametrize("service", OURS)
def test_every_service_starts_with_what_it_is_given(
    service: str, secrets: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment(service, secrets, ATTEST_LOG_LEVEL="DEBUG").items():
        monkeypatch.setenv(name, value)
    get_settings.cache_clear()
    found = usable(get_settings())
    get_settings.cache_clear()
    assert (found.database_url, found.redis_url) == (settings.database_url, settings.redis_url)
    assert (found.log_level, found.log_format, found.encoder) == ("DEBUG", "json", "minilm")
    assert (found.audit_key, found.anthropic_api_key, found.guidelines_dir) == ("", "", None)


def test_the_commands_of_the_first_start_work_where_nothing_can_be_written(
    secrets: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    given = environment("gateway", secrets, ATTEST_GUIDELINES_DIR="/srv/guidelines")
    attest = Attest({**given, "ATTEST_DATA_DIR": str(home)})
    assert attest.process("migrate").returncode == 0
    made = attest("keys", "create", "--name", "first", "--scopes", "ask,read", "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["key"].startswith("attest_")
    assert list(home.iterdir()) == []
    wanted = environment("refresh", secrets, ATTEST_GUIDELINES_DIR="/srv/guidelines")
    assert wanted["ATTEST_GUIDELINES_DIR"] == "/guidelines"
    signed = Attest({**given, "ATTEST_DATA_DIR": str(tmp_path / "volume")})
    first = [signed("audit", "export", str(tmp_path / f"{n}.jsonl")) for n in range(2)]
    assert [one.returncode for one in first] == [0, 0], first
    keys = [json.loads((tmp_path / f"{n}.jsonl.manifest.json").read_text()) for n in range(2)]
    assert keys[0]["public_key"] == keys[1]["public_key"], "the volume keeps it"
