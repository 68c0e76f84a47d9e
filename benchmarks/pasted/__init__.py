"""How often `attest verify` calls false statements verified: docs/verification.md."""
