-- The number of timeouts in a row that open a circuit; 0: any number. Circuits whose policy was
-- changed keep it: only those with the values of the preset `standard` get its new value.
ALTER TABLE webhook ADD COLUMN breaker_consecutive_failure_threshold INTEGER NOT NULL DEFAULT 0;
UPDATE webhook SET breaker_consecutive_failure_threshold = 5
 WHERE breaker_enabled = 1 AND breaker_window = 0 AND breaker_window_size_ms = 60000
   AND breaker_window_calls = 10 AND breaker_minimum_throughput = 10
   AND breaker_error_threshold_percentage = 50 AND breaker_failure_count_threshold = 0
   AND breaker_sleep_window_ms = 30000 AND breaker_sleep_multiplier = 2
   AND breaker_sleep_max_ms = 1800000 AND breaker_half_open_max_calls = 3
   AND breaker_half_open_success_percentage = 50;
