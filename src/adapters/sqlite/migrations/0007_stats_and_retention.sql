-- Statistics per span of five minutes; `span` counts them since 1970. The current span of a webhook
-- is part of its lane, which every batch writes anyway. It moves to webhook_stats when the next
-- span begins. A reader adds up both.
ALTER TABLE lane ADD COLUMN tally_span INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lane ADD COLUMN tally_tenant INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lane ADD COLUMN tally BLOB NOT NULL DEFAULT x'';

CREATE TABLE webhook_stats (
  span INTEGER NOT NULL,
  lane INTEGER NOT NULL,
  tenant INTEGER NOT NULL,
  tally BLOB NOT NULL,
  PRIMARY KEY (span, lane, tenant)
) STRICT, WITHOUT ROWID;

-- Of all webhooks of a tenant, including events without a delivery.
CREATE TABLE tenant_stats (
  span INTEGER NOT NULL,
  tenant INTEGER NOT NULL,
  tally BLOB NOT NULL,
  PRIMARY KEY (span, tenant)
) STRICT, WITHOUT ROWID;

-- The largest removed sequence. Sequences are never reused, because chains and cursors may still
-- refer to them. One row.
CREATE TABLE removed (
  sequence INTEGER NOT NULL
) STRICT;
INSERT INTO removed (sequence) VALUES (0);

-- Deliveries that remain although a younger one of their lane was removed. A chain that reaches a
-- removed row continues at the youngest straggler below it.
CREATE TABLE straggler (
  lane INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (lane, sequence)
) STRICT, WITHOUT ROWID;
