-- Which node works which webhooks (docs/decisions/0041-shard-leases.md). Times are milliseconds of
-- lease_clock.

-- A clock that follows the server's clock but not its jumps. Each turn of a node locks this row
-- first, so that turns do not overlap. The first turn inserts it.
CREATE TABLE lease_clock (
  id bigint PRIMARY KEY CHECK (id = 1),
  steady bigint NOT NULL,
  wall bigint NOT NULL                 -- Unix milliseconds, when `steady` was written.
);

CREATE TABLE node (
  id uuid PRIMARY KEY,
  pool text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,   -- For people.
  leaving boolean NOT NULL,
  turns bigint NOT NULL,
  joined_at bigint NOT NULL,
  expires_at bigint NOT NULL
) WITH (fillfactor = 50);

-- All shards of a pool, from the first turn of a node of the pool on.
CREATE TABLE shard_lease (
  pool text COLLATE "C" NOT NULL,
  shard bigint NOT NULL,
  owner uuid,                          -- NULL: the shard is free.
  epoch bigint NOT NULL DEFAULT 0,
  expires_at bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (pool, shard)
) WITH (fillfactor = 50);
