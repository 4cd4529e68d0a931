-- Sessions of browsers, and the links that open them. Both end with the key that made them.

-- Sessions that were API keys lived for an hour at most, and links for minutes. Neither names the
-- key that made it, so they end here.
DELETE FROM api_key WHERE portal_session = 1;
ALTER TABLE api_key DROP COLUMN portal_session;
DROP TABLE portal_link;

CREATE TABLE session (
  id BLOB NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  sha256 BLOB NOT NULL,
  scope TEXT NOT NULL,
  tenant_id TEXT NOT NULL,
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  parent BLOB NOT NULL,
  portal INTEGER NOT NULL,
  title TEXT,
  logo_url TEXT,
  primary_color TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE sign_in_link (
  sha256 BLOB NOT NULL PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  session_ms INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  role TEXT NOT NULL,
  scope TEXT NOT NULL,
  created_by BLOB NOT NULL,
  title TEXT,
  logo_url TEXT,
  primary_color TEXT
) STRICT, WITHOUT ROWID;
