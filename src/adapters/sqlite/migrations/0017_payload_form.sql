-- How the request body is serialised; 0: verbatim, as before this migration.
ALTER TABLE webhook ADD COLUMN payload_form INTEGER NOT NULL DEFAULT 0;
