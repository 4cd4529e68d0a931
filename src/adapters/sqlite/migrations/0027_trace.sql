-- The W3C trace context of an event: trace id, the publisher's span id and the flags, 25 bytes, and
-- `tracestate`. NULL: it has none. Of a delivery: the trace id and 1 if it is sampled, 17 bytes. In
-- the delivery too, because the row of a large event is slow to read.
ALTER TABLE event ADD COLUMN trace BLOB;
ALTER TABLE event ADD COLUMN trace_state TEXT;
ALTER TABLE delivery ADD COLUMN trace BLOB;
