-- Vectors in half precision -----------------------------------------------------------------------

-- Half the bytes to read for each distance; a component of a unit vector loses about 0.0005 of
-- itself. The scheduler builds the HNSW index anew (ADR 0013).
DROP INDEX IF EXISTS chunk_vector_hnsw;
ALTER TABLE chunk_vector ALTER embedding TYPE halfvec(384);

-- What filters ask of a version ----------------------------------------------------------------------

-- One narrow row a version, so that the chunks that match are listed without reading anything else.
-- Tags are made anew with each vocabulary; the rest never changes. `vocabulary`: which one made the
-- tags; empty where none has yet.
CREATE TABLE version_tags (
    version_id uuid PRIMARY KEY REFERENCES document_version ON DELETE CASCADE,
    focus text[] NOT NULL,
    diseases text[] NOT NULL,
    decisions text[] NOT NULL,
    vocabulary varchar NOT NULL,
    source_type varchar NOT NULL,
    published_at timestamptz,
    created_at timestamptz NOT NULL,
    chunk_ids bigint[] NOT NULL DEFAULT '{}'
);
INSERT INTO version_tags
    SELECT d.id, '{}', '{}', '{}', '', d.source_type, d.published_at, d.created_at,
           coalesce((SELECT array_agg(c.id) FROM chunk c WHERE c.version_id = d.id), '{}')
    FROM document_version d;
CREATE INDEX version_tags_focus ON version_tags USING gin (focus);
CREATE INDEX version_tags_diseases ON version_tags USING gin (diseases);
CREATE INDEX version_tags_decisions ON version_tags USING gin (decisions);
CREATE INDEX version_tags_vocabulary ON version_tags (vocabulary);
CREATE INDEX version_tags_source_type ON version_tags (source_type);
CREATE INDEX version_tags_published ON version_tags (published_at);
CREATE INDEX version_tags_created ON version_tags (created_at);

CREATE FUNCTION version_tags_know_the_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT source_type, published_at, created_at
        INTO STRICT NEW.source_type, NEW.published_at, NEW.created_at
        FROM document_version WHERE id = NEW.version_id;
    RETURN NEW;
END $$;
CREATE TRIGGER version_tags_of_version BEFORE INSERT ON version_tags
    FOR EACH ROW EXECUTE FUNCTION version_tags_know_the_version();

CREATE FUNCTION version_tags_know_the_chunks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO version_tags AS t (version_id, focus, diseases, decisions, vocabulary, chunk_ids)
        SELECT version_id, '{}', '{}', '{}', '', array_agg(id ORDER BY id)
        FROM fresh GROUP BY version_id ORDER BY version_id
        ON CONFLICT (version_id) DO UPDATE SET chunk_ids = t.chunk_ids || excluded.chunk_ids;
    RETURN NULL;
END $$;
CREATE TRIGGER version_tags_of_chunks AFTER INSERT ON chunk
    REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION version_tags_know_the_chunks();

-- How many works cite a work, as a source tells it; null where it never did ---------------------------

ALTER TABLE standing_check ADD cited_by integer CHECK (cited_by >= 0);

-- What is taken in -----------------------------------------------------------------------------------

-- Packets are deleted once they are read: compressing them costs more than their bytes.
ALTER TABLE ingest_item ALTER content SET STORAGE EXTERNAL;
