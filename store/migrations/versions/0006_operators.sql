-- The dead letter itself stays as it was written; what became of it stands here, once.
CREATE TABLE dead_letter_resolution (
    dead_letter_id uuid PRIMARY KEY REFERENCES dead_letter (id),
    kind varchar NOT NULL CHECK (kind IN ('replayed', 'discarded')),
    "by" varchar NOT NULL,
    reason varchar,
    forced boolean NOT NULL DEFAULT false,
    upgraded_from varchar,
    at timestamptz NOT NULL,
    due_at timestamptz,
    CHECK (kind = 'replayed' OR reason IS NOT NULL)
);
-- Replays line up behind those that are not due yet, so that they share one rate.
CREATE INDEX dead_letter_resolution_due ON dead_letter_resolution (due_at);

CREATE INDEX dead_letter_died ON dead_letter (died_at, id);
CREATE INDEX dead_letter_fingerprint ON dead_letter (fingerprint, died_at);
CREATE INDEX dead_letter_stage ON dead_letter (stage, died_at);
CREATE INDEX dead_letter_outbox ON dead_letter (outbox_id);

-- A stage without a row is closed: it works. `open`: too much of it died, it pauses and is probed.
-- `paused`: an operator stopped it, and starts it again.
CREATE TABLE stage_circuit (
    stage varchar PRIMARY KEY,
    state varchar NOT NULL CHECK (state IN ('closed', 'open', 'paused')),
    reason varchar,
    changed_by varchar NOT NULL,
    changed_at timestamptz NOT NULL,
    counted_from timestamptz,
    probe_at timestamptz,
    probe uuid,
    failed_probes integer NOT NULL DEFAULT 0,
    CHECK (state = 'open' OR (probe_at IS NULL AND probe IS NULL))
);

-- What ended lately is counted when a stage's messages die. Rows lie nearly in the order of time, and
-- this kind of index costs an update of the ledger next to nothing.
CREATE INDEX stage_run_finished ON stage_run USING brin (finished_at)
    WITH (pages_per_range = 16, autosummarize = on);
