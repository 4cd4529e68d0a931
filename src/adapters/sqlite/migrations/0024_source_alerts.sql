-- The name of the source of events that an alert is about. NULL: the alert is about something else.
ALTER TABLE alert ADD COLUMN source TEXT;
