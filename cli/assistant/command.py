"""`attest mcp`: the tools over stdio, for an assistant that starts them, or over HTTP."""

from typing import Annotated

import httpx
import typer

from cli.instance.context import Instance
from cli.output.printing import say_beside

HTTP_PORT = 8322
SHUTDOWN_SECONDS = 20
"""The same time that the gateway gives to waiting requests."""


class Unguarded(ValueError):
    """The tools would be open to other machines although the gateway requires no key."""


def mcp(
    ctx: typer.Context,
    http: Annotated[
        bool, typer.Option("--http", help="serve streamable HTTP at /mcp instead of stdio")
    ] = False,
    host: Annotated[str, typer.Option(help="where to listen with --http")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="with --http")] = HTTP_PORT,
    url: Annotated[str | None, typer.Option(help="of the gateway, if not this instance's")] = None,
) -> None:
    """Give an assistant (Model Context Protocol) tools to ask, verify and read evidence."""
    from cli.assistant.logs import log_without_words
    from cli.assistant.server import build

    log_without_words()
    instance = Instance.of(ctx)
    gateway = url or instance.url
    if not http:
        build(gateway, instance.settings.key).run("stdio")
        return
    import uvicorn

    from api_gateway.http.host_names import url_of
    from cli.assistant.guard import Guarded

    require_guard(host, gateway)
    app = build(gateway, pass_on=True).streamable_http_app(
        stateless_http=True, json_response=True, host=host
    )
    say_beside(f"tools for assistants at {url_of(host, port)}/mcp (Ctrl-C stops)")
    uvicorn.run(
        Guarded(app),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )


def require_guard(host: str, gateway: str) -> None:
    """Allow listening for other machines only if the gateway requires keys.

    Raises:
        Unguarded: it requires none, or does not answer; the text says what to do.
    """
    from api_gateway.http.host_names import is_loopback

    if is_loopback(host):
        return
    advice = f"start the gateway with ATTEST_REQUIRE_KEYS=true, or leave out --host {host}"
    try:
        answer = httpx.get(f"{gateway}/v1/sources", timeout=5, verify=gateway.startswith("https:"))
    except httpx.TransportError as error:
        raise Unguarded(f"no gateway answers at {gateway} ({type(error).__name__})") from error
    if answer.status_code != 401:
        raise Unguarded(f"the gateway at {gateway} asks nobody for a key: {advice}")
