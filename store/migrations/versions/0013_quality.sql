-- What was measured of an answer when it was sealed (MRD 4.2): names, counts and times, no texts.
CREATE TABLE answer_quality (
    question_id uuid PRIMARY KEY REFERENCES question,
    sealed_at timestamptz NOT NULL,
    query_type varchar NOT NULL,
    sources integer NOT NULL CHECK (sources >= 0),
    source_types jsonb NOT NULL,
    nccn integer NOT NULL,
    trials integer NOT NULL,
    trial_sources integer NOT NULL,
    guidelines integer NOT NULL,
    over_caps integer NOT NULL,
    first_section varchar,
    routing_compliant boolean,
    verified integer NOT NULL,
    partial integer NOT NULL,
    unverified integer NOT NULL,
    conflicting integer NOT NULL,
    citations integer NOT NULL,
    quotations integer NOT NULL,
    unanchored integer NOT NULL,
    abstain_reason varchar,
    generator varchar,
    cost_usd numeric,
    response_ms double precision NOT NULL,
    stage_ms jsonb NOT NULL,
    CHECK (unanchored BETWEEN 0 AND quotations),
    CHECK (nccn <= guidelines AND guidelines <= sources)
);
CREATE INDEX answer_quality_sealed ON answer_quality (sealed_at);

-- Questions that no answer came of, for the counts of a day.
CREATE INDEX question_failed ON question (finished_at) WHERE status = 'failed';

-- A lease that ran out is seen once, when somebody else takes the work: the row of the ledger then goes
-- from running to running with another token. One small row a stage, for that moment only.
CREATE TABLE stage_takeover (
    stage varchar PRIMARY KEY,
    takeovers bigint NOT NULL,
    last_at timestamptz NOT NULL
);

CREATE FUNCTION stage_run_is_taken_over() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stage_takeover VALUES (NEW.stage, 1, clock_timestamp())
    ON CONFLICT (stage) DO UPDATE
    SET takeovers = stage_takeover.takeovers + 1, last_at = excluded.last_at;
    RETURN NULL;
END $$;
CREATE TRIGGER stage_run_taken_over AFTER UPDATE ON stage_run
    FOR EACH ROW
    WHEN (OLD.status = 'running' AND NEW.status = 'running' AND OLD.token <> NEW.token)
    EXECUTE FUNCTION stage_run_is_taken_over();
