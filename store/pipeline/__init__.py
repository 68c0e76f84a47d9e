"""How work moves: ledger, outbox, circuits, backlog, schedule ticks."""
