"""Evidence documents: submit, search, and read exact versions and spans."""
