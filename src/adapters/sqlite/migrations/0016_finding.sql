-- The events of a resource. Costs nothing for events without one.
CREATE INDEX event_resource ON event (resource_id) WHERE resource_id IS NOT NULL;

-- Attempts by time. New entries are appended, because attempts are recorded in about this order.
CREATE INDEX attempt_time ON attempt (executed_at, delivery, number);

ALTER TABLE operation ADD COLUMN filter_resource_id TEXT;
