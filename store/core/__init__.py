"""What all of the store stands on: database, transactions, settings, hashes, spans."""
