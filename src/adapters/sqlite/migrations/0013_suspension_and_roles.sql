-- A suspended tenant publishes nothing, and its deliveries wait.
ALTER TABLE registered_tenant ADD COLUMN suspended_at INTEGER;
ALTER TABLE registered_tenant ADD COLUMN suspended_reason TEXT;

-- What a tenant's key may do within its tenant: `admin` or `viewer`.
ALTER TABLE api_key ADD COLUMN role TEXT NOT NULL DEFAULT 'admin';
ALTER TABLE portal_link ADD COLUMN role TEXT NOT NULL DEFAULT 'admin';
