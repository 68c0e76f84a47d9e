"""Evidence: submitted, searched, read at exact versions and spans."""
