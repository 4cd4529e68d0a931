-- Times are milliseconds since 1970, ids are 16 bytes, enumerations are the numbers in the code.

-- Numbers for names that repeat in many rows, so that rows and indexes stay small. Never deleted.
CREATE TABLE tenant (
  tenant INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE event_type (
  type INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- One row per webhook that ever had a delivery. Its deliveries and its attempts form chains: each
-- row refers to the previous one, and this row to the last. An index by webhook would change a page
-- for every webhook in a batch; a chain only appends.
CREATE TABLE lane (
  lane INTEGER PRIMARY KEY,
  webhook_id BLOB NOT NULL UNIQUE,
  tenant INTEGER,                    -- Of all its deliveries; NULL when they differ.
  ordered INTEGER NOT NULL,          -- Its waiting deliveries are in delivery_order.
  last_delivery INTEGER NOT NULL,
  last_attempt_delivery INTEGER NOT NULL,
  last_attempt_number INTEGER NOT NULL,
  last_success_at INTEGER,
  last_failure_at INTEGER
) STRICT;

-- Events and deliveries share one sequence, in publish order, which is commit order. The deliveries
-- of an event have the event's sequence and the following ones.
CREATE TABLE event (
  sequence INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  tenant INTEGER NOT NULL,
  type INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  delivery_count INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL,
  resource_id TEXT,
  source TEXT,
  ordering_key TEXT,
  metadata TEXT NOT NULL,
  data TEXT NOT NULL
) STRICT;

CREATE INDEX event_tenant ON event (tenant);

CREATE TABLE delivery (
  sequence INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  event INTEGER NOT NULL,
  lane INTEGER NOT NULL,
  previous INTEGER NOT NULL,         -- In the lane; 0: the first.
  ordered INTEGER NOT NULL,
  tenant INTEGER NOT NULL,
  type INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  state INTEGER NOT NULL,
  trigger INTEGER NOT NULL,
  due INTEGER NOT NULL,
  attempt_count INTEGER NOT NULL,
  budget_used INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER,
  last_failure INTEGER,
  last_http_status INTEGER,
  dead_classification INTEGER,
  dead_reason TEXT
) STRICT;

-- The waiting deliveries, which the engine reads. Small while receivers keep up. Every index ends
-- with the row's sequence implicitly. The second index is only for lanes with an order.
CREATE INDEX delivery_due ON delivery (lane, priority, due) WHERE state <= 1;
CREATE INDEX delivery_order ON delivery (lane, type) WHERE ordered = 1 AND state <= 1;

-- Partial indexes cost nothing while there are no dead letters.
CREATE INDEX delivery_dead ON delivery (state) WHERE state = 3;
CREATE INDEX delivery_dead_lane ON delivery (lane) WHERE state = 3;
CREATE INDEX delivery_dead_tenant ON delivery (tenant) WHERE state = 3;

-- Append-only. `detail` has the fields that only the view of a single attempt reads.
CREATE TABLE attempt (
  delivery INTEGER NOT NULL,
  number INTEGER NOT NULL,
  previous_delivery INTEGER NOT NULL,  -- The attempt before it in the lane; 0: the first.
  previous_number INTEGER NOT NULL,
  id BLOB NOT NULL,
  executed_at INTEGER NOT NULL,
  duration_us INTEGER NOT NULL,
  trigger INTEGER NOT NULL,
  scheduled_at INTEGER NOT NULL,
  next_retry_at INTEGER,
  failure_category INTEGER,
  http_status INTEGER,
  detail BLOB NOT NULL,
  PRIMARY KEY (delivery, number)
) STRICT, WITHOUT ROWID;

-- The holder of each idempotency key. In publish order, so the oldest are found without an index.
CREATE TABLE claim (
  event INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL,
  key TEXT NOT NULL,
  body_digest BLOB NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (tenant, key)
) STRICT;

CREATE TABLE webhook (
  id BLOB NOT NULL PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,              -- Patterns, one a line.
  name TEXT,
  owner_id TEXT,
  resource_id TEXT,
  description TEXT,
  headers BLOB NOT NULL,
  metadata TEXT NOT NULL,
  secret BLOB NOT NULL,
  signature_scheme INTEGER NOT NULL,
  signature_header_prefix TEXT NOT NULL,
  signature_standard_headers INTEGER NOT NULL,
  signature_prefixed_headers INTEGER NOT NULL,
  payload_format INTEGER NOT NULL,
  retry_delay_base_ms INTEGER NOT NULL,
  retry_multiplier REAL NOT NULL,
  retry_delay_max_ms INTEGER NOT NULL,
  retry_schedule_ms TEXT NOT NULL,   -- Separated by commas.
  retry_jitter_minus REAL NOT NULL,
  retry_jitter_plus REAL NOT NULL,
  retry_jitter_extra_ms INTEGER NOT NULL,
  retry_attempts_max INTEGER NOT NULL,
  retry_timeout_ms INTEGER NOT NULL,
  retry_timeout_growth REAL NOT NULL,
  retry_permanent_statuses TEXT NOT NULL,
  breaker_enabled INTEGER NOT NULL,
  breaker_window INTEGER NOT NULL,
  breaker_window_size_ms INTEGER NOT NULL,
  breaker_window_calls INTEGER NOT NULL,
  breaker_minimum_throughput INTEGER NOT NULL,
  breaker_error_threshold_percentage REAL NOT NULL,
  breaker_failure_count_threshold INTEGER NOT NULL,
  breaker_sleep_window_ms INTEGER NOT NULL,
  breaker_sleep_multiplier REAL NOT NULL,
  breaker_sleep_max_ms INTEGER NOT NULL,
  breaker_half_open_max_calls INTEGER NOT NULL,
  breaker_half_open_success_percentage REAL NOT NULL,
  rate_count INTEGER,
  rate_period_ms INTEGER,
  rate_burst INTEGER,
  max_in_flight INTEGER NOT NULL,
  ordering INTEGER NOT NULL,
  active INTEGER NOT NULL,
  paused INTEGER NOT NULL,
  disabled_reason TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE circuit (
  webhook_id BLOB NOT NULL PRIMARY KEY,
  state INTEGER NOT NULL,
  openings_in_row INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  open_until INTEGER,
  forced_until INTEGER,
  forced_open INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_key (
  id BLOB NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  sha256 BLOB NOT NULL,
  scope TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
