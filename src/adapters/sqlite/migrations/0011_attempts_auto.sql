-- Whether the number of attempts follows from the delays; 0: it is fixed, as before this migration.
ALTER TABLE webhook ADD COLUMN retry_attempts_auto INTEGER NOT NULL DEFAULT 0;
