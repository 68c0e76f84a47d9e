"""`attest mcp`: Attest as tools for any assistant (Model Context Protocol)."""
