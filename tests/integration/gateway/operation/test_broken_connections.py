"""Commands whose connection breaks behind what they sent: it is done once, and they get it."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.client import gateway as calls
from cli.client import waiting
from cli.client.extractions import extract_there
from cli.client.gateway import GatewayRefused, InDoubt, NoGateway, call, client_of, submit
from cli.client.waiting import nothing, result_of_text
from cli.commands.questions.ask import ask
from tests.integration.gateway.conftest import Running, working
from tests.unit.extract.made import REPORT

NOTE = "Assessment: stable. Plan: continue aspirin 81 mg daily."


class Breaking:
    """Stands before a gateway. While `breaks` is above 0 it passes a request on, waits until it was
    answered, and breaks the connection instead of passing the answer back."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.breaks = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self._port))
        with client, server, contextlib.suppress(OSError):
            threading.Thread(target=self._forward, args=(client, server), daemon=True).start()
            while block := server.recv(65536):
                if self.breaks > 0:
                    self.breaks -= 1
                    client.shutdown(socket.SHUT_RDWR)  # closing alone waits for who reads it
                    return
                client.sendall(block)

    @staticmethod
    def _forward(client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while block := client.recv(65536):
                server.sendall(block)
            server.shutdown(socket.SHUT_WR)


@pytest.fixture
def before(gateway: Running) -> Iterator[Breaking]:
    found = Breaking(int(gateway.url.rpartition(":")[2].rstrip("/")))
    yield found
    found.close()


@pytest.fixture(autouse=True)
def _no_time_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "PAUSE_SECONDS", 0.05)
    for name in ("SOON_SECONDS", "POLL_SECONDS"):  # nobody works: every look waits to its end
        monkeypatch.setattr(waiting, name, 1)


def _asks(url: str, path: Path) -> object:
    return ask(url, {"question": "Is the answer lost on its way?"})["status"]


def _summarizes(url: str, path: Path) -> object:
    return result_of_text(url, "note", NOTE, nothing)["summary"]


def _verifies(url: str, path: Path) -> object:
    return result_of_text(url, "verification", "12 of 34 patients relapsed.", nothing)["summary"]


def _extracts(url: str, path: Path) -> object:
    path.write_text(REPORT, "utf-8")
    told = extract_there(url, path, profile="batch", document_type=None, tell=lambda one: None)
    return told[0]["fields"]


@pytest.mark.parametrize(
    ("command", "table"),
    [
        (_asks, "question"),
        (_summarizes, "note"),
        (_verifies, "verification"),
        (_extracts, "extraction"),
    ],
)
def test_what_a_command_sends_is_done_once_though_its_answers_get_lost(
    gateway: Running,
    before: Breaking,
    tmp_path: Path,
    command: Callable[[str, Path], object],
    table: str,
) -> None:
    held = gateway.count(table)
    before.breaks = 3
    with working(gateway):
        assert command(before.url, tmp_path / "report.txt")
    assert before.breaks == 0
    assert gateway.count(table) == held + 1


def test_two_commands_that_send_the_same_are_two_submissions(
    gateway: Running, before: Breaking
) -> None:
    held = gateway.count("question")
    with client_of(before.url) as client:
        first, second = (
            submit(client, "/v1/questions", json={"question": "Twice?"})["id"] for _ in range(2)
        )
    assert first != second
    assert gateway.count("question") == held + 2


def test_where_it_stays_broken_it_is_said_that_nobody_knows_whether_it_arrived(
    before: Breaking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "PATIENCE_SECONDS", 0.3)
    before.breaks = 10**6
    with client_of(before.url) as client, pytest.raises(InDoubt) as told:
        submit(client, "/v1/questions", json={"question": "Did it arrive?"})
    assert "whether it was accepted is not known" in str(told.value)
    assert "before you send it again" in str(told.value)
    assert not isinstance(told.value, NoGateway), "--here would not help"


def test_a_gateway_that_was_never_reached_is_told_at_once() -> None:
    with client_of("http://127.0.0.1:1") as client, pytest.raises(NoGateway, match="no gateway"):
        submit(client, "/v1/questions", json={"question": "Anybody?"})


def test_what_is_refused_is_not_sent_again(gateway: Running, before: Breaking) -> None:
    asked = 'attest_http_requests_total{method="POST",route="/v1/questions",status="422"}'

    def refusals() -> float:
        lines = gateway.client.get("/metrics").text.splitlines()
        return sum(float(one.rsplit(" ", 1)[1]) for one in lines if one.startswith(asked))

    held = refusals()
    with client_of(before.url) as client, pytest.raises(GatewayRefused, match="question"):
        submit(client, "/v1/questions", json={"question": ""})
    assert refusals() == held + 1


def test_looks_ride_out_a_broken_connection_and_say_where_the_work_goes_on(
    gateway: Running, before: Breaking, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cli.client.waiting import Work

    said: list[str] = []
    with client_of(before.url) as client:
        accepted = call(client, "POST", "/v1/questions", json={"question": "Still there?"})
        work = Work(client, "question", accepted["id"], said.append)
        before.breaks = 2
        with work:
            assert work.look()["status"] == "queued"
        monkeypatch.setattr(calls, "PATIENCE_SECONDS", 0.3)
        before.breaks = 10**6
        with pytest.raises(NoGateway), work:
            work.look()
    assert any(f"question {accepted['id']} goes on" in one for one in said)
