#include <algorithm>
#include <mutex>

#include "ports/alert_match.h"

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

auto find_alert(MemoryStore& store, AlertId id) {
  return std::ranges::find_if(store.alerts,
                              [id](const auto& entry) { return entry.second.id == id; });
}

class MemoryAlertWriter final : public AlertWriter {
 public:
  explicit MemoryAlertWriter(MemoryStore& store) : store_(store) {}

  Result<std::vector<Alert>> load_active() override {
    const std::lock_guard guard{store_.mutex};
    std::vector<Alert> active;
    for (const auto& [sequence, alert] : store_.alerts) {
      if (!alert.resolved_at) {
        active.push_back(alert);
      }
    }
    return active;
  }

  Result<void> raise(const Alert& alert) override {
    const std::lock_guard guard{store_.mutex};
    if (find_alert(store_, alert.id) == store_.alerts.end()) {
      const std::int64_t last = store_.alerts.empty() ? 0 : store_.alerts.rbegin()->first;
      store_.alerts.emplace(last + 1, alert);
    }
    return {};
  }

  Result<void> update(const Alert& alert) override {
    const std::lock_guard guard{store_.mutex};
    const auto found = find_alert(store_, alert.id);
    if (found != store_.alerts.end() && !found->second.resolved_at) {
      found->second.measure = alert.measure;
      found->second.detail = alert.detail;
    }
    return {};
  }

  Result<void> resolve(AlertId id, WallTime at) override {
    const std::lock_guard guard{store_.mutex};
    const auto found = find_alert(store_, id);
    if (found != store_.alerts.end() && !found->second.resolved_at) {
      found->second.resolved_at = at;
    }
    return {};
  }

  Result<std::uint32_t> remove_resolved(WallTime before, std::uint32_t limit) override {
    const std::lock_guard guard{store_.mutex};
    std::uint32_t removed = 0;
    for (auto alert = store_.alerts.begin(); alert != store_.alerts.end() && removed < limit;) {
      const bool over = alert->second.resolved_at && *alert->second.resolved_at < before;
      removed += over ? 1 : 0;
      alert = over ? store_.alerts.erase(alert) : std::next(alert);
    }
    return removed;
  }

 private:
  MemoryStore& store_;
};

class MemoryAlertReader final : public AlertReader {
 public:
  explicit MemoryAlertReader(MemoryStore& store) : store_(store) {}

  Result<Listed<Alert>> list_alerts(const AlertFilter& filter, const Page& page) override {
    const std::lock_guard guard{store_.mutex};
    Listed<Alert> listed;
    std::uint32_t skipped = 0;
    std::int64_t last = 0;
    auto row = page.before ? store_.alerts.lower_bound(*page.before) : store_.alerts.end();
    while (row != store_.alerts.begin()) {
      --row;
      if (!matches(filter, row->second) || skipped++ < page.offset) {
        continue;
      }
      if (listed.items.size() == page.limit) {
        listed.next = last;
        return listed;
      }
      last = row->first;
      listed.items.push_back(row->second);
    }
    return listed;
  }

 private:
  MemoryStore& store_;
};

}  // namespace

std::unique_ptr<AlertWriter> make_memory_alert_writer(MemoryStore& store) {
  return std::make_unique<MemoryAlertWriter>(store);
}

std::unique_ptr<AlertReader> make_memory_alert_reader(MemoryStore& store) {
  return std::make_unique<MemoryAlertReader>(store);
}

}  // namespace postrider
