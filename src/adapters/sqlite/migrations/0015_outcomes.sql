-- The operation that counts the outcome of the delivery's current life; NULL: none. Deliveries that
-- were revived before this migration belong to none.
ALTER TABLE delivery ADD COLUMN operation BLOB;

-- What became of the deliveries of an operation.
ALTER TABLE operation ADD COLUMN requeued INTEGER NOT NULL DEFAULT 0;
ALTER TABLE operation ADD COLUMN succeeded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE operation ADD COLUMN dead_again INTEGER NOT NULL DEFAULT 0;
ALTER TABLE operation ADD COLUMN cancelled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE operation ADD COLUMN requeue_finished_at INTEGER;
UPDATE operation SET requeue_finished_at = finished_at WHERE status IN (0, 2);

-- Those that have work left. A running one may only wait for outcomes.
DROP INDEX operation_unfinished;
CREATE INDEX operation_unfinished ON operation (status)
 WHERE status <= 1 AND (status < 1 OR requeue_finished_at IS NULL);
