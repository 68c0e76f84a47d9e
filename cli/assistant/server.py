"""The MCP server: tools to ask, follow, verify and read; each calls the gateway.

It stores nothing and decides nothing. Over stdio it sends the key of its settings. Over HTTP it
passes on the caller's `Authorization` and has no key of its own, so that the caller's scopes,
limits and owner apply.
"""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations

from cli.assistant.tools import Tools

INSTRUCTIONS = (
    "Attest answers clinical questions from evidence that it holds. Every claim cites an exact "
    "span of an exact version of a source. Ask a whole clinical question; check a text of your own "
    "with verify_text before you show it; read the words around a citation with read_evidence. "
    "Where Attest abstains, say so; do not fill the gap from memory. It is no medical device."
)

READS = ToolAnnotations(readOnlyHint=True, openWorldHint=False)
ASKS = ToolAnnotations(readOnlyHint=False, destructiveHint=False, openWorldHint=False)


def build(url: str, key: str = "", *, pass_on: bool = False) -> MCPServer[Any]:
    """Return the server whose tools call the gateway at `url`; see `Tools`."""
    tools = Tools(url, key, pass_on=pass_on)
    return MCPServer(
        "attest",
        title="Attest",
        version=version("attest"),
        instructions=INSTRUCTIONS,
        tools=[
            closed(tools.ask, ASKS),
            closed(tools.get_answer, READS),
            closed(tools.verify_text, ASKS),
            closed(tools.get_verification, READS),
            closed(tools.read_evidence, READS),
            closed(tools.search_evidence, READS),
            closed(tools.list_documents, READS),
            closed(tools.list_sources, READS),
            closed(tools.list_watches, READS),
        ],
        log_level="WARNING",
    )


def closed(function: Callable[..., Any], annotations: ToolAnnotations) -> Tool:
    """Return a tool that refuses unknown arguments, as the gateway does; the SDK ignores them."""
    tool = Tool.from_function(function, annotations=annotations, structured_output=True)
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    tool.parameters = arguments.model_json_schema(by_alias=True)
    return tool
