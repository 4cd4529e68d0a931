#include "runtime/sources/source_runner.h"

#include <utility>

#include <spdlog/spdlog.h>

#include "core/base/assert.h"
#include "core/base/overloaded.h"

#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

struct Outcomes {
  BatchCounts counts;
  std::string last_rejection;
  std::vector<SettledRecord> settled;
};

Outcomes summarize(const std::vector<SourceRecord>& records, std::vector<RecordOutcome> outcomes) {
  POSTRIDER_ASSERT(outcomes.size() == records.size());
  Outcomes summary;
  summary.settled.reserve(records.size());
  for (std::size_t index = 0; index < records.size(); ++index) {
    std::visit(
        Overloaded{[&](const RecordStored& stored) {
                     ++(stored.duplicate ? summary.counts.duplicates : summary.counts.stored);
                   },
                   [&](const RecordRejected& rejected) {
                     ++summary.counts.rejected;
                     summary.last_rejection = rejected.reason;
                   },
                   [&](const RecordDeferred&) { ++summary.counts.deferred; }},
        outcomes[index]);
    summary.settled.push_back({records[index].receipt, std::move(outcomes[index])});
  }
  return summary;
}

}  // namespace

SourceRunner::SourceRunner(SourceParts parts, const Clock& clock, std::uint64_t seed)
    : parts_(std::move(parts)), clock_(clock), random_(seed), progress_(clock.now().wall) {}

SourceRunner::~SourceRunner() {
  stop_receiving();
  join();
}

void SourceRunner::start() {
  POSTRIDER_ASSERT(!thread_.joinable());
  thread_ = std::thread{[this] { run(); }};
}

void SourceRunner::stop_receiving() {
  {
    const std::scoped_lock lock{mutex_};
    is_stopping_ = true;
  }
  woken_.notify_all();
  parts_.source->interrupt();
}

void SourceRunner::join() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

void SourceRunner::pause() {
  {
    const std::scoped_lock lock{mutex_};
    progress_.pause(clock_.now().wall);
  }
  parts_.source->interrupt();
}

void SourceRunner::resume() {
  {
    const std::scoped_lock lock{mutex_};
    progress_.resume(clock_.now().wall);
    is_woken_ = true;
  }
  woken_.notify_all();
}

void SourceRunner::run() {
  for (;;) {
    {
      const std::scoped_lock lock{mutex_};
      if (is_stopping_) {
        progress_.stop(clock_.now().wall);
        return;
      }
    }
    wait(step());
  }
}

void SourceRunner::wait(Millis delay) {
  std::unique_lock lock{mutex_};
  woken_.wait_for(lock, delay, [this] { return is_stopping_ || is_woken_; });
  is_woken_ = false;
}

Millis SourceRunner::step() {
  {
    const std::scoped_lock lock{mutex_};
    if (progress_.is_paused()) {
      return receive_wait_max;
    }
  }
  Result<Millis> moved = move_batch();
  const std::scoped_lock lock{mutex_};
  if (moved || progress_.is_paused()) {
    return moved.value_or(receive_wait_max);
  }
  lag_ = {};
  lag_measured_at_.reset();
  const Millis delay = progress_.failed(moved.error().message, clock_.now().wall, random_.draw());
  spdlog::warn("source.failed source={} state={} retry_in_ms={} reason=\"{}\"", parts_.name,
               to_string(progress_.state()), delay.count(), log_safe(moved.error().message));
  return delay;
}

Result<Millis> SourceRunner::move_batch() {
  bool needs_connect = false;
  {
    const std::scoped_lock lock{mutex_};
    needs_connect = progress_.needs_connect();
  }
  if (needs_connect) {
    POSTRIDER_CHECK(parts_.source->connect());
    const std::scoped_lock lock{mutex_};
    progress_.connected();
    probes_ = true;
  }
  // The first receive does not wait, so that its success is known at once.
  const Millis wait_max = std::exchange(probes_, false) ? Millis{0} : receive_wait_max;
  POSTRIDER_TRY(const std::vector<SourceRecord> records,
                parts_.source->receive({.records_max = parts_.batch_max, .wait_max = wait_max}));
  {
    const std::scoped_lock lock{mutex_};
    const SourceState before = progress_.state();
    progress_.received(records.size(), parts_.source->is_standby(), clock_.now().wall);
    if (const SourceState after = progress_.state(); after != before) {
      spdlog::info("source.state source={} state={}", parts_.name, to_string(after));
    }
  }
  POSTRIDER_TRY(const Millis delay, finish(records));
  measure_lag();
  return delay;
}

Result<Millis> SourceRunner::finish(const std::vector<SourceRecord>& records) {
  if (records.empty()) {
    return Millis{0};
  }
  const Outcomes outcomes = summarize(records, parts_.intake->publish(records));
  {
    const std::scoped_lock lock{mutex_};
    progress_.published(outcomes.counts, clock_.now().wall);
  }
  POSTRIDER_CHECK(parts_.source->settle(outcomes.settled));
  const std::scoped_lock lock{mutex_};
  if (outcomes.counts.rejected > 0) {
    progress_.rejection_seen(outcomes.last_rejection);
    spdlog::warn("source.rejected source={} messages={} last=\"{}\"", parts_.name,
                 outcomes.counts.rejected, log_safe(outcomes.last_rejection));
  }
  return progress_.settled(outcomes.counts, random_.draw());
}

void SourceRunner::measure_lag() {
  const MonoTime now = clock_.now().mono;
  if (lag_measured_at_ && now - *lag_measured_at_ < lag_period) {
    return;
  }
  lag_measured_at_ = now;
  // If the server is away, the next receive says so.
  const SourceLag lag = parts_.source->lag().value_or(SourceLag{});
  const std::scoped_lock lock{mutex_};
  lag_ = lag;
}

SourceView SourceRunner::view() const {
  const std::scoped_lock lock{mutex_};
  return {.name = parts_.name,
          .kind = parts_.kind,
          .state = progress_.state(),
          .since = progress_.since(),
          .reason = progress_.reason(),
          .lag = lag_,
          .counts = progress_.counts(),
          .last_event_at = progress_.last_event_at()};
}

SourceFacts SourceRunner::facts() const {
  const std::scoped_lock lock{mutex_};
  const SourceState state = progress_.state();
  return {.name = parts_.name,
          .is_failing = state == SourceState::failing,
          .is_working = state == SourceState::connected || state == SourceState::standby,
          .failed_connects = progress_.failed_connects(),
          .reason = progress_.reason().value_or(std::string{}),
          .rejected = progress_.counts().rejected,
          .last_rejection = progress_.last_rejection()};
}

}  // namespace postrider
