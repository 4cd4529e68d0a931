-- Times are milliseconds since 1970, ids are UUIDv7, enumerations are the numbers in the code.
--
-- Texts are compared by their bytes (COLLATE "C"). Bytes that PostgreSQL does not accept in a text
-- are escaped (escaped_text.h).

-- A transaction that adds events, deliveries or attempts takes a block of 1024 sequences: those of
-- block b are b * 1024 and the following ones. It takes more blocks if it needs more.
CREATE SEQUENCE sequence_block;

-- The last transaction of each node that is known to be stored. A row is removed when its node has
-- not written for days.
CREATE TABLE commit_mark (
  writer uuid NOT NULL PRIMARY KEY,
  number bigint NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

-- The three big tables are partitioned by month, because ids are ordered by time. The default
-- partitions hold rows whose month has no partition.
CREATE TABLE event (
  id uuid NOT NULL PRIMARY KEY,
  sequence bigint NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  priority smallint NOT NULL,
  "timestamp" bigint NOT NULL,
  created_at bigint NOT NULL,
  delivery_count integer NOT NULL,
  fanned_out integer NOT NULL DEFAULT 0,
  idempotency_key text COLLATE "C" NOT NULL,
  resource_id text COLLATE "C",
  source text COLLATE "C",
  ordering_key text COLLATE "C",
  source_id text COLLATE "C",
  metadata text COLLATE "C" NOT NULL,
  data text COLLATE "C" NOT NULL,
  trace bytea,
  trace_state text COLLATE "C"
) PARTITION BY RANGE (id);
CREATE INDEX event_sequence ON event (sequence);
CREATE INDEX event_tenant ON event (tenant_id, sequence);
CREATE INDEX event_resource ON event (resource_id, sequence) WHERE resource_id IS NOT NULL;
CREATE INDEX event_unmatched ON event (sequence) WHERE delivery_count = 0;
CREATE INDEX event_unmatched_tenant ON event (tenant_id, sequence) WHERE delivery_count = 0;
-- Not compressed, because compression would lengthen the transaction.
ALTER TABLE event ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE event_default PARTITION OF event DEFAULT;

-- Deliveries that wait or are in flight.
CREATE TABLE waiting (
  sequence bigint NOT NULL PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  event_id uuid NOT NULL,
  webhook_id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  priority smallint NOT NULL,
  state smallint NOT NULL,
  trigger smallint NOT NULL,
  due bigint NOT NULL,
  attempt_count integer NOT NULL,
  budget_used integer NOT NULL,
  revivals integer NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  last_failure smallint,
  last_http_status smallint,
  late boolean NOT NULL DEFAULT false,
  ordered boolean NOT NULL,
  operation uuid,
  trace bytea,
  shard smallint NOT NULL
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.05);
CREATE INDEX waiting_due ON waiting (webhook_id, priority, due, sequence);
CREATE INDEX waiting_webhook ON waiting (webhook_id, sequence);
CREATE INDEX waiting_order ON waiting (webhook_id, type, sequence) WHERE ordered;
CREATE INDEX waiting_event ON waiting (event_id);
CREATE INDEX waiting_tenant ON waiting (tenant_id, sequence);

-- The webhooks whose waiting deliveries are in the index waiting_order. `complete`: those that were
-- stored before the webhook was added are in it too. Read by every statement that adds deliveries.
CREATE TABLE ordered_lane (
  webhook_id uuid NOT NULL PRIMARY KEY,
  complete boolean NOT NULL
);

-- Deliveries in a final state. A revival moves the row back to `waiting`.
CREATE TABLE delivery (
  id uuid NOT NULL PRIMARY KEY,
  sequence bigint NOT NULL,
  event_id uuid NOT NULL,
  webhook_id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  priority smallint NOT NULL,
  state smallint NOT NULL,
  trigger smallint NOT NULL,
  due bigint NOT NULL,
  attempt_count integer NOT NULL,
  budget_used integer NOT NULL,
  revivals integer NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  completed_at bigint,
  last_failure smallint,
  last_http_status smallint,
  dead_classification smallint,
  dead_reason text COLLATE "C",
  late boolean NOT NULL DEFAULT false,
  operation uuid,
  trace bytea
) PARTITION BY RANGE (id);
CREATE INDEX delivery_sequence ON delivery (sequence);
CREATE INDEX delivery_webhook ON delivery (webhook_id, sequence);
CREATE INDEX delivery_tenant ON delivery (tenant_id, sequence);
CREATE INDEX delivery_event ON delivery (event_id);
CREATE INDEX delivery_dead ON delivery (sequence) WHERE state = 3;
CREATE INDEX delivery_dead_webhook ON delivery (webhook_id, sequence) WHERE state = 3;
CREATE INDEX delivery_dead_tenant ON delivery (tenant_id, sequence) WHERE state = 3;
CREATE TABLE delivery_default PARTITION OF delivery DEFAULT;

CREATE TABLE attempt (
  delivery_id uuid NOT NULL,
  number integer NOT NULL,
  id uuid NOT NULL,
  webhook_id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  recorded bigint NOT NULL,            -- A sequence: the order in which attempts were recorded.
  executed_at bigint NOT NULL,
  duration_us bigint NOT NULL,
  trigger smallint NOT NULL,
  scheduled_at bigint NOT NULL,
  next_retry_at bigint,
  failure_category smallint,
  http_status smallint,
  detail bytea NOT NULL,
  PRIMARY KEY (delivery_id, number)
) PARTITION BY RANGE (delivery_id);
CREATE INDEX attempt_webhook ON attempt (webhook_id, recorded);
CREATE INDEX attempt_time ON attempt (executed_at);
ALTER TABLE attempt ALTER COLUMN detail SET STORAGE EXTERNAL;
CREATE TABLE attempt_default PARTITION OF attempt DEFAULT;

-- Idempotency keys of publishes.
CREATE TABLE claim (
  tenant_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  event_id uuid NOT NULL,
  body_digest bytea NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (tenant_id, key)
) WITH (autovacuum_vacuum_scale_factor = 0.05);  -- The search for expired ones passes removed rows.
CREATE INDEX claim_expiry ON claim (expires_at);
CREATE INDEX claim_event ON claim (event_id);

-- Counters per span of five minutes. Each node adds to its own rows; readers add the rows up.
CREATE TABLE webhook_stats (
  span bigint NOT NULL,
  webhook_id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  writer uuid NOT NULL,
  tally bytea NOT NULL,
  last_success_at bigint,
  last_failure_at bigint,
  -- For the indexes: they change once, while the times change with every attempt.
  succeeded boolean GENERATED ALWAYS AS (last_success_at IS NOT NULL) STORED,
  failed boolean GENERATED ALWAYS AS (last_failure_at IS NOT NULL) STORED,
  PRIMARY KEY (span, webhook_id, tenant_id, writer)
) WITH (fillfactor = 70);
CREATE INDEX webhook_stats_succeeded ON webhook_stats (webhook_id, span) WHERE succeeded;
CREATE INDEX webhook_stats_failed ON webhook_stats (webhook_id, span) WHERE failed;
CREATE INDEX webhook_stats_webhook ON webhook_stats (webhook_id, span);
CREATE INDEX webhook_stats_tenant ON webhook_stats (tenant_id, span);

CREATE TABLE tenant_stats (
  span bigint NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  writer uuid NOT NULL,
  tally bytea NOT NULL,
  PRIMARY KEY (span, tenant_id, writer)
) WITH (fillfactor = 70);

-- Notes: the webhooks that an event still has to be fanned out to.
CREATE TABLE fanout (
  event bigint NOT NULL PRIMARY KEY,   -- The sequence.
  event_id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  list bigint NOT NULL,                -- Of the event whose webhooks these are.
  place bigint NOT NULL,
  remaining bigint NOT NULL,
  due bigint NOT NULL,
  chosen bytea NOT NULL
);
CREATE INDEX fanout_tenant ON fanout (tenant_id, event);
CREATE INDEX fanout_in_list ON fanout (list);

CREATE TABLE fanout_list (
  list bigint NOT NULL,
  part bigint NOT NULL,
  webhooks bytea NOT NULL,
  PRIMARY KEY (list, part)
);

CREATE TABLE webhook (
  id uuid NOT NULL PRIMARY KEY,
  tenant_id text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL,
  events text COLLATE "C" NOT NULL,    -- Patterns, one a line.
  name text COLLATE "C",
  owner_id text COLLATE "C",
  resource_id text COLLATE "C",
  description text COLLATE "C",
  headers bytea NOT NULL,
  metadata text COLLATE "C" NOT NULL,
  secret bytea NOT NULL,
  signature_scheme bigint NOT NULL,
  signature_header_prefix text COLLATE "C" NOT NULL,
  signature_standard_headers bigint NOT NULL,
  signature_prefixed_headers bigint NOT NULL,
  payload_format bigint NOT NULL,
  retry_delay_base_ms bigint NOT NULL,
  retry_multiplier double precision NOT NULL,
  retry_delay_max_ms bigint NOT NULL,
  retry_schedule_ms text COLLATE "C" NOT NULL,   -- Separated by commas.
  retry_jitter_minus double precision NOT NULL,
  retry_jitter_plus double precision NOT NULL,
  retry_jitter_extra_ms bigint NOT NULL,
  retry_attempts_max bigint NOT NULL,
  retry_timeout_ms bigint NOT NULL,
  retry_timeout_growth double precision NOT NULL,
  retry_permanent_statuses text COLLATE "C" NOT NULL,
  breaker_enabled bigint NOT NULL,
  breaker_window bigint NOT NULL,
  breaker_window_size_ms bigint NOT NULL,
  breaker_window_calls bigint NOT NULL,
  breaker_minimum_throughput bigint NOT NULL,
  breaker_error_threshold_percentage double precision NOT NULL,
  breaker_failure_count_threshold bigint NOT NULL,
  breaker_sleep_window_ms bigint NOT NULL,
  breaker_sleep_multiplier double precision NOT NULL,
  breaker_sleep_max_ms bigint NOT NULL,
  breaker_half_open_max_calls bigint NOT NULL,
  breaker_half_open_success_percentage double precision NOT NULL,
  rate_count bigint,
  rate_period_ms bigint,
  rate_burst bigint,
  max_in_flight bigint NOT NULL,
  ordering bigint NOT NULL,
  active bigint NOT NULL,
  paused bigint NOT NULL,
  disabled_reason text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  filter text COLLATE "C",
  signature_header_set bigint NOT NULL DEFAULT 0,
  retry_category_minimums bigint NOT NULL DEFAULT 1,
  secret_set_at bigint NOT NULL DEFAULT 0,
  old_secrets bytea NOT NULL DEFAULT ''::bytea,
  disabled_at bigint,
  sealed bigint NOT NULL DEFAULT 0,
  retry_attempts_auto bigint NOT NULL DEFAULT 0,
  payload_form bigint NOT NULL DEFAULT 0,
  retry_ssl_attempts_max bigint NOT NULL DEFAULT 3,
  retry_honor_retry_after bigint NOT NULL DEFAULT 1,
  breaker_force_open_until bigint,
  breaker_consecutive_failure_threshold bigint NOT NULL DEFAULT 0,
  owner_email text COLLATE "C"
);

CREATE TABLE circuit (
  webhook_id uuid NOT NULL PRIMARY KEY,
  state bigint NOT NULL,
  openings_in_row bigint NOT NULL,
  changed_at bigint NOT NULL,
  open_until bigint,
  forced_until bigint,
  forced_open bigint NOT NULL,
  failing_since bigint,
  counting_since bigint NOT NULL DEFAULT 0,
  opened_at bigint,
  times_opened bigint NOT NULL DEFAULT 0
);

CREATE TABLE circuit_period (
  webhook_id uuid NOT NULL,
  opened_at bigint NOT NULL,
  ended_at bigint,
  reason bigint NOT NULL,
  PRIMARY KEY (webhook_id, opened_at)
);
CREATE INDEX circuit_period_ended ON circuit_period (ended_at);

CREATE TABLE request_shape (
  webhook_id uuid NOT NULL,
  number bigint NOT NULL,
  named_below bigint,
  sealed bigint NOT NULL,
  shape bytea NOT NULL,
  PRIMARY KEY (webhook_id, number)
);
CREATE INDEX request_shape_left ON request_shape (named_below) WHERE named_below IS NOT NULL;

CREATE TABLE rescheduling (
  webhook_id uuid NOT NULL PRIMARY KEY
);

CREATE TABLE removed_webhook (
  webhook_id uuid NOT NULL PRIMARY KEY,
  tenant_id text COLLATE "C" NOT NULL,
  removed_at bigint NOT NULL
);

CREATE TABLE api_key (
  id uuid NOT NULL PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  sha256 bytea NOT NULL,
  scope text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  tenant_id text COLLATE "C" NOT NULL DEFAULT '',
  expires_at bigint,
  last_used_at bigint,
  role text COLLATE "C" NOT NULL DEFAULT 'admin'
);

CREATE TABLE session (
  id uuid NOT NULL PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  sha256 bytea NOT NULL,
  scope text COLLATE "C" NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  parent uuid NOT NULL,
  portal bigint NOT NULL,
  title text COLLATE "C",
  logo_url text COLLATE "C",
  primary_color text COLLATE "C"
);

CREATE TABLE sign_in_link (
  sha256 bytea NOT NULL PRIMARY KEY,
  tenant_id text COLLATE "C" NOT NULL,
  session_ms bigint NOT NULL,
  expires_at bigint NOT NULL,
  role text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  created_by uuid NOT NULL,
  title text COLLATE "C",
  logo_url text COLLATE "C",
  primary_color text COLLATE "C"
);

CREATE TABLE registered_tenant (
  serial uuid NOT NULL PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  name text COLLATE "C",
  metadata text COLLATE "C" NOT NULL,
  pool text COLLATE "C",
  webhooks_max bigint,
  events_per_minute bigint,
  created_at bigint NOT NULL,
  suspended_at bigint,
  suspended_reason text COLLATE "C",
  timeout_ms_max bigint,
  max_in_flight_max bigint,
  contacts text COLLATE "C" NOT NULL DEFAULT ''
);

CREATE TABLE audit_entry (
  sequence bigint NOT NULL PRIMARY KEY,
  at bigint NOT NULL,
  actor text COLLATE "C" NOT NULL,
  actor_name text COLLATE "C" NOT NULL,
  remote_ip text COLLATE "C" NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  detail text COLLATE "C" NOT NULL,
  hash bytea NOT NULL
);
CREATE INDEX audit_entry_subject ON audit_entry (subject, sequence);
CREATE INDEX audit_entry_tenant ON audit_entry (tenant_id, sequence);

CREATE TABLE event_type_entry (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  description text COLLATE "C",
  schema text COLLATE "C",
  example text COLLATE "C",
  validate bigint NOT NULL,
  archived bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);

CREATE TABLE operation (
  id uuid NOT NULL PRIMARY KEY,
  kind bigint NOT NULL,
  tenant_id text COLLATE "C",
  status bigint NOT NULL,
  filter_tenant_id text COLLATE "C",
  filter_webhook_ids text COLLATE "C" NOT NULL,  -- Lists: one a line.
  filter_event_id uuid,
  filter_states text COLLATE "C" NOT NULL,
  filter_event_types text COLLATE "C" NOT NULL,
  filter_failure_categories text COLLATE "C" NOT NULL,
  filter_classification bigint,
  filter_from bigint,
  filter_to bigint,
  priority bigint,
  requests_per_second bigint,
  start_at bigint,
  repeat_every_s bigint,
  total bigint,
  done bigint NOT NULL,
  skipped bigint NOT NULL,
  failed bigint NOT NULL,
  place bigint NOT NULL,
  runs bigint NOT NULL,
  due bigint NOT NULL,
  created_at bigint NOT NULL,
  started_at bigint,
  finished_at bigint,
  error text COLLATE "C" NOT NULL,
  requeued bigint NOT NULL DEFAULT 0,
  succeeded bigint NOT NULL DEFAULT 0,
  dead_again bigint NOT NULL DEFAULT 0,
  cancelled bigint NOT NULL DEFAULT 0,
  requeue_finished_at bigint,
  filter_resource_id text COLLATE "C"
) WITH (fillfactor = 70);
CREATE INDEX operation_finished ON operation (finished_at) WHERE status > 1;
CREATE INDEX operation_unfinished ON operation (status)
 WHERE status <= 1 AND (status < 1 OR requeue_finished_at IS NULL);

CREATE TABLE alert (
  sequence bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  kind bigint NOT NULL,
  webhook_id uuid,                     -- NULL: about the server itself.
  tenant_id text COLLATE "C",
  raised_at bigint NOT NULL,
  resolved_at bigint,                  -- NULL: active.
  detail text COLLATE "C" NOT NULL,
  webhook_name text COLLATE "C",
  webhook_url text COLLATE "C",
  measured double precision,
  measured_limit double precision,
  unit bigint,
  source text COLLATE "C"
);
CREATE INDEX alert_active ON alert (sequence) WHERE resolved_at IS NULL;
CREATE INDEX alert_webhook ON alert (webhook_id) WHERE webhook_id IS NOT NULL;

CREATE TABLE notification_channel (
  id uuid NOT NULL PRIMARY KEY,
  tenant_id text COLLATE "C",          -- NULL: the server's.
  name text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  email_to text COLLATE "C" NOT NULL,
  to_owner bigint NOT NULL,
  to_contacts bigint NOT NULL,
  webhook_id uuid,                     -- The webhook that the channel owns.
  kinds text COLLATE "C" NOT NULL,     -- Empty: all.
  severity_min bigint NOT NULL,
  webhook_ids text COLLATE "C" NOT NULL,  -- Empty: all.
  send_resolved bigint NOT NULL,
  group_window_ms bigint NOT NULL,
  per_hour_max bigint NOT NULL,
  active bigint NOT NULL,
  configured bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  removed bigint NOT NULL DEFAULT 0    -- Only its notifications are left to be removed.
);

CREATE TABLE notification (
  sequence bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  channel_id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  transition bigint NOT NULL,
  alert_id uuid,
  tenant_id text COLLATE "C",
  webhook_id uuid,
  webhook_name text COLLATE "C",
  webhook_url text COLLATE "C",
  source text COLLATE "C",
  operation_id uuid,
  detail text COLLATE "C" NOT NULL,
  measured double precision,
  measured_limit double precision,
  unit bigint,
  raised_at bigint NOT NULL,
  resolved_at bigint,
  owner_email text COLLATE "C",
  made_at bigint NOT NULL,
  state bigint NOT NULL,
  attempts bigint NOT NULL,
  last_error text COLLATE "C" NOT NULL,
  sent_at bigint,
  next_attempt_at bigint,
  message_id uuid,
  event_id uuid
);
CREATE INDEX notification_channel_id ON notification (channel_id, sequence);
CREATE INDEX notification_channel_state ON notification (channel_id, state, sequence);
CREATE INDEX notification_alert ON notification (alert_id) WHERE alert_id IS NOT NULL;
CREATE INDEX notification_waiting ON notification (id) WHERE state = 0;
CREATE INDEX notification_made ON notification (made_at) WHERE state > 0;

CREATE TABLE request_key (
  caller text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  digest bytea NOT NULL,
  subject text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (caller, key)
);
CREATE INDEX request_key_expiry ON request_key (expires_at);

CREATE TABLE source_row (
  source text COLLATE "C" NOT NULL,
  row_id text COLLATE "C" NOT NULL,
  event_id uuid NOT NULL,
  event bigint NOT NULL,               -- The sequence.
  generation bigint NOT NULL,
  revision bigint NOT NULL,
  settled bigint NOT NULL,             -- The final status has been written back.
  PRIMARY KEY (source, row_id)
);
CREATE INDEX source_row_event ON source_row (event_id);
CREATE INDEX source_row_unsettled ON source_row (source, event, row_id) WHERE settled = 0;

-- The name under which the servers of this store read from sources.
CREATE TABLE source_reader (
  reader bigint PRIMARY KEY CHECK (reader = 1),
  id text COLLATE "C" NOT NULL
);
INSERT INTO source_reader (reader, id) VALUES (1, replace(gen_random_uuid()::text, '-', ''));
