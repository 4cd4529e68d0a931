-- Deliveries that are made after their event was published, because they are many. `fanned_out` is
-- their number, including webhooks that were removed before their turn. The deliveries are late
-- ones: see delivery.late. `delivery_count` of such an event is 1, so that it is not unmatched.
ALTER TABLE event ADD COLUMN fanned_out INTEGER NOT NULL DEFAULT 0;

-- The note of an event whose deliveries are not all made. `place`: the webhook of the list that is
-- next. `chosen`: one bit per webhook of the list, lowest first; empty: all. `remaining`: the
-- chosen ones from `place` on. A tenant's notes are worked off in the order of their events.
CREATE TABLE fanout (
  event INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL,
  list INTEGER NOT NULL,
  place INTEGER NOT NULL,
  remaining INTEGER NOT NULL,
  due INTEGER NOT NULL,
  chosen BLOB NOT NULL
) STRICT;

CREATE INDEX fanout_tenant ON fanout (tenant);
CREATE INDEX fanout_in_list ON fanout (list);

-- Lists of webhooks, which notes share, in parts of 512 ids. Removed with the last note.
CREATE TABLE fanout_list (
  list INTEGER NOT NULL,
  part INTEGER NOT NULL,
  webhooks BLOB NOT NULL,
  PRIMARY KEY (list, part)
) STRICT, WITHOUT ROWID;
