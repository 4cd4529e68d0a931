-- Notification channels: where people are told about alerts. Lists of text have one item per line.
CREATE TABLE notification_channel (
  id BLOB NOT NULL PRIMARY KEY,
  tenant_id TEXT,                    -- NULL: the server's.
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  email_to TEXT NOT NULL,
  to_owner INTEGER NOT NULL,
  to_contacts INTEGER NOT NULL,
  webhook_id BLOB,                   -- The webhook that the channel owns.
  kinds TEXT NOT NULL,               -- Empty: all.
  severity_min INTEGER NOT NULL,
  webhook_ids TEXT NOT NULL,         -- Empty: all.
  send_resolved INTEGER NOT NULL,
  group_window_ms INTEGER NOT NULL,
  per_hour_max INTEGER NOT NULL,
  active INTEGER NOT NULL,
  configured INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  removed INTEGER NOT NULL DEFAULT 0 -- Only its notifications are left to be removed.
) STRICT, WITHOUT ROWID;

-- What channels owe: one row per channel and change of an alert.
CREATE TABLE notification (
  sequence INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  channel_id BLOB NOT NULL,
  kind TEXT NOT NULL,
  transition INTEGER NOT NULL,
  alert_id BLOB,
  tenant_id TEXT,
  webhook_id BLOB,
  webhook_name TEXT,
  webhook_url TEXT,
  source TEXT,
  operation_id BLOB,
  detail TEXT NOT NULL,
  measured REAL,
  measured_limit REAL,
  unit INTEGER,
  raised_at INTEGER NOT NULL,
  resolved_at INTEGER,
  owner_email TEXT,
  made_at INTEGER NOT NULL,
  state INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  last_error TEXT NOT NULL,
  sent_at INTEGER,
  next_attempt_at INTEGER,
  message_id BLOB,
  event_id BLOB
) STRICT;

CREATE INDEX notification_channel_id ON notification (channel_id);
CREATE INDEX notification_channel_state ON notification (channel_id, state);
CREATE INDEX notification_alert ON notification (alert_id) WHERE alert_id IS NOT NULL;
CREATE INDEX notification_waiting ON notification (id) WHERE state = 0;
CREATE INDEX notification_made ON notification (made_at) WHERE state > 0;

-- Who is told: the person behind a webhook, and those of a tenant, one address per line.
ALTER TABLE webhook ADD COLUMN owner_email TEXT;
ALTER TABLE registered_tenant ADD COLUMN contacts TEXT NOT NULL DEFAULT '';
