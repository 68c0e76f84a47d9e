"""Commands on clinical documents and notes."""
