"""Health checks: liveness, readiness, and the metrics of the gateway."""

from collections.abc import Callable

import redis
import sqlalchemy as sa
from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from api_gateway.auth.access import Scope, needs
from api_gateway.auth.remembered_keys import outlives_the_database
from api_gateway.operations.schemas import Health, Readiness
from api_gateway.problems import Problem, documented
from api_gateway.state import Gateway, InGateway
from store.core.postgres_watchdog import is_silent
from store.core.schema import SchemaMismatch, require_current_schema
from store.pipeline import circuits

router = APIRouter(tags=["monitoring"])

OK = "ok"


@router.get("/healthz", summary="Whether the process lives", description="Looks at nothing else.")
async def healthz(request: Request) -> Health:
    """The process answers."""
    return Health(version=request.app.version)


@router.get(
    "/readyz",
    summary="Whether the gateway can work",
    description="PostgreSQL answers, its schema is the one this code needs, Redis answers. "
    "Otherwise a 503 whose `checks` say what is away. A stage that is paused is named, and no "
    "reason not to be ready: what is asked meanwhile waits.",
    responses=documented(503),
)
def readyz(gateway: InGateway) -> Readiness:
    """Whether all parts answer."""
    checks = {"postgresql": _postgresql(gateway), "redis": _redis(gateway)}
    checks["schema"] = _schema(gateway) if checks["postgresql"] == OK else "unknown"
    away = [name for name, state in checks.items() if state != OK]
    if away:
        raise Problem(
            503,
            f"not ready: {', '.join(away)}",
            headers={"Retry-After": "2"},
            extra={"checks": checks},
        )
    with gateway.store.reading() as session:
        return Readiness(checks=checks, paused_stages=circuits.paused(session))


def _checked(check: Callable[[], object], *expected: type[Exception]) -> str:
    try:
        check()
    except expected as error:
        return _away(error)
    return OK


def _away(error: Exception) -> str:
    return "hangs: it says nothing" if is_silent(error) else f"away ({type(error).__name__})"


def _postgresql(gateway: Gateway) -> str:
    def ask() -> None:
        with gateway.store.engine.connect() as connection:
            connection.execute(sa.text("SELECT 1"))

    return _checked(ask, sa.exc.SQLAlchemyError)


def _redis(gateway: Gateway) -> str:
    return _checked(gateway.redis.ping, redis.RedisError, OSError)


def _schema(gateway: Gateway) -> str:
    try:
        require_current_schema(gateway.store.engine)
    except SchemaMismatch as error:
        return str(error)
    except sa.exc.SQLAlchemyError as error:
        return _away(error)
    return OK


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    description="Requests by route and status, outbox, dead letters, the oldest unfinished "
    "question, Redis, workers, scheduler, disk. What a server that is away would tell is left out. "
    "No ids and no texts. While PostgreSQL is away, a key that read them here within a day still "
    "does.",
    dependencies=[needs(Scope.OPERATE), outlives_the_database],
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(gateway: InGateway) -> Response:
    """All metrics in text form."""
    return Response(gateway.metrics.exposition(), media_type=CONTENT_TYPE_LATEST)
