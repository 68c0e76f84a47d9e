-- Words of patients can be erased: the row stays with its ids, hashes and times, and says so.
-- `hash_key` is what the hashes of the words in this row are keyed with (HMAC). It is erased with the
-- words: a hash that the audit chain keeps for ever fits no guess any more then. NULL in rows from
-- before, whose hashes have no key.
ALTER TABLE question
    ADD hash_key bytea,
    ADD erased_at timestamptz,
    DROP CONSTRAINT question_status_check;
ALTER TABLE note
    ADD hash_key bytea,
    ADD erased_at timestamptz,
    DROP CONSTRAINT note_status_check;
ALTER TABLE verification
    ADD hash_key bytea,
    ADD erased_at timestamptz,
    DROP CONSTRAINT verification_status_check;

-- What an older schema could only call failed (`downgrade`) is erased again.
UPDATE question SET status = 'erased', hash_key = NULL, error = NULL,
    erased_at = coalesce((SELECT max(at) FROM audit_event
                          WHERE subject = question.id::text AND event = 'question.erased'), now())
    WHERE text = '' AND error = 'its words were erased';
UPDATE note SET status = 'erased', hash_key = NULL, error = NULL,
    erased_at = coalesce((SELECT max(at) FROM audit_event
                          WHERE subject = note.id::text AND event = 'note.erased'), now())
    WHERE text = '' AND error = 'its words were erased';
UPDATE verification SET status = 'erased', hash_key = NULL, error = NULL,
    erased_at = coalesce((SELECT max(at) FROM audit_event
                          WHERE subject = verification.id::text
                            AND event = 'verification.erased'), now())
    WHERE text = '' AND error = 'its words were erased';

ALTER TABLE question
    ADD CONSTRAINT question_status_check
        CHECK (status IN ('queued', 'running', 'answered', 'failed', 'erased')),
    ADD CONSTRAINT question_erased CHECK ((status = 'erased') = (erased_at IS NOT NULL)),
    ADD CONSTRAINT question_erased_is_wordless CHECK (status <> 'erased' OR
        (text = '' AND options = '{}' AND error IS NULL AND idempotency_key IS NULL
         AND hash_key IS NULL));
ALTER TABLE note
    ADD CONSTRAINT note_status_check CHECK (status IN ('queued', 'done', 'failed', 'erased')),
    ADD CONSTRAINT note_erased CHECK ((status = 'erased') = (erased_at IS NOT NULL)),
    ADD CONSTRAINT note_erased_is_wordless CHECK (status <> 'erased' OR
        (text = '' AND title IS NULL AND result IS NULL AND error IS NULL AND hash_key IS NULL));
ALTER TABLE verification
    ADD CONSTRAINT verification_status_check
        CHECK (status IN ('queued', 'done', 'failed', 'erased')),
    ADD CONSTRAINT verification_erased CHECK ((status = 'erased') = (erased_at IS NOT NULL)),
    ADD CONSTRAINT verification_erased_is_wordless CHECK (status <> 'erased' OR
        (text = '' AND documents = '[]' AND options = '{}' AND result IS NULL AND error IS NULL
         AND hash_key IS NULL));

-- A sealed answer is never changed, but for its words going when those of its question went. Counts
-- and versions of what made it stay as they were.
CREATE OR REPLACE FUNCTION answer_is_sealed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF OLD.sealed_at IS NULL THEN
            RETURN NEW;
        END IF;
        IF NEW.body = coalesce((
               SELECT jsonb_object_agg(key, value) FROM jsonb_each(OLD.body)
               WHERE key IN ('verification_summary', 'quotations', 'provenance')), '{}')
           AND (to_jsonb(NEW) - 'body') = (to_jsonb(OLD) - 'body')
           AND EXISTS (SELECT FROM question WHERE id = OLD.question_id AND status = 'erased') THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'a sealed answer is never changed (question %)', OLD.question_id;
END $$;

-- What is older than it may become is found by these.
CREATE INDEX question_kept ON question (created_at) WHERE status IN ('answered', 'failed');
CREATE INDEX note_kept ON note (created_at) WHERE status IN ('done', 'failed');
CREATE INDEX verification_kept ON verification (created_at) WHERE status IN ('done', 'failed');
