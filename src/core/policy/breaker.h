// Stops sending to a webhook that keeps failing, then lets a few probes through.
//
//     closed --too many failures in the window--> open --sleep over--> half_open
//     half_open --enough probes succeeded--> closed
//     half_open --too many failed--> open, sleeping longer
//
// Half-open is decided as soon as the probes still to come cannot change the outcome any more: two
// successes of three close a circuit that asks for half of them, the first failure opens one that
// asks for all of them.
//
// Results that come late. An attempt says nothing about what happened after it began, so whatever
// is in flight when the state changes is not counted afterwards (not in the new window, not as a
// probe). Results carry no name; so that one never passes for a probe's, probing begins only when
// every earlier attempt has ended, which their timeouts bound. After a reset to closed, the first
// results to arrive stand for the earlier attempts.
//
// A plain value: stored, copied and compared like any other. The engine owns it; one thread.
// All times are the engine's steady wall time, so that they can be stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "core/base/time.h"

namespace postrider {

enum class CircuitState : std::uint8_t { closed, open, half_open };

[[nodiscard]] std::string_view to_string(CircuitState state);
[[nodiscard]] std::optional<CircuitState> parse_circuit_state(std::string_view text);

enum class BreakerWindow : std::uint8_t { time, count };

[[nodiscard]] std::string_view to_string(BreakerWindow window);
[[nodiscard]] std::optional<BreakerWindow> parse_breaker_window(std::string_view text);

/// A busy webhook makes more calls in a minute than are worth remembering: the last thousand give
/// its error rate to a tenth of a percent, in 16 KB. Larger numbers of calls in a policy count as
/// this.
constexpr std::uint32_t breaker_calls_max = 1'000;

struct BreakerPolicy {
  bool enabled = true;  // When not: closed, whatever happened or a person said.
  BreakerWindow window = BreakerWindow::time;
  Millis window_size{60'000};                 // For window = time.
  std::uint32_t window_calls = 10;            // For window = count: the last so many calls.
  std::uint32_t minimum_throughput = 10;      // Fewer calls than this in the window never open it.
  double error_threshold_percentage = 50;     // Opens at or above.
  std::uint32_t failure_count_threshold = 0;  // When > 0: opens at so many failures instead.
  Millis sleep_window{30'000};
  double sleep_multiplier = 2.0;  // Each opening in a row without a recovery sleeps longer.
  Millis sleep_max{1'800'000};
  std::uint32_t half_open_max_calls = 3;
  double half_open_success_percentage = 50;  // Closes at or above; one success is the least.

  bool operator==(const BreakerPolicy&) const = default;
};

enum class BreakerPreset : std::uint8_t { standard, patient, sensitive };

[[nodiscard]] BreakerPolicy breaker_policy(BreakerPreset preset);
[[nodiscard]] std::string_view to_string(BreakerPreset preset);
[[nodiscard]] std::optional<BreakerPreset> parse_breaker_preset(std::string_view text);

/// What survives a restart. The call window does not: it is short.
struct CircuitRecord {
  CircuitState state = CircuitState::closed;
  std::uint32_t openings_in_row = 0;                  // Since it was last closed.
  WallTime changed_at;                                // Of the last transition.
  std::optional<WallTime> open_until = std::nullopt;  // Only when open.
  /// Held by a person until then; wall_time_max: until reset.
  std::optional<WallTime> forced_until = std::nullopt;
  bool forced_open = false;  // Or closed, when forced_until is set.
  /// The first failure after the last success. Whatever else happens to the circuit, only a success
  /// or a new beginning ends it.
  std::optional<WallTime> failing_since = std::nullopt;

  bool operator==(const CircuitRecord&) const = default;
};

class Breaker {
 public:
  Breaker() = default;
  /// A restored half_open circuit starts its probes anew: those in flight died with their process.
  explicit Breaker(const CircuitRecord& record);

  /// May an attempt start now? Each yes is answered once, by `on_success`, `on_failure` or
  /// `on_abandoned`. A yes in half_open takes one of the probe places. May move open -> half_open.
  [[nodiscard]] bool try_acquire(const BreakerPolicy& policy, WallTime now);

  /// Time has passed: ends a hold and a sleep that are over, whether or not anything is sent.
  void wake(const BreakerPolicy& policy, WallTime now);
  /// When there will be something to end. Not after `now`: there is now. nullopt: never, or after
  /// an attempt in flight has ended.
  [[nodiscard]] std::optional<WallTime> wakes_at(const BreakerPolicy& policy, WallTime now) const;

  /// When it is worth asking again after a refusal. nullopt: when an attempt in flight ends.
  [[nodiscard]] std::optional<WallTime> retry_at(const BreakerPolicy& policy, WallTime now) const;

  void on_success(const BreakerPolicy& policy, WallTime now);
  void on_failure(const BreakerPolicy& policy, WallTime now);
  /// The attempt ended without telling anything about the receiver (drained, store trouble).
  void on_abandoned();

  /// A person's word. `until` nullopt means until reset. When a forced opening ends, probes decide.
  /// While forced closed, calls are counted but do not open it.
  void force_open(WallTime now, std::optional<WallTime> until);
  void force_close(WallTime now, std::optional<WallTime> until);
  void reset(WallTime now);

  /// Has everything failed for so long? A first failure in the future, left by a wrong clock,
  /// counts as now.
  [[nodiscard]] bool failed_for(Millis duration, WallTime now) const;
  /// The webhook was switched on again: what failed before is history.
  void forget_failures() { record_.failing_since.reset(); }

  [[nodiscard]] CircuitState state() const { return record_.state; }
  [[nodiscard]] const CircuitRecord& record() const { return record_; }

  bool operator==(const Breaker&) const = default;

 private:
  struct Call {
    WallTime at;
    bool failed = false;
    bool operator==(const Call&) const = default;
  };

  void enter(CircuitState state, WallTime now);
  void open(const BreakerPolicy& policy, WallTime now);
  void end_hold(WallTime now);
  void on_result(const BreakerPolicy& policy, WallTime now, bool failed);
  void note_failing(WallTime now, bool failed);
  [[nodiscard]] bool end_attempt();
  void count_call(const BreakerPolicy& policy, Call call);
  void forget_oldest_call();
  [[nodiscard]] bool too_many_failures(const BreakerPolicy& policy) const;
  void judge_probes(const BreakerPolicy& policy, WallTime now);

  CircuitRecord record_;
  std::deque<Call> calls_;      // Only in closed. At most breaker_calls_max.
  std::uint32_t failures_ = 0;  // Of calls_.
  std::uint32_t in_flight_ = 0;
  std::uint32_t late_ = 0;          // Of in_flight_: began before the last change of state.
  std::uint32_t probes_ended_ = 0;  // Only in half_open, where all that is in flight is a probe.
  std::uint32_t probes_succeeded_ = 0;
};

}  // namespace postrider
