-- Requests that made something and brought an idempotency key. What they made is named, never
-- shown: an answer may have held a secret.
CREATE TABLE request_key (
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  digest BLOB NOT NULL,
  subject TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (caller, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX request_key_expiry ON request_key (expires_at);

-- Finished operations go by age.
CREATE INDEX operation_finished ON operation (finished_at) WHERE status > 1;
