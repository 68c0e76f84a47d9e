"""`attest mcp`: what is held and attested, as tools for any assistant (Model Context Protocol)."""
