"""The tools to ask, follow, verify and read; each makes one or two calls of the gateway."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

import httpx
from mcp.server.mcpserver import Context
from pydantic import Field

from cli.assistant.gateway import call, gateway
from cli.assistant.retries import Retries
from cli.assistant.shapes import question_shape, verification_shape

Wait = Annotated[float, Field(ge=0, le=60, description="seconds to wait for the end")]
Anything = Context[Any, Any]


class Tools:
    """The tools of the gateway at `url`. An assistant reads the docstring of each tool.

    Args:
        key: sent with each call, if `pass_on` is false.
        pass_on: send the caller's own `Authorization` header instead (HTTP).
    """

    def __init__(self, url: str, key: str, *, pass_on: bool) -> None:
        self._url = url
        self._key = key
        self._pass_on = pass_on
        self._retries = Retries()

    async def ask(
        self,
        ctx: Anything,
        question: Annotated[str, Field(description="a whole clinical question", min_length=1)],
        as_of: Annotated[
            str | None, Field(description="answer from what was current then (ISO 8601, with zone)")
        ] = None,
        wait_seconds: Wait = 30,
    ) -> dict[str, Any]:
        """Answer a clinical question from held evidence: claims with verdicts and exact
        quotations, references, freshness, conflicts; or an abstention with its reason."""
        body = {"question": question} | ({"as_of": as_of} if as_of else {})
        return question_shape(await self._submitted(ctx, "/v1/questions", body, wait_seconds))

    async def get_answer(
        self, ctx: Anything, question_id: UUID, wait_seconds: Wait = 30
    ) -> dict[str, Any]:
        """The answer to a question asked before, and whether it still stands (`recall`)."""
        path = f"/v1/questions/{question_id}"
        return question_shape(await self._read(ctx, path, wait=wait_seconds))

    async def verify_text(
        self,
        ctx: Anything,
        text: Annotated[str, Field(description="an answer, abstract or slide", min_length=1)],
        wait_seconds: Wait = 30,
    ) -> dict[str, Any]:
        """Check every claim, quotation, number and identifier of a text against held evidence."""
        path = "/v1/verifications"
        return verification_shape(await self._submitted(ctx, path, {"text": text}, wait_seconds))

    async def get_verification(
        self, ctx: Anything, verification_id: UUID, wait_seconds: Wait = 30
    ) -> dict[str, Any]:
        """The verdicts on a text that was sent to verify_text before."""
        path = f"/v1/verifications/{verification_id}"
        return verification_shape(await self._read(ctx, path, wait=wait_seconds))

    async def read_evidence(
        self,
        ctx: Anything,
        document_id: UUID,
        version: Annotated[int, Field(ge=1, description="as a citation gives it")],
        start: Annotated[int, Field(ge=0, description="code point where the words begin")],
        end: Annotated[int, Field(ge=1, description="code point behind their end")],
    ) -> dict[str, Any]:
        """The exact words of a span of a version of a source, to the letter."""
        path = f"/v1/documents/{document_id}/versions/{version}/text"
        return {
            "document_id": str(document_id),
            "version": version,
            "start": start,
            "end": end,
            "text": await self._read(ctx, path, start=start, end=end),
        }

    async def search_evidence(
        self,
        ctx: Anything,
        words: Annotated[str, Field(description="words to find, not a question", min_length=1)],
        disease: Annotated[str | None, Field(description="a tag, such as bladder_cancer")] = None,
        published_from: Annotated[str | None, Field(description="a date, 2024-01-31")] = None,
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> dict[str, Any]:
        """Passages of held evidence that have these words, with their exact places. It answers
        nothing: for an answer call ask."""
        query = {"q": words, "disease": disease, "published_from": published_from, "limit": limit}
        found: dict[str, Any] = await self._read(ctx, "/v1/search", **_given(query))
        return found

    async def list_documents(
        self,
        ctx: Anything,
        source_type: Annotated[str | None, Field(description="such as pubmed or nccn")] = None,
        disease: Annotated[str | None, Field(description="a tag, such as bladder_cancer")] = None,
        published_from: Annotated[str | None, Field(description="a date, 2024-01-31")] = None,
        cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
    ) -> dict[str, Any]:
        """What evidence is held, the newest published first."""
        query = {"source_type": source_type, "disease": disease, "cursor": cursor}
        query["published_from"] = published_from
        listed: dict[str, Any] = await self._read(ctx, "/v1/documents", **_given(query))
        return listed

    async def list_watches(self, ctx: Anything) -> dict[str, Any]:
        """Which queries are followed at which source, and how far each is."""
        watches: dict[str, Any] = await self._read(ctx, "/v1/watches")
        return watches

    async def list_sources(self, ctx: Anything) -> dict[str, Any]:
        """How fresh each source is, and whether it is inside its limit."""
        sources: dict[str, Any] = await self._read(ctx, "/v1/sources")
        return sources

    async def _submitted(
        self, ctx: Anything, path: str, body: Mapping[str, Any], wait_seconds: float
    ) -> dict[str, Any]:
        """Submit a request, once however often the call is made, and return its state after the
        wait."""
        authorization = self._authorization(ctx)
        headers = {"Idempotency-Key": self._retries.key_of(path, body, authorization)}
        async with gateway(self._url, authorization) as client:
            accepted = await call(client, "POST", path, json=body, headers=headers)
            place = f"{path}/{accepted['id']}"
            state: dict[str, Any] = await _got(client, place, wait=wait_seconds)
        return state

    async def _read(self, ctx: Anything, path: str, **query: float | str) -> Any:
        async with gateway(self._url, self._authorization(ctx)) as client:
            return await _got(client, path, **query)

    def _authorization(self, ctx: Anything) -> str | None:
        if self._pass_on:
            return (ctx.headers or {}).get("authorization")
        return f"Bearer {self._key}" if self._key else None


def _given(query: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in query.items() if value is not None}


async def _got(client: httpx.AsyncClient, path: str, **query: float | str) -> Any:
    return await call(client, "GET", path, params=query)
