"""Which addresses a source may speak to; mirrors map there and back."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from workers.http.allow import Addresses, host_of, origin_of
from workers.http.errors import NotAllowed

ONE, TWO = "https://one.example.org", "https://two.example.org:8443"
MIRRORS = {ONE: "http://127.0.0.1:9/one/", TWO: "http://127.0.0.1:9/one/two"}
PLAIN = Addresses("Made-up", [ONE, TWO])
MIRRORED = Addresses("Made-up", [ONE, TWO], MIRRORS)


@pytest.mark.parametrize(
    ("url", "logical"),
    [
        (f"{ONE}/a?b=c%2Fd#e", f"{ONE}/a?b=c%2Fd#e"),
        ("https://ONE.example.org:443/a", f"{ONE}/a"),
        (f"{TWO}", f"{TWO}"),
        (f"{ONE}/a/../b", f"{ONE}/b"),
    ],
)
def test_an_origin_is_scheme_host_and_port_in_one_spelling(url: str, logical: str) -> None:
    assert str(PLAIN.allowed(url)) == logical


def test_params_replace_the_query_and_none_leaves_it() -> None:
    assert str(PLAIN.allowed(f"{ONE}/a?b=1", {"c": 2})) == f"{ONE}/a?c=2"
    assert str(PLAIN.allowed(f"{ONE}/a?b=1", {})) == f"{ONE}/a"
    assert str(PLAIN.allowed(f"{ONE}/a?b=1")) == f"{ONE}/a?b=1"


def test_an_address_that_is_too_long_or_none_is_not_repeated() -> None:
    for url in (f"{ONE}/{'secret' * 20_000}", "https://secret:port/", "https://\x00secret/"):
        with pytest.raises(NotAllowed) as caught:
            PLAIN.allowed(url)
        assert "secret" not in str(caught.value)
        assert caught.value.__context__ is None


def test_a_mirror_takes_the_place_of_the_origin_and_back() -> None:
    for url, there in (
        (f"{ONE}/a%2Fb?c=d+e", "http://127.0.0.1:9/one/a%2Fb?c=d+e"),
        (f"{TWO}/", "http://127.0.0.1:9/one/two/"),
    ):
        address = MIRRORED.allowed(url)
        assert str(MIRRORED.actual(address)) == there
        assert MIRRORED.allowed(there) == address
    assert PLAIN.actual(PLAIN.allowed(f"{ONE}/a")) == httpx.URL(f"{ONE}/a")


@grid(
    ("location", "target"),
    [
        ("next?x=1", f"{ONE}/a/next?x=1"),
        ("/top", f"{ONE}/top"),
        ("../up", f"{ONE}/up"),
        ("?x=1", f"{ONE}/a/b?x=1"),
        ("", f"{ONE}/a/b"),
        (f"{TWO}/c", f"{TWO}/c"),
        ("//two.example.org:8443/c", f"{TWO}/c"),
        ("http://127.0.0.1:9/one/c?d", f"{ONE}/c?d"),
        ("http://127.0.0.1:9/one/two/c", f"{TWO}/c"),
        ("http://127.0.0.1:9/one", f"{ONE}"),
    ],
)
def test_a_redirect_leads_to_a_logical_address(location: str, target: str) -> None:
    address = MIRRORED.allowed(f"{ONE}/a/b")
    assert str(MIRRORED.redirected(address, location)) == target


@grid(
    "location",
    [
        "http://127.0.0.1:9/other",
        "http://127.0.0.1:9/oneself",
        "http://127.0.0.1:90/one/c",
        "http://127.0.0.1/one/c",
        "https://127.0.0.1:9/one/c",
        "http://one.example.org/c",
        "https://one.example.org:port/",
        "https://one.example.org\x00/",
        "javascript:alert(1)",
    ],
)
def test_a_redirect_beside_the_mirror_is_not_followed(location: str) -> None:
    with pytest.raises(NotAllowed):
        MIRRORED.redirected(MIRRORED.allowed(f"{ONE}/a/b"), location)


def test_a_source_without_origins_speaks_to_nobody() -> None:
    with pytest.raises(NotAllowed, match=r"one\.example\.org is not among the places"):
        Addresses("Made-up", [], MIRRORS).allowed(f"{ONE}/a")


PIECES = (
    *("https:", "http:", "//", "/", "@", ":", "?", "#", "\\", "[", "]", "%2f", "..", "443"),
    *("one.example.org", "two.example.org", "8443", "evil.example", "127.0.0.1", "１.1"),
)
URLS = st.text(max_size=40) | st.lists(st.sampled_from(PIECES), max_size=10).map("".join)


@given(URLS)
def test_whatever_is_allowed_goes_to_a_listed_origin(url: str) -> None:
    origin = httpx.URL(f"{ONE}/a/b")
    for find in (PLAIN.allowed, lambda text: PLAIN.redirected(origin, text)):
        try:
            address = find(url)
        except NotAllowed:
            continue
        sent = httpx.Request("GET", PLAIN.actual(address)).url
        assert origin_of(sent) in {ONE, TWO}
        assert (sent.scheme, sent.userinfo) == ("https", b"")
        assert (host_of(sent), sent.port) in {("one.example.org", None), ("two.example.org", 8443)}
