"""Keys leave no trace in a text, however they are spelled."""

import json
import logging
from base64 import b64encode
from urllib.parse import quote, quote_plus, urlencode

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.grid import grid
from workers.http.redact import REDACTED, redact, silence_http_logs, without_words

KEY = 'k3y/0f+N0b0dy="5ecret" é'
SECRETS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=8, max_size=40)


@grid(
    "text",
    [
        KEY,
        KEY.upper(),
        f"https://example.org/?{urlencode({'k': KEY})}&x=1",
        f"https://example.org/{quote(KEY)}",
        f"https://example.org/{quote(KEY, safe='').lower()}",
        str(httpx.URL("https://example.org", params={"k": KEY})),
        json.dumps({"k": KEY}),
        repr([KEY]),
        repr(KEY.encode()),
        f"Basic {b64encode(f'{KEY}:'.encode()).decode()}",
    ],
)
def test_a_secret_is_found_in_every_spelling(text: str) -> None:
    found = redact(text, [KEY])
    assert REDACTED in found
    assert "0b0dy" not in found.lower()
    assert b64encode(KEY.encode())[:20].decode() not in found


@grid(
    ("text", "left"),
    [
        ("GET /x?api_key=abc&term=gout", f"GET /x?api_key={REDACTED}&term=gout"),
        ("/x?term=gout&API-KEY=abc", f"/x?term=gout&API-KEY={REDACTED}"),
        ("/x?key=abc&token=def", f"/x?key={REDACTED}&token={REDACTED}"),
        ("next=%2Fx%3Fapi_key%3Dabc", f"next=%2Fx%3Fapi_key%3D{REDACTED}"),
        ("%3Fkey%3Dabc%26b%3Dc &key=d", f"%3Fkey%3D{REDACTED} &key={REDACTED}"),
        ("ATTEST_NCBI_API_KEY=abc", f"ATTEST_NCBI_API_KEY={REDACTED}"),
        ("mailto=a@example.org", f"mailto={REDACTED}"),
        ("email=a%40example.org;", f"email={REDACTED};"),
        ('{"api-key":"192.0.2.1","count":"4"}', f'{{"api-key":"{REDACTED}","count":"4"}}'),
        ("Authorization: Bearer abc def", f"Authorization: {REDACTED}"),
        ("{'authorization': 'Basic abc'}", f"{{'authorization': '{REDACTED}'}}"),
        ("sent Bearer abc.def-123", f"sent Bearer {REDACTED}"),
        ("x-api-key: abc", f"x-api-key: {REDACTED}"),
    ],
)
def test_what_stands_where_secrets_do_is_taken_out_unknown_as_it_is(text: str, left: str) -> None:
    assert redact(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "answered 400 Bad Request: API key invalid",
        "the key result: 5 of 10",
        "a token gesture, a monkey=1",
        "basic research and bearer of news",
    ],
)
def test_other_words_stay(text: str) -> None:
    assert redact(text, ["", "a", "of"]) == text


@given(st.text(max_size=60), SECRETS, st.text(max_size=60), st.sampled_from([str, quote, repr]))
@example("api_key=", 'a"bcdefgh', "", json.dumps)
def test_no_text_keeps_a_secret(before: str, secret: str, after: str, spell: object) -> None:
    assert callable(spell)
    text = redact(before + spell(secret) + after, [secret])
    inside = [form for form in (secret, quote(secret), quote_plus(secret)) if form not in REDACTED]
    assert not [form for form in inside if form in text]


def test_a_reason_loses_the_words_that_were_sent_and_keeps_its_own() -> None:
    said = "Term 'Zebrafish' of pubmed near (GOUT) is not known: retmax"
    sent = ["zebrafish AND gout", "pubmed", "is"]
    assert without_words(said, sent) == "Term '…' of … near (…) is not known: retmax"


def test_libraries_log_no_request_at_any_level(caplog: pytest.LogCaptureFixture) -> None:
    silence_http_logs()
    names = ["httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy"]
    for name in names:
        caplog.set_level(logging.DEBUG, logger=name)
        logging.getLogger(name).info("GET https://example.org/?api_key=abc")
        logging.getLogger(name).warning("a warning of %s", name)
    assert [record.getMessage() for record in caplog.records] == [
        f"a warning of {name}" for name in names
    ]
