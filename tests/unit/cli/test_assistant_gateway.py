"""What the assistant's tools send to the gateway, and what they cannot send."""

import pytest
from mcp.server.mcpserver.exceptions import ToolError

from cli.assistant.gateway import headers_of


def test_8_7_the_callers_own_key_is_sent_as_it_is() -> None:
    assert headers_of("Bearer attest_x") == {"Authorization": "Bearer attest_x"}
    assert headers_of(None) == {}


@pytest.mark.parametrize("key", ["attest_\u00fc", "attest_x\n", "attest_x\r\nA: b"])
def test_8_7_a_key_that_no_header_can_carry_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(ToolError, match="cannot be sent") as refused:
        headers_of(f"Bearer {key}")
    assert "attest_" not in str(refused.value)
