"""The pipeline: ledger, outbox, circuits, backlog, schedule ticks."""
