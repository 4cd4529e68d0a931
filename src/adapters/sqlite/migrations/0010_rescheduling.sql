-- Webhooks whose retry policy changed and whose waiting deliveries are still being rescheduled.
CREATE TABLE rescheduling (
  webhook_id BLOB NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
