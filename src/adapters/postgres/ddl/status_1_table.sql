-- The outbox of Postrider, mode `status`. Needs no extension and no superuser, only the right to
-- create tables in the schema. Can be run again. A table of the application that has a unique `id`
-- gets the columns that it lacks.
BEGIN;
SET LOCAL client_min_messages = warning;

DO $check$
BEGIN
  IF to_regclass(@'outbox_cursor'@) IS NOT NULL THEN
    RAISE EXCEPTION 'The table % was made for the mode cursor.', @'outbox'@
      USING HINT = 'Choose another name with --table.';
  END IF;
END
$check$;

CREATE TABLE IF NOT EXISTS @outbox@ (
  -- What the application writes. Only `payload` is required, and `event_type` unless the source has
  -- a default_type.
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),   -- X-Webhook-Id, and the idempotency key.
  event_type text,
  payload json NOT NULL,                           -- Sent byte for byte.
  tenant_id text,
  resource_id text,
  webhook_url text,                                -- The only receiver; null: the subscribers.
  secret text                                      -- Signs the requests to webhook_url.
);

-- What the application reads. A row that is `failed` or `delivered` is sent again if the
-- application sets it to `pending`.
ALTER TABLE @outbox@
  ADD COLUMN IF NOT EXISTS status text NOT NULL DEFAULT 'pending',  -- retrying, delivered, failed.
  ADD COLUMN IF NOT EXISTS attempts integer NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS last_error text,
  -- Not sent before this time.
  ADD COLUMN IF NOT EXISTS next_attempt_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN IF NOT EXISTS created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ADD COLUMN IF NOT EXISTS delivered_at timestamptz;

-- What Postrider needs. Leave it alone.
ALTER TABLE @outbox@
  ADD COLUMN IF NOT EXISTS postrider_node text,
  ADD COLUMN IF NOT EXISTS postrider_claimed_until timestamptz,
  ADD COLUMN IF NOT EXISTS postrider_handed_over_at timestamptz,
  ADD COLUMN IF NOT EXISTS postrider_generation integer NOT NULL DEFAULT 0;

-- The rows that are due.
CREATE INDEX IF NOT EXISTS @%outbox_due@ ON @outbox@ (created_at, id, next_attempt_at)
  WHERE status IN ('pending', 'retrying') AND postrider_handed_over_at IS NULL;
-- For the removal of old rows (keep_delivered_seconds).
CREATE INDEX IF NOT EXISTS @%outbox_done@ ON @outbox@ (delivered_at) WHERE status = 'delivered';

-- Every row is updated a few times: leave room on its page, and clean up early.
ALTER TABLE @outbox@ SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

COMMIT;
