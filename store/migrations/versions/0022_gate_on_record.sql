-- What the gate did to a draft, in counts, and what names it (`workers/verify/record`). Null: sealed by a
-- release that did not count.
ALTER TABLE answer_quality
    ADD gate varchar,
    ADD drafted integer,
    ADD own_words integer,
    ADD source_words integer,
    ADD mended integer,
    ADD repaired integer,
    ADD doubts integer,
    ADD doubts_answered integer,
    ADD doubts_standing integer,
    ADD both_judged integer,
    ADD disagreed integer,
    ADD controls integer,
    ADD controls_missed integer,
    ADD believed boolean,
    ADD stops jsonb,
    ADD CONSTRAINT answer_quality_own_words CHECK (own_words + source_words <= drafted),
    ADD CONSTRAINT answer_quality_disagreed CHECK (disagreed <= both_judged);

-- How long a request took, from sending to reply. Null: it was asked by an earlier release, or is open.
ALTER TABLE model_usage ADD ms double precision;

-- A run that verifies held answers again. `gate` and `answers` are known once the first step is done.
CREATE TABLE recheck (
    id uuid PRIMARY KEY,
    dry_run boolean NOT NULL,
    everything boolean NOT NULL,
    ask boolean NOT NULL,
    status varchar NOT NULL CHECK (status IN ('running', 'done', 'failed')),
    error varchar,
    gate varchar,
    answers integer,
    request_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    CHECK ((status = 'running') = (finished_at IS NULL))
);
CREATE UNIQUE INDEX recheck_one_at_a_time ON recheck ((true)) WHERE status = 'running';

-- What the gate of the run makes of an answer. Rows are added and never changed; codes, no words.
CREATE TABLE recheck_answer (
    recheck_id uuid NOT NULL REFERENCES recheck,
    question_id uuid NOT NULL REFERENCES question,
    outcome varchar NOT NULL CHECK (outcome IN ('stands', 'falls', 'needs_judge', 'unreadable')),
    gate varchar NOT NULL,
    gate_before varchar,
    findings jsonb NOT NULL,
    settles boolean NOT NULL,
    checked_at timestamptz NOT NULL,
    PRIMARY KEY (recheck_id, question_id)
);
-- What need not be looked at again under the same gate: not a dry run, and decided.
CREATE INDEX recheck_answer_settled ON recheck_answer (question_id, gate) WHERE settles;
