-- A clinical document whose fields are extracted. Its words stand in these tables only: they go to
-- no log, audit event, metric or message.
CREATE TABLE extraction (
    id            uuid PRIMARY KEY,
    owner         varchar NOT NULL DEFAULT 'local',
    title         varchar,
    filename      varchar,
    media_type    varchar,
    content       bytea,               -- a file, until its text has been read
    content_hash  varchar NOT NULL,    -- of the file, or of the text where a text was sent
    text          varchar,
    text_hash     varchar,
    asked_type    varchar,
    document_type varchar,
    profile       varchar NOT NULL,
    plan          jsonb,
    status        varchar NOT NULL DEFAULT 'queued'
                  CHECK (status IN ('queued', 'running', 'done', 'failed', 'erased')),
    error         varchar,
    result        jsonb,
    result_hash   varchar,
    outcome       varchar CHECK (outcome IN ('extracted', 'unreadable')),
    score         double precision,
    iterations    integer NOT NULL DEFAULT 0,
    met_threshold boolean,
    seconds       double precision NOT NULL DEFAULT 0,
    cost_usd      numeric,
    request_id    uuid NOT NULL,
    created_at    timestamptz NOT NULL,
    finished_at   timestamptz,
    hash_key      bytea,               -- of the hashes above; erased with the words (0011)
    erased_at     timestamptz,
    CONSTRAINT extraction_erased CHECK ((status = 'erased') = (erased_at IS NOT NULL)),
    CONSTRAINT extraction_erased_is_wordless CHECK (status <> 'erased' OR
        (coalesce(text, '') = '' AND coalesce(content, '') = '' AND title IS NULL
         AND filename IS NULL AND plan IS NULL AND result IS NULL AND error IS NULL
         AND hash_key IS NULL)),
    CHECK (text IS NOT NULL OR content IS NOT NULL),
    CHECK ((text IS NULL) = (text_hash IS NULL)),
    CHECK ((status = 'done') = (result IS NOT NULL)),
    CHECK (status <> 'done' OR outcome IS NOT NULL)
);
CREATE INDEX extraction_owner ON extraction (owner, created_at DESC, id);
CREATE INDEX extraction_finished ON extraction (finished_at);
-- What is older than it may become is found by this.
CREATE INDEX extraction_kept ON extraction (created_at) WHERE status IN ('done', 'failed');

-- One iteration of the loop over one part of a document, committed before the next begins.
CREATE TABLE extraction_iteration (
    extraction_id uuid NOT NULL REFERENCES extraction (id) ON DELETE CASCADE,
    part          integer NOT NULL CHECK (part >= 0),
    n             integer NOT NULL CHECK (n >= 1),
    proposal      jsonb NOT NULL,
    evaluation    jsonb NOT NULL,
    score         double precision NOT NULL,
    gain          double precision,
    seconds       double precision NOT NULL,
    consulted     jsonb NOT NULL DEFAULT '{}',
    prompt_hash   varchar,
    cost_usd      numeric,
    ended_at      timestamptz NOT NULL,
    PRIMARY KEY (extraction_id, part, n)
);

-- A request to a language model and what it answered, written before anything is made of it: a
-- step that begins again finds the answer here and pays nothing.
CREATE TABLE extraction_reply (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    extraction_id uuid NOT NULL REFERENCES extraction (id) ON DELETE CASCADE,
    part          integer NOT NULL,
    n             integer NOT NULL,
    purpose       varchar NOT NULL,
    voice         integer NOT NULL DEFAULT 0,
    prompt_hash   varchar NOT NULL,
    status        varchar NOT NULL DEFAULT 'asked'
                  CHECK (status IN ('asked', 'answered', 'failed')),
    reply         jsonb,
    asked_at      timestamptz NOT NULL,
    ended_at      timestamptz,
    CHECK ((status = 'answered') = (reply IS NOT NULL))
);
CREATE UNIQUE INDEX extraction_reply_answered
    ON extraction_reply (extraction_id, part, n, purpose, voice, prompt_hash)
    WHERE status = 'answered';
CREATE INDEX extraction_reply_request
    ON extraction_reply (extraction_id, part, n, purpose, voice, prompt_hash);

-- An extraction that a person should look at, and what the person said.
CREATE TABLE review (
    id            uuid PRIMARY KEY,
    extraction_id uuid NOT NULL UNIQUE REFERENCES extraction (id) ON DELETE CASCADE,
    owner         varchar NOT NULL DEFAULT 'local',
    status        varchar NOT NULL DEFAULT 'open'
                  CHECK (status IN ('open', 'accepted', 'corrected')),
    score         double precision NOT NULL,
    corrected     jsonb,
    decided_by    varchar,
    created_at    timestamptz NOT NULL,
    decided_at    timestamptz,
    CHECK ((status = 'open') = (decided_at IS NULL)),
    CHECK ((status = 'corrected') = (corrected IS NOT NULL))
);
CREATE INDEX review_status ON review (status, created_at, id);

-- Which fields a prompt named when a document of a type came out well. Names of fields are ours:
-- no column has room for a document's words.
CREATE TABLE prompt_memory (
    id            uuid PRIMARY KEY,
    document_type varchar NOT NULL,
    fields        jsonb NOT NULL,
    fields_hash   varchar NOT NULL,
    score         double precision NOT NULL CHECK (score BETWEEN 0 AND 1),
    uses          integer NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL,
    used_at       timestamptz,
    UNIQUE (document_type, fields_hash)
);
