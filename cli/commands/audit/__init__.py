"""Commands on the tamper-evident log."""
