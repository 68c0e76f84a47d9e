"""The operators' desk over HTTP: many dead letters, their faults, and the stages' circuits."""

from typing import Any
from uuid import uuid4

import pytest

from store.dead_letters.dead_letters import Death
from store.pipeline import circuits
from tests.integration.gateway.conftest import Running, serving
from workers.runtime.failures import bury

pytestmark = pytest.mark.requirement("DC-5")
ABSENT = "00000000-0000-4000-8000-000000000000"
CANARY = "zebrafishoma"


@pytest.fixture
def desk(new_database: Any, settings_for: Any) -> Any:
    """A gateway over a database of this test."""
    with serving(settings_for(new_database())) as running:
        yield running


def died(desk: Running, n: int = 1, **changes: Any) -> list[str]:
    """So many questions whose retrieve stage gave up; their dead letters, oldest first."""
    found = []
    for _ in range(n):
        question_id = desk.ask(f"What about {CANARY}?")
        outbox_id = desk.scalar(
            "SELECT id FROM outbox WHERE payload->>'question_id' = :id", id=question_id
        )
        # No reconciler runs here; a promise that was given back meanwhile dies all the same.
        desk.execute("UPDATE outbox SET status = 'published' WHERE id = :id", id=outbox_id)
        given: dict[str, Any] = {
            "stage": "retrieve",
            "payload": {"schema": "retrieve.v1", "question_id": question_id},
            "error_type": "Permanent",
            "cause": "the index is empty",
            "outbox_id": outbox_id,
        }
        death = Death(**given | changes)
        bury(desk.store, death)
        found.append(str(death.id))
    return found


def get(desk: Running, path: str, **params: Any) -> Any:
    """A body that must come with 200."""
    response = desk.client.get(path, params=params)
    assert response.status_code == 200, response.text
    return response.json()


def replay(desk: Running, **body: Any) -> Any:
    """Replay by a filter."""
    response = desk.client.post("/v1/dead-letters/replay", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def test_pages_and_filters_show_each_letter_that_fits_once(desk: Running) -> None:
    wanted = died(desk, 5)
    (other,) = died(desk, error_type="ZeroDivisionError", cause="ZeroDivisionError at x:1")
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = get(desk, "/v1/dead-letters", error_type="Permanent", limit=2, **cursor)
        seen += [letter["id"] for letter in page["dead_letters"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert seen == wanted[::-1]
    (newest,) = get(desk, "/v1/dead-letters", limit=1)["dead_letters"]
    assert newest["id"] == other
    same = get(desk, "/v1/dead-letters", fingerprint=newest["fingerprint"])["dead_letters"]
    assert [letter["id"] for letter in same] == [other]
    late = get(desk, "/v1/dead-letters", since=newest["died_at"])["dead_letters"]
    assert [letter["id"] for letter in late] == [other]
    assert len(get(desk, "/v1/dead-letters", until=newest["died_at"])["dead_letters"]) == 5


def behind_hopeless_ones(desk: Running) -> list[str]:
    """Two letters that can be replayed; the three before them of the same fault never can."""
    letters = died(desk, 5)
    desk.execute(
        "UPDATE outbox SET status = 'done' WHERE id IN (SELECT outbox_id FROM dead_letter "
        "WHERE id = ANY(CAST(:ids AS uuid[])))",
        ids=letters[:3],
    )
    return letters[3:]


@pytest.mark.parametrize("dry_run", [True, False])
def test_what_is_refused_hides_nothing_behind_it(desk: Running, dry_run: bool) -> None:
    """One call looks at so many letters; the next one goes on behind them."""
    wanted = behind_hopeless_ones(desk)
    calls, cursor = [], None
    while cursor is not None or not calls:
        given = {"cursor": cursor} if cursor else {}
        calls.append(replay(desk, dry_run=dry_run, limit=2, **given))
        cursor = calls[-1]["next_cursor"]
    assert [(one["matched"], one["replayed"], one["more"]) for one in calls] == [
        (2, 0, True),
        (2, 1, True),
        (1, 1, False),
    ]
    assert calls[0]["total"] == 5
    open_ones = desk.count("dead_letter", "status = 'open'")
    assert open_ones == (5 if dry_run else 3)
    replayed = desk.count("dead_letter", "status = 'replayed' AND id = ANY(:ids)", ids=wanted)
    assert replayed == (0 if dry_run else 2)


def test_a_replay_behind_no_letter_is_a_422(desk: Running) -> None:
    for bad in ("x", "", "W10"):
        response = desk.client.post("/v1/dead-letters/replay", json={"cursor": bad})
        assert response.status_code == 422, bad


@pytest.mark.parametrize(
    "bad",
    [
        *({"fingerprint": "x"}, {"error_type": "a b"}, {"since": "yesterday"}, {"cursor": "x"}),
        *({"status": "odd"}, {"limit": 1001}, {"since": "2026-01-01T00:00:00"}),
    ],
)
@pytest.mark.parametrize("path", ["/v1/dead-letters", "/v1/dead-letters/groups"])
def test_a_filter_that_cannot_be_is_a_422(desk: Running, path: str, bad: dict[str, Any]) -> None:
    response = desk.client.get(path, params=bad)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"


def test_faults_are_listed_with_their_counts(desk: Running) -> None:
    letters = died(desk, 3)
    died(desk, cause="another")
    desk.client.delete(f"/v1/dead-letters/{letters[0]}", params={"reason": "a test"})
    groups = get(desk, "/v1/dead-letters/groups", status="all")["groups"]
    counts = [(group["cause"], group["letters"], group["open"]) for group in groups]
    assert counts == [("another", 1, 1), ("the index is empty", 3, 2)]
    assert groups[1]["first_seen"] < groups[1]["last_seen"]
    first = get(desk, "/v1/dead-letters/groups", limit=1)
    rest = get(desk, "/v1/dead-letters/groups", limit=1, cursor=first["next_cursor"])
    assert [group["cause"] for group in rest["groups"]] == ["the index is empty"]


def test_a_replay_by_filter_is_a_dry_run_until_it_is_told_otherwise(desk: Running) -> None:
    died(desk, 3)
    died(desk, 2, error_type="InvalidMessage", cause="its fields do not fit")
    dry = replay(desk)
    assert (dry["dry_run"], dry["matched"], dry["replayed"]) == (True, 5, 3)
    assert [(one["count"], len(one["examples"])) for one in dry["refused"]] == [(2, 2)]
    assert desk.count("dead_letter", "status = 'open'") == 5
    real = replay(desk, dry_run=False, error_type="Permanent", per_second=1)
    assert (real["matched"], real["replayed"], real["more"]) == (3, 3, False)
    assert real["last_due_at"] is not None
    assert desk.count("outbox", "status = 'pending' AND not_before > clock_timestamp()") >= 1
    again = replay(desk, dry_run=False)
    assert (again["matched"], again["replayed"]) == (2, 0)
    assert desk.count("audit_event", "event = 'message.replayed'") == 3


@pytest.mark.parametrize(
    "bad",
    [{"odd": 1}, {"stage": "odd"}, {"limit": 0}, {"limit": 10**9}, {"per_second": 0}, []],
)
def test_a_replay_that_cannot_be_meant_is_a_422(desk: Running, bad: Any) -> None:
    response = desk.client.post("/v1/dead-letters/replay", json=bad)
    assert response.status_code == 422


def test_a_discarded_letter_stays_with_the_reason(desk: Running) -> None:
    (letter_id,) = died(desk)
    path = f"/v1/dead-letters/{letter_id}"
    assert get(desk, path)["resolution"] is None
    response = desk.client.delete(path, params={"reason": "asked twice"})
    assert response.status_code == 200
    assert response.json()["status"] == "discarded"
    shown = get(desk, path)["resolution"]
    assert (shown["kind"], shown["by"], shown["reason"]) == ("discarded", "operator", "asked twice")
    again = desk.client.delete(path, params={"reason": "another"})
    assert again.json()["resolution"] == shown
    refused = desk.client.post(f"{path}/replay", params={"force": True})
    assert (refused.status_code, "discarded already" in refused.text) == (409, True)
    assert desk.count("dead_letter") == 1
    assert desk.count("audit_event", "event = 'message.discarded'") == 1
    assert desk.count("audit_event", "payload::text LIKE '%asked twice%'") == 0


def test_a_discard_without_a_good_reason_or_of_what_was_replayed_is_refused(
    desk: Running,
) -> None:
    (letter_id,) = died(desk)
    path = f"/v1/dead-letters/{letter_id}"
    assert desk.client.delete(path).status_code == 422
    for bad in ("", " ", "x" * 501, "a\x07b"):
        assert desk.client.delete(path, params={"reason": bad}).status_code == 422
    assert desk.client.post(f"{path}/replay").status_code == 202
    assert desk.client.delete(path, params={"reason": "late"}).status_code == 409
    absent = desk.client.delete(f"/v1/dead-letters/{ABSENT}", params={"reason": "x"})
    assert absent.status_code == 404


def test_a_replayed_letter_says_by_whom_and_when_it_was_due(desk: Running) -> None:
    (letter_id,) = died(desk)
    shown = desk.client.post(f"/v1/dead-letters/{letter_id}/replay").json()
    resolution = shown["resolution"]
    assert (resolution["kind"], resolution["by"]) == ("replayed", "operator")
    assert resolution["due_at"] is not None


def test_stages_are_paused_and_resumed_and_say_by_whom_and_why(desk: Running) -> None:
    listed = get(desk, "/v1/stages")["stages"]
    assert {stage["state"] for stage in listed} == {"closed"}
    assert listed[0]["stage"] == "refresh"
    for _ in range(2):
        response = desk.client.post("/v1/stages/verify/pause", json={"reason": "an upgrade"})
        assert response.status_code == 200
    paused = response.json()
    assert (paused["state"], paused["reason"]) == ("paused", "an upgrade")
    assert paused["changed_by"] == "operator"
    for _ in range(2):
        response = desk.client.post("/v1/stages/verify/resume")
        assert (response.status_code, response.json()["state"]) == (200, "closed")
    events = get(desk, "/v1/audit", subject="verify")["events"]
    assert [event["event"] for event in events] == ["stage.resumed", "stage.paused"]
    assert "upgrade" not in str(events)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/stages/odd/pause", {"reason": "x"}, 404),
        ("/v1/stages/odd/resume", None, 404),
        ("/v1/stages/verify/pause", {}, 422),
        ("/v1/stages/verify/pause", {"reason": " "}, 422),
        ("/v1/stages/verify/pause", {"reason": "a\x00b"}, 422),
        ("/v1/stages/verify/pause", {"reason": "x", "odd": 1}, 422),
    ],
)
def test_a_pause_that_cannot_be_is_refused(
    desk: Running, path: str, body: Any, status: int
) -> None:
    assert desk.client.post(path, json=body).status_code == status


def test_an_open_circuit_shows_in_the_list_of_stages(desk: Running) -> None:
    died(desk, 10)
    (shown,) = [one for one in get(desk, "/v1/stages")["stages"] if one["stage"] == "retrieve"]
    assert (shown["state"], shown["changed_by"], shown["deaths"]) == ("open", "circuit", 10)
    assert shown["probe_at"] is not None
    with desk.store.reading() as session:
        assert circuits.paused(session) == {"retrieve": "open"}


def test_invariant_11_no_listing_has_a_word_of_a_question_or_a_foreign_message(
    desk: Running,
) -> None:
    (letter_id,) = died(desk)
    foreign = {"schema": CANARY, CANARY: CANARY, "note": f"the {CANARY} patient"}
    bury(desk.store, Death("retrieve", foreign, "UnknownMessage", "never in use", id=uuid4()))
    bodies = [
        get(desk, "/v1/dead-letters"),
        get(desk, "/v1/dead-letters/groups"),
        get(desk, f"/v1/dead-letters/{letter_id}"),
        *[
            get(desk, f"/v1/dead-letters/{one['id']}")
            for one in get(desk, "/v1/dead-letters")["dead_letters"]
        ],
        replay(desk),
        get(desk, "/v1/stages"),
        get(desk, "/v1/audit"),
    ]
    assert CANARY not in str(bodies)
