-- What is the same in all requests to a webhook between two changes of it; attempts name it by its
-- number, in their detail. Only deliveries with a sequence smaller than `named_below` do; NULL:
-- those to come as well. Stays when its webhook goes.
CREATE TABLE request_shape (
  webhook_id BLOB NOT NULL,
  number INTEGER NOT NULL,
  named_below INTEGER,
  sealed INTEGER NOT NULL,
  shape BLOB NOT NULL,
  PRIMARY KEY (webhook_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX request_shape_left ON request_shape (named_below) WHERE named_below IS NOT NULL;
