-- A browser that has signed in with a key. The token is in its cookie only; here is the hash of it.
-- What it may do is asked of the key each time, so a key that is revoked ends it.
CREATE TABLE page_session (
    hash       bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    key_id     uuid NOT NULL REFERENCES access_key ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX page_session_key ON page_session (key_id);
CREATE INDEX page_session_expires ON page_session (expires_at);
