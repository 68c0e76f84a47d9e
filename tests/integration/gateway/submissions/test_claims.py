"""Who sends a record under a source's number is told what became of it, and so is who reads it."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from api_gateway.auth.access import Scope
from clinical_text.structure import segment
from store.documents.documents import put_versions
from store.documents.records import SourceRecord
from store.models import now
from tests.integration.gateway.conftest import Running, working
from tests.integration.gateway.keys.test_keys import make_key
from tests.integration.gateway.pages.test_adding_pages import held, place, send
from tests.integration.gateway.pages.test_pages import soup, words
from tests.servers import wait_until

TITLE = "A made-up trial of one thing against another"
ALIEN = "Bananas as a cure for everything"


@pytest.fixture
def pmid(gateway: Running) -> str:
    """A number under which PubMed's record is held."""
    number = str(uuid4().int % 10**8 + 1)
    record = SourceRecord(
        source_type="pubmed", title=TITLE, text="PubMed's words.", identifiers={"pmid": number}
    )
    with gateway.store.unit_of_work("test") as work:
        put_versions(work, [(record, segment(record.text))], source="pubmed")
    return number


def work_of(gateway: Running, pmid: str) -> UUID:
    return UUID(
        str(gateway.scalar("SELECT id FROM document WHERE source_key = :key", key=f"pmid:{pmid}"))
    )


def submitted(gateway: Running, given: dict[str, Any], **headers: str) -> dict[str, Any]:
    """What the submission shows once it was read."""
    sent = gateway.client.post("/v1/documents", json=given, headers=headers)
    assert sent.status_code == 202, sent.text

    def shown() -> dict[str, Any]:
        found: dict[str, Any] = gateway.client.get(
            f"/v1/documents/{sent.json()['id']}", headers=headers
        ).json()
        return found

    with working(gateway):
        wait_until(lambda: shown()["status"] == "done", 60, "it is read")
    return shown()


def record(pmid: str) -> dict[str, Any]:
    return {
        "source_type": "pubmed",
        "title": ALIEN,
        "text": "A caller's words on bananas.",
        "identifiers": {"pmid": pmid},
    }


def test_who_sends_a_record_under_a_held_number_is_told_what_is_held(
    gateway: Running, pmid: str
) -> None:
    shown = submitted(gateway, record(pmid))
    (document,) = shown["outcome"]["documents"]
    work = work_of(gateway, pmid)
    assert document["document_id"] != str(work)
    claim = {
        "number": f"pmid:{pmid}",
        "held": [str(work)],
        "held_ended": False,
        "title_agrees": False,
        "year_agrees": None,
        "authors_agree": None,
    }
    assert shown["claims"] == {document["document_id"]: [claim]}
    own = gateway.client.get(f"/v1/documents/{document['document_id']}").json()
    assert (own["claims"], own["source_key"]) == ([claim], f"submission:pmid:{pmid}")
    theirs = gateway.client.get(f"/v1/documents/{work}").json()
    assert (theirs["claims"], theirs["version"]["title"], theirs["versions"]) == ([], TITLE, 1)
    found = gateway.client.get("/v1/findings", params={"kind": "claimed"}).json()["findings"]
    assert [one["subject"] for one in found if one["document_id"] == own["id"]] == [f"pmid:{pmid}"]


def test_a_key_that_may_not_read_is_not_told_which_documents_are_held(
    gateway: Running, pmid: str
) -> None:
    key = make_key(gateway, Scope.DOCUMENTS)
    shown = submitted(gateway, record(pmid), Authorization=f"Bearer {key.secret}")
    ((claim,),) = shown["claims"].values()
    assert (claim["number"], claim["held"]) == (f"pmid:{pmid}", [])


def test_the_pages_say_so_and_lead_to_no_page_of_the_work(gateway: Running, pmid: str) -> None:
    path = place(send(gateway, text="A caller's words.", title=ALIEN, pmid=pmid))
    done = held(gateway, path)
    told = f"It claims to be pmid:{pmid}, which a source holds; its title is another."
    assert told in words(str(done))
    link = next(one["href"] for one in done.select("a") if ALIEN in one.get_text())
    response = gateway.client.get(str(link), follow_redirects=True)
    shown = soup(response.text)
    assert told in words(str(shown))
    assert f"pubmed.ncbi.nlm.nih.gov/{pmid}" not in str(shown)


def test_a_number_that_nobody_holds_is_told_as_the_caller_gave_it(gateway: Running) -> None:
    number = str(uuid4().int % 10**8 + 1)
    shown = submitted(gateway, {**record(number), "text": f"Words of {now()}."})
    assert shown["claims"] == {}
    (document,) = shown["outcome"]["documents"]
    assert gateway.client.get(f"/v1/documents/{document['document_id']}").json()["claims"] == []
