-- Communication between the nodes on one database (docs/decisions/0042-many-nodes.md).

-- Deliveries and commands for the node that holds the shard. It removes them within seconds.
CREATE TABLE handoff (
  id bigint GENERATED ALWAYS AS IDENTITY,
  pool text COLLATE "C" NOT NULL,
  shard smallint NOT NULL,
  kind smallint NOT NULL,              -- 0: deliveries, 1: closed deliveries, 2: a command.
  sequences bigint[],                  -- Of deliveries to admit.
  delivery_ids uuid[],                 -- Of closed deliveries.
  webhook_ids uuid[],                  -- Of these, in the same order; of a command: one.
  action smallint,                     -- Of a command.
  duration_ms bigint,
  stored_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (pool, shard, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);

-- The version of the catalogue: webhooks, keys, tenants, event types, channels, operations. A
-- transaction that changes them locks the row until it ends, so versions grow in the order of
-- commits. A transaction takes one version.
CREATE TABLE catalog_version (
  id smallint PRIMARY KEY CHECK (id = 1),
  version bigint NOT NULL,
  removed_up_to bigint NOT NULL,       -- The changes of this version and earlier ones are removed.
  changed_by xid8 NOT NULL
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100);
INSERT INTO catalog_version (id, version, removed_up_to, changed_by) VALUES (1, 0, 0, '0');

CREATE TABLE catalog_change (
  version bigint NOT NULL,
  part smallint NOT NULL,
  webhook_id uuid,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX catalog_change_version ON catalog_change (version);

-- Changes nothing if this transaction has taken a version before.
CREATE FUNCTION take_catalog_version() RETURNS void LANGUAGE sql AS $$
  UPDATE catalog_version SET version = version + 1, changed_by = pg_current_xact_id()
   WHERE changed_by <> pg_current_xact_id()
$$;

-- Once per statement. `changed` has the rows that it inserted, updated or deleted.
CREATE FUNCTION note_changed_webhooks() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
BEGIN
  IF EXISTS (SELECT FROM changed) THEN
    PERFORM take_catalog_version();
    INSERT INTO catalog_change (version, part, webhook_id)
    SELECT v.version, 0, c.id FROM changed c CROSS JOIN catalog_version v;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER note_insert AFTER INSERT ON webhook REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_changed_webhooks();
CREATE TRIGGER note_update AFTER UPDATE ON webhook REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_changed_webhooks();
CREATE TRIGGER note_delete AFTER DELETE ON webhook REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_changed_webhooks();

-- For each row. The argument is the number of the part.
CREATE FUNCTION note_changed_part() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM take_catalog_version();
  INSERT INTO catalog_change (version, part)
  SELECT v.version, TG_ARGV[0]::smallint FROM catalog_version v
   WHERE NOT EXISTS (SELECT FROM catalog_change c
                      WHERE c.version = v.version AND c.part = TG_ARGV[0]::smallint);
  RETURN NULL;
END
$$;
CREATE TRIGGER note_change AFTER INSERT OR DELETE ON api_key
  FOR EACH ROW EXECUTE FUNCTION note_changed_part(1);
-- A change of last_used_at alone is no change of the catalogue.
CREATE TRIGGER note_update
  AFTER UPDATE OF id, name, sha256, scope, created_at, tenant_id, expires_at, role ON api_key
  FOR EACH ROW EXECUTE FUNCTION note_changed_part(1);
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON session
  FOR EACH ROW EXECUTE FUNCTION note_changed_part(1);
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON sign_in_link
  FOR EACH ROW EXECUTE FUNCTION note_changed_part(1);
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON registered_tenant
  FOR EACH ROW EXECUTE FUNCTION note_changed_part(1);
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON event_type_entry
  FOR EACH ROW EXECUTE FUNCTION note_changed_part(2);
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON notification_channel
  FOR EACH ROW EXECUTE FUNCTION note_changed_part(3);
CREATE TRIGGER note_insert AFTER INSERT ON operation
  FOR EACH ROW EXECUTE FUNCTION note_changed_part(4);
CREATE TRIGGER note_status AFTER UPDATE ON operation
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status)
  EXECUTE FUNCTION note_changed_part(4);
