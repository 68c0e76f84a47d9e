"""How clinical text is read: quantities, identifiers, quotations and what must not be cut. Pure."""
