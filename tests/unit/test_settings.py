"""Secret settings that stand in files, as containers are given them."""

from pathlib import Path

import pytest
from pydantic_settings import SettingsError

from cli.commands.up import processes
from cli.instance.environment_check import unknown_variables, usable
from cli.instance.settings_errors import wrong_settings
from store.core.settings import MOST_OF_A_SECRET, SECRET, Settings
from tests.commands import Attest

NAMED = {
    *("database_url", "redis_url", "key", "encoder_key", "anthropic_api_key", "model_key"),
    *("ncbi_api_key", "openfda_api_key", "openalex_api_key", "perplexity_api_key", "audit_key"),
    *("smtp_url", "partitions"),
}


def test_what_is_secret_is_what_no_settings_show() -> None:
    assert set(SECRET) == NAMED
    shown = repr(Settings(**dict.fromkeys(SECRET, "hush")))
    assert "hush" not in shown
    alike = [name for name in Settings.model_fields if "key" in name or name.endswith("password")]
    assert set(alike) - NAMED == {"require_keys"}


@pytest.mark.parametrize("name", SECRET)
def test_each_secret_setting_is_read_from_the_file_that_its_variable_names(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_text("hush-1\r\n")
    monkeypatch.setenv(f"ATTEST_{name.upper()}_FILE", str(path))
    assert getattr(Settings(), name) == "hush-1"
    assert getattr(Settings(**{name: "given"}), name) == "given", "what code gives wins"
    usable_names = {f"ATTEST_{name.upper()}_FILE": str(path)}
    assert unknown_variables(usable_names) == []
    usable(Settings.model_construct(), usable_names)


def test_an_empty_file_or_variable_is_an_empty_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "none").write_text("\n")
    monkeypatch.setenv("ATTEST_AUDIT_KEY_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("ATTEST_REDIS_URL_FILE", "")
    monkeypatch.setenv("ATTEST_AUDIT_KEY", "beside-it")
    assert (Settings().audit_key, Settings().redis_url) == ("beside-it", "")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "No such file or directory"),
        (b"hush\nhush", "more than one line"),
        (b"hush\x1b[2J", "characters that nobody sees"),
        (b"hush\xff\xfe", "no UTF-8 text"),
        (b"hush" * MOST_OF_A_SECRET, f"more than {MOST_OF_A_SECRET} bytes"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_nothing_of_it(
    content: bytes | None, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv("ATTEST_NCBI_API_KEY_FILE", str(path))
    with pytest.raises(SettingsError, match=why) as refused:
        Settings()
    said = str(refused.value)
    assert said.startswith(f"ATTEST_NCBI_API_KEY_FILE: {path} cannot be read: ")
    assert "hush" not in said
    done = Attest({"ATTEST_NCBI_API_KEY_FILE": str(path), "ATTEST_PORT": "odd"})("status")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("attest: ATTEST_PORT: ")
    assert f"; {said}" in line


def test_a_secret_that_is_given_twice_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text("hush")
    monkeypatch.setenv("ATTEST_KEY_FILE", str(tmp_path / "key"))
    monkeypatch.setenv("ATTEST_KEY", "hush too")
    with pytest.raises(SettingsError, match=r"^set ATTEST_KEY or ATTEST_KEY_FILE, not both$"):
        Settings()
    assert wrong_settings().endswith("set ATTEST_KEY or ATTEST_KEY_FILE, not both")


def test_what_is_no_secret_stands_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTEST_HOST_FILE", str(tmp_path / "host"))
    assert Settings().host == "127.0.0.1"
    assert unknown_variables({"ATTEST_HOST_FILE": "x"}) == ["ATTEST_HOST_FILE"]


def test_children_of_an_instance_get_its_addresses_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("database_url", "redis_url"):
        (tmp_path / name).write_text("redis://files/0")
        monkeypatch.setenv(f"ATTEST_{name.upper()}_FILE", str(tmp_path / name))
    for spec in processes(Settings(), ("postgresql://x/y", "redis://x/0"), ()):
        assert spec.env is not None
        assert spec.env["ATTEST_DATABASE_URL"] == "postgresql://x/y"
        assert not {name for name in spec.env if name.endswith("_URL_FILE")}
