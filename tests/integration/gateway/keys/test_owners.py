"""Whose it is: another owner's row is missing in the same words as one that never was."""

import re
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from api_gateway.auth.gate import guarded_routes
from store.access.keys import Issued
from store.models import AnswerRecall, now
from store.questions import questions
from store.recalls import recalls
from store.sources import refreshes, source_states, watches
from tests.integration.gateway.conftest import Running, serving, working
from tests.integration.gateway.keys.test_keys import bearer, make_key, problem, refusals
from tests.servers import wait_until
from workers.http.errors import Refused

TRIES = 50
BODIES = {
    "question": ("/v1/questions", {"question": "Is XYZZY a word of mine?"}),
    "note": ("/v1/notes", {"text": "Mr XYZZY was seen today."}),
    "verification": ("/v1/verifications", {"text": "XYZZY lowers the pressure."}),
    "extraction": ("/v1/extractions", {"text": "Referral of Mr XYZZY to cardiology."}),
}


@pytest.fixture(scope="module")
def mine(locked: Running) -> Issued:
    return make_key(locked, owner="ward-1", limits={"rate_per_minute": 5000})


@pytest.fixture
def theirs(locked: Running) -> Issued:
    """Another owner's key, with every scope there is."""
    return make_key(locked, owner="ward-2", limits={"rate_per_minute": 5000})


def _submit(running: Running, issued: Issued, kind: str) -> str:
    path, body = BODIES[kind]
    response = running.client.post(path, json=body, headers=bearer(issued))
    assert response.status_code == 202, response.text
    return str(response.json()["id"])


@pytest.mark.requirement("OP-3.5")
@pytest.mark.parametrize("kind", BODIES)
def test_op_3_5_fifty_tries_at_another_owners_row_are_404s_and_audited(
    locked: Running, mine: Issued, theirs: Issued, kind: str
) -> None:
    subjects = [_submit(locked, mine, kind) for _ in range(TRIES)]
    path, _ = BODIES[kind]
    assert locked.client.get(f"{path}/{subjects[0]}", headers=bearer(mine)).status_code == 200
    missing = locked.client.get(f"{path}/{uuid4()}", headers=bearer(theirs))
    for subject in subjects:
        foreign = locked.client.get(f"{path}/{subject}", headers=bearer(theirs))
        assert _anonymous(problem(foreign, 404, "not-found")) == _anonymous(missing.json())
        assert foreign.headers.keys() == missing.headers.keys()
    audited = refusals(locked, reason="not_owner", key_id=str(theirs.key.id))
    assert sorted(one["target"] for one in audited) == sorted(subjects)
    assert {one["route"] for one in audited} == {f"GET {path}/{{{kind}_id}}"}
    erasing = locked.client.delete(f"{path}/{subjects[0]}", headers=bearer(theirs))
    assert _anonymous(problem(erasing, 404, "not-found")) == _anonymous(missing.json())
    route = f"DELETE {path}/{{{kind}_id}}"
    assert refusals(locked, reason="not_owner", key_id=str(theirs.key.id), route=route)
    assert locked.client.get(f"{path}/{subjects[0]}", headers=bearer(mine)).status_code == 200


def _anonymous(body: dict[str, Any]) -> dict[str, Any]:
    return {name: body[name] for name in body if name not in {"instance", "request_id"}}


@pytest.mark.requirement("OP-3.5")
def test_op_3_5_events_and_the_long_poll_of_a_question_are_its_owners(
    locked: Running, mine: Issued, theirs: Issued
) -> None:
    subject = _submit(locked, mine, "question")
    for path in (f"{subject}?wait=5", f"{subject}/events"):
        response = locked.client.get(f"/v1/questions/{path}", headers=bearer(theirs))
        problem(response, 404, "not-found")


@pytest.mark.requirement("OP-3.5")
@pytest.mark.parametrize(
    ("scopes", "shown"),
    [(["read"], None), (["read", "ask", "documents", "audit"], None), (["read", "operate"], "XYZ")],
)
def test_op_3_5_a_query_made_of_a_question_is_shown_to_operators_only(
    locked: Running, scopes: list[str], shown: str | None
) -> None:
    """Words of a question are its owner's, also where a source was asked for them."""
    source, followed = "ema", f"followed {uuid4()}"
    with locked.store.unit_of_work("test") as work:
        made = watches.follow(work, source, "XYZ", "abstention", now())
        other = watches.follow(work, source, followed, "user", now())
        asked = [
            refreshes.request(work, made, "abstention", now()).id,
            refreshes.request(work, other, "user", now()).id,
        ]
        foreign = watches.follow(work, source, f"asked {uuid4()}", "user", now())
        asked.append(refreshes.request(work, foreign, "abstention", now()).id)
    headers = bearer(make_key(locked, *scopes))
    listed = locked.client.get("/v1/sources", headers=headers).json()["sources"]
    by_id = {one["id"]: one for source in listed for one in source["watches"]}
    assert by_id[str(made.id)]["query"] == shown
    assert by_id[str(other.id)]["query"] == followed
    found = [
        locked.client.get(f"/v1/refreshes/{one}", headers=headers).json()["query"] for one in asked
    ]
    assert found == [shown, followed, foreign.query if shown else None]


@pytest.mark.requirement("OP-3.5")
def test_op_3_5_what_a_source_said_may_repeat_its_query_and_is_shown_to_operators_only(
    locked: Running,
) -> None:
    """A source that refuses a query says it again, and degraded it gives that as its reason."""
    said = f"the query opens a bracket: (wibble {uuid4()}"
    with locked.store.unit_of_work("test") as work:
        made = watches.follow(work, "clinicaltrials", f"wibble {uuid4()}", "abstention", now())
        asked = refreshes.request(work, made, "abstention", now())
        refreshes.begin(work, asked, made, now())
        refreshes.fail(work, asked, said, now())
        source_states.failed(work.session, "clinicaltrials", Refused(said), now())
    told = {}
    for scopes in (("read", "audit"), ("read", "operate")):
        headers = bearer(make_key(locked, *scopes))
        listed = locked.client.get("/v1/sources", headers=headers)
        refresh = locked.client.get(f"/v1/refreshes/{asked.id}", headers=headers)
        [source] = [one for one in listed.json()["sources"] if one["name"] == "clinicaltrials"]
        [watch] = [one for one in source["watches"] if one["id"] == str(made.id)]
        assert (source["status"], watch["status"]) == ("degraded", "failed")
        assert source["last_error_at"] is not None
        assert watch["last_error_at"] is not None
        shown = (source["reason"], source["last_error"], watch["last_error"])
        told[scopes[1]] = {*shown, refresh.json()["error"]}
    assert told == {"audit": {None}, "operate": {said}}


@pytest.mark.requirement("OP-3.5")
def test_op_3_5_a_list_shows_its_owners_questions_only(
    locked: Running, mine: Issued, theirs: Issued
) -> None:
    subject, other = _submit(locked, mine, "question"), _submit(locked, theirs, "question")

    def listed(issued: Issued) -> set[str]:
        found: set[str] = set()
        cursor = None
        while True:
            params = {"limit": 20, **({"cursor": cursor} if cursor else {})}
            page = locked.client.get("/v1/questions", params=params, headers=bearer(issued)).json()
            found |= {one["id"] for one in page["questions"]}
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    assert subject in listed(mine)
    assert subject not in listed(theirs)
    assert other in listed(theirs)
    assert other not in listed(mine)


@pytest.mark.requirement("OP-3.5")
def test_op_3_5_the_feed_of_recalls_and_its_list_are_the_owners(
    locked: Running, mine: Issued, theirs: Issued
) -> None:
    subject, at = _submit(locked, mine, "question"), now()
    with locked.store.unit_of_work("stage:recall") as work:
        work.session.add(
            AnswerRecall(
                question_id=UUID(subject),
                state="affected",
                recall_id=uuid4(),
                because=[],
                affected_at=at,
                changed_at=at,
            )
        )
        work.record("answer.affected", subject, because=[])
        work.record("answer.other", "no uuid at all")
    for issued, seen in ((mine, True), (theirs, False)):
        feed = locked.client.get("/v1/questions/recalls", headers=bearer(issued)).json()
        assert (subject in {one["question_id"] for one in feed["changes"]}) is seen
        params = {"recall": "affected"}
        page = locked.client.get("/v1/questions", params=params, headers=bearer(issued)).json()
        assert (subject in {one["id"] for one in page["questions"]}) is seen


@pytest.mark.requirement("OP-3.5")
def test_op_3_5_an_auditor_reads_every_story_and_no_words(
    locked: Running, mine: Issued, theirs: Issued
) -> None:
    subject = _submit(locked, mine, "question")
    path = f"/v1/questions/{subject}/trail"
    readers = make_key(locked, "read", owner="ward-2")
    auditors = make_key(locked, "audit", owner="ward-2")
    problem(locked.client.get(path, headers=bearer(readers)), 404, "not-found")
    assert refusals(locked, key_id=str(readers.key.id), reason="not_owner", target=subject)
    told = locked.client.get(path, headers=bearer(auditors))
    assert told.status_code == 200
    events = locked.client.get("/v1/audit", params={"subject": subject}, headers=bearer(auditors))
    assert [one["event"] for one in events.json()["events"]] == ["question.submitted"]
    for response in (told, events):
        assert "XYZZY" not in response.text
    problem(
        locked.client.get(f"/v1/questions/{subject}", headers=bearer(auditors)),
        403,
        "missing-scope",
    )
    operators = make_key(locked, "operate", "read", owner="ward-2")
    problem(
        locked.client.get(f"/v1/questions/{subject}", headers=bearer(operators)), 404, "not-found"
    )


def test_an_idempotency_key_is_its_owners(locked: Running, mine: Issued, theirs: Issued) -> None:
    def submit(issued: Issued, text: str) -> Any:
        headers = {**bearer(issued), "Idempotency-Key": "once"}
        return locked.client.post("/v1/questions", json={"question": text}, headers=headers)

    first, other = submit(mine, "mine"), submit(theirs, "theirs")
    assert {first.status_code, other.status_code} == {202}
    assert first.json()["id"] != other.json()["id"]
    assert submit(mine, "mine").json()["id"] == first.json()["id"]
    problem(submit(theirs, "mine"), 422, "idempotency-key-reused")


def test_a_question_that_is_asked_anew_stays_its_owners(locked: Running, mine: Issued) -> None:
    subject, at = UUID(_submit(locked, mine, "question")), now()
    with locked.store.unit_of_work("stage:recall") as work:
        work.session.add(
            AnswerRecall(
                question_id=subject,
                state="affected",
                recall_id=uuid4(),
                because=[],
                affected_at=at,
                changed_at=at,
            )
        )
        work.session.flush()
        new = recalls.supersede(work, subject, [], uuid4())
    assert new is not None
    with locked.store.reading() as session:
        found = questions.get(session, new)
    assert found is not None
    assert found.owner == "ward-1"


def test_what_came_without_a_key_belongs_to_local(locked: Running, mine: Issued) -> None:
    with locked.store.unit_of_work("cli") as work:
        subject = questions.submit(work, "q", {}).id
    local = make_key(locked, "read", owner="local")
    path = f"/v1/questions/{subject}"
    assert locked.client.get(path, headers=bearer(local)).status_code == 200
    problem(locked.client.get(path, headers=bearer(mine)), 404, "not-found")


NAMED = "XYZZY of ward 1.md"
"""A file's name may be a patient's."""


def _file(running: Running, issued: Issued, text: str, name: str = NAMED) -> str:
    sent = running.client.post(
        "/v1/documents",
        files={"file": (name, f"# A heading\n\n{text}".encode())},
        headers=bearer(issued),
    )
    return str(sent.raise_for_status().json()["id"])


def _read(running: Running) -> None:
    """Let what was uploaded be read, and nothing that other tests have asked."""
    running.execute("UPDATE outbox SET status = 'done' WHERE stage <> 'ingest'")
    with working(running):
        wait_until(
            lambda: not running.count("outbox", "stage = 'ingest' AND status <> 'done'"), seconds=60
        )


@pytest.mark.requirement("OP-3.5")
@pytest.mark.parametrize("work", [False, True], ids=["waiting", "read"])
def test_op_3_5_a_submission_and_the_name_of_its_file_are_its_owners(
    locked: Running, mine: Issued, theirs: Issued, work: bool
) -> None:
    """Also where another owner sent the same words, which are held once."""
    text = f"Words of evidence {uuid4()}."
    submitted, same = _file(locked, mine, text), _file(locked, theirs, text, "mine.md")
    if work:
        _read(locked)
    reader = make_key(locked, "read", "documents", "ask", "audit", owner="ward-2")
    missing = locked.client.get(f"/v1/documents/{uuid4()}", headers=bearer(reader))
    foreign = locked.client.get(f"/v1/documents/{submitted}", headers=bearer(reader))
    assert _anonymous(problem(foreign, 404, "not-found")) == _anonymous(missing.json())
    assert refusals(locked, reason="not_owner", key_id=str(reader.key.id), target=submitted)
    own = locked.client.get(f"/v1/documents/{submitted}", headers=bearer(mine)).json()
    assert own["filename"] == NAMED
    operator = make_key(locked, "read", "operate", owner="ward-2")
    shown = locked.client.get(f"/v1/documents/{submitted}", headers=bearer(operator)).json()
    assert (shown["filename"], shown["status"]) == (None, own["status"])
    assert locked.client.get(f"/v1/documents/{same}", headers=bearer(theirs)).status_code == 200


@pytest.mark.requirement("OP-3.5")
def test_op_3_5_no_route_tells_another_owner_the_name_of_a_file(
    new_database: Callable[[], str], settings_for: Any
) -> None:
    """Every reading that there is, with every id that there is, and none of other tests."""
    with serving(settings_for(new_database(), require_keys=True)) as own:
        limits = {"rate_per_minute": 5000}
        mine, theirs = (make_key(own, owner=one, limits=limits) for one in ("ward-1", "ward-2"))
        _file(own, mine, f"Words of evidence {uuid4()}.")
        own.client.post(
            "/v1/extractions",
            files={"file": (NAMED, b"Referral to cardiology.", "text/markdown")},
            headers=bearer(mine),
        ).raise_for_status()
        _read(own)
        ids = [
            str(one)
            for table in (
                *("ingest_item", "extraction", "document"),
                *("review", "dead_letter", "refresh"),
            )
            for one in own.scalar(f"SELECT coalesce(array_agg(id), '{{}}') FROM {table}")
        ]
        asked = 0
        for route, _ in guarded_routes(own.server.config.app):  # type: ignore[arg-type]
            path = route.path_format or ""
            if "GET" not in (route.methods or ()) or path.endswith("/events"):
                continue
            names = re.findall(r"{(\w+)}", path)
            for one in ids if any(name.endswith("_id") for name in names) else [""]:
                values = {name: one if name.endswith("_id") else "1" for name in names}
                response = own.client.get(path.format(**values), headers=bearer(theirs))
                assert "XYZZY of ward" not in response.text, path
                asked += 1
        assert asked > 50
