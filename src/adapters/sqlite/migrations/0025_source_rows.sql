-- Rows of sources whose status is written back to the application's table: which event a row
-- became. `generation`: how often a final status has been written to the row. `revision`: how often
-- the row became unsettled again. Removed with their events.
CREATE TABLE source_row (
  source TEXT NOT NULL,
  row_id TEXT NOT NULL,
  event INTEGER NOT NULL,            -- The sequence.
  generation INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  settled INTEGER NOT NULL,          -- The final status has been written back.
  PRIMARY KEY (source, row_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX source_row_event ON source_row (event);
CREATE INDEX source_row_unsettled ON source_row (source, event, row_id) WHERE settled = 0;

-- Names this store in the claims that it writes to outbox tables. Kept in backups.
CREATE TABLE source_reader (
  reader INTEGER PRIMARY KEY CHECK (reader = 1),
  id TEXT NOT NULL
) STRICT;

INSERT INTO source_reader (reader, id) VALUES (1, lower(hex(randomblob(16))));

-- The id that an event has in its source. NULL: it was published to the API.
ALTER TABLE event ADD COLUMN source_id TEXT;
