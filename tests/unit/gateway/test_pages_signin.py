"""Sign-in without a server: where the cookie counts, where it leads, what forms carry."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from api_gateway.auth.browser_sessions import COOKIE, csrf_of, destination, masked, same, token_of
from api_gateway.pages import rendering
from tests.grid import grid

ID = "5f0f7c8e-0f0e-4a2e-9d39-1c6a6b0f5a10"
SIGNED_IN = Headers({"cookie": f"a=b; {COOKIE}=token"})


@grid(
    ("method", "path", "counts"),
    [
        ("GET", "/", True),
        ("POST", "/ask", True),
        ("POST", "/operate/anything", True),
        ("GET", f"/v1/questions/{ID}/events", True),
        ("GET", f"/v1/extractions/{ID}", True),
        ("POST", f"/v1/extractions/{ID}", False),
        ("DELETE", f"/v1/questions/{ID}", False),
        ("GET", "/v1/questions", False),
        ("GET", "/v1/audit", False),
        ("GET", "/metrics", False),
        ("POST", "/mcp", False),
        ("GET", "/v1/questions/../audit", False),
    ],
)
def test_a_cookie_counts_on_pages_and_for_what_they_read(
    method: str, path: str, counts: bool
) -> None:
    assert token_of(method, path, SIGNED_IN) == ("token" if counts else None)


@grid("beside", ['prefs={"theme":"dark"}', "user name=x", "a[b]=1", "=", "x", "a=b=c", "é=\udc80"])
@grid("form", ["{beside}; {ours}", "{ours}; {beside}", "{beside};{ours};"])
def test_cookies_of_other_programs_of_the_host_do_not_hide_it(beside: str, form: str) -> None:
    sent = form.format(beside=beside, ours=f"{COOKIE}=token")
    headers = Headers(raw=[(b"cookie", sent.encode("utf-8", "surrogateescape"))])
    assert token_of("GET", "/", headers) == "token"


@pytest.mark.parametrize("sent", ["", f"{COOKIE}=", f"x{COOKIE}=token", f"{COOKIE}; a=b"])
def test_what_is_no_cookie_of_ours_is_none(sent: str) -> None:
    assert token_of("GET", "/", Headers({"cookie": sent})) is None


def test_a_key_in_the_header_goes_first() -> None:
    both = Headers({"cookie": f"{COOKIE}=token", "authorization": "Bearer x"})
    assert token_of("GET", "/", both) is None


@given(st.text(max_size=40))
def test_sign_in_leads_to_a_page_of_this_gateway_or_to_the_start(asked: str) -> None:
    found = destination(asked, "/")
    assert found == "/" or (found == asked and found.startswith("/"))
    assert not re.match(r"[/\\]{2}|/\\|[^/]", found)
    assert found.isprintable()


def test_the_token_of_a_form_is_that_of_its_session_only() -> None:
    assert same(masked(csrf_of("a")), csrf_of("a"))
    assert not same(masked(csrf_of("a")), csrf_of("b"))
    assert not same(csrf_of("a"), csrf_of("a"))
    assert masked(csrf_of("a")) != masked(csrf_of("a"))  # no constant is compressed
    assert not same("", csrf_of("a"))
    assert not same("é\udc80", csrf_of("a"))


def test_every_form_that_changes_something_carries_the_token() -> None:
    folder = Path(rendering.__file__).parent / "templates"
    forms = [
        (path.name, form)
        for path in folder.rglob("*.html")
        for form in re.findall(
            r'<form[^>]*method="post".*?</form>', path.read_text("utf-8"), re.DOTALL
        )
    ]
    assert len(forms) >= 10
    without = [name for name, form in forms if "{{ csrf }}" not in form]
    assert without == ["signin.html"]  # there is no session yet
