#include "core/policy/breaker.h"

#include <algorithm>
#include <cmath>

#include "core/base/assert.h"
#include "core/base/enum_names.h"
#include "core/base/growth.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr EnumNames<CircuitState, CircuitState::half_open> state_names{
    {"closed", "open", "half_open"}};
constexpr EnumNames<BreakerWindow, BreakerWindow::count> window_names{{"time", "count"}};
constexpr EnumNames<BreakerPreset, BreakerPreset::sensitive> preset_names{
    {"standard", "patient", "sensitive"}};
constexpr EnumNames<OpenReason, OpenReason::forced> reason_names{{"failures", "forced"}};

// Attempts that end after the circuit has opened are recorded behind those that opened it.
constexpr std::uint32_t late_calls_max = 100;

std::uint32_t window_calls_max(const BreakerPolicy& policy) {
  return policy.window == BreakerWindow::time
             ? breaker_calls_max
             : std::clamp(policy.window_calls, 1u, breaker_calls_max);
}

/// The time at which the window ends: an open circuit keeps what it counted when it opened.
WallTime window_end(const CircuitRecord& record, WallTime now) {
  return record.state == CircuitState::open ? std::min(record.changed_at, now) : now;
}

/// Calls that ended before this time are not in the window.
WallTime window_start(const CircuitRecord& record, const BreakerPolicy& policy, WallTime now) {
  if (policy.window == BreakerWindow::count || record.state == CircuitState::half_open) {
    return record.counting_since;
  }
  return std::max(record.counting_since, window_end(record, now) - policy.window_size);
}

std::uint32_t probes_max(const BreakerPolicy& policy) {
  return std::max(policy.half_open_max_calls, 1u);
}

/// The number of probes that must succeed. At least one: closing requires evidence.
std::uint32_t successes_needed(const BreakerPolicy& policy) {
  const std::uint32_t probes = probes_max(policy);
  const double needed = std::ceil(probes * policy.half_open_success_percentage / 100.0);
  if (!(needed > 1.0)) {
    return 1;
  }
  return needed < probes ? static_cast<std::uint32_t>(needed) : probes;
}

/// Limits a stored end of sleep to the longest possible sleep: the clock may have been wrong when
/// it was stored, or the policy may have become more lenient.
WallTime sleep_end(const CircuitRecord& record, const BreakerPolicy& policy, WallTime now) {
  const WallTime end = record.open_until.value_or(now);
  return record.forced_until ? end : std::min(end, later(now, policy.sleep_max));
}

}  // namespace

std::string_view to_string(CircuitState state) { return state_names.name(state); }

std::optional<CircuitState> parse_circuit_state(std::string_view text) {
  return state_names.find(text);
}

std::string_view to_string(BreakerWindow window) { return window_names.name(window); }

std::optional<BreakerWindow> parse_breaker_window(std::string_view text) {
  return window_names.find(text);
}

std::string_view to_string(BreakerPreset preset) { return preset_names.name(preset); }

std::optional<BreakerPreset> parse_breaker_preset(std::string_view text) {
  return preset_names.find(text);
}

std::string_view to_string(OpenReason reason) { return reason_names.name(reason); }

std::optional<OpenPeriod> changed_period(const CircuitRecord& before, const CircuitRecord& after) {
  const auto period_of = [](const CircuitRecord& record) {
    return OpenPeriod{.opened_at = record.opened_at.value_or(record.changed_at),
                      .reason = record.forced_open ? OpenReason::forced : OpenReason::failures};
  };
  const bool was_open = before.state == CircuitState::open;
  if (after.state == CircuitState::open) {
    const bool changed = !was_open || (after.forced_open && !before.forced_open);
    return changed ? std::optional{period_of(after)} : std::nullopt;
  }
  if (!was_open) {
    return std::nullopt;
  }
  OpenPeriod ended = period_of(before);
  ended.ended_at = std::max(after.changed_at, ended.opened_at);
  return ended;
}

CallsToRestore calls_to_restore(const CircuitRecord& record, const BreakerPolicy& policy,
                                WallTime now) {
  if (!policy.enabled) {
    return {.since = now, .limit = 1, .count_min = 1};
  }
  const std::uint32_t late = record.state == CircuitState::open ? late_calls_max : 0;
  const std::uint32_t in_row = std::min(policy.consecutive_failure_threshold, breaker_calls_max);
  return {.since = window_start(record, policy, now),
          .limit = std::max(window_calls_max(policy), in_row) + late,
          .count_min = std::max(in_row, 1u)};
}

BreakerPolicy breaker_policy(BreakerPreset preset) {
  BreakerPolicy policy;
  switch (preset) {
    case BreakerPreset::standard:
      break;
    case BreakerPreset::patient:
      policy.window = BreakerWindow::count;
      policy.consecutive_failure_threshold = 0;  // Only the last calls count.
      policy.sleep_window = 1h;
      policy.sleep_max = 24h;
      policy.half_open_success_percentage = 100;
      break;
    case BreakerPreset::sensitive:
      policy.minimum_throughput = 1;  // This preset counts failures, not their percentage.
      policy.failure_count_threshold = 5;
      policy.consecutive_failure_threshold = 0;
      policy.sleep_window = 5min;
      policy.sleep_multiplier = 1.0;
      policy.sleep_max = 5min;
      policy.half_open_max_calls = 1;
      policy.half_open_success_percentage = 100;
      break;
  }
  return policy;
}

Breaker::Breaker(const CircuitRecord& record) : record_(record) {}

void Breaker::restore(const BreakerPolicy& policy, const std::vector<PastCall>& calls,
                      WallTime now) {
  if (!policy.enabled) {
    return;
  }
  const WallTime end = window_end(record_, now);
  for (const PastCall& call : calls) {
    // A call that ended in the millisecond in which the circuit closed is the probe that closed it.
    const bool closed_it =
        record_.state == CircuitState::closed && call.ended <= record_.counting_since;
    const bool earlier = call.began < record_.counting_since || closed_it;
    const bool late = record_.state == CircuitState::open && call.ended > end;
    if (earlier || late) {
      continue;
    }
    // A time in the future was recorded by a wrong clock.
    count_call(
        policy,
        {.at = std::min(call.ended, end), .failed = call.failed, .timed_out = call.timed_out});
    if (record_.state == CircuitState::half_open) {
      ++probes_ended_;
      probes_succeeded_ += call.failed ? 0 : 1;
    }
  }
}

bool exceeds_timeouts(const BreakerPolicy& policy, std::uint32_t timeouts_in_row) {
  return policy.consecutive_failure_threshold > 0 &&
         timeouts_in_row >= std::min(policy.consecutive_failure_threshold, breaker_calls_max);
}

CallWindow Breaker::window(const BreakerPolicy& policy, WallTime now) const {
  const WallTime start = window_start(record_, policy, now);
  CallWindow window;
  for (const Call& call : calls_) {
    // `count_call` removes a call once it is as old as the window.
    const bool counts = policy.window == BreakerWindow::count ||
                        record_.state == CircuitState::half_open ||
                        call.at > window_end(record_, now) - policy.window_size;
    window.calls += counts ? 1 : 0;
    window.failures += counts && call.failed ? 1 : 0;
  }
  window.timeouts_in_row = timeouts_in_row_;
  window.start = start;
  if (policy.window == BreakerWindow::count && !calls_.empty()) {
    window.start = calls_.front().at;
  } else if (start == WallTime{}) {
    window.start.reset();
  }
  if (record_.state == CircuitState::half_open) {
    window.probes_used = probes_ended_ + in_flight_;
  }
  return window;
}

void Breaker::wake(const BreakerPolicy& policy, WallTime now) {
  end_forced_state(now);
  if (record_.state != CircuitState::open) {
    return;
  }
  record_.open_until = sleep_end(record_, policy, now);
  if (now >= *record_.open_until && in_flight_ == 0) {
    enter(CircuitState::half_open, now);
  }
}

std::optional<WallTime> Breaker::wakes_at(const BreakerPolicy& policy, WallTime now) const {
  std::optional<WallTime> at = record_.forced_until;
  if (!at && record_.state == CircuitState::open && in_flight_ == 0) {
    at = sleep_end(record_, policy, now);
  }
  return at == wall_time_max ? std::nullopt : at;
}

bool Breaker::try_acquire(const BreakerPolicy& policy, WallTime now) {
  wake(policy, now);
  if (!policy.enabled && record_.state != CircuitState::closed) {
    reset(now);
  }
  if (record_.state == CircuitState::half_open) {
    evaluate_probes(policy, now);  // The policy may have changed since the last probe ended.
  }
  if (record_.state == CircuitState::open) {
    return false;
  }
  if (record_.state == CircuitState::half_open &&
      probes_ended_ + in_flight_ >= probes_max(policy)) {
    return false;
  }
  ++in_flight_;
  return true;
}

std::optional<WallTime> Breaker::retry_at(const BreakerPolicy& policy, WallTime now) const {
  if (!policy.enabled || record_.state == CircuitState::closed) {
    return now;
  }
  if (record_.state == CircuitState::open) {
    const WallTime end = sleep_end(record_, policy, now);
    if (now < end) {
      return end;
    }
    return in_flight_ > 0 ? std::nullopt : std::optional{now};
  }
  const bool full = probes_ended_ + in_flight_ >= probes_max(policy);
  return full && in_flight_ > 0 ? std::nullopt : std::optional{now};
}

void Breaker::on_success(const BreakerPolicy& policy, WallTime now) {
  on_result(policy, {.at = now});
}

void Breaker::on_failure(const BreakerPolicy& policy, WallTime now, bool timed_out) {
  on_result(policy, {.at = now, .failed = true, .timed_out = timed_out});
}

void Breaker::on_abandoned() { static_cast<void>(end_attempt()); }

void Breaker::force_open(WallTime now, std::optional<WallTime> until) {
  const WallTime end = std::min(until.value_or(wall_time_max), wall_time_max);
  enter(CircuitState::open, now);
  record_.open_until = end;
  record_.forced_until = end;
  record_.forced_open = true;
}

void Breaker::force_close(WallTime now, std::optional<WallTime> until) {
  reset(now);
  record_.forced_until = std::min(until.value_or(wall_time_max), wall_time_max);
}

void Breaker::reset(WallTime now) {
  enter(CircuitState::closed, now);
  record_.openings_in_row = 0;
  record_.forced_until.reset();
  record_.forced_open = false;
}

void Breaker::restart_window(WallTime now) {
  if (record_.state == CircuitState::closed) {
    enter(CircuitState::closed, now);
  }
}

/// The only place where the state changes.
void Breaker::enter(CircuitState state, WallTime now) {
  if (record_.state != state) {
    record_.state = state;
    record_.changed_at = now;
    if (state == CircuitState::open) {
      record_.opened_at = now;
      record_.times_opened += record_.times_opened < UINT32_MAX ? 1 : 0;
    }
  }
  record_.open_until.reset();
  if (state != CircuitState::open) {
    record_.counting_since = now;
    calls_.clear();
    failures_ = 0;
    timeouts_in_row_ = 0;
  }
  late_ = in_flight_;
  probes_ended_ = 0;
  probes_succeeded_ = 0;
  POSTRIDER_ASSERT(state != CircuitState::half_open || in_flight_ == 0);
}

void Breaker::open(const BreakerPolicy& policy, WallTime now) {
  const Growth sleep{
      .base = policy.sleep_window, .factor = policy.sleep_multiplier, .max = policy.sleep_max};
  enter(CircuitState::open, now);
  record_.open_until = later(now, grown(sleep, record_.openings_in_row));
  if (record_.openings_in_row < UINT32_MAX) {
    ++record_.openings_in_row;
  }
}

/// Leaves a forced opening that is over as an open circuit whose sleep is over.
void Breaker::end_forced_state(WallTime now) {
  if (record_.forced_until && now >= *record_.forced_until) {
    record_.forced_until.reset();
    record_.forced_open = false;
  }
}

bool Breaker::failed_for(Millis duration, WallTime now) const {
  return record_.failing_since && now - *record_.failing_since >= duration;
}

/// Counts late results as well: they prove whether the receiver accepts deliveries.
void Breaker::update_failing_since(WallTime now, bool failed) {
  if (!failed) {
    record_.failing_since.reset();
  } else {
    record_.failing_since = std::min(record_.failing_since.value_or(now), now);
  }
}

void Breaker::on_result(const BreakerPolicy& policy, const Call& call) {
  const WallTime now = call.at;
  end_forced_state(now);
  update_failing_since(now, call.failed);
  if (!end_attempt() || !policy.enabled) {
    return;
  }
  // Nothing starts while open, so `end_attempt` has already discarded results as late.
  POSTRIDER_ASSERT(record_.state != CircuitState::open);
  count_call(policy, call);
  if (record_.state == CircuitState::half_open) {
    ++probes_ended_;
    probes_succeeded_ += call.failed ? 0 : 1;
    evaluate_probes(policy, now);
    return;
  }
  if (!record_.forced_until && exceeds_threshold(policy)) {
    open(policy, now);
  }
}

/// Returns true if the attempt's result counts, false if it is late.
bool Breaker::end_attempt() {
  POSTRIDER_ASSERT(in_flight_ > 0);
  --in_flight_;
  if (late_ == 0) {
    return true;
  }
  --late_;
  return false;
}

void Breaker::count_call(const BreakerPolicy& policy, Call call) {
  calls_.push_back(call);
  failures_ += call.failed ? 1 : 0;
  timeouts_in_row_ = call.timed_out ? timeouts_in_row_ + 1 : 0;

  while (calls_.size() > window_calls_max(policy)) {
    forget_oldest_call();
  }
  while (policy.window == BreakerWindow::time && !calls_.empty() &&
         call.at - calls_.front().at >= policy.window_size) {
    forget_oldest_call();
  }
}

void Breaker::forget_oldest_call() {
  failures_ -= calls_.front().failed ? 1 : 0;
  calls_.pop_front();
}

bool Breaker::exceeds_threshold(const BreakerPolicy& policy) const {
  if (exceeds_timeouts(policy, timeouts_in_row_)) {
    return true;
  }
  if (failures_ == 0 || calls_.size() < std::min(policy.minimum_throughput, breaker_calls_max)) {
    return false;
  }
  if (policy.failure_count_threshold > 0) {
    return failures_ >= std::min(policy.failure_count_threshold, breaker_calls_max);
  }
  return failures_ * 100.0 >=
         policy.error_threshold_percentage * static_cast<double>(calls_.size());
}

void Breaker::evaluate_probes(const BreakerPolicy& policy, WallTime now) {
  const std::uint32_t needed = successes_needed(policy);
  const std::uint32_t failed = probes_ended_ - probes_succeeded_;
  if (probes_succeeded_ >= needed) {
    reset(now);
  } else if (failed > probes_max(policy) - needed) {
    open(policy, now);
  }
}

}  // namespace postrider
