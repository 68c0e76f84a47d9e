"""How well the service does, against its targets."""
