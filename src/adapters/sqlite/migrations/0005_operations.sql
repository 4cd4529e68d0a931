-- How often the delivery was revived.
ALTER TABLE delivery ADD COLUMN revivals INTEGER NOT NULL DEFAULT 0;

-- A late delivery was made after its event was published. It has its own sequence; the other
-- deliveries have their event's sequence and the following ones.
ALTER TABLE delivery ADD COLUMN late INTEGER NOT NULL DEFAULT 0;
CREATE INDEX delivery_late ON delivery (event) WHERE late = 1;

-- Partial indexes cost nothing while there are no unmatched events.
CREATE INDEX event_unmatched ON event (delivery_count) WHERE delivery_count = 0;
CREATE INDEX event_unmatched_tenant ON event (tenant) WHERE delivery_count = 0;

CREATE TABLE operation (
  id BLOB NOT NULL PRIMARY KEY,
  kind INTEGER NOT NULL,
  tenant_id TEXT,
  status INTEGER NOT NULL,
  filter_tenant_id TEXT,
  filter_webhook_ids TEXT NOT NULL,  -- Lists: one a line.
  filter_event_id BLOB,
  filter_states TEXT NOT NULL,
  filter_event_types TEXT NOT NULL,
  filter_failure_categories TEXT NOT NULL,
  filter_classification INTEGER,
  filter_from INTEGER,
  filter_to INTEGER,
  priority INTEGER,
  requests_per_second INTEGER,
  start_at INTEGER,
  repeat_every_s INTEGER,
  total INTEGER,
  done INTEGER NOT NULL,
  skipped INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  place INTEGER NOT NULL,
  runs INTEGER NOT NULL,
  due INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  error TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX operation_unfinished ON operation (status) WHERE status <= 1;
