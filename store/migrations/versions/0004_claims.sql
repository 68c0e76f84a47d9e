-- What a version states in numbers, found when its anchors are (MRD 3.3; conflicts are looked for in
-- it). Offsets are code points of the version's text, as everywhere.
CREATE TABLE effect_estimate (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    version_id  uuid NOT NULL REFERENCES document_version (id),
    start       integer NOT NULL CHECK (start >= 0),
    "end"       integer NOT NULL,
    measure     varchar NOT NULL,
    value       numeric NOT NULL,
    low         numeric,
    high        numeric,
    direction   varchar,
    body        jsonb NOT NULL DEFAULT '{}',
    CHECK ("end" > start),
    CHECK (low IS NULL OR high IS NULL OR low <= high)
);
CREATE INDEX effect_estimate_version ON effect_estimate (version_id);

-- What kind of sentence an anchor is: recommendation, evidence level, statistic, endpoint,
-- identifier, limitation.
ALTER TABLE anchor ADD COLUMN kinds jsonb NOT NULL DEFAULT '[]';

-- One row for each request to a language model that was paid for or might have been: budgets are
-- counted from here. A cost that is not known is NULL, never zero.
CREATE TABLE model_usage (
    id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at                  timestamptz NOT NULL,
    subject             varchar,
    purpose             varchar NOT NULL,
    model               varchar NOT NULL,
    outcome             varchar NOT NULL,
    input_tokens        integer NOT NULL DEFAULT 0,
    output_tokens       integer NOT NULL DEFAULT 0,
    cache_read_tokens   integer NOT NULL DEFAULT 0,
    cache_write_tokens  integer NOT NULL DEFAULT 0,
    cost_usd            numeric
);
CREATE INDEX model_usage_at ON model_usage (at);
CREATE INDEX model_usage_subject ON model_usage (subject) WHERE subject IS NOT NULL;

-- A pasted text to be checked: claims, quotations, identifiers, numbers.
CREATE TABLE verification (
    id           uuid PRIMARY KEY,
    text         varchar NOT NULL,
    text_hash    varchar NOT NULL,
    documents    jsonb NOT NULL DEFAULT '[]',
    options      jsonb NOT NULL DEFAULT '{}',
    status       varchar NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'done', 'failed')),
    error        varchar,
    result       jsonb,
    result_hash  varchar,
    request_id   uuid NOT NULL,
    created_at   timestamptz NOT NULL,
    finished_at  timestamptz
);
CREATE INDEX verification_created ON verification (created_at);
