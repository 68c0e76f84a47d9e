"""The gateway as a thin ASGI app: it validates, writes rows, emits messages and reads rows."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Any

import anyio.to_thread
import redis
import structlog
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema
from redis.backoff import NoBackoff
from redis.retry import Retry
from starlette.middleware.gzip import GZipMiddleware

from api_gateway import problems
from api_gateway.audit import routes as audit
from api_gateway.auth import page_routes as pages_signin
from api_gateway.auth.gate import Gate, guarded_routes
from api_gateway.auth.holding import Holding
from api_gateway.auth.limits import Limiter
from api_gateway.auth.refusals import Refusals
from api_gateway.auth.requirement import keys_required
from api_gateway.backpressure.load import Load
from api_gateway.dead_letters import routes as dead_letters
from api_gateway.documents import adding_routes
from api_gateway.documents import page_routes as pages_evidence
from api_gateway.documents import routes as documents
from api_gateway.extractions import page_routes as pages_documents
from api_gateway.extractions import routes as extractions
from api_gateway.extractions.schemas import ExtractionIn
from api_gateway.http.host_names import is_loopback
from api_gateway.http.listen import Notices
from api_gateway.http.methods import Methods
from api_gateway.http.publishing import PublishingThread
from api_gateway.keys import feed_routes as feeds
from api_gateway.keys import page_routes as pages_keys
from api_gateway.library import page_routes as pages_library
from api_gateway.library import routes as library
from api_gateway.metrics.metrics import Metrics
from api_gateway.metrics.server_metrics import ServerState
from api_gateway.middleware import Envelope
from api_gateway.notes import page_routes as pages_notes
from api_gateway.notes import routes as notes
from api_gateway.operations import erasure_routes, health_routes
from api_gateway.operations import page_routes as pages_operate
from api_gateway.pages import rendering, static_routes
from api_gateway.pages.errors import ErrorPages
from api_gateway.quality import routes as quality
from api_gateway.questions import page_routes as pages_ask
from api_gateway.questions import reader_page_routes as pages_readers
from api_gateway.questions import reader_routes as readers
from api_gateway.questions import routes as questions
from api_gateway.recalls import routes as recalls
from api_gateway.rechecks import routes as rechecks
from api_gateway.reviews import page_routes as pages_reviews
from api_gateway.reviews import routes as reviews
from api_gateway.sources import routes as sources
from api_gateway.sources import watch_routes as watches
from api_gateway.state import Gateway
from api_gateway.verifications import page_routes as pages_verify
from api_gateway.verifications import routes as verifications
from store.core.database import connect
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.documents.records import SourceRecord
from store.extractions.extractions import EXTRACTIONS
from store.index.partitions import Servers
from store.questions import states
from store.sources import refreshes
from store.texts.notes import NOTES
from store.texts.verifications import VERIFICATIONS
from workers.runtime.broker import WokenBroker

log = structlog.get_logger(__name__)

ROUTES = (
    recalls,
    questions,
    readers,
    verifications,
    notes,
    extractions,
    reviews,
    erasure_routes,
    library,
    documents,
    sources,
    watches,
    dead_letters,
    audit,
    rechecks,
    quality,
    health_routes,
    feeds,
    pages_keys,
    pages_ask,
    pages_readers,
    pages_library,
    adding_routes,
    pages_evidence,
    pages_verify,
    pages_operate,
    pages_documents,
    pages_notes,
    pages_reviews,
    pages_signin,
    static_routes,
)
"""In the order in which they are matched. The `BODY_LIMITS` of each hold the paths whose body limit
is not the default."""

POOL_SIZE = 8
THREADS = 2 * POOL_SIZE
"""As many threads as `connect` allows connections, so a thread never waits for a connection."""
ANSWER_SECONDS = 10.0
"""Our choice: the time limit of a statement in PostgreSQL; a scrape is allowed 14 s in all."""
READINESS_TIMEOUT_SECONDS = 1.0
FLUSH_SECONDS = 30.0
"""Our choice: the interval in which due counts of refusals are written."""
PUBLISH_AT_END_SECONDS = 2.0
GZIP_LEVEL = 4
"""Our choice: an answer page of 62 kB becomes 8 kB in 0.6 ms; level 9 makes it 7.6 kB."""

DESCRIPTION = """
Answers clinical questions from evidence that it holds. Each claim carries a citation to an exact
span of an exact version of a source; where the evidence is missing, stale or in conflict the answer
says so.

Submit a question with `Prefer: wait=30`, or follow `Location` with `?wait=30` or its `/events`.
Errors are problem details (RFC 9457); their `type` is `urn:attest:problem:` and a name:
"""


class MissingSetting(ValueError):
    """A required setting is missing; the text says how to set it."""


class GatewayApp(FastAPI):
    """FastAPI whose OpenAPI document also has the schemas that no route names in its signature."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document of the gateway, built once."""
        if self.openapi_schema is None:
            schema = get_openapi(
                title=self.title,
                version=self.version,
                description=self.description,
                routes=self.routes,
            )
            _without_default_422(schema)
            _with_access(self, schema)
            _, models = models_json_schema(
                [
                    (SourceRecord, "validation"),
                    (ExtractionIn, "validation"),
                    (problems.ProblemDetails, "serialization"),
                ],
                ref_template="#/components/schemas/{model}",
            )
            schema["components"]["schemas"].update(models["$defs"])
            self.openapi_schema = schema
        return self.openapi_schema


def _without_default_422(schema: dict[str, Any]) -> None:
    """Drop the 422 that FastAPI adds by default; a real one is a problem declared by its route."""
    for operations in schema["paths"].values():
        for operation in operations.values():
            if "application/json" in operation["responses"].get("422", {}).get("content", {}):
                del operation["responses"]["422"]
    for name in ("HTTPValidationError", "ValidationError"):
        schema["components"]["schemas"].pop(name, None)


def _with_access(app: FastAPI, schema: dict[str, Any]) -> None:
    """Add the scopes that each operation needs, and the errors possible before it is reached."""
    gateway: Gateway = app.state.gateway
    bearer = {"type": "http", "scheme": "bearer", "description": "from `attest keys create`"}
    schema["components"].setdefault("securitySchemes", {})["key"] = bearer
    for operations in schema["paths"].values():
        for operation in operations.values():
            statuses = [400, 403] + ([408, 413] if "requestBody" in operation else [])
            _add_problems(operation, statuses)
    for route, scopes in guarded_routes(app):
        for method in route.methods or ():
            operation = schema["paths"].get(route.path_format, {}).get(method.lower())
            if operation is None:  # it is not in the document
                continue
            # In OpenAPI 3.1 the list of a bearer scheme names the required roles.
            operation["security"] = [{"key": [scope.value]} for scope in scopes]
            if not keys_required(gateway.settings):
                operation["security"].append({})
            _add_problems(operation, [401, 403, 429])


def _add_problems(operation: dict[str, Any], statuses: list[int]) -> None:
    for status, response in problems.documented(*statuses).items():
        operation["responses"].setdefault(str(status), response)


def create_app(settings: Settings) -> FastAPI:
    """The gateway app for the servers in `settings`. It starts even while they are away.

    Raises:
        MissingSetting: there is no database or Redis URL.
    """
    for name in ("database_url", "redis_url"):
        if not getattr(settings, name):
            variable = f"ATTEST_{name.upper()}"
            raise MissingSetting(f"set {variable}, or use `attest up`, which brings its servers")
    gateway = _gateway(settings)
    app = GatewayApp(
        title="Attest",
        version=version("attest"),
        description=DESCRIPTION
        + "\n".join(f"- `{name}`: {title}" for name, title in problems.TITLES.items()),
        lifespan=_lifespan,
        docs_url=None,  # both pages load their scripts from another host
        redoc_url=None,
        redirect_slashes=False,  # the redirects would lead from a proxy's https:// to http://
    )
    app.state.gateway = gateway
    app.add_middleware(Gate, gateway=gateway)
    app.add_middleware(Methods)
    app.add_middleware(
        Envelope,
        metrics=gateway.metrics,
        max_body_bytes=settings.max_body_bytes,
        body_limits={
            place: limit
            for routes in ROUTES
            for place, limit in getattr(routes, "BODY_LIMITS", {}).items()
        },
        body_seconds=settings.body_seconds,
        refusals=gateway.refusals,
        local_only=is_loopback(settings.host),
    )
    app.add_middleware(ErrorPages)
    # Added last, so that it wraps the others. It leaves event streams as they are.
    app.add_middleware(GZipMiddleware, compresslevel=GZIP_LEVEL)
    problems.install(app)
    for routes in ROUTES:
        app.include_router(routes.router)
    return app


def _gateway(settings: Settings) -> Gateway:
    engine = connect(
        settings.database_url,
        pool_size=POOL_SIZE,
        answer_seconds=ANSWER_SECONDS,
        plans_once=True,
    )
    publishing = PublishingThread(engine, WokenBroker(settings).publish)
    store = Store(engine, publishing, Servers.of(settings))
    client = redis.Redis.from_url(
        settings.redis_url,
        socket_timeout=READINESS_TIMEOUT_SECONDS,
        socket_connect_timeout=READINESS_TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    return Gateway(
        settings=settings,
        store=store,
        notices=Notices(
            settings.database_url,
            states.CHANNEL,
            refreshes.CHANNEL,
            VERIFICATIONS.kind,
            NOTES.kind,
            EXTRACTIONS.kind,
        ),
        publishing=publishing,
        metrics=Metrics(engine, ServerState(client, settings.redis_namespace, settings.data_dir)),
        redis=client,
        limiter=Limiter(store, client, settings.redis_namespace),
        refusals=Refusals(store),
        load=Load(engine, settings),
        holding=Holding(engine),
    )


def _say_who_may_ask(settings: Settings) -> None:
    if keys_required(settings):
        log.info("gateway_asks_for_keys", host=settings.host)
    else:
        log.warning(
            "gateway_open",
            host=settings.host,
            means="every program and person on this machine may read and write everything of "
            "the owner local; ATTEST_REQUIRE_KEYS=true asks for keys",
        )


async def _flush_refusals(gateway: Gateway) -> None:
    while True:
        await asyncio.sleep(FLUSH_SECONDS)
        await anyio.to_thread.run_sync(gateway.refusals.flush)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    gateway: Gateway = app.state.gateway
    anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
    gateway.publishing.start()
    gateway.notices.start()
    beside = [
        asyncio.create_task(_flush_refusals(gateway)),
        asyncio.create_task(gateway.holding.watch()),
    ]
    warming = asyncio.create_task(anyio.to_thread.run_sync(rendering.warm_up))
    log.info("gateway_ready", port=gateway.settings.port)
    _say_who_may_ask(gateway.settings)
    yield
    log.info("gateway_stopping")
    for task in beside:
        task.cancel()
    await warming
    await anyio.to_thread.run_sync(partial(gateway.refusals.flush, everything=True))
    await gateway.notices.stop()
    await anyio.to_thread.run_sync(gateway.publishing.stop, PUBLISH_AT_END_SECONDS)
    gateway.redis.close()
    gateway.store.engine.dispose()
