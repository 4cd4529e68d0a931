-- The headers with the webhook's prefix; 0: platform, as before this migration.
ALTER TABLE webhook ADD COLUMN signature_header_set INTEGER NOT NULL DEFAULT 0;
-- Whether some failures have a minimum delay; 1: yes, as before this migration.
ALTER TABLE webhook ADD COLUMN retry_category_minimums INTEGER NOT NULL DEFAULT 1;
