-- Who may do what, whose data it is, and who did it.

ALTER TABLE api_key ADD COLUMN tenant_id TEXT NOT NULL DEFAULT '';
ALTER TABLE api_key ADD COLUMN expires_at INTEGER;
ALTER TABLE api_key ADD COLUMN last_used_at INTEGER;
ALTER TABLE api_key ADD COLUMN portal_session INTEGER NOT NULL DEFAULT 0;

-- Tenants that were registered; any other may be used as well. The table `tenant` only numbers
-- names.
CREATE TABLE registered_tenant (
  serial BLOB NOT NULL PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT,
  metadata TEXT NOT NULL,
  pool TEXT,
  webhooks_max INTEGER,
  events_per_minute INTEGER,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE portal_link (
  sha256 BLOB NOT NULL PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  session_ms INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A chain: `hash` covers the row and the hash before it. Rows are only ever added.
CREATE TABLE audit_entry (
  sequence INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  actor_name TEXT NOT NULL,
  remote_ip TEXT NOT NULL,
  request_id TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  tenant_id TEXT NOT NULL,
  detail TEXT NOT NULL,
  hash BLOB NOT NULL
) STRICT;

-- For «what happened to this webhook» and «what did this tenant do»; other filters walk the log.
CREATE INDEX audit_entry_subject ON audit_entry (subject);
CREATE INDEX audit_entry_tenant ON audit_entry (tenant_id);
