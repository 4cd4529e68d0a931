#include "engine/sources/source_progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/assert.h"
#include "core/base/enum_names.h"

namespace postrider {
namespace {

constexpr EnumNames<SourceState, SourceState::stopped> state_names{
    {"starting", "connected", "standby", "reconnecting", "failing", "paused", "stopped"}};

constexpr double jitter_max = 0.2;

}  // namespace

std::string_view to_string(SourceState state) { return state_names.name(state); }

Millis backoff_delay(std::uint32_t nth, BackoffRange range, double random) {
  POSTRIDER_ASSERT(nth >= 1);
  const std::uint32_t doublings = std::min(nth - 1, 30u);  // Reaches every maximum in use.
  const Millis full = std::min(range.min * (std::int64_t{1} << doublings), range.max);
  const double jitter = static_cast<double>(full.count()) * jitter_max * random;
  return full - Millis{std::llround(jitter)};
}

SourceState SourceProgress::state() const {
  if (is_stopped_) {
    return SourceState::stopped;
  }
  if (is_paused_) {
    return SourceState::paused;
  }
  if (is_working_) {
    return is_standby_ ? SourceState::standby : SourceState::connected;
  }
  if (failed_connects_ >= source_failures_alarming) {
    return SourceState::failing;
  }
  return failures_ == 0 && !ever_connected_ ? SourceState::starting : SourceState::reconnecting;
}

void SourceProgress::note_change(SourceState before, WallTime now) {
  if (state() != before) {
    since_ = now;
  }
}

void SourceProgress::connected() {
  is_connected_ = true;
  counts_.reconnects += std::exchange(ever_connected_, true) ? 1 : 0;
}

void SourceProgress::received(std::uint64_t messages, bool is_standby, WallTime now) {
  const SourceState before = state();
  counts_.received += messages;
  is_working_ = !is_paused_;
  is_standby_ = is_standby;
  failures_ = 0;
  failed_connects_ = 0;
  failure_.clear();
  note_change(before, now);
}

void SourceProgress::published(const BatchCounts& counts, WallTime now) {
  counts_.stored += counts.stored;
  counts_.duplicates += counts.duplicates;
  counts_.deferred += counts.deferred;
  if (counts.stored > 0) {
    last_event_at_ = now;
  }
}

Millis SourceProgress::settled(const BatchCounts& counts, double random) {
  counts_.rejected += counts.rejected;
  deferrals_ = counts.deferred > 0 ? deferrals_ + 1 : 0;
  return deferrals_ > 0 ? backoff_delay(deferrals_, deferral_backoff, random) : Millis{0};
}

Millis SourceProgress::failed(std::string reason, WallTime now, double random) {
  const SourceState before = state();
  failed_connects_ += is_working_ ? 0 : 1;
  is_connected_ = false;
  is_working_ = false;
  ++failures_;
  failure_ = std::move(reason);
  note_change(before, now);
  return backoff_delay(failures_, reconnect_backoff, random);
}

// After a pause the source connects again: its server may have closed the connection meanwhile.
void SourceProgress::pause(WallTime now) {
  const SourceState before = state();
  is_paused_ = true;
  is_connected_ = false;
  is_working_ = false;
  note_change(before, now);
}

void SourceProgress::resume(WallTime now) {
  const SourceState before = state();
  is_connected_ = is_connected_ && !is_paused_;
  is_paused_ = false;
  note_change(before, now);
}

void SourceProgress::stop(WallTime now) {
  const SourceState before = state();
  is_stopped_ = true;
  note_change(before, now);
}

std::optional<std::string> SourceProgress::reason() const {
  if (!failure_.empty()) {
    return failure_;
  }
  if (deferrals_ > 0 && is_working_) {
    return "This server cannot store events at present. The messages wait in the source.";
  }
  return std::nullopt;
}

}  // namespace postrider
