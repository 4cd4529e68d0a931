-- Webhooks whose retry policy changed and whose waiting deliveries have not all been brought
-- forward.
CREATE TABLE rescheduling (
  webhook_id BLOB NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
