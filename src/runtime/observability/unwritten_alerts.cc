#include "runtime/observability/unwritten_alerts.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ports/alert_match.h"

namespace postrider {
namespace {

// Bounds memory during a long store outage on a server with many webhooks.
constexpr std::size_t unwritten_max = 50'000;

// The sequence of the oldest unwritten alert in cursors, above all sequences of stored ones.
constexpr std::int64_t sequence_base = std::int64_t{1} << 40;

class MergedAlertReader final : public AlertReader {
 public:
  MergedAlertReader(std::unique_ptr<AlertReader> stored,
                    std::shared_ptr<const UnwrittenAlerts> unwritten)
      : stored_(std::move(stored)), unwritten_(std::move(unwritten)) {}

  Result<Listed<Alert>> list_alerts(const AlertFilter& filter, const Page& page) override {
    if (unwritten_->empty()) {
      return stored_->list_alerts(filter, with_stored_cursor(page));
    }
    const std::vector<Alert> raised = unwritten_->raised(filter);
    const auto count = static_cast<std::int64_t>(raised.size());
    // The item at `position` has the sequence `sequence_base + count - 1 - position`.
    std::int64_t position = page.before ? sequence_base + count - *page.before : 0;
    position = std::clamp<std::int64_t>(position, 0, count) + page.offset;
    Listed<Alert> listed;
    while (position < count && listed.items.size() < page.limit) {
      listed.items.push_back(raised[static_cast<std::size_t>(position++)]);
    }
    if (listed.items.size() == page.limit) {
      if (position < count || has_stored(filter, raised)) {
        listed.next = sequence_base + count - position;
      }
      return listed;
    }
    Page rest = with_stored_cursor(page);
    rest.limit = page.limit - static_cast<std::uint32_t>(listed.items.size());
    rest.offset = static_cast<std::uint32_t>(std::max<std::int64_t>(position - count, 0));
    Result<Listed<Alert>> stored = stored_->list_alerts(filter, rest);
    if (!stored) {
      return raised.empty() ? std::move(stored) : Result<Listed<Alert>>{std::move(listed)};
    }
    unwritten_->apply_to(stored->items, filter, raised);
    std::ranges::move(stored->items, std::back_inserter(listed.items));
    listed.next = stored->next;
    return listed;
  }

 private:
  /// Behind the last unwritten alert comes the first stored one.
  static Page with_stored_cursor(Page page) {
    if (page.before && *page.before >= sequence_base) {
      page.before.reset();
    }
    return page;
  }

  /// Whether anything comes after the unwritten alerts.
  bool has_stored(const AlertFilter& filter, const std::vector<Alert>& raised) {
    Result<Listed<Alert>> stored = stored_->list_alerts(filter, {.limit = 1});
    if (!stored) {
      return false;
    }
    unwritten_->apply_to(stored->items, filter, raised);
    return !stored->items.empty() || stored->next.has_value();
  }

  std::unique_ptr<AlertReader> stored_;
  std::shared_ptr<const UnwrittenAlerts> unwritten_;
};

}  // namespace

bool UnwrittenAlerts::empty() const {
  const std::lock_guard lock{mutex_};
  return count() == 0;
}

bool UnwrittenAlerts::has_room() const {
  const std::lock_guard lock{mutex_};
  return count() < unwritten_max;
}

void UnwrittenAlerts::raise(Alert alert) {
  const std::lock_guard lock{mutex_};
  raised_.push_back(std::move(alert));
}

void UnwrittenAlerts::update(const Alert& alert) {
  const std::lock_guard lock{mutex_};
  const auto found = std::ranges::find(raised_, alert.id, &Alert::id);
  if (found != raised_.end()) {
    *found = alert;
  } else if (count() < unwritten_max || updated_.contains(alert.id)) {
    updated_.insert_or_assign(alert.id, alert);
  }
}

void UnwrittenAlerts::resolve(AlertId id, WallTime at) {
  const std::lock_guard lock{mutex_};
  const auto found = std::ranges::find(raised_, id, &Alert::id);
  if (found != raised_.end()) {
    found->resolved_at = at;
  } else {
    resolved_.emplace(id, at);
  }
}

void UnwrittenAlerts::notify(const std::vector<Notification>& notifications) {
  const std::lock_guard lock{mutex_};
  notifications_.insert(notifications_.end(), notifications.begin(), notifications.end());
}

void UnwrittenAlerts::settle(const std::vector<NotificationOutcome>& outcomes) {
  const std::lock_guard lock{mutex_};
  outcomes_.insert(outcomes_.end(), outcomes.begin(), outcomes.end());
}

Result<void> UnwrittenAlerts::write(Store& store) {
  // Copied, so that readers do not wait for the disk. Only this thread changes them.
  std::vector<Alert> raised;
  std::map<AlertId, Alert> updated;
  std::map<AlertId, WallTime> resolved;
  std::vector<Notification> notifications;
  std::vector<NotificationOutcome> outcomes;
  {
    const std::lock_guard lock{mutex_};
    if (count() == 0) {
      return {};
    }
    raised = raised_;
    updated = updated_;
    resolved = resolved_;
    notifications = notifications_;
    outcomes = outcomes_;
  }
  POSTRIDER_CHECK(store.atomically([&]() -> Result<void> {
    for (const Alert& alert : raised) {
      POSTRIDER_CHECK(store.alerts->raise(alert));
    }
    for (const auto& [id, alert] : updated) {
      POSTRIDER_CHECK(store.alerts->update(alert));
    }
    for (const auto& [id, at] : resolved) {
      POSTRIDER_CHECK(store.alerts->resolve(id, at));
    }
    if (!notifications.empty()) {
      POSTRIDER_CHECK(store.notifications->add(notifications));
    }
    return outcomes.empty() ? Result<void>{} : store.notifications->settle(outcomes);
  }));
  const std::lock_guard lock{mutex_};
  raised_.clear();
  updated_.clear();
  resolved_.clear();
  notifications_.clear();
  outcomes_.clear();
  return {};
}

std::vector<Alert> UnwrittenAlerts::raised(const AlertFilter& filter) const {
  const std::lock_guard lock{mutex_};
  std::vector<Alert> found;
  for (auto alert = raised_.rbegin(); alert != raised_.rend(); ++alert) {
    if (matches(filter, *alert)) {
      found.push_back(*alert);
    }
  }
  return found;
}

void UnwrittenAlerts::apply_to(std::vector<Alert>& stored, const AlertFilter& filter,
                               const std::vector<Alert>& shown) const {
  const std::lock_guard lock{mutex_};
  for (Alert& alert : stored) {
    if (const auto update = updated_.find(alert.id); update != updated_.end()) {
      alert.detail = update->second.detail;
      alert.measure = update->second.measure;
    }
    if (const auto resolution = resolved_.find(alert.id); resolution != resolved_.end()) {
      alert.resolved_at = resolution->second;
    }
  }
  std::erase_if(stored, [&](const Alert& alert) {
    return !matches(filter, alert) || std::ranges::count(shown, alert.id, &Alert::id) > 0;
  });
}

std::unique_ptr<AlertReader> with_unwritten(std::unique_ptr<AlertReader> stored,
                                            std::shared_ptr<const UnwrittenAlerts> unwritten) {
  return std::make_unique<MergedAlertReader>(std::move(stored), std::move(unwritten));
}

}  // namespace postrider
