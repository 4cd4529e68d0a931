-- Webhooks that were removed and whose history may still be stored. It is unknown when earlier ones
-- were removed: their history is kept from now on.
CREATE TABLE removed_webhook (
  webhook_id BLOB NOT NULL PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  removed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO removed_webhook (webhook_id, tenant_id, removed_at)
SELECT l.webhook_id, ifnull((SELECT name FROM tenant WHERE tenant = l.tenant), ''),
       CAST(strftime('%s', 'now') AS INTEGER) * 1000
  FROM lane l WHERE NOT EXISTS (SELECT 1 FROM webhook w WHERE w.id = l.webhook_id);
