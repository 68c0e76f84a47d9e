"""What is held can be looked through, followed and handed on: over HTTP and on the pages."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from api_gateway.documents.adding_view import SAMPLES
from api_gateway.questions import sharing
from store.models import Question, now
from tests.integration.gateway.conftest import Running, serving
from tests.integration.gateway.keys.test_keys import bearer, make_key, problem
from tests.integration.gateway.pages.test_operate_pages import send
from tests.integration.gateway.pages.test_pages import answered, page, soup, words
from tests.integration.gateway.submissions.test_rechecks import finish
from tests.servers import TRIAL, TRIAL_QUESTION, ingest

YEARS = ("2024-05-01T00:00:00Z", "2019-01-01T00:00:00Z", None)


@pytest.fixture(scope="module")
def shelf(new_database: Callable[[], str], settings_for: Any) -> Iterator[Running]:
    """A gateway that holds a trial and three documents, of which one has no date."""
    with serving(settings_for(new_database(), encoder="hash")) as running:
        others = [
            {
                "source_type": "pubmed",
                "title": f"A made-up article {n}",
                "text": f"Xyzomab was studied in bladder cancer, part {n}.",
                "source_key": f"article-{n}",
                "published_at": at,
                "published_precision": "year" if n else "day",
            }
            for n, at in enumerate(YEARS)
        ]
        ingest(running.store, TRIAL, *others)
        finish(running)
        yield running


def titles(shelf: Running, **query: Any) -> list[str]:
    found = shelf.client.get("/v1/documents", params=query)
    assert found.status_code == 200, found.text
    return [one["title"] for one in found.json()["documents"]]


def test_what_is_held_is_listed_newest_first_page_by_page(shelf: Running) -> None:
    whole = titles(shelf)
    assert whole == [
        "A made-up article 0",
        TRIAL["title"],
        *(f"A made-up article {n}" for n in (1, 2)),
    ]
    seen, cursor = [], None
    while True:
        query = {"limit": 1} | ({"cursor": cursor} if cursor else {})
        found = shelf.client.get("/v1/documents", params=query).json()
        seen += [one["title"] for one in found["documents"]]
        if (cursor := found["next_cursor"]) is None:
            break
    assert seen == whole


def test_what_is_held_is_filtered(shelf: Running) -> None:
    for query, expected in (
        ({"source_type": "clinicaltrials"}, [TRIAL["title"]]),
        ({"published_from": "2020-01-01", "source_type": "pubmed"}, ["A made-up article 0"]),
        ({"published_to": "2019-12-31"}, ["A made-up article 1"]),
        ({"disease": "bladder_cancer", "published_from": "2024-01-01"}, ["A made-up article 0"]),
        ({"state": "retracted"}, []),
        ({"source": "pubmed"}, []),
        ({"source": "uploaded", "source_type": "clinicaltrials"}, [TRIAL["title"]]),
    ):
        assert titles(shelf, **query) == expected, query
    for query in ({"published_from": "2025-01-01", "published_to": "2024-01-01"}, {"cursor": "x"}):
        assert shelf.client.get("/v1/documents", params=query).status_code in (400, 422), query


def test_words_are_found_in_their_place(shelf: Running) -> None:
    found = shelf.client.get("/v1/search", params={"q": "recurrence-free survival"}).json()
    first = found["passages"][0]
    place = f"/v1/documents/{first['document_id']}/versions/{first['n']}/text"
    text = shelf.client.get(place, params={"start": first["start"], "end": first["end"]}).text
    assert text == first["text"]
    assert "recurrence-free" in text
    only = {"q": "xyzomab", "published_from": "2024-01-01"}
    kept = shelf.client.get("/v1/search", params=only).json()["passages"]
    assert [one["title"] for one in kept] == ["A made-up article 0"]
    assert shelf.client.get("/v1/search", params={"q": "zzyzx"}).json() == {
        "passages": [],
        "without": [],
    }
    problem(shelf.client.get("/v1/search", params={"q": " "}), 422, "invalid-request")


def test_the_library_shows_dates_as_precisely_as_they_are_known(shelf: Running) -> None:
    html = page(shelf, "/library")
    lines = [" ".join(one.get_text(" ").split()) for one in soup(html).select("ol.held li")]
    assert "1 May 2024" in lines[0]
    assert re.search(r"article 1 2019 ·", lines[2])
    assert "date unknown" in lines[3]
    assert len(soup(page(shelf, "/library?q=xyzomab")).select("blockquote")) == 3
    assert "Nothing that is held fits" in words(page(shelf, "/library?kind=nccn"))
    assert "Write a year" in words(page(shelf, "/library?since=soon", 422))


def test_an_answer_stands_beside_the_document_that_it_rests_on_to_its_owner_only(
    shelf: Running,
) -> None:
    path = shelf.ask(TRIAL_QUESTION)
    finish(shelf)
    answer = shelf.client.get(f"/v1/questions/{path}").json()["answer"]
    held = answer["claims"][0]["citations"][0]["document_id"]
    listed = shelf.client.get(f"/v1/documents/{held}/answers").json()["answers"]
    assert [one["question_id"] for one in listed] == [path]
    assert TRIAL_QUESTION in words(page(shelf, f"/evidence/{held}"))
    shelf.execute("UPDATE question SET owner = 'somebody else'")
    assert shelf.client.get(f"/v1/documents/{held}/answers").json() == {"answers": []}
    problem(shelf.client.get(f"/v1/documents/{uuid4()}/answers"), 404, "not-found")


def test_a_query_is_followed_stopped_and_followed_again(shelf: Running) -> None:
    body = {"source": "pubmed", "query": "ctDNA  AND colon"}
    made = shelf.client.post("/v1/watches", json=body)
    assert made.status_code == 201
    watch = made.json()
    assert (watch["query"], watch["active"]) == ("ctDNA AND colon", True)
    assert shelf.client.get(made.headers["location"]).json()["id"] == watch["id"]
    assert [one["id"] for one in shelf.client.get("/v1/watches").json()["watches"]] == [watch["id"]]
    assert shelf.client.delete(f"/v1/watches/{watch['id']}").json()["active"] is False
    assert shelf.client.get("/v1/watches").json() == {"watches": []}
    assert len(shelf.client.get("/v1/watches?all=true").json()["watches"]) == 1
    problem(shelf.client.delete(f"/v1/watches/{uuid4()}"), 404, "not-found")
    problem(shelf.client.post("/v1/watches", json={**body, "source": "x"}), 404, "not-found")
    problem(shelf.client.post("/v1/watches", json={**body, "query": "(a"}), 422, "invalid-request")
    assert send(shelf, f"/library/watches/{watch['id']}/follow").status_code == 303
    assert "Being fetched" in words(page(shelf, "/library/watches"))
    refused = send(shelf, "/library/watches", source="pubmed", query="(broken")
    assert refused.status_code == 422
    assert "(broken" in refused.text
    assert send(shelf, "/library/packs", pack="ctdna_mrd_colorectal").status_code == 303
    asked = shelf.scalar("SELECT string_agg(source, ' ') FROM watch WHERE query LIKE 'pack:%'")
    assert sorted(asked.split()) == ["clinicaltrials", "europepmc", "pubmed"]
    assert "0 of" in words(page(shelf, "/library/watches"))


def test_an_empty_instance_loads_the_samples_from_its_page_once(
    new_database: Callable[[], str], settings_for: Any
) -> None:
    with serving(settings_for(new_database())) as running:
        for place in ("/", "/library"):
            assert "Load the samples" in words(page(running, place)), place
        sent = {send(running, "/evidence/samples").headers["location"] for _ in range(2)}
        assert len(sent) == 1
        assert running.count("ingest_item") == len(list(SAMPLES.glob("*.jsonl")))


def test_a_link_shows_one_answer_to_whoever_has_it_until_it_ends(
    locked: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, other = make_key(locked, owner="ward-7"), make_key(locked, owner="ward-8")
    asked = locked.client.post(
        "/v1/questions", json={"question": "Is it so?"}, headers=bearer(owner)
    )
    here = f"/v1/questions/{asked.json()['id']}"
    early = locked.client.post(f"{here}/shares", json={}, headers=bearer(owner))
    problem(early, 409, "under-way")
    locked.fail(asked.json()["id"], "a test")
    foreign = locked.client.post(f"{here}/shares", json={}, headers=bearer(other))
    problem(foreign, 404, "not-found")
    link = locked.client.post(f"{here}/shares", json={"days": 1}, headers=bearer(owner)).json()[
        "href"
    ]
    shown = locked.client.get(link, headers={"Accept": "text/html"})
    assert shown.status_code == 200
    assert "Is it so?" in words(shown.text)
    assert not soup(shown.text).select("form")
    question, until, proof = link.removeprefix("/shared/").split("/")
    for forged in (
        f"/shared/{question}/{int(until) + 1}/{proof}",
        f"/shared/{question}/{until}/{proof[:-1]}",
        f"/shared/{uuid4()}/{until}/{proof}",
    ):
        assert locked.client.get(forged).status_code == 404, forged
    locked.execute("UPDATE question SET hash_key = NULL WHERE id = :id", id=question)
    assert locked.client.get(link).status_code == 404


def test_a_link_ends() -> None:
    question = Question(id=uuid4(), text="x", text_hash="", request_id=uuid4(), request_hash="")
    question.hash_key = b"a secret"
    link = sharing.address(question, now() + timedelta(minutes=1))
    end = link.removeprefix(f"/shared/{question.id}/")
    assert sharing.end_of(question, end, now()) is not None
    assert sharing.end_of(question, end, now() + timedelta(minutes=2)) is None
    for strange in ("", "/", "1/x", f"{end}x", "٣/x", "9" * 30 + "/x"):
        assert sharing.end_of(question, strange, now()) is None, strange


def test_readers_judge_an_answer_and_the_last_word_of_each_counts(shelf: Running) -> None:
    path = answered(shelf)
    for judgment in ("wrong", "right", "missing"):
        assert send(shelf, f"{path}/judge", judgment=judgment).status_code == 303
    assert "Something is missing (1)" in words(page(shelf, path))
    told = shelf.client.post(f"/v1{path}/judgments", json={"judgment": "right"})
    assert told.json() == {"right": 1, "wrong": 0, "missing": 0}
    problem(
        shelf.client.post(f"/v1{path}/judgments", json={"judgment": "x"}), 422, "invalid-request"
    )
    assert [one.get_text() for one in soup(page(shelf, "/operate/report")).select("table td")][
        -2:
    ] == ["right", "1"]
    assert send(shelf, f"{path}/judge", judgment="nonsense").status_code == 422


def test_a_question_asked_on_leads_back_and_keeps_its_filters(shelf: Running) -> None:
    first = send(shelf, "/ask", question="Is it so?", kind="pubmed", since="2020", until="")
    shelf.fail(first.headers["location"].rpartition("/")[2], "a test")
    form = soup(page(shelf, first.headers["location"])).select_one('form[action="/ask"]')
    assert form is not None
    given = {one["name"]: one.get("value", "") for one in form.select("input[name]")}
    assert given["since"] == "2020"
    assert given["after"] in first.headers["location"]
    asked = send(shelf, "/ask", question="Is it so in stage III?", **given)
    shown = soup(page(shelf, asked.headers["location"])).select_one(".question-head")
    assert shown is not None
    assert "asked on from Is it so?" in " ".join(shown.get_text(" ").split())
    assert send(shelf, "/ask", question="Q?", since="soon").status_code == 422
    assert send(shelf, "/ask", question="Q?", since="2024", until="2020").status_code == 422


def test_operators_find_jobs_and_dead_letters_and_start_rechecks(shelf: Running) -> None:
    question = shelf.ask()
    finish(shelf)
    found = soup(page(shelf, f"/operate/jobs?subject={question}&stage=audit")).select("tbody tr")
    assert [one.select_one("code").get_text() for one in found] == [question]  # type: ignore[union-attr]
    assert "no such jobs" in words(page(shelf, "/operate/jobs?subject=nothing"))
    assert "no such dead letters" in words(page(shelf, "/operate/dead-letters?words=%25"))
    begun = send(shelf, "/operate/rechecks", everything="yes")
    assert begun.status_code == 303
    other = send(shelf, "/operate/rechecks", apply="yes")
    assert other.status_code == 409
    assert "under way" in other.text
    finish(shelf)
    assert "Done" in words(page(shelf, begun.headers["location"]))
    assert "Only told" in words(page(shelf, "/operate/rechecks"))
