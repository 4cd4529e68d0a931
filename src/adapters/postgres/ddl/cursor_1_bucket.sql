-- The outbox of Postrider, mode `cursor`. PostgreSQL 14 or newer. Needs no extension and no
-- superuser, only the right to create tables in the schema. Can be run again.
BEGIN;
SET LOCAL client_min_messages = warning;

DO $check$
BEGIN
  IF to_regclass(@'outbox'@) IS NOT NULL AND to_regclass(@'outbox_cursor'@) IS NULL THEN
    RAISE EXCEPTION 'The table % exists and was not made for the mode cursor.', @'outbox'@
      USING HINT = 'Choose another name with --table.';
  END IF;
END
$check$;

-- The bucket (partition) that new rows go to. Postrider changes it when a bucket has grown enough
-- and the next one is empty, and empties buckets that are read to the end. No row is ever deleted
-- or updated, so there is nothing to vacuum.
CREATE TABLE IF NOT EXISTS @outbox_bucket@ (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  bucket smallint NOT NULL DEFAULT 0 CHECK (bucket BETWEEN 0 AND 2),
  since timestamptz NOT NULL DEFAULT now()
);
INSERT INTO @outbox_bucket@ DEFAULT VALUES ON CONFLICT DO NOTHING;

CREATE OR REPLACE FUNCTION @outbox_bucket_now@() RETURNS smallint LANGUAGE sql STABLE
  RETURN coalesce((SELECT bucket FROM @outbox_bucket@), 0::smallint);

