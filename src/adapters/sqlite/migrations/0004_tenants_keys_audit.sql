-- Access rights, tenants and the audit log.

ALTER TABLE api_key ADD COLUMN tenant_id TEXT NOT NULL DEFAULT '';
ALTER TABLE api_key ADD COLUMN expires_at INTEGER;
ALTER TABLE api_key ADD COLUMN last_used_at INTEGER;
ALTER TABLE api_key ADD COLUMN portal_session INTEGER NOT NULL DEFAULT 0;

-- Registered tenants. Other tenants may be used too. The table `tenant` only maps names to numbers.
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

-- A hash chain: `hash` covers the row and the previous hash. Append-only.
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

-- For filters by subject and by tenant. Other filters scan the log.
CREATE INDEX audit_entry_subject ON audit_entry (subject);
CREATE INDEX audit_entry_tenant ON audit_entry (tenant_id);
