"""`attest keys`: made and told once, listed without secrets, revoked; and the key that is sent."""

import json
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import httpx
import pytest
from typer.testing import CliRunner, Result

from cli.client.gateway import authorization, call, without_key
from cli.commands.operation.keys import keys_app
from cli.instance.context import Instance
from store.access import keys
from store.core.settings import Settings, get_settings
from store.core.unit_of_work import Store
from store.models import now
from tests.commands import Attest
from tests.integration.runtime.harness import count

FIRST = ("create", "--name", "desk", "--owner", "ward-3", "--scopes", "ask,read")


def invoke(settings: Settings, *arguments: str) -> Result:
    """What comes of the command."""
    instance = Instance(settings)
    try:
        return CliRunner().invoke(keys_app, [*arguments], obj=instance)
    finally:
        if "store" in vars(instance):
            instance.store.engine.dispose()


def run(settings: Settings, *arguments: str) -> str:
    """What the command prints; it must work."""
    result = invoke(settings, *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.requirement("OP-3.1")
def test_op_3_1_a_key_is_told_once_listed_without_its_secret_and_revoked(
    settings: Settings, store: Store
) -> None:
    limits = ("--rate-per-minute", "7", "--requests-a-day", "70", "--usd-a-day", "0.70")
    made = json.loads(run(settings, *FIRST, "--expires", "10d", *limits, "--json"))
    assert (made["owner"], made["scopes"], made["state"]) == ("ward-3", ["ask", "read"], "valid")
    with store.reading() as session:
        checked = keys.check(session, made["key"], now())
        (stored,) = keys.listing(session)
    assert checked.key is not None
    assert str(checked.key.id) == made["id"]
    assert (stored.rate_per_minute, stored.requests_a_day) == (7, 70)
    assert timedelta(days=9.99) < stored.expires_at - now() <= timedelta(days=10)

    listed = run(settings, "list", "--json")
    secret = made["key"].split("_", 2)[2]
    for printed in (listed, run(settings, "list")):
        assert secret not in printed
        assert stored.hash.hex() not in printed
    (one,) = json.loads(listed)
    assert (one["id"], one["prefix"]) == (made["id"], f"attest_{stored.prefix}")

    for _ in range(2):
        assert json.loads(run(settings, "revoke", made["id"], "--json"))["state"] == "revoked"
    with store.reading() as session:
        assert keys.check(session, made["key"], now()).refusal == "revoked_key"
        assert not keys.any_usable(session, now())
    assert count(store, "audit_event", "event IN ('key.created', 'key.revoked')") == 2


@pytest.mark.parametrize("terminal", [{}, {"FORCE_COLOR": "1"}], ids=["pipe", "terminal"])
def test_the_id_that_the_list_shows_revokes(
    settings: Settings, store: Store, terminal: dict[str, str]
) -> None:
    made = json.loads(run(settings, *FIRST, "--json"))
    run(settings, "create", "--name", "[/desk]", "--scopes", "audit")
    attest = Attest.on(settings, COLUMNS="80", **terminal)
    listed = attest("keys", "list")
    assert listed.returncode == 0, listed.stderr
    shown = re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", listed.stdout)
    assert made["id"] in shown
    for key_id in shown:
        assert attest("keys", "revoke", key_id).returncode == 0
    with store.reading() as session:
        assert not keys.any_usable(session, now())
    if not terminal:
        assert "[/desk]" in listed.stdout
        assert made["prefix"] in listed.stdout


def test_without_json_stdout_is_the_key_alone(settings: Settings, store: Store) -> None:
    printed = run(settings, *FIRST).strip().splitlines()[-1]
    with store.reading() as session:
        assert keys.check(session, printed, now()).key is not None


@pytest.mark.parametrize(
    "arguments",
    [
        ("--name", "x", "--scopes", "everything"),
        ("--name", "x", "--scopes", ""),
        ("--name", " ", "--scopes", "read"),
        ("--name", "x", "--scopes", "read", "--owner", "Dr Who"),
        ("--name", "x", "--scopes", "read", "--expires", "never"),
        ("--name", "x", "--scopes", "read", "--usd-a-day", "0"),
        ("--name", "x", "--scopes", "read", "--rate-per-minute", "0"),
    ],
)
def test_what_does_not_fit_makes_no_key(
    settings: Settings, store: Store, arguments: tuple[str, ...]
) -> None:
    result = invoke(settings, "create", *arguments)
    assert result.exit_code != 0
    assert count(store, "access_key") == 0


@pytest.mark.parametrize(
    ("limit", "written"),
    [
        ("--rate-per-minute", "3000000000"),
        ("--requests-a-day", "2147483648"),
        ("--usd-a-day", "1e200000"),
        ("--usd-a-day", "1000000000.01"),
        ("--usd-a-day", "1e-20000"),
        ("--usd-a-day", "0.0000001"),
    ],
)
def test_a_limit_that_cannot_be_kept_is_refused_in_our_own_words(
    settings: Settings, store: Store, limit: str, written: str
) -> None:
    result = invoke(settings, "create", "--name", "x", "--scopes", "read", limit, written)
    assert isinstance(result.exception, ValueError)
    assert "at most" in str(result.exception)
    assert "INSERT" not in str(result.exception)
    assert count(store, "access_key") == 0


def test_the_largest_limits_can_be_kept(settings: Settings, store: Store) -> None:
    most = ("--rate-per-minute", "2147483647", "--requests-a-day", "2147483647")
    run(settings, *FIRST, *most, "--usd-a-day", "1e9")
    run(settings, *FIRST, "--usd-a-day", "0.000001")
    with store.reading() as session:
        found = {key.usd_a_day for key in keys.listing(session)}
    assert found == {Decimal(1_000_000_000), Decimal("0.000001")}


def test_a_key_that_is_not_there_cannot_be_revoked(settings: Settings, store: Store) -> None:
    result = invoke(settings, "revoke", str(uuid4()))
    assert isinstance(result.exception, LookupError)


def test_the_command_sends_the_key_of_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("authorization"))
        return httpx.Response(200, json={})

    monkeypatch.setenv("ATTEST_KEY", "attest_key_of_mine")
    get_settings.cache_clear()
    try:
        with httpx.Client(base_url="http://g", transport=httpx.MockTransport(answer)) as client:
            call(client, "GET", "/v1/questions")
            with without_key():
                call(client, "GET", "/v1/questions")
        assert "attest_key_of_mine" not in repr(get_settings())
    finally:
        get_settings.cache_clear()
    assert seen == ["Bearer attest_key_of_mine", None]
    monkeypatch.delenv("ATTEST_KEY")
    get_settings.cache_clear()
    assert authorization() == {}
