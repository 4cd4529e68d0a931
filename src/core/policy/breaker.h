// A circuit breaker: stops sending to a webhook that keeps failing, then sends a few probes.
//
//     closed --too many failures in the window--> open --sleep over--> half_open
//     closed --too many timeouts in a row--> open
//     half_open --enough probes succeeded--> closed
//     half_open --too many probes failed--> open, sleeping longer
//
// Half-open ends as soon as the remaining probes cannot change the outcome. Two successes of three
// probes close a circuit that requires half of them to succeed. The first failure opens a circuit
// that requires all of them to succeed.
//
// Late results: an attempt that started before a state change says nothing about the new state, so
// its result is not counted, neither in the new window nor as a probe. Results do not identify
// their attempt. Therefore probing starts only after every earlier attempt has ended; their
// timeouts bound the wait. After a reset to closed, the first results are taken to be those of the
// earlier attempts.
//
// A plain value, owned by the engine. All times are steady wall time, so that they can be stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/time.h"

namespace postrider {

enum class CircuitState : std::uint8_t { closed, open, half_open };

[[nodiscard]] std::string_view to_string(CircuitState state);
[[nodiscard]] std::optional<CircuitState> parse_circuit_state(std::string_view text);

enum class BreakerWindow : std::uint8_t { time, count };

[[nodiscard]] std::string_view to_string(BreakerWindow window);
[[nodiscard]] std::optional<BreakerWindow> parse_breaker_window(std::string_view text);

/// The most calls kept in a window: 1,000 give the error rate to a tenth of a percent, in 16 KB.
/// Larger call counts in a policy are treated as this.
constexpr std::uint32_t breaker_calls_max = 1'000;

struct BreakerPolicy {
  bool enabled = true;  // If not, the circuit is always closed, even if forced open.
  BreakerWindow window = BreakerWindow::time;
  Millis window_size{60'000};                 // For window = time.
  std::uint32_t window_calls = 10;            // For window = count: the number of last calls.
  std::uint32_t minimum_throughput = 10;      // Fewer calls than this in the window never open it.
  double error_threshold_percentage = 50;     // Opens at or above.
  std::uint32_t failure_count_threshold = 0;  // If > 0: opens at this many failures instead.
  /// If > 0: also opens at this many timeouts in a row, however few calls are in the window. A
  /// receiver that never answers makes few calls.
  std::uint32_t consecutive_failure_threshold = 5;
  Millis sleep_window{30'000};
  double sleep_multiplier = 2.0;  // Applied for each consecutive opening without a recovery.
  Millis sleep_max{1'800'000};
  std::uint32_t half_open_max_calls = 3;
  double half_open_success_percentage = 50;  // Closes at or above. Needs at least one success.
  /// The webhook's owner keeps the circuit open until this time.
  std::optional<WallTime> force_open_until = std::nullopt;

  bool operator==(const BreakerPolicy&) const = default;
};

enum class BreakerPreset : std::uint8_t { standard, patient, sensitive };

[[nodiscard]] BreakerPolicy breaker_policy(BreakerPreset preset);
[[nodiscard]] std::string_view to_string(BreakerPreset preset);
[[nodiscard]] std::optional<BreakerPreset> parse_breaker_preset(std::string_view text);

/// The stored part, which survives a restart. The calls in the window are read from the recorded
/// attempts; see `calls_to_restore`.
struct CircuitRecord {
  CircuitState state = CircuitState::closed;
  std::uint32_t openings_in_row = 0;                  // Since it was last closed.
  WallTime changed_at;                                // Of the last transition.
  std::optional<WallTime> open_until = std::nullopt;  // Set only if open.
  /// Forced by a person until this time. wall_time_max: until reset.
  std::optional<WallTime> forced_until = std::nullopt;
  bool forced_open = false;  // If forced_until is set: forced open, else forced closed.
  /// The first failure after the last success. Cleared only by a success or `forget_failures`.
  std::optional<WallTime> failing_since = std::nullopt;
  /// Calls that began before are not counted: the last start of a closed or half_open state, reset
  /// included.
  WallTime counting_since{};
  std::optional<WallTime> opened_at = std::nullopt;  // The last time it opened.
  std::uint32_t times_opened = 0;                    // Ever.

  bool operator==(const CircuitRecord&) const = default;
};

enum class OpenReason : std::uint8_t { failures, forced };

[[nodiscard]] std::string_view to_string(OpenReason reason);

/// A time in which a circuit was open and nothing was sent.
struct OpenPeriod {
  WallTime opened_at;
  std::optional<WallTime> ended_at = std::nullopt;  // nullopt: not yet.
  OpenReason reason = OpenReason::failures;

  bool operator==(const OpenPeriod&) const = default;
};

/// The open period that began or ended between two records of one circuit.
[[nodiscard]] std::optional<OpenPeriod> changed_period(const CircuitRecord& before,
                                                       const CircuitRecord& after);

/// A finished attempt as the circuit counts it.
struct PastCall {
  WallTime began;
  WallTime ended;
  bool failed = false;
  bool timed_out = false;

  bool operator==(const PastCall&) const = default;
};

/// Selects recorded attempts: the latest `limit` of those that ended at `since` or later. If these
/// are fewer than `count_min`, the latest `count_min`.
struct CallsToRestore {
  WallTime since;
  std::uint32_t limit = 0;
  std::uint32_t count_min = 0;  // At most `limit`.
};

/// The attempts to pass to `Breaker::restore` after a restart. At least the last one, also if no
/// circuit counts it: it tells how long the receiver holds a slot.
[[nodiscard]] CallsToRestore calls_to_restore(const CircuitRecord& record,
                                              const BreakerPolicy& policy, WallTime now);

/// What the circuit currently counts. Of an open circuit: what it counted when it opened.
struct CallWindow {
  std::uint32_t calls = 0;  // In half_open: the probes that have ended.
  std::uint32_t failures = 0;
  std::optional<WallTime> start;  // nullopt: since the webhook exists.
  std::uint32_t probes_used = 0;  // Only in half_open; those in flight included.
  std::uint32_t timeouts_in_row = 0;

  bool operator==(const CallWindow&) const = default;
};

/// Returns whether this many timeouts in a row open the circuit.
[[nodiscard]] bool exceeds_timeouts(const BreakerPolicy& policy, std::uint32_t timeouts_in_row);

class Breaker {
 public:
  Breaker() = default;
  explicit Breaker(const CircuitRecord& record);

  /// Counts the calls made before a restart, oldest first. Attempts that were in flight ended with
  /// the process: in half_open their probes can be made again.
  void restore(const BreakerPolicy& policy, const std::vector<PastCall>& calls, WallTime now);

  /// True if an attempt may start now. The caller must then call exactly one of `on_success`,
  /// `on_failure` and `on_abandoned`. In half_open the attempt uses one of the probes. May change
  /// open to half_open.
  [[nodiscard]] bool try_acquire(const BreakerPolicy& policy, WallTime now);

  /// Ends a forced state and a sleep that are over at `now`. Does not need an attempt.
  void wake(const BreakerPolicy& policy, WallTime now);
  /// When to call `wake` next. Returns `now` or earlier if it is due, nullopt if there is nothing
  /// to wake from or an attempt in flight must end first.
  [[nodiscard]] std::optional<WallTime> wakes_at(const BreakerPolicy& policy, WallTime now) const;

  /// When to call `try_acquire` again after it returned false. nullopt: when an attempt ends.
  [[nodiscard]] std::optional<WallTime> retry_at(const BreakerPolicy& policy, WallTime now) const;

  void on_success(const BreakerPolicy& policy, WallTime now);
  void on_failure(const BreakerPolicy& policy, WallTime now, bool timed_out = false);
  /// The attempt ended without evidence about the receiver (shutdown, store failure).
  void on_abandoned();

  /// A person's override. `until` nullopt means until reset. After a forced opening the circuit
  /// probes. While forced closed, calls are counted but do not open the circuit.
  void force_open(WallTime now, std::optional<WallTime> until);
  void force_close(WallTime now, std::optional<WallTime> until);
  void reset(WallTime now);
  /// Forgets the calls of a closed circuit. Call when the policy is switched on.
  void restart_window(WallTime now);

  /// True if all attempts have failed for at least `duration`. False if `failing_since` is in the
  /// future because of a wrong clock.
  [[nodiscard]] bool failed_for(Millis duration, WallTime now) const;
  /// Call when the webhook is switched on again.
  void forget_failures() { record_.failing_since.reset(); }

  [[nodiscard]] CircuitState state() const { return record_.state; }
  [[nodiscard]] const CircuitRecord& record() const { return record_; }
  [[nodiscard]] CallWindow window(const BreakerPolicy& policy, WallTime now) const;

  bool operator==(const Breaker&) const = default;

 private:
  struct Call {
    WallTime at;
    bool failed = false;
    bool timed_out = false;
    bool operator==(const Call&) const = default;
  };

  void enter(CircuitState state, WallTime now);
  void open(const BreakerPolicy& policy, WallTime now);
  void end_forced_state(WallTime now);
  void on_result(const BreakerPolicy& policy, const Call& call);
  void update_failing_since(WallTime now, bool failed);
  [[nodiscard]] bool end_attempt();
  void count_call(const BreakerPolicy& policy, Call call);
  void forget_oldest_call();
  [[nodiscard]] bool exceeds_threshold(const BreakerPolicy& policy) const;
  void evaluate_probes(const BreakerPolicy& policy, WallTime now);

  CircuitRecord record_;
  std::deque<Call> calls_;      // See CallWindow. At most breaker_calls_max.
  std::uint32_t failures_ = 0;  // In calls_.
  std::uint32_t timeouts_in_row_ = 0;
  std::uint32_t in_flight_ = 0;
  std::uint32_t late_ = 0;          // Those of in_flight_ that started before the last change.
  std::uint32_t probes_ended_ = 0;  // Only in half_open, where every attempt is a probe.
  std::uint32_t probes_succeeded_ = 0;
};

}  // namespace postrider
