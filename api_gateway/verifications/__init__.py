"""Pasted texts, checked against the held evidence or the sources sent with them."""
