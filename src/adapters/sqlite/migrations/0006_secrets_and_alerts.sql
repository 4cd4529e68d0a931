-- `sealed`: secret, old_secrets and headers are encrypted. `old_secrets`: one per line, newest
-- first, each with its end time and its bytes in base64.
ALTER TABLE webhook ADD COLUMN secret_set_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhook ADD COLUMN old_secrets BLOB NOT NULL DEFAULT x'';
ALTER TABLE webhook ADD COLUMN disabled_at INTEGER;
ALTER TABLE webhook ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;
UPDATE webhook SET secret_set_at = created_at;
UPDATE webhook SET disabled_at = updated_at WHERE active = 0;

ALTER TABLE circuit ADD COLUMN failing_since INTEGER;

CREATE TABLE alert (
  sequence INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  kind INTEGER NOT NULL,
  webhook_id BLOB,                   -- NULL: about the server itself.
  tenant_id TEXT,
  raised_at INTEGER NOT NULL,
  resolved_at INTEGER,               -- NULL: active.
  detail TEXT NOT NULL
) STRICT;

CREATE INDEX alert_active ON alert (sequence) WHERE resolved_at IS NULL;
CREATE INDEX alert_webhook ON alert (webhook_id) WHERE webhook_id IS NOT NULL;
