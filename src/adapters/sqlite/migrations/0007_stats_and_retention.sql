-- Sums over five minutes, counted since 1970: `span`. The span that a webhook is in is part of its
-- lane, which is written with every batch that changes it anyway; it moves here when the next one
-- begins. What is asked for is the sum of both.
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

-- Of all webhooks of a tenant together, and of events that no webhook wanted.
CREATE TABLE tenant_stats (
  span INTEGER NOT NULL,
  tenant INTEGER NOT NULL,
  tally BLOB NOT NULL,
  PRIMARY KEY (span, tenant)
) STRICT, WITHOUT ROWID;

-- The largest sequence that was ever removed. Sequences are not given twice: chains and cursors may
-- still name them. One row.
CREATE TABLE removed (
  sequence INTEGER NOT NULL
) STRICT;
INSERT INTO removed (sequence) VALUES (0);

-- Deliveries that stay although younger ones of their lane are gone. A chain that ends at a missing
-- row goes on at the youngest of these that is older.
CREATE TABLE straggler (
  lane INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (lane, sequence)
) STRICT, WITHOUT ROWID;
