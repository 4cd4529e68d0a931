-- Whether the number of attempts follows the delays; 0: it is fixed, as all were before.
ALTER TABLE webhook ADD COLUMN retry_attempts_auto INTEGER NOT NULL DEFAULT 0;
