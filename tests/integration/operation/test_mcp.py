"""`attest mcp` by the SDK's own client, over stdio and HTTP, before a gateway and the chain."""

import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client, StdioServerParameters

from cli.assistant.command import Unguarded, require_guard
from store.core.settings import Settings
from tests.integration.gateway.conftest import Running, serving
from tests.integration.gateway.keys.test_keys import bearer, make_key
from tests.servers import TRIAL, TRIAL_QUESTION, ingest, wait_until
from workers.inline import InlineWorker

TOOLS = {
    *("ask", "get_answer", "verify_text", "get_verification", "read_evidence", "search_evidence"),
    *("list_documents", "list_sources", "list_watches"),
}
Talk = Callable[[Client], Awaitable[None]]


@pytest.fixture
def gateway(settings: Settings) -> Iterator[Running]:
    """A gateway over the test's database."""
    with serving(settings.model_copy(update={"port": 0})) as running:
        yield running


def work_through(gateway: Running, inline: InlineWorker) -> None:
    """What workers would do with what the gateway published, in this process."""
    gateway.execute("UPDATE outbox SET status = 'pending' WHERE status = 'published'")
    inline.run()


def in_a_thread(talk: Callable[[], Awaitable[None]]) -> None:
    """Run it in an event loop of its own: browser tests leave one behind in the main thread."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(anyio.run, talk).result()


def over_stdio(url: str, talk: Talk, key: str = "") -> None:
    """Talk to `attest mcp` as an assistant that starts it does."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "cli.main", "mcp", "--url", url],
        env={**os.environ, "ATTEST_KEY": key},
    )

    async def run() -> None:
        async with Client(parameters) as client:
            await talk(client)

    in_a_thread(run)


@contextmanager
def http_server(url: str) -> Iterator[str]:
    """`attest mcp --http` before the gateway at `url`; gives its own address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "cli.main", "mcp", "--http", f"--port={port}", f"--url={url}"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: answers(port), what="the tools serve HTTP")
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(20)


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Client]:
    async with Client(url) as client:
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    found = result.structured_content
    assert isinstance(found, dict)
    return found


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return " ".join(getattr(one, "text", "") for one in result.content)


def test_8_7_an_assistant_asks_follows_and_reads_the_cited_words_to_the_letter(
    gateway: Running, inline: InlineWorker
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()

    async def talk(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        asked = await called(client, "ask", question=TRIAL_QUESTION, wait_seconds=0)
        assert asked["status"] == "queued"
        await anyio.to_thread.run_sync(work_through, gateway, inline)
        found = await called(client, "get_answer", question_id=asked["question_id"])
        assert found["status"] == "answered"
        assert not found["abstained"]
        citations = [one for claim in found["claims"] for one in claim["citations"]]
        assert citations
        for one in citations:
            place = {name: one[name] for name in ("document_id", "version", "start", "end")}
            words = await called(client, "read_evidence", **place)
            assert words["text"] == one["quote"]
        for one in (await called(client, "search_evidence", words="colon cancer"))["passages"]:
            place = {name: one[name] for name in ("document_id", "start", "end")}
            words = await called(client, "read_evidence", **place, version=one["n"])
            assert words["text"] == one["text"]
        (held,) = (await called(client, "list_documents"))["documents"]
        assert held["document_id"] == citations[0]["document_id"]
        assert await called(client, "list_watches") == {"watches": []}

    over_stdio(gateway.url, talk)


def test_8_7_a_text_is_verified_over_http(gateway: Running, inline: InlineWorker) -> None:
    ingest(inline.store, TRIAL)
    inline.run()

    async def run(url: str) -> None:
        async with connected(url) as client:
            sent = await called(client, "verify_text", text=TRIAL["text"], wait_seconds=0)
            await anyio.to_thread.run_sync(work_through, gateway, inline)
            found = await called(
                client, "get_verification", verification_id=sent["verification_id"]
            )
            assert found["status"] == "done"
            assert found["statements"]
            sources = await called(client, "list_sources")
            assert sources == gateway.client.get("/v1/sources").json()

    with http_server(gateway.url) as url:
        in_a_thread(partial(run, url))


def test_8_7_a_tool_call_that_is_made_again_asks_and_verifies_once(gateway: Running) -> None:
    """An assistant whose call timed out makes it again, and does not know whether it arrived."""

    async def talk(client: Client) -> None:
        asked = [
            await called(client, "ask", question=question, wait_seconds=wait)
            for question, wait in (("ctDNA?", 0), ("ctDNA?", 0.1), ("MRD?", 0))
        ]
        ids = [one["question_id"] for one in asked]
        assert ids[0] == ids[1] != ids[2]
        assert gateway.count("question") == 2
        dated = await called(client, "ask", question="ctDNA?", as_of="2026-01-31T00:00:00Z")
        assert dated["question_id"] not in ids
        sent = [
            await called(client, "verify_text", text="It helps.", wait_seconds=0) for _ in range(2)
        ]
        assert sent[0]["verification_id"] == sent[1]["verification_id"]
        assert gateway.count("verification") == 1

    over_stdio(gateway.url, talk)


def test_8_7_over_http_each_caller_asks_for_himself(settings: Settings) -> None:
    closed = settings.model_copy(update={"port": 0, "require_keys": True})
    asked = {"name": "ask", "arguments": {"question": "ctDNA?", "wait_seconds": 0}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    accept = {"Accept": "application/json, text/event-stream"}
    with serving(closed) as running, http_server(running.url) as url:
        for owner in ("one", "other"):
            headers = {**accept, **bearer(make_key(running, "ask", owner=owner))}
            for _ in range(2):
                answer = httpx.post(url, json=body, headers=headers)
                assert answer.status_code == 200, answer.text
                assert not answer.json()["result"]["isError"], answer.text
        assert running.count("question") == 2
        assert running.count("question", "owner = 'one'") == 1


def test_8_7_what_the_gateway_refuses_is_an_error_in_its_own_words(gateway: Running) -> None:
    async def talk(client: Client) -> None:
        nothing = "00000000-0000-4000-8000-000000000000"
        assert "no such question" in await refused(client, "get_answer", question_id=nothing)
        assert "no such version" in await refused(
            client, "read_evidence", document_id=nothing, version=1, start=0, end=1
        )
        assert "as_of" in await refused(client, "ask", question="Why?", as_of="yesterday")

    over_stdio(gateway.url, talk)


@pytest.mark.parametrize(
    ("key", "says"),
    [("", "set ATTEST_KEY"), ("attest_hush", "not known here, has expired or was revoked")],
)
def test_8_7_a_key_that_does_not_hold_is_not_told_as_a_missing_one(
    settings: Settings, key: str, says: str
) -> None:
    async def talk(client: Client) -> None:
        said = await refused(client, "list_sources")
        assert says in said
        assert "hush" not in said

    closed = settings.model_copy(update={"port": 0, "require_keys": True})
    with serving(closed) as running:
        over_stdio(running.url, talk, key)


def test_8_7_an_argument_that_no_tool_knows_is_refused_not_ignored(gateway: Running) -> None:
    async def talk(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            assert tool.input_schema["additionalProperties"] is False, tool.name
        said = await refused(client, "ask", question="ctDNA?", as_off="2020-01-01")
        assert "as_off" in said
        assert gateway.count("question") == 0
        assert "ctx" in await refused(client, "list_sources", ctx={})

    over_stdio(gateway.url, talk)


def test_8_7_without_a_gateway_the_error_says_what_to_do() -> None:
    async def talk(client: Client) -> None:
        assert "attest up" in await refused(client, "list_sources")

    over_stdio("http://127.0.0.1:9", talk)


def test_8_7_a_web_page_cannot_use_the_tools(gateway: Running) -> None:
    with http_server(gateway.url) as url:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        headers = {"Accept": "application/json, text/event-stream"}
        for foreign in ({"Origin": "https://example.org"}, {"Host": "attacker.example"}):
            answer = httpx.post(url, json=body, headers={**headers, **foreign})
            assert answer.status_code in (403, 421), foreign


def test_8_7_other_machines_reach_the_tools_only_where_keys_are_asked_for(
    gateway: Running,
) -> None:
    require_guard("127.0.0.1", gateway.url)
    with pytest.raises(Unguarded, match="asks nobody for a key"):
        require_guard("0.0.0.0", gateway.url)
    with pytest.raises(Unguarded, match="no gateway answers"):
        require_guard("0.0.0.0", "http://127.0.0.1:9")
