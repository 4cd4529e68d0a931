-- A pattern as JSON; NULL: every event of the webhook's types.
ALTER TABLE webhook ADD COLUMN filter TEXT;

-- The catalogue of event types. The table event_type only maps names to numbers.
CREATE TABLE event_type_entry (
  name TEXT NOT NULL PRIMARY KEY,
  description TEXT,
  schema TEXT,
  example TEXT,
  validate INTEGER NOT NULL,
  archived INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
