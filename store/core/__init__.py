"""The basis of the store: database, transactions, settings, hashes, spans."""
