-- A clinical note. Its words stay in this row: they go to no log, audit event or metric.
CREATE TABLE note (
    id           uuid PRIMARY KEY,
    text         varchar NOT NULL,
    text_hash    varchar NOT NULL,
    title        varchar,
    status       varchar NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'done', 'failed')),
    error        varchar,
    result       jsonb,
    result_hash  varchar,
    request_id   uuid NOT NULL,
    created_at   timestamptz NOT NULL,
    finished_at  timestamptz,
    CHECK ((status = 'done') = (result IS NOT NULL))
);
CREATE INDEX note_created ON note (created_at);
