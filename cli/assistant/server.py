"""The MCP server: tools to ask, follow, verify and read, each one a call of the gateway.

It holds nothing and decides nothing. Over stdio it sends the key of its settings; over HTTP it
passes on the caller's `Authorization` and has none of its own, so that scopes, limits and owners
are those of whoever calls.
"""

from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated, Any
from uuid import UUID

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import Field

from cli.assistant.gateway import call, gateway
from cli.assistant.shapes import question_shape, verification_shape

INSTRUCTIONS = (
    "Attest answers clinical questions from evidence that it holds. Every claim cites an exact "
    "span of an exact version of a source. Ask a whole clinical question; check a text of your own "
    "with verify_text before you show it; read the words around a citation with read_evidence. "
    "Where Attest abstains, say so; do not fill the gap from memory. It is no medical device."
)

READS = ToolAnnotations(readOnlyHint=True, openWorldHint=False)
ASKS = ToolAnnotations(readOnlyHint=False, destructiveHint=False, openWorldHint=False)

Wait = Annotated[float, Field(ge=0, le=60, description="seconds to wait for the end")]
Anything = Context[Any, Any]


def build(url: str, key: str = "", *, pass_on: bool = False) -> MCPServer[Any]:
    """The server whose tools call the gateway at `url`.

    Args:
        key: sent with each call, where `pass_on` is false.
        pass_on: send the caller's own `Authorization` header instead (HTTP).
    """
    tools: list[Tool] = []

    def tool(annotations: ToolAnnotations) -> Callable[[Callable[..., Any]], None]:
        def add(function: Callable[..., Any]) -> None:
            tools.append(closed(function, annotations))

        return add

    def authorization(ctx: Anything) -> str | None:
        if pass_on:
            return (ctx.headers or {}).get("authorization")
        return f"Bearer {key}" if key else None

    @tool(ASKS)
    async def ask(
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
        async with gateway(url, authorization(ctx)) as client:
            accepted = await call(client, "POST", "/v1/questions", json=body)
            found = await call(
                client, "GET", f"/v1/questions/{accepted['id']}", params={"wait": wait_seconds}
            )
        return question_shape(found)

    @tool(READS)
    async def get_answer(
        ctx: Anything, question_id: UUID, wait_seconds: Wait = 30
    ) -> dict[str, Any]:
        """The answer to a question asked before, and whether it still stands (`recall`)."""
        async with gateway(url, authorization(ctx)) as client:
            path = f"/v1/questions/{question_id}"
            return question_shape(await call(client, "GET", path, params={"wait": wait_seconds}))

    @tool(ASKS)
    async def verify_text(
        ctx: Anything,
        text: Annotated[str, Field(description="an answer, abstract or slide", min_length=1)],
        wait_seconds: Wait = 30,
    ) -> dict[str, Any]:
        """Check every claim, quotation, number and identifier of a text against held evidence."""
        async with gateway(url, authorization(ctx)) as client:
            accepted = await call(client, "POST", "/v1/verifications", json={"text": text})
            path = f"/v1/verifications/{accepted['id']}"
            found = await call(client, "GET", path, params={"wait": wait_seconds})
        return verification_shape(found)

    @tool(READS)
    async def get_verification(
        ctx: Anything, verification_id: UUID, wait_seconds: Wait = 30
    ) -> dict[str, Any]:
        """The verdicts on a text that was sent to verify_text before."""
        async with gateway(url, authorization(ctx)) as client:
            path = f"/v1/verifications/{verification_id}"
            return verification_shape(
                await call(client, "GET", path, params={"wait": wait_seconds})
            )

    @tool(READS)
    async def read_evidence(
        ctx: Anything,
        document_id: UUID,
        version: Annotated[int, Field(ge=1, description="as a citation gives it")],
        start: Annotated[int, Field(ge=0, description="code point where the words begin")],
        end: Annotated[int, Field(ge=1, description="code point behind their end")],
    ) -> dict[str, Any]:
        """The exact words of a span of a version of a source, to the letter."""
        path = f"/v1/documents/{document_id}/versions/{version}/text"
        async with gateway(url, authorization(ctx)) as client:
            words = await call(client, "GET", path, params={"start": start, "end": end})
        return {
            "document_id": str(document_id),
            "version": version,
            "start": start,
            "end": end,
            "text": words,
        }

    @tool(READS)
    async def list_sources(ctx: Anything) -> dict[str, Any]:
        """How fresh each source is, and whether it is inside its limit."""
        async with gateway(url, authorization(ctx)) as client:
            found: dict[str, Any] = await call(client, "GET", "/v1/sources")
        return found

    return MCPServer(
        "attest",
        title="Attest",
        version=version("attest"),
        instructions=INSTRUCTIONS,
        tools=tools,
        log_level="WARNING",
    )


def closed(function: Callable[..., Any], annotations: ToolAnnotations) -> Tool:
    """A tool that refuses arguments it does not know, as the gateway does; the SDK ignores them."""
    made = Tool.from_function(function, annotations=annotations, structured_output=True)
    arguments = made.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    made.parameters = arguments.model_json_schema(by_alias=True)
    return made
