-- Whatever is submitted may carry an idempotency key, as questions do. It stands in the row that was
-- made under it, with the hash of the request, and goes when the row's words are erased.
ALTER TABLE note
    ADD idempotency_key varchar,
    ADD request_hash varchar,
    ADD CONSTRAINT note_erased_has_no_key CHECK (status <> 'erased' OR idempotency_key IS NULL);
ALTER TABLE verification
    ADD idempotency_key varchar,
    ADD request_hash varchar,
    ADD CONSTRAINT verification_erased_has_no_key
        CHECK (status <> 'erased' OR idempotency_key IS NULL);
ALTER TABLE extraction
    ADD idempotency_key varchar,
    ADD request_hash varchar,
    ADD CONSTRAINT extraction_erased_has_no_key
        CHECK (status <> 'erased' OR idempotency_key IS NULL);
-- Evidence is everybody's; `owner` is who submitted it, because keys belong to owners. `first_line`
-- is that of a packet of lines in the file that it was cut from.
ALTER TABLE ingest_item
    ADD owner varchar NOT NULL DEFAULT 'local',
    ADD idempotency_key varchar,
    ADD request_hash varchar,
    ADD first_line integer NOT NULL DEFAULT 1 CHECK (first_line >= 1);

CREATE UNIQUE INDEX note_idempotency_key ON note (owner, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX verification_idempotency_key ON verification (owner, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX extraction_idempotency_key ON extraction (owner, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX ingest_item_idempotency_key ON ingest_item (owner, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
