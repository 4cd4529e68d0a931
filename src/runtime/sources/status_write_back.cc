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

// The rows that one statement writes.
constexpr std::size_t rows_per_write = 500;
// Changes are collected for this long, so that one statement writes several rows.
constexpr Millis collect_time{10};
// The pause before a row that another transaction had locked is written again.
constexpr Millis locked_pause{50};
constexpr Millis wait_for_changes{1'000};
constexpr Millis clean_up_period{10'000};
// A removal holds locks, so it is kept small.
constexpr std::uint32_t removals_per_step = 500;

// A server that ends before it has written what it stored tells nobody. Those that take its shards
// examine all rows; this is for what concerned no shard of its own, and for sources that not all
// servers have. An examination that takes long is made less often.
constexpr Micros examine_period_min{std::chrono::minutes{5}};
constexpr int examine_share = 20;

/// A row that was never attempted has the status that its application gave it.
void keep_those_with_news(std::vector<TrackedRow>& rows) {
  std::erase_if(rows, [](const TrackedRow& row) {
    const RowStatus status = row_status(row.facts);
    return status.state == RowState::pending && status.attempts == 0 && row.revision == 0;
  });
}

std::vector<EventId> events_of(const std::vector<TrackedRow>& rows) {
  std::vector<EventId> events;
  std::ranges::transform(rows, std::back_inserter(events), &TrackedRow::event_id);
  return events;
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
  while (!is_stopping()) {
    wait(step(wait_for_changes));
  }
  if (is_connected_) {
    (void)step(Millis{0});  // What fails is written after the next start.
  }
}

bool StatusWriteBack::is_stopping() const {
  const std::lock_guard lock{mutex_};
  return is_stopping_;
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
  taken.examine_all = taken.examine_all || is_examination_due();
  const bool idle = taken.events.empty() && !taken.examine_all;
  Result<void> done = handle(taken);
  if (!done && done.error().code == Errc::conflict) {
    return locked_pause;
  }
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

bool StatusWriteBack::is_examination_due() const { return parts_.clock->now().mono >= examine_at_; }

Result<void> StatusWriteBack::handle(const RowChanges::Taken& taken) {
  Result<void> done = write_changes(taken.events);
  if (taken.examine_all) {
    const Result<bool> examined = done ? examine() : tl::make_unexpected(done.error());
    parts_.changes->examined(options_.source, examined.value_or(false));
    if (!examined) {
      return tl::make_unexpected(examined.error());
    }
  }
  return done;
}

Result<void> StatusWriteBack::write_changes(const std::vector<EventId>& events) {
  std::span<const EventId> rest = events;
  Result<void> done;
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
  POSTRIDER_TRY(std::vector<TrackedRow> rows, parts_.rows->rows_of(options_.source, events));
  return write(std::move(rows));
}

Result<bool> StatusWriteBack::examine() {
  const MonoTime begun = parts_.clock->now().mono;
  bool again = false;
  std::optional<RowCursor> after = RowCursor{};
  while (after) {
    if (options_.is_shared && is_stopping()) {
      return false;  // The other servers go on with it.
    }
    POSTRIDER_TRY(TrackedRowPage page,
                  parts_.rows->unsettled(options_.source, *after, rows_per_write));
    parts_.changes->track(events_of(page.rows));
    POSTRIDER_CHECK(write(std::move(page.rows)));
    after = std::move(page.next);
    // What changes meanwhile does not wait for the end.
    const RowChanges::Taken taken = parts_.changes->take(options_.source, Millis{0});
    again = again || taken.examine_all;
    POSTRIDER_CHECK(write_changes(taken.events));
  }
  if (options_.is_shared) {
    const MonoTime now = parts_.clock->now().mono;
    examine_at_ = now + std::max(examine_period_min, (now - begun) * examine_share);
  }
  return !again;
}

Result<void> StatusWriteBack::write(std::vector<TrackedRow> rows) {
  keep_those_with_news(rows);
  if (rows.empty()) {
    return {};
  }
  if (!options_.is_shared) {
    return write_current(rows);
  }
  // Another server may have written a later state since these were read.
  POSTRIDER_CHECK(sink_->begin());
  Result<std::vector<TrackedRow>> current = parts_.rows->rows_of(options_.source, events_of(rows));
  if (current) {
    keep_those_with_news(*current);
  }
  if (current && !current->empty()) {
    return write_current(*current);
  }
  Result<void> ended = sink_->end();
  return current ? ended : tl::make_unexpected(current.error());
}

Result<void> StatusWriteBack::write_current(const std::vector<TrackedRow>& rows) {
  std::vector<RowWrite> writes;
  for (const TrackedRow& row : rows) {
    writes.push_back({row.row_id, row.generation, row_status(row.facts)});
  }
  POSTRIDER_TRY(const std::vector<RowWriteOutcome> outcomes, sink_->write(writes));
  POSTRIDER_ASSERT(outcomes.size() == writes.size());
  std::vector<RowWrittenBack> records;
  std::vector<EventId> settled;
  std::vector<EventId> again;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const auto record = written_back(rows[i], writes[i].status.state, outcomes[i]);
    if (record) {
      records.push_back(*record);
    }
    if (record && record->settled) {
      settled.push_back(rows[i].event_id);
    }
    if (outcomes[i] == RowWriteOutcome::locked || outcomes[i] == RowWriteOutcome::ahead) {
      again.push_back(rows[i].event_id);
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
