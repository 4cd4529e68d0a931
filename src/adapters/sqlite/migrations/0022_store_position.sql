-- One row: which database this is and how far it has come. The marker file in the data directory
-- repeats it, so that a database that lost its newest transactions is recognised at start.
CREATE TABLE store_state (
  state INTEGER PRIMARY KEY CHECK (state = 1),
  identity BLOB NOT NULL,            -- Random. New after a restore.
  position INTEGER NOT NULL,         -- Transactions committed since it was created.
  copied INTEGER NOT NULL            -- 1: a backup that no server has opened yet.
) STRICT;

INSERT INTO store_state (state, identity, position, copied) VALUES (1, randomblob(16), 0, 0);
