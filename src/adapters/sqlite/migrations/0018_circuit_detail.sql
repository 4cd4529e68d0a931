-- TLS failures and Retry-After: as before this migration.
ALTER TABLE webhook ADD COLUMN retry_ssl_attempts_max INTEGER NOT NULL DEFAULT 3;
ALTER TABLE webhook ADD COLUMN retry_honor_retry_after INTEGER NOT NULL DEFAULT 1;
ALTER TABLE webhook ADD COLUMN breaker_force_open_until INTEGER;

-- Attempts that began before `counting_since` are not in the circuit's window.
ALTER TABLE circuit ADD COLUMN counting_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE circuit ADD COLUMN opened_at INTEGER;
ALTER TABLE circuit ADD COLUMN times_opened INTEGER NOT NULL DEFAULT 0;
UPDATE circuit SET counting_since = changed_at;
UPDATE circuit SET opened_at = changed_at, times_opened = max(openings_in_row, 1) WHERE state = 1;

-- One row for each time a circuit was open. `ended_at` is NULL while it is open. Remains after the
-- removal of its webhook, like the history of deliveries.
CREATE TABLE circuit_period (
  webhook_id BLOB NOT NULL,
  opened_at INTEGER NOT NULL,
  ended_at INTEGER,
  reason INTEGER NOT NULL,
  PRIMARY KEY (webhook_id, opened_at)
) STRICT, WITHOUT ROWID;

CREATE INDEX circuit_period_ended ON circuit_period (ended_at);

INSERT INTO circuit_period (webhook_id, opened_at, ended_at, reason)
SELECT webhook_id, changed_at, NULL, forced_open FROM circuit WHERE state = 1;
