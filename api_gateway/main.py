"""The gateway process."""

import logging
import signal
import socket

import structlog
import uvicorn

from api_gateway.app import create_app
from api_gateway.middleware import is_loopback
from api_gateway.state import Gateway
from store.settings import Settings
from workers.runtime.logs import configure_logs

log = structlog.get_logger(__name__)

TALKATIVE = ("sse_starlette", "python_multipart", "uvicorn.access")
"""Libraries that write bodies or addresses to the log at a low level (invariant 11)."""


class NotLoopback(ValueError):
    """The gateway was told to listen where other machines reach it."""


def require_loopback(host: str) -> None:
    """Refuse to listen on anything but loopback, because there are no keys yet.

    Raises:
        NotLoopback: `host` is another address; says why, and what to do.
    """
    if not is_loopback(host):
        raise NotLoopback(
            f"the gateway does not listen on {host[:60]!r}: it has no keys yet, so whoever reaches "
            "it could read and write everything. Set ATTEST_HOST=127.0.0.1 and reach it from "
            "elsewhere through an SSH tunnel, or a proxy that checks who is asking"
        )


class GatewayServer(uvicorn.Server):
    """uvicorn, letting long polls and event streams answer before it waits for them."""

    def __init__(self, config: uvicorn.Config, gateway: Gateway) -> None:
        super().__init__(config)
        self._gateway = gateway

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, release who waits, finish what is under way."""
        self._gateway.notices.release()
        await super().shutdown(sockets)


def build_server(settings: Settings) -> GatewayServer:
    """The gateway's server, not yet running. Raises NotLoopback and MissingSetting."""
    require_loopback(settings.host)
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=int(settings.shutdown_seconds),
    )
    return GatewayServer(config, app.state.gateway)


def run_gateway(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is under way and return.

    Raises:
        NotLoopback: `settings.host` is reachable from elsewhere.
        MissingSetting: there is no database or Redis URL.
    """
    server = build_server(settings)
    configure_logs(settings, "gateway")
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn raises the signal again once it has stopped, for whoever else wants to know.
        signal.signal(number, signal.SIG_IGN)
    server.run()
    log.info("gateway_stopped")
