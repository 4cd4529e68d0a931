-- The part that is equal in all requests to a webhook between two changes of it. Attempts refer to
-- it by its number, in their detail. Only deliveries with a sequence below `named_below` do; NULL:
-- new deliveries too. Remains after the removal of its webhook.
CREATE TABLE request_shape (
  webhook_id BLOB NOT NULL,
  number INTEGER NOT NULL,
  named_below INTEGER,
  sealed INTEGER NOT NULL,
  shape BLOB NOT NULL,
  PRIMARY KEY (webhook_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX request_shape_left ON request_shape (named_below) WHERE named_below IS NOT NULL;
