CREATE TABLE IF NOT EXISTS @outbox@ (
  -- What the application writes: the columns of Debezium's outbox.
  id uuid NOT NULL DEFAULT gen_random_uuid(),      -- The idempotency key of the event.
  aggregatetype text,
  aggregateid text,                                -- The resource and the ordering key.
  type text,
  payload json NOT NULL,                           -- Sent byte for byte.
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- What Postrider needs. Leave it to the defaults.
  position bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  txid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  bucket smallint NOT NULL DEFAULT @outbox_bucket_now@(),
  PRIMARY KEY (position, bucket)
) PARTITION BY LIST (bucket);

