-- A copy of a data directory into this database (`postrider copy`). No row: none was made. Servers
-- do not use the database until the copy is finished.
CREATE TABLE store_copy (
  id bigint PRIMARY KEY CHECK (id = 1),
  identity text COLLATE "C" NOT NULL,  -- Of the store that is copied.
  position bigint NOT NULL,            -- Of that store. It must not change meanwhile.
  finished boolean NOT NULL DEFAULT false,
  used boolean NOT NULL DEFAULT false  -- A server was started with it, and may have changed it.
);

-- How much of each table is stored.
CREATE TABLE copy_progress (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  rows bigint NOT NULL,
  complete boolean NOT NULL
) WITH (fillfactor = 50);
