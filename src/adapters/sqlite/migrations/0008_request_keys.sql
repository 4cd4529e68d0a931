-- Idempotency keys of requests that created something. The row has the id of the created object,
-- not the response, because a response may contain a secret.
CREATE TABLE request_key (
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  digest BLOB NOT NULL,
  subject TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (caller, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX request_key_expiry ON request_key (expires_at);

-- For the removal of finished operations by age.
CREATE INDEX operation_finished ON operation (finished_at) WHERE status > 1;
