-- A session that plays a replica (session_replication_role) skips ordinary triggers, not this one.
-- The owner of a table is refused like anybody: triggers ask nobody's rights.
ALTER TABLE audit_event ENABLE ALWAYS TRIGGER audit_event_append_only;

CREATE FUNCTION audit_head_only_moves_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.seq > OLD.seq THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'the head of the audit log only moves on: % is refused', TG_OP;
END $$;
CREATE TRIGGER audit_head_moves_on BEFORE UPDATE OR DELETE ON audit_head
    FOR EACH ROW EXECUTE FUNCTION audit_head_only_moves_on();
CREATE TRIGGER audit_head_stays BEFORE TRUNCATE ON audit_head
    FOR EACH STATEMENT EXECUTE FUNCTION audit_head_only_moves_on();
ALTER TABLE audit_head ENABLE ALWAYS TRIGGER audit_head_moves_on;
ALTER TABLE audit_head ENABLE ALWAYS TRIGGER audit_head_stays;

-- What an answer was composed from beside its question, retrieval and draft: verdicts, both clocks,
-- standings, conflicts, costs. With it the same bytes are composed again, and no model is asked. It
-- holds words of claims, as answers do, and goes where they go.
CREATE TABLE answer_inputs (
    question_id uuid PRIMARY KEY REFERENCES question (id),
    body jsonb NOT NULL,
    hash varchar NOT NULL,
    created_at timestamptz NOT NULL
);
