-- The largest values that a tenant's webhooks may use. NULL: the default of the server.
ALTER TABLE registered_tenant ADD COLUMN timeout_ms_max INTEGER;
ALTER TABLE registered_tenant ADD COLUMN max_in_flight_max INTEGER;
