#include "runtime/background/retention.h"

#include <algorithm>
#include <future>
#include <utility>

#include <spdlog/spdlog.h>

#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

constexpr Millis interval_min{100};
constexpr Millis interval_max = std::chrono::hours{1};
constexpr std::int64_t sweeps_per_age = 24;
constexpr Millis leader_check_period{1'000};
constexpr std::size_t archived_max = 100'000;  // Keys of one archive file: a few megabytes.
constexpr std::uint32_t stats_turn_max = 2'000;
constexpr std::uint32_t periods_turn_max = 2'000;
constexpr std::uint32_t operations_turn_max = 200;

std::vector<ExpiredKey> keys_of(const ExpiredPage& page) {
  std::vector<ExpiredKey> keys;
  keys.reserve(page.items.size());
  for (const ExpiredEvent& old : page.items) {
    keys.push_back(key_of(old));
  }
  return keys;
}

}  // namespace

Millis sweep_interval(const RetentionOptions& options) {
  Millis interval = interval_max;
  for (const Millis age : {options.ages.events, options.ages.dead_letters,
                           options.ages.removed_webhooks, options.stats, options.operations}) {
    if (age > Millis{0}) {
      interval = std::min(interval, age / sweeps_per_age);
    }
  }
  return std::max(interval, interval_min);
}

Retention::Retention(RetentionOptions options, Parts parts)
    : options_(options), parts_(std::move(parts)) {}

Retention::~Retention() { stop(); }

void Retention::start() {
  thread_ = std::thread{[this] { run(); }};
}

void Retention::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

bool Retention::pause(Millis duration) {
  std::unique_lock lock{mutex_};
  return !wake_.wait_for(lock, duration, [this] { return stopping_; });
}

bool Retention::wait_for_sweep(bool is_due) {
  std::unique_lock lock{mutex_};
  const Millis interval = sweep_interval(options_);
  wake_.wait_for(lock, is_due ? std::min(interval, leader_check_period) : interval,
                 [this] { return stopping_ || pending_change_; });
  if (std::optional<RetentionChange> change = std::exchange(pending_change_, std::nullopt)) {
    options_ = change->options;
    if (change->other_archive) {
      parts_.archive = std::move(change->archive);  // Between sweeps no file is open.
    }
  }
  return !stopping_;
}

void Retention::change(RetentionChange change) {
  {
    const std::lock_guard lock{mutex_};
    if (pending_change_ && pending_change_->other_archive && !change.other_archive) {
      change.other_archive = true;
      change.archive = std::move(pending_change_->archive);
    }
    pending_change_ = std::move(change);
  }
  wake_.notify_all();
}

bool Retention::is_change_pending() {
  const std::lock_guard lock{mutex_};
  return pending_change_.has_value();
}

/// A sweep that comes due while another server leads is made as soon as this one does.
void Retention::run() {
  bool is_due = false;
  while (wait_for_sweep(is_due)) {
    is_due = !leads();
    if (!is_due) {
      sweep();
    }
  }
}

bool Retention::leads() const { return parts_.leader == nullptr || parts_.leader->is_set(); }

/// Events first: their dead letters are removed with them.
void Retention::sweep() {
  const WallTime now = parts_.clock->now().wall;
  const RetentionCutoffs cutoffs = cutoffs_at(options_.ages, now);
  remove_ended_operations(now);  // Not archived, so a failing archive must not keep them.
  const ExpiredQuery query{.cutoffs = cutoffs};
  if (remove_months(cutoffs) && remove_expired(&RetentionReader::expired_events, query) &&
      remove_expired(&RetentionReader::expired_dead_letters, query) && remove_webhooks(cutoffs)) {
    remove_old_stats(now);
    remove_old_periods(cutoffs);
  }
  release_space();  // Even if the archive fails.
}

bool Retention::remove_months(const RetentionCutoffs& cutoffs) {
  if (parts_.archive != nullptr) {
    return true;
  }
  std::optional<Removed> removed;
  const auto act = [&](Store& store) -> Result<void> {
    POSTRIDER_TRY(removed, store.retention->remove_month(cutoffs));
    return {};
  };
  do {
    if (!on_store(act)) {
      return false;
    }
    count(removed.value_or(Removed{}));
  } while (removed && !is_change_pending());
  return !removed;
}

bool Retention::remove_expired(FindExpired find, ExpiredQuery query) {
  const bool archiving = parts_.archive != nullptr;
  std::vector<ExpiredKey> archived;
  query.limit = options_.turn_max;
  query.with_content = archiving;
  for (std::optional<std::int64_t> next = 0; next;) {
    query.after = *next;
    const Result<ExpiredPage> page = read_page(find, query);
    if (!page) {
      return false;
    }
    next = page->next;
    std::vector<ExpiredKey> keys = keys_of(*page);
    if (archiving) {
      const Result<bool> full = archive_page(*page);
      archived.insert(archived.end(), keys.begin(), keys.end());
      const bool enough = !next || (full && *full) || archived.size() >= archived_max;
      const Result<void> sealed = full && enough ? parts_.archive->seal() : Result<void>{};
      if (!full || !sealed) {
        archive_failed(full ? sealed.error() : full.error());
        return false;
      }
      keys = enough ? std::exchange(archived, {}) : std::vector<ExpiredKey>{};
    }
    if (!keys.empty()) {
      archive_worked();
    }
    // A change waits until what is archived is also removed. Otherwise it would be archived twice.
    if (!remove_all(keys, query.cutoffs) || !pause(options_.pause_min) ||
        (archived.empty() && is_change_pending())) {
      return false;
    }
  }
  return true;
}

bool Retention::remove_webhooks(const RetentionCutoffs& cutoffs) {
  std::optional<WebhookId> id;
  for (;;) {
    std::promise<Result<std::optional<WebhookId>>> found;
    auto answer = found.get_future();
    parts_.readers->submit(
        [&](Reader& reader) { found.set_value(reader.retention->expired_webhook(cutoffs, id)); });
    const Result<std::optional<WebhookId>> next = answer.get();
    if (!next || !*next) {
      return next.has_value();
    }
    id = **next;
    const ExpiredQuery query{.cutoffs = cutoffs, .webhook_id = *id};
    bool forgotten = false;
    const auto forget = [&](Store& store) -> Result<void> {
      POSTRIDER_TRY(forgotten, store.retention->forget_webhook(*id));
      return {};
    };
    if (!remove_expired(&RetentionReader::deliveries_of_removed, query) || !on_store(forget)) {
      return false;
    }
    parts_.metrics->retention_removed("webhook", forgotten ? 1 : 0);
  }
}

Result<ExpiredPage> Retention::read_page(FindExpired find, const ExpiredQuery& query) {
  std::promise<Result<ExpiredPage>> found;
  std::future<Result<ExpiredPage>> answer = found.get_future();
  parts_.readers->submit(
      [&](Reader& reader) { found.set_value(((*reader.retention).*find)(query)); });
  return answer.get();
}

Result<bool> Retention::archive_page(const ExpiredPage& page) {
  bool full = false;
  for (const ExpiredEvent& old : page.items) {
    POSTRIDER_TRY(full, parts_.archive->append(parts_.archive_line(old), old.event.created_at));
  }
  return full;
}

bool Retention::remove_all(const std::vector<ExpiredKey>& keys, const RetentionCutoffs& cutoffs) {
  for (std::size_t first = 0; first < keys.size(); first += options_.turn_max) {
    const std::size_t end = std::min(first + options_.turn_max, keys.size());
    const std::vector<ExpiredKey> turn(keys.begin() + static_cast<std::ptrdiff_t>(first),
                                       keys.begin() + static_cast<std::ptrdiff_t>(end));
    Removed removed;
    const auto act = [&](Store& store) -> Result<void> {
      POSTRIDER_TRY(removed, store.retention->remove(turn, cutoffs));
      return {};
    };
    if (!on_store(act)) {
      return false;
    }
    count(removed);
  }
  return true;
}

void Retention::remove_old_stats(WallTime now) {
  if (options_.stats <= Millis{0}) {
    return;
  }
  for (std::uint64_t removed = stats_turn_max; removed >= stats_turn_max;) {
    const auto act = [&](Store& store) -> Result<void> {
      POSTRIDER_TRY(removed, store.retention->remove_stats(now - options_.stats, stats_turn_max));
      return {};
    };
    if (!on_store(act)) {
      return;
    }
  }
}

/// They explain what delayed a delivery, so they are kept as long as deliveries.
void Retention::remove_old_periods(const RetentionCutoffs& cutoffs) {
  if (!cutoffs.events) {
    return;
  }
  for (std::uint64_t removed = periods_turn_max; removed >= periods_turn_max;) {
    const auto act = [&](Store& store) -> Result<void> {
      POSTRIDER_TRY(removed,
                    store.retention->remove_open_periods(*cutoffs.events, periods_turn_max));
      return {};
    };
    if (!on_store(act)) {
      return;
    }
  }
}

void Retention::remove_ended_operations(WallTime now) {
  if (options_.operations <= Millis{0}) {
    return;
  }
  for (std::uint32_t removed = operations_turn_max; removed >= operations_turn_max;) {
    const auto act = [&](Store& store) -> Result<void> {
      POSTRIDER_TRY(removed, store.operations->remove_finished(now - options_.operations,
                                                               operations_turn_max));
      return {};
    };
    if (!on_store(act)) {
      return;
    }
    parts_.metrics->retention_removed("operation", removed);
  }
}

void Retention::release_space() {
  for (bool more = true; more && !is_change_pending();) {
    const auto act = [&](Store& store) -> Result<void> {
      POSTRIDER_TRY(more, store.retention->release_space());
      return {};
    };
    if (!on_store(act)) {
      return;
    }
  }
}

Result<void> Retention::on_store(std::function<Result<void>(Store&)> act) {
  struct Answer {
    Result<void> result;
    Micros spent{0};
  };
  std::promise<Answer> done;
  std::future<Answer> answer = done.get_future();
  auto run = [&](Store& store, RepliesByShard&) {
    const MonoTime begun = parts_.clock->now().mono;
    Result<void> result = act(store);
    done.set_value({result, parts_.clock->now().mono - begun});
    return result;
  };
  parts_.store->submit(StoreTask{std::move(run)});
  const Answer given = answer.get();
  const auto spent = std::chrono::duration_cast<Millis>(given.spent);
  if (!pause(std::max(options_.pause_factor * spent, options_.pause_min))) {
    return fail(Errc::unavailable, "The server is shutting down.");
  }
  return given.result;
}

void Retention::archive_failed(const Error& error) {
  parts_.metrics->archive_failed();
  if (!std::exchange(archive_failing_, true)) {
    spdlog::error("archive.failed reason=\"{}\" next=\"nothing is removed until it works again\"",
                  log_safe(error.message));
  }
}

void Retention::archive_worked() {
  if (std::exchange(archive_failing_, false)) {
    spdlog::info("archive.recovered");
  }
}

void Retention::count(const Removed& removed) {
  parts_.metrics->retention_removed("event", removed.events);
  parts_.metrics->retention_removed("delivery", removed.deliveries);
  parts_.metrics->retention_removed("attempt", removed.attempts);
  for (const auto& [tenant_id, number] : removed.dead_letters) {
    parts_.metrics->retention_removed("dead_letter", number);
    parts_.metrics->dead_letters_changed(tenant_id, -static_cast<std::int64_t>(number));
  }
}

}  // namespace postrider
