"""The audit chain and the audit trail of one answer."""
