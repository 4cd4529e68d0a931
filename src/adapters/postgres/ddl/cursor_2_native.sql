CREATE TABLE IF NOT EXISTS @outbox@ (
  -- What the application writes. Only `data` is required.
  id uuid NOT NULL DEFAULT gen_random_uuid(),      -- The idempotency key of the event.
  type text,
  data json NOT NULL,                              -- Sent byte for byte.
  tenant_id text,
  resource_id text,
  ordering_key text,
  priority text,                                   -- high, normal or low.
  source text,
  metadata json,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- What Postrider needs. Leave it to the defaults.
  position bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  txid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  bucket smallint NOT NULL DEFAULT @outbox_bucket_now@(),
  PRIMARY KEY (position, bucket)
) PARTITION BY LIST (bucket);

