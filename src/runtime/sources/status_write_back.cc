#include "runtime/sources/status_write_back.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include <spdlog/spdlog.h>

#include "core/base/assert.h"
#include "engine/sources/source_progress.h"

#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

// One statement writes so many rows.
constexpr std::size_t rows_per_write = 500;
// Collects the changes of a moment, so that a statement writes several rows.
constexpr Millis collect_time{10};
// Before a row is written again that another transaction had locked.
constexpr Millis locked_pause{50};
constexpr Millis wait_for_changes{1'000};
constexpr Millis clean_up_period{10'000};
// A removal holds locks, so it is kept small.
constexpr std::uint32_t removals_per_step = 500;

/// A row that was never attempted has the status that its application gave it.
bool has_news(const TrackedRow& row, const RowStatus& status) {
  return status.state != RowState::pending || status.attempts > 0 || row.revision > 0;
}

}  // namespace

std::optional<RowWrittenBack> written_back(const TrackedRow& row, RowState state,
                                           RowWriteOutcome outcome) {
  RowWrittenBack record{.row_id = row.row_id,
                        .event_id = row.event_id,
                        .generation = row.generation,
                        .revision = row.revision,
                        .generation_now = row.generation,
                        .settled = true};
  switch (outcome) {
    case RowWriteOutcome::written:
      record.generation_now = row.generation + 1;
      return is_final(state) ? std::optional{record} : std::nullopt;
    case RowWriteOutcome::ahead:
      record.generation_now = row.generation + 1;
      record.settled = false;
      return record;
    case RowWriteOutcome::superseded:
    case RowWriteOutcome::missing:
      return record;
    case RowWriteOutcome::armed:
    case RowWriteOutcome::locked:
      break;
  }
  return std::nullopt;
}

StatusWriteBack::StatusWriteBack(Options options, std::unique_ptr<RowStatusSink> sink, Parts parts)
    : options_(std::move(options)), sink_(std::move(sink)), parts_(parts), random_(options_.seed) {}

StatusWriteBack::~StatusWriteBack() { stop(); }

void StatusWriteBack::start() {
  thread_ = std::thread{[this] { run(); }};
}

void StatusWriteBack::stop() {
  {
    const std::lock_guard lock{mutex_};
    is_stopping_ = true;
  }
  woken_.notify_all();
  sink_->interrupt();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void StatusWriteBack::run() {
  const auto is_stopping = [this] {
    const std::lock_guard lock{mutex_};
    return is_stopping_;
  };
  while (!is_stopping()) {
    wait(step(wait_for_changes));
  }
  if (is_connected_) {
    (void)step(Millis{0});  // What fails is written after the next start.
  }
}

void StatusWriteBack::wait(Millis delay) {
  std::unique_lock lock{mutex_};
  woken_.wait_for(lock, delay, [this] { return is_stopping_; });
}

Millis StatusWriteBack::step(Millis wait_max) {
  if (!is_connected_) {
    if (const Result<void> connected = sink_->connect(); !connected) {
      return failed(connected.error());
    }
    is_connected_ = true;
  }
  RowChanges::Taken taken =
      parts_.changes->take(options_.source, later_.empty() ? wait_max : locked_pause);
  std::ranges::move(std::exchange(later_, {}), std::back_inserter(taken.events));
  const bool idle = taken.events.empty() && !taken.examine_all;
  Result<void> done = handle(std::move(taken));
  if (done) {
    done = clean_up();
  }
  if (!done) {
    return failed(done.error());
  }
  failures_ = 0;
  return idle ? Millis{0} : collect_time;
}

Millis StatusWriteBack::failed(const Error& error) {
  is_connected_ = false;
  if (++failures_ == 1) {
    spdlog::warn("source.write_back_failed source={} reason=\"{}\"", options_.source,
                 log_safe(error.message));
  }
  {
    const std::lock_guard lock{mutex_};
    ++counts_.failures;
  }
  return backoff_delay(failures_, reconnect_backoff, random_.draw());
}

Result<void> StatusWriteBack::handle(RowChanges::Taken taken) {
  Result<void> done;
  if (taken.examine_all) {
    done = examine();
    parts_.changes->examined(options_.source, done.has_value());
  }
  std::span<const EventId> rest = taken.events;
  while (done && !rest.empty()) {
    const auto chunk = rest.first(std::min(rest.size(), rows_per_write));
    done = write_events({chunk.begin(), chunk.end()});
    rest = done ? rest.subspan(chunk.size()) : rest;
  }
  if (!done) {
    parts_.changes->put_back(options_.source, {rest.begin(), rest.end()});
  }
  return done;
}

Result<void> StatusWriteBack::write_events(const std::vector<EventId>& events) {
  POSTRIDER_TRY(const std::vector<TrackedRow> rows, parts_.rows->rows_of(options_.source, events));
  return write(rows);
}

Result<void> StatusWriteBack::examine() {
  std::optional<RowCursor> after = RowCursor{};
  while (after) {
    POSTRIDER_TRY(TrackedRowPage page,
                  parts_.rows->unsettled(options_.source, *after, rows_per_write));
    std::vector<EventId> events;
    std::ranges::transform(page.rows, std::back_inserter(events), &TrackedRow::event_id);
    parts_.changes->track(events);
    POSTRIDER_CHECK(write(page.rows));
    after = std::move(page.next);
  }
  return {};
}

Result<void> StatusWriteBack::write(const std::vector<TrackedRow>& rows) {
  std::vector<TrackedRow> changed;
  std::vector<RowWrite> writes;
  for (const TrackedRow& row : rows) {
    RowStatus status = row_status(row.facts);
    if (has_news(row, status)) {
      changed.push_back(row);
      writes.push_back({row.row_id, row.generation, std::move(status)});
    }
  }
  if (writes.empty()) {
    return {};
  }
  POSTRIDER_TRY(const std::vector<RowWriteOutcome> outcomes, sink_->write(writes));
  POSTRIDER_ASSERT(outcomes.size() == writes.size());
  std::vector<RowWrittenBack> records;
  std::vector<EventId> settled;
  std::vector<EventId> again;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const auto record = written_back(changed[i], writes[i].status.state, outcomes[i]);
    if (record) {
      records.push_back(*record);
    }
    if (record && record->settled) {
      settled.push_back(changed[i].event_id);
    }
    if (outcomes[i] == RowWriteOutcome::locked || outcomes[i] == RowWriteOutcome::ahead) {
      again.push_back(changed[i].event_id);
    }
  }
  if (!records.empty()) {
    POSTRIDER_CHECK(parts_.rows->record(options_.source, records));
  }
  parts_.changes->forget(settled);
  std::ranges::copy(again, std::back_inserter(later_));
  count(outcomes);
  return {};
}

void StatusWriteBack::count(const std::vector<RowWriteOutcome>& outcomes) {
  const auto number_of = [&](RowWriteOutcome outcome) {
    return static_cast<std::uint64_t>(std::ranges::count(outcomes, outcome));
  };
  const std::lock_guard lock{mutex_};
  counts_.written += number_of(RowWriteOutcome::written);
  counts_.missing += number_of(RowWriteOutcome::missing);
  counts_.superseded += number_of(RowWriteOutcome::superseded);
}

Result<void> StatusWriteBack::clean_up() {
  const MonoTime now = parts_.clock->now().mono;
  if (options_.keep_delivered == Millis{0} ||
      (cleaned_at_ && now - *cleaned_at_ < clean_up_period)) {
    return {};
  }
  POSTRIDER_TRY(const std::uint64_t removed,
                sink_->remove_delivered(options_.keep_delivered, removals_per_step));
  if (removed < removals_per_step) {
    cleaned_at_ = now;
  }
  const std::lock_guard lock{mutex_};
  counts_.removed += removed;
  return {};
}

WriteBackCounts StatusWriteBack::counts() const {
  const std::lock_guard lock{mutex_};
  return counts_;
}

std::vector<MetricSample> StatusWriteBack::samples() const {
  const WriteBackCounts now = counts();
  std::vector<MetricSample> samples;
  const auto add = [&](std::string outcome, std::uint64_t value) {
    samples.push_back({.name = "postrider_source_rows_total",
                       .help = "Rows of an outbox in status mode, by what became of the status "
                               "that was to be written back.",
                       .is_total = true,
                       .labels = {{"source", options_.source}, {"outcome", std::move(outcome)}},
                       .value = static_cast<double>(value)});
  };
  add("written", now.written);
  add("missing", now.missing);
  add("superseded", now.superseded);
  add("removed", now.removed);
  return samples;
}

}  // namespace postrider
