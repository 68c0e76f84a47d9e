-- What became of a sealed answer when something it cites changed. The answer itself never changes; an
-- answer without a row is current.
CREATE TABLE answer_recall (
    question_id uuid PRIMARY KEY REFERENCES question,
    state varchar NOT NULL CHECK (state IN ('affected', 'reaffirmed', 'superseded')),
    recall_id uuid NOT NULL,
    because jsonb NOT NULL,
    spans jsonb NOT NULL DEFAULT '[]',
    findings jsonb NOT NULL DEFAULT '[]',
    superseded_by uuid UNIQUE REFERENCES question,
    affected_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    CHECK (superseded_by IS NULL OR state = 'superseded')
);
CREATE INDEX answer_recall_open ON answer_recall (recall_id, question_id) WHERE state = 'affected';
CREATE INDEX answer_recall_state ON answer_recall (state, changed_at);
