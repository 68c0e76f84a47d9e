"""What the one HTTP client sends and gives back, and where it goes: inside the allow-list only."""

import socket

import pytest

from tests.contract.connectors.conftest import MakeClient
from tests.contract.connectors.http.servers import CONTACT, EUTILS, PMC, Site, raw_server
from tests.fakes.web import FakeWeb, Reply
from workers.http.client import SourceClient
from workers.http.errors import (
    InvalidQuery,
    Malformed,
    NotAllowed,
    Refused,
)


def test_an_answer_comes_with_status_lower_case_headers_and_bytes(
    client: SourceClient, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(200, b"\x00body", {"X-Total": "5", "ETag": '"a"'})]
    answer = client.get(f"{EUTILS}/x")
    assert (answer.status, answer.content) == (200, b"\x00body")
    assert (answer.headers["x-total"], answer.headers["etag"]) == ("5", '"a"')


def test_params_replace_the_query_of_the_address_and_none_leaves_it(
    client: SourceClient, web: FakeWeb
) -> None:
    client.get(f"{EUTILS}/x?a=1", {"term": "a AND [b]", "n": 2})
    client.get(f"{EUTILS}/x?a=1&skip=%3D2")
    client.get(f"{EUTILS}/x?a=1", {})
    assert [request.params for request in web.requests] == [
        {"term": "a AND [b]", "n": "2"},
        {"a": "1", "skip": "=2"},
        {},
    ]


def test_a_form_is_posted(client: SourceClient, web: FakeWeb) -> None:
    client.post(f"{EUTILS}/x", {"id": "1,2", "retmode": "xml"})
    (request,) = web.requests
    assert (request.method, request.params) == ("POST", {"id": "1,2", "retmode": "xml"})


def test_a_source_learns_our_name_and_the_address_given_for_it_and_no_cookie(
    source_client: MakeClient, web: FakeWeb, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(200, b"", {"Set-Cookie": "track=me; Path=/"})]
    client = source_client("pubmed", web, contact=CONTACT)
    client.get(f"{EUTILS}/x")
    client.get(f"{EUTILS}/x")
    source_client("pubmed", web).get(f"{EUTILS}/x")
    agents = [request.headers["user-agent"] for request in web.requests]
    assert agents[0].startswith("attest/")
    assert agents[1].endswith(f"(+mailto:{CONTACT})")
    assert "@" not in agents[2]
    assert not any("cookie" in request.headers for request in web.requests)


def test_a_connection_is_kept_for_the_next_request(source_client: MakeClient, web: FakeWeb) -> None:
    def thrice(caller: socket.socket) -> None:
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"
        caller.sendall(answer)
        for _ in range(2):
            caller.recv(65536)
            caller.sendall(answer)

    with raw_server(thrice) as (base, callers):
        client = source_client("pubmed", web, mirrors={EUTILS: base})
        assert [client.get(f"{EUTILS}/x").content for _ in range(3)] == [b"a"] * 3
        assert len(callers) == 1


def test_a_status_that_is_accepted_is_given_and_any_other_2xx_is_malformed(
    client: SourceClient, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(404, b"none")]
    eutils.replies["/y"] = [Reply(304, b"")]
    eutils.replies["/z"] = [Reply(202, b"")]
    assert client.get(f"{EUTILS}/x", accept=(200, 404)).status == 404
    assert client.get(f"{EUTILS}/y", accept=(200, 304)).status == 304
    with pytest.raises(Malformed, match="answered 202 Accepted"):
        client.get(f"{EUTILS}/z")


def test_half_a_character_in_a_query_and_a_line_break_in_a_header_are_not_sent(
    client: SourceClient, web: FakeWeb
) -> None:
    with pytest.raises(InvalidQuery, match="half a character"):
        client.get(f"{EUTILS}/x", {"term": "a\ud800"})
    with pytest.raises(InvalidQuery, match="half a character"):
        client.post(f"{EUTILS}/x", {"term": "\udfff"})
    with pytest.raises(Malformed, match="If-None-Match"):
        client.get(f"{EUTILS}/x", headers={"If-None-Match": 'a"\r\nHost: b'})
    assert web.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "http://eutils.ncbi.nlm.nih.gov/x",
        "file:///etc/passwd",
        "https://example.org/x",
        "https://eutils.ncbi.nlm.nih.gov:8443/x",
        "https://eutils.ncbi.nlm.nih.gov./x",
        "https://eutils.ncbi.nlm.nih.gov.example.org/x",
        "https://eutils.ncbi.nlm.nih.gov@example.org/x",
        "https://me:pass@eutils.ncbi.nlm.nih.gov/x",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/x",
        "https://2130706433/x",
        "https://0x7f.1/x",
        "/x",
        "",
        "https://",
        "https://[/x",
    ],
)
def test_an_address_outside_the_allow_list_is_not_asked(
    client: SourceClient, web: FakeWeb, url: str
) -> None:
    with pytest.raises(NotAllowed):
        client.get(url)
    assert web.requests == []


def test_a_redirect_inside_the_allow_list_is_followed(
    client: SourceClient, web: FakeWeb, eutils: Site, pmc: Site
) -> None:
    eutils.replies["/a/old"] = [Reply(301, b"", {"Location": "new?x=1"})]
    eutils.replies["/a/new"] = [Reply(302, b"", {"Location": "/top"})]
    eutils.replies["/top"] = [Reply(307, b"", {"Location": f"{PMC}/there"})]
    pmc.replies["/there"] = [Reply(308, b"", {"Location": f"{web.mirrors[PMC]}/end?y=2"})]
    pmc.replies["/end"] = [Reply(200, b"arrived")]
    assert client.get(f"{EUTILS}/a/old").content == b"arrived"
    assert [(request.origin, request.path, request.params) for request in web.requests] == [
        (EUTILS, "/a/old", {}),
        (EUTILS, "/a/new", {"x": "1"}),
        (EUTILS, "/top", {}),
        (PMC, "/there", {}),
        (PMC, "/end", {"y": "2"}),
    ]


@pytest.mark.parametrize(
    ("location", "named"),
    [
        ("http://169.254.169.254/latest/meta-data?token=t0ken", "169.254.169.254 is a bare IP"),
        ("//169.254.169.254/latest", "169.254.169.254 is a bare IP"),
        ("http://127.0.0.1:1/x", "127.0.0.1 is a bare IP"),
        ("https://example.org/path?q=1", "example.org is not among the places"),
        ("http://eutils.ncbi.nlm.nih.gov/x", "eutils.ncbi.nlm.nih.gov is not asked without https"),
        ("file:///etc/passwd", "is not asked without https"),
        ("https://user:word@eutils.ncbi.nlm.nih.gov/", "carries a name or a password"),
        ("https://example.org:port/x", "redirects to no address at all"),
        ("mailto:me", "an address is not asked without https"),
    ],
)
def test_a_redirect_out_of_the_allow_list_is_refused_and_names_the_host_only(
    client: SourceClient, web: FakeWeb, eutils: Site, location: str, named: str
) -> None:
    eutils.replies["/x"] = [Reply(302, b"", {"Location": location})]
    with pytest.raises(NotAllowed, match=named) as caught:
        client.get(f"{EUTILS}/x")
    text = str(caught.value)
    assert not [word for word in ("t0ken", "latest", "path", "passwd", "word@") if word in text]
    assert len(web.requests) == 1


def test_a_redirect_that_never_ends_is_refused(
    client: SourceClient, web: FakeWeb, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(301, b"", {"Location": "/x"})]
    with pytest.raises(Refused, match="redirects more than 5 times"):
        client.get(f"{EUTILS}/x")
    assert len(web.requests) == 6


def test_a_redirect_without_a_place_is_refused(client: SourceClient, eutils: Site) -> None:
    eutils.replies["/x"] = [Reply(302, b"")]
    with pytest.raises(Refused, match="answered 302 Found"):
        client.get(f"{EUTILS}/x")


def test_a_key_in_a_header_does_not_follow_to_another_origin(
    client: SourceClient, web: FakeWeb, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(302, b"", {"Location": "/y"})]
    eutils.replies["/y"] = [Reply(302, b"", {"Location": f"{PMC}/z"})]
    client.get(f"{EUTILS}/x", headers={"Authorization": "Bearer b", "X-Other": "o"})
    assert [request.headers.get("authorization") for request in web.requests] == [
        "Bearer b",
        "Bearer b",
        None,
    ]
    assert web.requests[2].headers["x-other"] == "o"


def test_a_form_is_sent_again_after_307_and_not_after_303(
    client: SourceClient, web: FakeWeb, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(307, b"", {"Location": "/y"})]
    eutils.replies["/y"] = [Reply(303, b"", {"Location": "/z"})]
    client.post(f"{EUTILS}/x", {"id": "1"})
    assert [(request.method, request.body) for request in web.requests] == [
        ("POST", b"id=1"),
        ("POST", b"id=1"),
        ("GET", b""),
    ]
