-- Indexes and constraints go with their columns.
ALTER TABLE note DROP idempotency_key, DROP request_hash;
ALTER TABLE verification DROP idempotency_key, DROP request_hash;
ALTER TABLE extraction DROP idempotency_key, DROP request_hash;
ALTER TABLE ingest_item
    DROP owner, DROP idempotency_key, DROP request_hash, DROP first_line;
