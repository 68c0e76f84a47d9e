-- What a source says beyond the words -----------------------------------------------------------

ALTER TABLE document_version
    ADD source varchar,
    ADD subjects jsonb NOT NULL DEFAULT '[]',
    ADD facts jsonb NOT NULL DEFAULT '{}';

-- One work must not stand under two numbers: these find the others that name the same one.
CREATE INDEX document_version_pmid ON document_version ((identifiers ->> 'pmid'))
    WHERE status = 'current' AND identifiers ? 'pmid';
CREATE INDEX document_version_pmcid ON document_version ((identifiers ->> 'pmcid'))
    WHERE status = 'current' AND identifiers ? 'pmcid';
CREATE INDEX document_version_doi ON document_version (lower(identifiers ->> 'doi'))
    WHERE status = 'current' AND identifiers ? 'doi';
CREATE INDEX document_version_nct ON document_version ((identifiers ->> 'nct_id'))
    WHERE status = 'current' AND identifiers ? 'nct_id';

CREATE INDEX document_version_by_source ON document_version (source, status);

-- Following ---------------------------------------------------------------------------------------

CREATE TABLE watch (
    id uuid PRIMARY KEY,
    source varchar NOT NULL,
    query varchar NOT NULL,
    origin varchar NOT NULL CHECK (origin IN ('user', 'suggested', 'abstention')),
    active boolean NOT NULL,
    marks jsonb NOT NULL,
    cursor_at timestamptz,
    failures integer NOT NULL,
    retry_at timestamptz,
    last_error varchar,
    last_error_at timestamptz,
    created_at timestamptz NOT NULL,
    followed_at timestamptz NOT NULL,
    UNIQUE (source, query)
);

CREATE TABLE refresh (
    id uuid PRIMARY KEY,
    watch_id uuid NOT NULL REFERENCES watch,
    reason varchar NOT NULL CHECK (reason IN ('schedule', 'retry', 'user', 'abstention')),
    status varchar NOT NULL CHECK (status IN ('queued', 'fetching', 'storing', 'complete', 'failed')),
    since timestamptz,
    started_at timestamptz,
    step integer NOT NULL,
    restarts integer NOT NULL,
    continuation jsonb,
    rechecked jsonb NOT NULL,
    marks jsonb NOT NULL,
    looked boolean NOT NULL,
    total integer,
    payloads integer NOT NULL,
    records integer NOT NULL,
    fresh integer NOT NULL,
    problems integer NOT NULL,
    error varchar,
    requested_at timestamptz NOT NULL,
    finished_at timestamptz
);
CREATE UNIQUE INDEX refresh_one_active ON refresh (watch_id)
    WHERE status IN ('queued', 'fetching', 'storing');
CREATE INDEX refresh_watch ON refresh (watch_id, requested_at DESC);

ALTER TABLE ingest_item
    ADD source varchar,
    ADD refresh_id uuid REFERENCES refresh,
    ADD fetched_at timestamptz;
CREATE INDEX ingest_item_refresh ON ingest_item (refresh_id, status) WHERE refresh_id IS NOT NULL;

-- Which watch vouches for which document. `broken`: it does not, because the record could not be
-- read or is missing at the source.
CREATE TABLE watch_document (
    watch_id uuid NOT NULL REFERENCES watch,
    document_id uuid NOT NULL REFERENCES document,
    seen_at timestamptz NOT NULL,
    missing_since timestamptz,
    broken varchar,
    PRIMARY KEY (watch_id, document_id)
);
CREATE INDEX watch_document_document ON watch_document (document_id);
CREATE INDEX watch_document_seen ON watch_document (watch_id, seen_at);

CREATE TABLE tick (
    job varchar NOT NULL,
    fire_at timestamptz NOT NULL,
    refresh_id uuid REFERENCES refresh,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (job, fire_at)
);

CREATE TABLE sla_breach (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    watch_id uuid NOT NULL REFERENCES watch,
    began_at timestamptz NOT NULL,
    ended_at timestamptz,
    cause varchar NOT NULL,
    UNIQUE (watch_id, began_at)
);
CREATE UNIQUE INDEX sla_breach_one_open ON sla_breach (watch_id) WHERE ended_at IS NULL;

CREATE TABLE source_state (
    source varchar PRIMARY KEY,
    status varchar NOT NULL CHECK (status IN ('ok', 'degraded')),
    reason varchar,
    since timestamptz NOT NULL,
    failures integer NOT NULL DEFAULT 0,
    retry_at timestamptz,
    last_success_at timestamptz,
    last_error varchar,
    last_error_at timestamptz
);

CREATE TABLE rate_limit (
    host varchar PRIMARY KEY,
    next_at timestamptz NOT NULL
);

CREATE TABLE import_file (
    source varchar NOT NULL,
    fingerprint varchar NOT NULL,
    filename varchar NOT NULL,
    slices integer NOT NULL,
    records integer NOT NULL,
    batch_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (source, fingerprint)
);

-- Standing: what sources say became of a work -------------------------------------------------------

CREATE TABLE notice (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id uuid NOT NULL REFERENCES document,
    source varchar NOT NULL,
    kind varchar NOT NULL CHECK (kind IN ('retraction', 'withdrawal', 'removal',
        'expression_of_concern', 'correction', 'republication')),
    notice_id varchar NOT NULL,
    stated_on date,
    first_seen_at timestamptz NOT NULL,
    gone_at timestamptz,
    UNIQUE (document_id, source, kind, notice_id)
);
CREATE INDEX notice_standing ON notice (document_id) WHERE gone_at IS NULL;

CREATE TABLE standing_check (
    document_id uuid NOT NULL REFERENCES document,
    source varchar NOT NULL,
    asked_at timestamptz NOT NULL,
    known boolean NOT NULL,
    PRIMARY KEY (document_id, source)
);

CREATE TABLE finding (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind varchar NOT NULL CHECK (kind IN ('malformed', 'conflict', 'mismatch', 'nonexistent',
        'unreadable', 'unmapped')),
    source varchar NOT NULL,
    subject varchar NOT NULL,
    document_id uuid REFERENCES document,
    detail jsonb NOT NULL,
    first_seen_at timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    resolved_at timestamptz,
    UNIQUE NULLS NOT DISTINCT (kind, source, subject, document_id)
);
CREATE INDEX finding_open ON finding (document_id) WHERE resolved_at IS NULL;
