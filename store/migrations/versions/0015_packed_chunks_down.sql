-- What went before: see 0003_filters.sql.
CREATE FUNCTION chunks_of(version uuid) RETURNS bigint[] LANGUAGE sql STABLE AS
    $$ SELECT coalesce(array_agg(id ORDER BY id), '{}') FROM chunk WHERE version_id = version $$;
ALTER TABLE version_tags
    DROP CONSTRAINT version_tags_chunk_ids_whole,
    ALTER chunk_ids DROP DEFAULT,
    ALTER chunk_ids TYPE bigint[] USING chunks_of(version_id),
    ALTER chunk_ids SET DEFAULT '{}';
DROP FUNCTION chunks_of;

CREATE OR REPLACE FUNCTION version_tags_know_the_chunks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO version_tags AS t (version_id, focus, diseases, decisions, vocabulary, chunk_ids)
        SELECT version_id, '{}', '{}', '{}', '', array_agg(id ORDER BY id)
        FROM fresh GROUP BY version_id ORDER BY version_id
        ON CONFLICT (version_id) DO UPDATE SET chunk_ids = t.chunk_ids || excluded.chunk_ids;
    RETURN NULL;
END $$;
