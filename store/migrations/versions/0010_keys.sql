-- A key of a caller. What was given out is not kept: `prefix` finds the row, `hash` is
-- BLAKE2b of the secret under `salt`. Rows stay when a key is revoked: events name their ids.
CREATE TABLE access_key (
    id              uuid PRIMARY KEY,
    prefix          varchar NOT NULL UNIQUE,
    salt            bytea NOT NULL CHECK (octet_length(salt) = 16),
    hash            bytea NOT NULL CHECK (octet_length(hash) = 32),
    name            varchar NOT NULL,
    owner           varchar NOT NULL,
    scopes          varchar[] NOT NULL CHECK (
        cardinality(scopes) > 0
        AND scopes <@ ARRAY['ask', 'read', 'documents', 'operate', 'audit']::varchar[]
    ),
    -- Empty: what knowledge/access.yaml says.
    rate_per_minute integer CHECK (rate_per_minute > 0),
    requests_a_day  integer CHECK (requests_a_day > 0),
    usd_a_day       numeric CHECK (usd_a_day > 0),
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    revoked_at      timestamptz,
    last_used_at    timestamptz,
    -- Requests on one day (UTC), as far as they were written down: Redis counts between.
    counted_on      date,
    counted         integer NOT NULL DEFAULT 0
);
CREATE INDEX access_key_owner ON access_key (owner, created_at);

-- Whose it is: nobody else is shown it, or told that it is there.
ALTER TABLE question ADD COLUMN owner varchar NOT NULL DEFAULT 'local';
ALTER TABLE verification ADD COLUMN owner varchar NOT NULL DEFAULT 'local';
ALTER TABLE note ADD COLUMN owner varchar NOT NULL DEFAULT 'local';
CREATE INDEX question_owner ON question (owner, created_at);
CREATE INDEX verification_owner ON verification (owner, created_at);
CREATE INDEX note_owner ON note (owner, created_at);

-- Two owners may choose the same idempotency key, and neither is told of the other's.
ALTER TABLE question DROP CONSTRAINT question_idempotency_key_key;
ALTER TABLE question ADD CONSTRAINT question_owner_idempotency_key UNIQUE (owner, idempotency_key);
