CREATE EXTENSION IF NOT EXISTS vector;

-- Evidence ------------------------------------------------------------------------------------

CREATE TABLE document (
    id uuid PRIMARY KEY,
    source_type varchar NOT NULL,
    source_key varchar NOT NULL UNIQUE,
    created_at timestamptz NOT NULL,
    checked_at timestamptz
);

CREATE TABLE document_version (
    id uuid PRIMARY KEY,
    document_id uuid NOT NULL REFERENCES document,
    n integer NOT NULL CHECK (n >= 1),
    content_hash varchar NOT NULL,
    title varchar NOT NULL,
    text varchar NOT NULL,
    structure jsonb NOT NULL,
    source_type varchar NOT NULL,
    url varchar,
    publisher varchar,
    publication_type varchar,
    evidence_level varchar,
    version_label varchar,
    identifiers jsonb NOT NULL,
    authors jsonb NOT NULL,
    labels jsonb NOT NULL,
    published_at timestamptz,
    published_precision varchar NOT NULL CHECK (published_precision IN ('day', 'month', 'year')),
    fetched_at timestamptz NOT NULL,
    status varchar NOT NULL CHECK (status IN ('current', 'superseded', 'retracted')),
    superseded_at timestamptz,
    created_at timestamptz NOT NULL,
    UNIQUE (document_id, n)
);
CREATE UNIQUE INDEX document_version_current ON document_version (document_id)
    WHERE status = 'current';
CREATE INDEX document_version_source ON document_version (source_type) WHERE status = 'current';

-- Invariant 7: only the standing of a version may change, and only forward.
CREATE FUNCTION document_version_is_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'document versions are never deleted (version %)', OLD.id;
    END IF;
    IF OLD.status <> 'current' AND NEW.status = 'current' THEN
        RAISE EXCEPTION 'a % version never becomes current again (version %)', OLD.status, OLD.id;
    END IF;
    IF (to_jsonb(NEW) - 'status' - 'superseded_at') <> (to_jsonb(OLD) - 'status' - 'superseded_at')
    THEN
        RAISE EXCEPTION 'document versions are immutable (version %)', OLD.id;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER document_version_immutable BEFORE UPDATE OR DELETE ON document_version
    FOR EACH ROW EXECUTE FUNCTION document_version_is_immutable();

CREATE TABLE ingest_item (
    id uuid PRIMARY KEY,
    batch_id uuid NOT NULL,
    filename varchar NOT NULL,
    media_type varchar,
    source_type varchar,
    content bytea,
    content_hash varchar NOT NULL,
    status varchar NOT NULL CHECK (status IN ('pending', 'done', 'failed')),
    error varchar,
    outcome jsonb,
    created_at timestamptz NOT NULL,
    finished_at timestamptz
);
CREATE INDEX ingest_item_batch ON ingest_item (batch_id);

CREATE TABLE chunk (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    version_id uuid NOT NULL REFERENCES document_version,
    ordinal integer NOT NULL,
    section varchar NOT NULL,
    start integer NOT NULL CHECK (start >= 0),
    "end" integer NOT NULL,
    UNIQUE (version_id, ordinal),
    CHECK (start < "end")
);

CREATE TABLE chunk_vector (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chunk_id bigint NOT NULL REFERENCES chunk ON DELETE CASCADE,
    start integer NOT NULL,
    "end" integer NOT NULL,
    embedding vector(384) NOT NULL
);
CREATE INDEX chunk_vector_chunk ON chunk_vector (chunk_id);

CREATE TABLE index_encoder (
    "only" boolean PRIMARY KEY CHECK ("only"),
    name varchar NOT NULL,
    dimensions integer NOT NULL
);

CREATE TABLE lex_segment (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    level integer NOT NULL,
    chunks integer NOT NULL,
    length_sum bigint NOT NULL,
    chunk_ids bytea NOT NULL,
    lengths bytea NOT NULL
);

CREATE TABLE lex_posting (
    term integer NOT NULL,
    segment_id bigint NOT NULL REFERENCES lex_segment ON DELETE CASCADE,
    chunks integer NOT NULL,
    ordinals bytea NOT NULL,
    frequencies bytea NOT NULL,
    PRIMARY KEY (term, segment_id)
);
CREATE INDEX lex_posting_segment ON lex_posting (segment_id);
ALTER TABLE lex_posting ALTER ordinals SET STORAGE EXTERNAL, ALTER frequencies SET STORAGE EXTERNAL;

CREATE TABLE anchor (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    version_id uuid NOT NULL REFERENCES document_version,
    start integer NOT NULL CHECK (start >= 0),
    "end" integer NOT NULL,
    score integer NOT NULL,
    signals jsonb NOT NULL,
    UNIQUE (version_id, start),
    CHECK (start < "end")
);

-- Questions -----------------------------------------------------------------------------------

CREATE TABLE question (
    id uuid PRIMARY KEY,
    text varchar NOT NULL,
    text_hash varchar NOT NULL,
    options jsonb NOT NULL,
    status varchar NOT NULL CHECK (status IN ('queued', 'running', 'answered', 'failed')),
    stage varchar,
    error varchar,
    request_id uuid NOT NULL,
    idempotency_key varchar UNIQUE,
    request_hash varchar NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz
);
CREATE INDEX question_unfinished ON question (created_at) WHERE status IN ('queued', 'running');
CREATE INDEX question_created ON question (created_at DESC, id);

CREATE TABLE retrieval (
    question_id uuid PRIMARY KEY REFERENCES question,
    body jsonb NOT NULL,
    hash varchar NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE TABLE draft (
    question_id uuid PRIMARY KEY REFERENCES question,
    body jsonb NOT NULL,
    hash varchar NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE TABLE answer (
    question_id uuid PRIMARY KEY REFERENCES question,
    body jsonb NOT NULL,
    hash varchar NOT NULL,
    abstain_reason varchar CHECK (abstain_reason IN ('no_evidence', 'low_trust_only', 'stale',
        'conflict', 'unsupported', 'out_of_scope', 'unchecked')),
    created_at timestamptz NOT NULL,
    sealed_at timestamptz
);

-- A sealed answer is what was attested: it is answered once and stays as it is.
CREATE FUNCTION answer_is_sealed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.sealed_at IS NOT NULL THEN
        RAISE EXCEPTION 'a sealed answer is never changed (question %)', OLD.question_id;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER answer_sealed BEFORE UPDATE OR DELETE ON answer
    FOR EACH ROW EXECUTE FUNCTION answer_is_sealed();

CREATE TABLE citation (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    question_id uuid NOT NULL REFERENCES question,
    claim_id varchar NOT NULL,
    version_id uuid NOT NULL REFERENCES document_version,
    start integer NOT NULL CHECK (start >= 0),
    "end" integer NOT NULL,
    quote_hash varchar NOT NULL,
    CHECK (start < "end")
);
CREATE INDEX citation_version ON citation (version_id);
CREATE INDEX citation_question ON citation (question_id);

-- Runtime -------------------------------------------------------------------------------------

CREATE SEQUENCE fencing_token;

CREATE TABLE stage_run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stage varchar NOT NULL,
    subject varchar NOT NULL,
    input_hash varchar NOT NULL,
    status varchar NOT NULL CHECK (status IN ('running', 'waiting', 'done', 'dead')),
    attempts integer NOT NULL,
    token bigint NOT NULL,
    worker varchar NOT NULL,
    outbox_id uuid,
    lease_until timestamptz,
    error varchar,
    first_failed_at timestamptz,
    started_at timestamptz NOT NULL,
    finished_at timestamptz,
    UNIQUE (stage, subject, input_hash)
);
CREATE INDEX stage_run_subject ON stage_run (subject);
CREATE INDEX stage_run_running ON stage_run (outbox_id) WHERE status = 'running';

CREATE TABLE outbox (
    id uuid PRIMARY KEY,
    stage varchar NOT NULL,
    payload jsonb NOT NULL,
    request_id uuid NOT NULL,
    status varchar NOT NULL CHECK (status IN ('pending', 'published', 'done', 'dead')),
    not_before timestamptz NOT NULL,
    publish_count integer NOT NULL,
    published_at timestamptz,
    created_at timestamptz NOT NULL,
    done_at timestamptz
);
CREATE INDEX outbox_pending ON outbox (not_before) WHERE status = 'pending';
CREATE INDEX outbox_request ON outbox (request_id);
CREATE INDEX outbox_published ON outbox (stage, published_at) WHERE status = 'published';

CREATE TABLE dead_letter (
    id uuid PRIMARY KEY,
    outbox_id uuid,
    stage varchar NOT NULL,
    subject varchar,
    payload jsonb NOT NULL,
    error_type varchar NOT NULL,
    cause varchar NOT NULL,
    traceback text NOT NULL,
    fingerprint varchar NOT NULL,
    attempts integer NOT NULL,
    code_version varchar NOT NULL,
    message_schema varchar,
    first_failed_at timestamptz NOT NULL,
    died_at timestamptz NOT NULL,
    status varchar NOT NULL CHECK (status IN ('open', 'replayed', 'discarded')),
    replays integer NOT NULL,
    resolved_at timestamptz
);
CREATE INDEX dead_letter_open ON dead_letter (died_at) WHERE status = 'open';
CREATE UNIQUE INDEX dead_letter_one_open ON dead_letter (outbox_id) WHERE status = 'open';

-- Audit (invariant 10) --------------------------------------------------------------------------

CREATE TABLE audit_event (
    seq bigint PRIMARY KEY,
    at timestamptz NOT NULL,
    actor varchar NOT NULL,
    event varchar NOT NULL,
    subject varchar NOT NULL,
    request_id uuid,
    payload jsonb NOT NULL,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL
);
CREATE INDEX audit_event_subject ON audit_event (subject, seq);
CREATE INDEX audit_event_event ON audit_event (event, seq);
CREATE INDEX audit_event_at ON audit_event (at);

CREATE TABLE audit_head (
    "only" boolean PRIMARY KEY CHECK ("only"),
    seq bigint NOT NULL,
    hash bytea NOT NULL
);
INSERT INTO audit_head VALUES (true, 0, decode(repeat('00', 32), 'hex'));

CREATE FUNCTION audit_event_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only: % is refused', TG_OP;
END $$;
CREATE TRIGGER audit_event_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_event
    FOR EACH STATEMENT EXECUTE FUNCTION audit_event_is_append_only();
