"""Which gateway a command talks to: never one that just happens to listen at the usual port."""

from pathlib import Path
from typing import Any

import pytest

from cli.instance.instance import NotRunning, find_gateway, require_gateway
from store.core.settings import Settings
from store.embedded.datadir import DataDir
from tests.commands import Attest

URLS = {"database_url": "postgresql://h/a", "redis_url": "redis://h"}
USUAL = "http://127.0.0.1:8321"


def found(tmp_path: Path, *, directory_named: bool = False, **given: Any) -> str | None:
    settings = Settings(data_dir=tmp_path / "data", **given)
    return find_gateway(settings, directory_named=directory_named)


def test_where_nothing_runs_the_usual_port_is_nobodys(tmp_path: Path) -> None:
    assert found(tmp_path) is None
    with pytest.raises(NotRunning, match=f"nothing runs on {tmp_path}/data: .*--data-dir.*PORT"):
        require_gateway(Settings(data_dir=tmp_path / "data"), directory_named=True)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ({"port": 9}, "http://127.0.0.1:9"),
        ({"host": "desk.example"}, "http://desk.example:8321"),
        (URLS, USUAL),
        ({**URLS, "port": 9}, "http://127.0.0.1:9"),
    ],
)
def test_host_and_port_count_where_they_or_the_urls_are_set(
    tmp_path: Path, given: dict[str, Any], url: str
) -> None:
    assert found(tmp_path, **given) == url


def test_a_directory_named_by_option_outweighs_a_port_but_not_the_urls(tmp_path: Path) -> None:
    assert found(tmp_path, directory_named=True, port=9) is None
    assert found(tmp_path, directory_named=True, port=9, **URLS) == "http://127.0.0.1:9"


def test_what_runs_on_the_directory_is_meant_unless_urls_name_another(tmp_path: Path) -> None:
    with DataDir(tmp_path / "data") as data:
        data.publish("postgresql://own", "redis://own", gateway_url="http://127.0.0.1:7")
        assert found(tmp_path, port=9) == "http://127.0.0.1:7"
        assert found(tmp_path, **URLS) == USUAL


def test_one_url_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotRunning, match="set both"):
        found(tmp_path, database_url="postgresql://h/a")


@pytest.mark.parametrize(
    "command", [["ask", "Mr Smith?"], ["verify", "{file}"], ["mcp"], ["reviews", "list"]]
)
def test_a_mistyped_directory_sends_nothing_anywhere(tmp_path: Path, command: list[str]) -> None:
    file = tmp_path / "slide.md"
    file.write_text("Mr Smith was cured.")
    typo = tmp_path / "typo"
    arguments = [one.format(file=file) for one in command]
    done = Attest({"ATTEST_DATA_DIR": str(tmp_path / "data"), "ATTEST_PORT": "1"})(
        f"--data-dir={typo}", *arguments
    )
    assert done.returncode == 1
    assert f"nothing runs on {typo}" in done.stderr
