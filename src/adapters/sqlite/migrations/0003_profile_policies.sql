-- Which headers follow a webhook's prefix; 0: platform, as all had them before.
ALTER TABLE webhook ADD COLUMN signature_header_set INTEGER NOT NULL DEFAULT 0;
-- Whether some failures wait a least time; 1: as all did before.
ALTER TABLE webhook ADD COLUMN retry_category_minimums INTEGER NOT NULL DEFAULT 1;
