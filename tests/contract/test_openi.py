"""Open-i is asked with our own words, over HTTP, and what it cannot give is no image (EB-6)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from knowledge.feeds.sources import service_policy
from tests.fakes.openi import OpenI
from tests.fakes.web import DROPPED, Clock, FakeWeb, Reply
from workers.http.client import Limiter, SourceClient
from workers.http.errors import (
    Malformed,
    NotAllowed,
    QuotaExhausted,
    Refused,
    SourceError,
    TooLarge,
    Unreachable,
)
from workers.http.transport import Wire
from workers.retrieve.images.openi import find_images
from workers.retrieve.understanding.read import search_terms, understand

from .connectors.conftest import MemoryLimiter, clock

__all__ = ["clock"]

QUESTION = "Which DOAC should Mr. Doe of Springfield, 82, with atrial fibrillation and CKD take?"
TITLE = "Anticoagulation in patients with atrial fibrillation"
CAPTION = "Algorithm for the choice of an anticoagulant."


@pytest.fixture
def fake() -> OpenI:
    fake = OpenI()
    fake.put(TITLE, CAPTION)
    return fake


@pytest.fixture
def web(fake: OpenI) -> Iterator[FakeWeb]:
    with FakeWeb(fake) as web:
        yield web


@pytest.fixture
def limiter() -> Limiter:
    return MemoryLimiter()


@pytest.fixture
def client(web: FakeWeb, clock: Clock, limiter: Limiter) -> Iterator[SourceClient]:
    """As `service_client` makes it, without a database."""
    wire = Wire()
    yield SourceClient(
        service_policy("openi"),
        limiter,
        wire,
        mirrors=web.mirrors,
        tries=1,
        deadline_seconds=5,
        now=clock,
        sleep=clock.sleep,
    )
    wire.close()


def ask(client: SourceClient, question: str = QUESTION, context: str = "") -> list[dict[str, Any]]:
    return find_images(understand(question, context), client, search_terms(question))


@pytest.mark.requirement("EB-6.1")
def test_eb_6_1_a_matching_algorithm_is_shown_with_its_page_picture_source_and_licence(
    client: SourceClient,
) -> None:
    assert ask(client) == [
        {
            "title": TITLE,
            "url": "https://pmc.ncbi.nlm.nih.gov/articles/PMC9900000/",
            "image_url": "https://openi.nlm.nih.gov/imgs/512/1/1/PMC9900000_made-up-9900000-F1.png",
            "source": "Open-i (NLM)",
            "license": "CC BY",
        }
    ]


@pytest.mark.requirement("EB-6.3")
def test_eb_6_3_teaching_images_and_other_figures_are_not_shown(
    client: SourceClient, fake: OpenI
) -> None:
    fake.figures.clear()
    fake.put("Atrial fibrillation", "ECG.", kind="ph")
    fake.put("Atrial fibrillation", "Algorithm.")
    fake.put(TITLE, "Algorithm for reading an ECG.")
    fake.put(TITLE, CAPTION, docSource="MPX")
    assert ask(client) == []


def test_only_words_of_the_vocabulary_are_sent(client: SourceClient, web: FakeWeb) -> None:
    context = "Mrs. Roe has heart failure and takes warfarin; what duration?"
    ask(client, context=context)
    (request,) = web.requests
    assert dict(request.params) == {
        "query": request.params["query"],
        "it": "g",
        "coll": "pmc",
        "m": "1",
        "n": "30",
    }
    sent = set(request.params["query"].lower().split())
    assert {"atrial", "fibrillation", "kidney", "algorithm"} <= sent
    assert not sent & {"doe", "springfield", "82", "roe", "heart", "failure", "duration", "mr."}
    assert request.body == b""


@pytest.mark.parametrize(
    "question", ["What is atrial fibrillation?", "How long?", "Who won the cup?"]
)
def test_a_question_without_disease_and_decision_asks_nobody(
    client: SourceClient, web: FakeWeb, question: str
) -> None:
    assert ask(client, question) == []
    assert web.requests == []


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        ({"pmcid": "PMC77"}, "https://pmc.ncbi.nlm.nih.gov/articles/PMC77/"),
        ({"pmcid": 77}, "https://pmc.ncbi.nlm.nih.gov/articles/PMC77/"),
        ({"pmcid": "", "pmid": "88"}, "https://pubmed.ncbi.nlm.nih.gov/88/"),
        ({"pmcid": "", "pmid": ""}, None),
        ({"pmcid": "../search", "pmid": "x"}, None),
        ({"docSource": "CXR", "pmcid": "1"}, None),
        ({"title": "<b>Anticoagulation</b> in  AF &amp; CKD", "pmcid": "1"}, "PMC1/"),
        ({"title": None}, None),
    ],
)
def test_an_image_stands_for_an_article_whose_page_is_known(
    client: SourceClient, fake: OpenI, fields: dict[str, Any], url: str | None
) -> None:
    fake.figures.clear()
    fake.put(TITLE, CAPTION, **fields)
    found = ask(client)
    assert [one["url"].endswith(url or "") for one in found] == ([True] if url else [])
    assert all("<" not in one["title"] and "&amp;" not in one["title"] for one in found)


@pytest.mark.parametrize(
    "path",
    ["", None, "//evil.example/imgs/x.png", "/imgs/../search", "https://evil.example/x", "@evil/x"],
)
def test_a_picture_lies_at_the_service_itself_or_is_left_out(
    client: SourceClient, fake: OpenI, path: Any
) -> None:
    fake.figures.clear()
    fake.put(TITLE, CAPTION, imgLarge=path, ccLicense="unheard-of")
    assert [(one["image_url"], one["license"]) for one in ask(client)] == [(None, None)]


def test_what_is_no_record_is_passed_over(client: SourceClient, web: FakeWeb, fake: OpenI) -> None:
    whole = fake.figures[0]
    odd: list[Any] = [None, 7, "text", [], {}, {**whole, "pmcid": {"a": 1}, "pmid": None}]
    web.fault = lambda request: Reply(200, json.dumps({"list": [*odd, whole]}).encode())
    assert [one["title"] for one in ask(client)] == [TITLE]


@pytest.mark.parametrize("image", [None, "text", {}, {"caption": ["no", "text"]}])
def test_without_a_caption_the_title_must_say_that_it_is_an_algorithm(
    client: SourceClient, web: FakeWeb, fake: OpenI, image: Any
) -> None:
    for title, shown in ((TITLE, 0), (f"{TITLE}: an algorithm", 1)):
        records = [{**fake.figures[0], "image": image, "title": title}]
        body = json.dumps({"list": records}).encode()
        web.fault = lambda request, body=body: Reply(200, body)  # type: ignore[misc]
        assert len(ask(client)) == shown


@pytest.mark.parametrize("body", [{"total": 0}, {"total": 0, "list": []}, {"list": None}, {}])
def test_nothing_found_is_no_image(
    client: SourceClient, web: FakeWeb, body: dict[str, Any]
) -> None:
    web.fault = lambda request: Reply(200, json.dumps(body).encode())
    assert ask(client) == []


FAULTS: list[tuple[Reply, type[SourceError]]] = [
    (DROPPED, Unreachable),
    (Reply(500, b"oops"), Unreachable),
    (Reply(503, b"maintenance"), Unreachable),
    (Reply(429, b"slow down"), QuotaExhausted),
    (Reply(429, b"slow down", {"Retry-After": "3600"}), QuotaExhausted),
    (Reply(403, b"no"), Refused),
    (Reply(302, b"", {"Location": "https://evil.example/"}), NotAllowed),
    (Reply(200, b"<html>maintenance</html>"), Malformed),
    (Reply(200, b'{"list": [{"title": "cut', cut=9), Unreachable),
    (Reply(200, b"[]"), Malformed),
    (Reply(200, b'{"list": {"title": "x"}}'), Malformed),
    (Reply(200, b'{"Query-Error": "Invalid request type."}'), Malformed),
    (Reply(200, b"[" * 100_000), Malformed),
    (Reply(200, b"\xff\xfe"), Malformed),
    (Reply(200, b" " * (5 * 1024 * 1024)), TooLarge),
]


@pytest.mark.parametrize(("reply", "error"), FAULTS)
def test_whatever_goes_wrong_is_an_error_of_the_source_in_our_words_asked_once(
    client: SourceClient, web: FakeWeb, reply: Reply, error: type[SourceError]
) -> None:
    web.fault = lambda request: reply
    with pytest.raises(error) as caught:
        ask(client)
    assert "fibrillation" not in str(caught.value)
    assert len(web.requests) == 1
