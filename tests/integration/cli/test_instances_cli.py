"""The command over a gateway: whose it is, which ids it tells, and what it says while it waits."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.client import waiting
from store.core.settings import Settings
from tests.commands import Attest
from tests.integration.gateway.conftest import Running, serving, working
from tests.unit.extract.made import REPORT

NOTE = "Assessment: colon cancer, stage II.\n\nPlan: ctDNA test in three months.\n"


@pytest.fixture
def gateway(settings: Settings) -> Iterator[Running]:
    """A gateway on a port of its own."""
    with serving(settings.model_copy(update={"port": 0})) as running:
        yield running


@pytest.fixture
def attest(gateway: Running) -> Attest:
    """Commands that know the instance by its URLs and its port only."""
    port = gateway.url.rstrip("/").rpartition(":")[2]
    return Attest.on(gateway.settings, ATTEST_PORT=port)


@pytest.fixture
def at_work(gateway: Running) -> Iterator[None]:
    """Somebody does what the gateway promises, as long as the test lasts."""
    with working(gateway):
        yield


@pytest.mark.usefixtures("at_work")
@pytest.mark.parametrize(
    ("command", "kind", "text"),
    [
        ("summarize", "note", NOTE),
        ("verify", "verification", "Mr Smith was cured by 98% of the drug."),
        ("extract", "extraction", REPORT),
    ],
)
def test_what_is_kept_is_told_by_an_id_that_erases_it(
    attest: Attest, gateway: Running, tmp_path: Path, command: str, kind: str, text: str
) -> None:
    """An instance named by its URLs and port keeps it; nothing runs on the data directory."""
    file = tmp_path / "patient.txt"
    file.write_text(text, encoding="utf-8")
    done = attest(command, str(file), "--json")
    assert done.returncode == 0, done.stderr
    found = re.search(rf"^{kind} (\S+) \(attest erase {kind} \1 --reason …\)$", done.stderr, re.M)
    assert found, done.stderr
    (line,) = [one for one in done.stdout.splitlines() if one.startswith("{")]
    assert json.loads(line)["id"] == found[1]
    assert gateway.count(kind, "id = :id", id=found[1]) == 1
    erased = attest("erase", kind, found[1], "--reason", "patient-request")
    assert erased.returncode == 0, erased.stderr


def test_a_mistyped_directory_reaches_no_gateway_at_a_port_of_the_environment(
    attest: Attest, gateway: Running, tmp_path: Path
) -> None:
    alone = {"ATTEST_DATABASE_URL": "", "ATTEST_REDIS_URL": ""}
    done = attest(f"--data-dir={tmp_path / 'typo'}", "ask", "What of Mr Smith?", **alone)
    assert done.returncode == 1
    assert f"nothing runs on {tmp_path / 'typo'}" in done.stderr
    assert gateway.count("question") == 0


def test_an_empty_file_is_refused_by_its_name_and_not_sent_elsewhere(
    attest: Attest, tmp_path: Path
) -> None:
    file = tmp_path / "empty.txt"
    file.touch()
    done = attest("extract", str(file))
    assert done.returncode == 1
    assert done.stderr.startswith("attest: empty.txt: ")
    assert "--here" not in done.stderr
    away = attest("extract", str(file), ATTEST_PORT="1")
    assert "no gateway answers" in away.stderr
    assert "(or add --here)" in away.stderr


def test_a_paused_stage_is_told_while_one_waits_and_ctrl_c_says_that_it_goes_on(
    attest: Attest, gateway: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert attest("stages", "pause", "retrieve", "--reason", "index moves").returncode == 0
    looked = waiting.paused_stages

    def look_and_interrupt(client: object) -> dict[str, str]:
        found = looked(client)  # type: ignore[arg-type]
        monkeypatch.setattr(waiting, "look", interrupt)
        return found

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(waiting, "SOON_SECONDS", 0)
    monkeypatch.setattr(waiting, "paused_stages", look_and_interrupt)
    done = attest("ask", "What of ctDNA?")
    assert done.returncode == 130
    page = str(gateway.url).rstrip("/") + "/questions/"
    first, second = done.stderr.splitlines()
    assert first.startswith("stage retrieve is paused (index moves): question ")
    assert re.search(rf"question (\S+) goes on: {page}\1$", second)


def test_a_search_in_an_empty_store_says_that_nothing_is_held(attest: Attest) -> None:
    done = attest("search", "ctDNA", ATTEST_ENCODER="hash")
    assert done.returncode == 0, done.stderr
    assert "nothing is held yet" in done.stdout
    assert json.loads(attest("search", "ctDNA", "--json", ATTEST_ENCODER="hash").stdout) == []


def test_a_place_where_nothing_can_be_written_is_named_in_plain_words(
    attest: Attest, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.touch()
    none = tmp_path / "none"
    said = attest("backup", str(none / "b")).stderr
    assert said == f"attest: {none} is no folder: make it, or name another one\n"
    said = attest("report", "--out", str(file)).stderr
    assert said == f"attest: {file} is a file: --out takes a folder\n"


def test_ctrl_c_says_that_what_was_ingested_until_then_goes_on(
    attest: Attest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cli.commands.evidence.ingest.follow", interrupt)
    file = tmp_path / "guide.txt"
    file.write_text("Cough was seen.")
    done = attest("ingest", str(file), "--source-type", "guideline")
    assert done.returncode == 130
    assert "what was sent until now goes on" in done.stderr
