"""What a command says of work that a gateway accepted; the gateway is a function here."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from cli.client import waiting
from cli.client.gateway import GatewayRefused, InDoubt, NoGateway, call, submit
from cli.client.waiting import Work, WorkFailed
from store.core.settings import get_settings

ID = "0191-note"
PAGE = f"http://gateway/notes/{ID}"


@pytest.fixture
def paused() -> dict[str, str]:
    """The stages that do not work, and why."""
    return {}


@pytest.fixture
def asked() -> list[str]:
    """Every path that was asked for."""
    return []


@pytest.fixture
def work(paused: dict[str, str], asked: list[str]) -> Callable[..., tuple[Work, list[str]]]:
    """A note that waits, and what is said of it."""

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        bodies: dict[str, Any] = {
            "/readyz": {"paused_stages": dict.fromkeys(paused, "paused")},
            "/v1/stages": {"stages": [{"stage": k, "reason": v} for k, v in paused.items()]},
        }
        return httpx.Response(200, json=bodies.get(request.url.path, {"status": "pending"}))

    def make(kind: str = "note") -> tuple[Work, list[str]]:
        said: list[str] = []
        client = httpx.Client(base_url="http://gateway", transport=httpx.MockTransport(answer))
        return Work(client, kind, ID, said.append), said

    return make


def test_its_id_is_said_with_the_way_to_erase_it(work: Any) -> None:
    note, said = work()
    note.say_id()
    assert said == [f"note {ID} (attest erase note {ID} --reason …)"]


def test_ctrl_c_says_that_it_goes_on_and_where(work: Any) -> None:
    note, said = work()
    with pytest.raises(KeyboardInterrupt), note:
        raise KeyboardInterrupt
    assert said == [f"note {ID} goes on: {PAGE}"]


def test_a_paused_stage_of_its_own_is_said_once_with_its_reason(
    work: Any, paused: dict[str, str]
) -> None:
    paused |= {"summarize": "the rules move", "retrieve": "the index moves"}
    note, said = work()
    for _ in range(4):
        note.look()
    (line,) = said
    assert line.startswith("stage summarize is paused (the rules move): ")
    assert line.endswith(f"read it later at {PAGE}")


def test_with_a_key_no_reason_is_asked_for_which_could_be_refused(
    work: Any, paused: dict[str, str], asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTEST_KEY", "attest_k")
    get_settings.cache_clear()
    paused["summarize"] = "the rules move"
    note, said = work()
    note.look(), note.look()
    get_settings.cache_clear()
    assert "stage summarize is paused (attest stages list says why)" in said[0]
    assert "/v1/stages" not in asked


def test_what_takes_long_for_no_known_reason_is_said_once(
    work: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    note, said = work()
    note.look(), note.look()
    assert said == []
    monkeypatch.setattr(waiting, "LONG_SECONDS", -1.0)
    note.look(), note.look()
    assert said == [f"note {ID} takes unusually long; read it later at {PAGE}"]


def test_what_takes_long_where_something_is_away_says_what_that_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/readyz":
            return httpx.Response(503, json={"title": "away", "detail": "not ready: redis"})
        return httpx.Response(200, json={"status": "queued"})

    monkeypatch.setattr(waiting, "LONG_SECONDS", -1.0)
    said: list[str] = []
    client = httpx.Client(base_url="http://gateway", transport=httpx.MockTransport(answer))
    note = Work(client, "note", ID, said.append)
    note.look(), note.look()
    assert said == [f"note {ID} takes unusually long (not ready: redis); read it later at {PAGE}"]


def test_a_text_that_ends_has_its_result_and_one_that_dies_says_why(
    work: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[dict[str, Any]] = [
        {"status": "running"},
        {"status": "done", "result": {"items": 3}},
        {"status": "failed", "error": {"detail": "the note's words are gone"}},
    ]
    monkeypatch.setattr(waiting, "look", lambda *_, **__: ends.pop(0))
    note, _ = work()
    assert note.result(60) == {"items": 3}
    with pytest.raises(WorkFailed, match="the note's words are gone"):
        note.result(60)


def test_what_does_not_end_in_time_is_no_failure_of_its_own_and_says_where_it_goes_on(
    work: Any,
) -> None:
    note, _ = work()
    with pytest.raises(WorkFailed, match=f"; note {ID} goes on: {PAGE}"):
        note.result(-1)


def test_who_sends_no_good_key_is_told_where_the_command_takes_one_from() -> None:
    answer = httpx.Response(401, json={"title": "no", "detail": "send a key"})
    transport = httpx.MockTransport(lambda _: answer)
    with (
        httpx.Client(base_url="http://g", transport=transport) as client,
        pytest.raises(GatewayRefused, match=r"^send a key \(attest sends the one in ATTEST_KEY\)$"),
    ):
        call(client, "GET", "/v1/sources")


def test_a_server_of_another_kind_at_that_address_is_said_to_be_one() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, text="<h1>It works!</h1>"))
    with (
        httpx.Client(base_url="http://g", transport=transport) as client,
        pytest.raises(GatewayRefused, match=r"^what answers at http://g is no gateway of Attest"),
    ):
        call(client, "GET", "/v1/sources")


def test_a_file_is_named_where_its_content_is_refused_and_only_there() -> None:
    def refused(status: int) -> GatewayRefused:
        answer = httpx.Response(status, json={"title": "no", "detail": "the file is empty"})
        transport = httpx.MockTransport(lambda _: answer)
        with (
            httpx.Client(base_url="http://g", transport=transport) as client,
            pytest.raises(GatewayRefused) as error,
        ):
            call(client, "POST", "/v1/extractions")
        assert not isinstance(error.value, NoGateway)
        return error.value.about("empty.txt")

    assert str(refused(422)) == "empty.txt: the file is empty"
    assert str(refused(429)) == "the file is empty"


def test_a_full_disk_is_told_at_once_in_the_gateway_s_words_and_not_as_a_doubt() -> None:
    answer = httpx.Response(
        503,
        json={"title": "no", "detail": "the disk of the database is full"},
        headers={"Retry-After": "60"},
    )
    transport = httpx.MockTransport(lambda _: answer)
    with (
        httpx.Client(base_url="http://g", transport=transport) as client,
        pytest.raises(GatewayRefused, match=r"^the disk of the database is full$") as told,
    ):
        submit(client, "/v1/questions", json={})
    assert not isinstance(told.value, InDoubt)
