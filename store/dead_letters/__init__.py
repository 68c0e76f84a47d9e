"""Messages that died: recorded, listed, replayed."""
