CREATE TABLE IF NOT EXISTS @outbox_0@ PARTITION OF @outbox@ FOR VALUES IN (0);
CREATE TABLE IF NOT EXISTS @outbox_1@ PARTITION OF @outbox@ FOR VALUES IN (1);
CREATE TABLE IF NOT EXISTS @outbox_2@ PARTITION OF @outbox@ FOR VALUES IN (2);
CREATE INDEX IF NOT EXISTS @%outbox_txid@ ON @outbox@ (txid, position);

-- How far Postrider has read, and which node reads. Rows of transactions that are visible in
-- `finished` have been read. `open` is a snapshot whose rows are read up to `open_after`.
CREATE TABLE IF NOT EXISTS @outbox_cursor@ (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  finished pg_snapshot NOT NULL DEFAULT '1:1:',
  open pg_snapshot,
  open_after bigint NOT NULL DEFAULT 0,
  open_until bigint NOT NULL DEFAULT 0,
  cluster text,                                    -- The database cluster of the snapshots.
  source text,
  node text,
  epoch bigint NOT NULL DEFAULT 0,
  lease_until timestamptz NOT NULL DEFAULT 'epoch'
) WITH (fillfactor = 50);
INSERT INTO @outbox_cursor@ DEFAULT VALUES ON CONFLICT DO NOTHING;

-- Rows that could not become an event, with the reason.
CREATE TABLE IF NOT EXISTS @outbox_rejected@ (
  position bigint PRIMARY KEY,
  id text,
  reason text NOT NULL,
  rejected_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  row json NOT NULL
);

-- Wakes Postrider if it sleeps, that is if it holds this lock. A commit that notifies waits for
-- others that do, so most commits should not. A transaction that notifies cannot be prepared.
CREATE OR REPLACE FUNCTION @outbox_wake@() RETURNS trigger LANGUAGE plpgsql AS $wake$
BEGIN
  IF pg_try_advisory_lock_shared(1886548850, TG_RELID::integer) THEN
    PERFORM pg_advisory_unlock_shared(1886548850, TG_RELID::integer);
  ELSIF current_setting('max_prepared_transactions') = '0' THEN
    PERFORM pg_notify('postrider_' || TG_RELID, '');
  END IF;
  RETURN NULL;
END
$wake$;
CREATE OR REPLACE TRIGGER postrider_wake AFTER INSERT ON @outbox@
  FOR EACH STATEMENT EXECUTE FUNCTION @outbox_wake@();

-- Call it once after the database was restored from a dump or upgraded: the numbers of transactions
-- in the cursor belong to the old cluster. Rows that were not read stay to be read; with `again`,
-- those that were read are read once more. Returns how many rows are to be read. Waits for writers.
CREATE OR REPLACE FUNCTION @outbox_adopt@(again boolean DEFAULT false) RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $adopt$
DECLARE
  me xid8 := pg_current_xact_id();
  now_visible pg_snapshot;
  unread bigint;
BEGIN
  LOCK TABLE @outbox@ IN EXCLUSIVE MODE;
  now_visible := pg_current_snapshot();
  -- 3 is smaller than the number of any transaction, so these rows count as read.
  UPDATE @outbox@ o
     SET txid = CASE
           WHEN again THEN me
           WHEN pg_visible_in_snapshot(o.txid, c.finished) THEN '3'::xid8
           WHEN pg_visible_in_snapshot(o.txid, c.open) AND o.position <= c.open_after
             THEN '3'::xid8
           ELSE me
         END
    FROM @outbox_cursor@ c;
  SELECT count(*) INTO unread FROM @outbox@ WHERE txid = me;
  -- The snapshot of a transaction counts the transaction itself as visible.
  UPDATE @outbox_cursor@
     SET finished = format('%s:%s:%s', least(pg_snapshot_xmin(now_visible), me),
           greatest(pg_snapshot_xmax(now_visible), me),
           (SELECT string_agg(xip::text, ',' ORDER BY xip)
              FROM (SELECT pg_snapshot_xip(now_visible) AS xip
                    UNION SELECT me WHERE me < pg_snapshot_xmax(now_visible)) running)
         )::pg_snapshot,
         open = NULL, open_after = 0, open_until = 0, node = NULL, epoch = epoch + 1,
         lease_until = 'epoch',
         cluster = (SELECT system_identifier::text FROM pg_control_system());
  RETURN unread;
END
$adopt$;

