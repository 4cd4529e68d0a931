-- A pattern as JSON; NULL: every event of the webhook's types.
ALTER TABLE webhook ADD COLUMN filter TEXT;

-- What the operator wrote down about a type of events. event_type is only the numbers of names.
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
