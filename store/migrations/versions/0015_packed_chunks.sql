-- The ids of a version's chunks, 8 bytes each as int8send gives them: of thousands of versions they
-- are joined and sent as they are. Unpacking and packing arrays took three times as long (ADR 0022).
CREATE FUNCTION pack_ids(ids bigint[]) RETURNS bytea LANGUAGE sql IMMUTABLE AS
    $$ SELECT coalesce(string_agg(int8send(id), '' ORDER BY id), '') FROM unnest(ids) AS id $$;
ALTER TABLE version_tags
    ALTER chunk_ids DROP DEFAULT,
    ALTER chunk_ids TYPE bytea USING pack_ids(chunk_ids),
    ALTER chunk_ids SET DEFAULT '',
    ADD CONSTRAINT version_tags_chunk_ids_whole CHECK (octet_length(chunk_ids) % 8 = 0);
DROP FUNCTION pack_ids;

CREATE OR REPLACE FUNCTION version_tags_know_the_chunks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO version_tags AS t (version_id, focus, diseases, decisions, vocabulary, chunk_ids)
        SELECT version_id, '{}', '{}', '{}', '', string_agg(int8send(id), '' ORDER BY id)
        FROM fresh GROUP BY version_id ORDER BY version_id
        ON CONFLICT (version_id) DO UPDATE SET chunk_ids = t.chunk_ids || excluded.chunk_ids;
    RETURN NULL;
END $$;
