"""The gateway process."""

import logging
import signal
import socket

import sqlalchemy as sa
import structlog
import uvicorn
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session

from api_gateway.app import create_app
from api_gateway.http.host_names import is_loopback
from api_gateway.state import Gateway
from store.access import keys
from store.core.database import passes_by_itself
from store.core.schema import require_current_schema
from store.core.settings import Settings
from store.models import now
from workers.runtime.logs import configure_logs
from workers.runtime.memory import settle_memory

log = structlog.get_logger(__name__)

TALKATIVE = ("sse_starlette", "python_multipart", "uvicorn.access")
"""Libraries that log bodies or addresses at low levels (invariant 11)."""


FIRST_KEY = (
    "attest keys create --name first --owner local --scopes ask,read,documents,operate,audit,keys "
    "--expires 90d"
)


class NoKeys(ValueError):
    """The gateway shall listen where other machines reach it, but there is no key."""


def require_a_key(gateway: Gateway) -> None:
    """Refuse to listen where other machines reach the gateway if no valid key exists.

    Every caller there needs a key in any case; this check only reports a missing key early. So it
    passes if the database is away.

    Raises:
        NoKeys: no valid key exists; says how to make one.
    """
    host = gateway.settings.host
    if is_loopback(host):
        return
    try:
        with Session(gateway.store.engine) as session:
            usable = keys.any_usable(session, now())
    except SQLAlchemyError as error:
        log.warning("keys_not_counted", error=type(error).__name__)
        return
    if not usable:
        gateway.store.engine.dispose()  # the app will not start, so its shutdown will not run
        raise NoKeys(
            f"the gateway does not listen on {host[:60]!r} before there is a key, because nobody "
            f"could use it: make one with `{FIRST_KEY}`, or set ATTEST_HOST=127.0.0.1"
        )


class GatewayServer(uvicorn.Server):
    """uvicorn that ends long polls and event streams before it waits for open requests."""

    def __init__(self, config: uvicorn.Config, gateway: Gateway) -> None:
        super().__init__(config)
        self._gateway = gateway

    @property
    def engine(self) -> sa.Engine:
        """The engine of the gateway's database."""
        return self._gateway.store.engine

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, release waiting requests, finish those in progress."""
        self._gateway.notices.release()
        await super().shutdown(sockets)


def build_server(settings: Settings) -> GatewayServer:
    """The gateway's server, not yet running. Raises NoKeys and MissingSetting."""
    app = create_app(settings)
    require_a_key(app.state.gateway)
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


def _require_schema(engine: sa.Engine) -> None:
    """Refuse a database of another release. A database may be away: `/readyz` checks it later.

    Raises:
        SchemaMismatch: the database answers, and its schema is older or newer than this code.
    """
    try:
        require_current_schema(engine)
    except Exception as error:
        if not passes_by_itself(error):
            raise


def run_gateway(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests in progress and return.

    Raises:
        NoKeys: `settings.host` is reachable from elsewhere, and there is no key.
        MissingSetting: there is no database or Redis URL.
        SchemaMismatch: the database's schema is older or newer than this code.
    """
    server = build_server(settings)
    _require_schema(server.engine)
    configure_logs(settings, "gateway")
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    # uvicorn raises the signal again once it has stopped; it is ignored then.
    before = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGTERM, signal.SIGINT)
    }
    settle_memory()
    try:
        server.run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    log.info("gateway_stopped")
