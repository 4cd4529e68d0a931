// Stops sending to a webhook that keeps failing, then lets a few probes through.
//
//     closed --too many failures in the window--> open --sleep over--> half_open
//     half_open --enough probes succeeded--> closed     half_open --otherwise--> open, sleeping longer
//
// A plain value: stored, copied and compared like any other. The engine owns it; one thread.
// All times are the engine's steady wall time, so that they can be stored.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "core/time.h"

namespace postrider {

enum class CircuitState : std::uint8_t { closed, open, half_open };

[[nodiscard]] std::string_view to_string(CircuitState state);
[[nodiscard]] std::optional<CircuitState> parse_circuit_state(std::string_view text);

enum class BreakerWindow : std::uint8_t { time, count };

struct BreakerPolicy {
  bool enabled = true;
  BreakerWindow window = BreakerWindow::time;
  Millis window_size{60'000};              // For window = time.
  std::uint32_t window_calls = 10;         // For window = count: the last so many calls.
  std::uint32_t minimum_throughput = 10;   // Fewer calls than this in the window never open it.
  double error_threshold_percentage = 50;  // Opens at or above. Ignored when failure_count_threshold > 0.
  std::uint32_t failure_count_threshold = 0;  // When > 0: opens at so many failures in the window.
  Millis sleep_window{30'000};
  double sleep_multiplier = 2.0;  // Each opening in a row without a recovery sleeps longer.
  Millis sleep_max{1'800'000};
  std::uint32_t half_open_max_calls = 3;
  double half_open_success_percentage = 50;  // Closes at or above, once all probes ended.

  bool operator==(const BreakerPolicy&) const = default;
};

enum class BreakerPreset : std::uint8_t { standard, patient, sensitive };

[[nodiscard]] BreakerPolicy breaker_policy(BreakerPreset preset);
[[nodiscard]] std::string_view to_string(BreakerPreset preset);
[[nodiscard]] std::optional<BreakerPreset> parse_breaker_preset(std::string_view text);

/// What survives a restart. The call window does not: it is short.
struct CircuitRecord {
  CircuitState state = CircuitState::closed;
  std::uint32_t openings_in_row = 0;   // Since it was last closed.
  WallTime changed_at;                 // Of the last transition.
  std::optional<WallTime> open_until;  // Only when open.
  std::optional<WallTime> forced_until;  // Held by a person: open until then, or closed until then.
  bool forced_open = false;            // Which of the two, when forced_until is set.

  bool operator==(const CircuitRecord&) const = default;
};

class Breaker {
 public:
  Breaker() = default;
  explicit Breaker(const CircuitRecord& record);

  /// May an attempt start now? A yes in half_open takes one of the probe places, which the attempt's
  /// `on_success`, `on_failure` or `on_abandoned` gives back. May move open -> half_open.
  [[nodiscard]] bool try_acquire(const BreakerPolicy& policy, WallTime now);

  /// When it is worth asking again after a refusal. nullopt: when a probe in flight ends.
  [[nodiscard]] std::optional<WallTime> retry_at(const BreakerPolicy& policy, WallTime now) const;

  void on_success(const BreakerPolicy& policy, WallTime now);
  void on_failure(const BreakerPolicy& policy, WallTime now);
  /// The attempt ended without telling anything about the receiver (drained, store trouble).
  void on_abandoned();

  /// A person's word. `until` nullopt means until reset.
  void force_open(WallTime now, std::optional<WallTime> until);
  void force_close(WallTime now, std::optional<WallTime> until);
  void reset(WallTime now);

  [[nodiscard]] CircuitState state() const { return record_.state; }
  [[nodiscard]] const CircuitRecord& record() const { return record_; }

  bool operator==(const Breaker&) const = default;

 private:
  struct Call {
    WallTime at;
    bool failed = false;
    bool operator==(const Call&) const = default;
  };

  CircuitRecord record_;
  std::deque<Call> calls_;            // Only in closed. Bounded by calls_max.
  std::uint32_t probes_started_ = 0;  // Only in half_open, like the next two.
  std::uint32_t probes_ended_ = 0;
  std::uint32_t probes_succeeded_ = 0;
};

}  // namespace postrider
