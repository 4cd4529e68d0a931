#include <algorithm>
#include <mutex>

#include "core/filter/event_type_filter.h"
#include "ports/health_tally.h"

#include "adapters/memory/memory_rows.h"
#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

template <class Value>
bool admits(const std::vector<Value>& wanted, const Value& value) {
  return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
}

template <class Value>
bool admits(const std::optional<Value>& wanted, const Value& value) {
  return !wanted || *wanted == value;
}

bool within(std::optional<WallTime> from, std::optional<WallTime> to, WallTime time) {
  return (!from || *from <= time) && (!to || time < *to);
}

bool matches(const DeliveryFilter& filter, const DeliveryRecord& record) {
  const Delivery& delivery = record.delivery;
  const WallTime time =
      lists_dead_letters(filter) ? record.completed_at.value_or(WallTime{}) : record.created_at;
  const bool category_fits =
      filter.failure_categories.empty() ||
      (record.last_failure && admits(filter.failure_categories, *record.last_failure));
  const bool class_fits = !filter.classification ||
                          (record.dead && record.dead->classification == *filter.classification);
  return admits(filter.tenant_id, record.tenant_id) &&
         admits(filter.webhook_ids, delivery.webhook_id) &&
         admits(filter.event_id, delivery.event_id) && admits(filter.states, delivery.state) &&
         admits_type(filter.event_types, delivery.event_type) && category_fits && class_fits &&
         within(filter.from, filter.to, time);
}

bool matches(const EventFilter& filter, const MemoryEvent& stored) {
  const Event& event = *stored.event;
  const bool matched = !stored.deliveries.empty() || !stored.late.empty();
  return admits(filter.matched, matched) && admits(filter.tenant_id, event.tenant_id) &&
         admits_type(filter.types, event.type) && within(filter.from, filter.to, event.created_at);
}

DeliveryRecord item_of(const DeliveryRecord& record) { return record; }
Event item_of(const MemoryEvent& stored) { return *stored.event; }

/// Newest first: `rows` is keyed by sequence.
template <class Item, class Row, class Filter>
Listed<Item> list(const std::map<std::int64_t, Row>& rows, const Filter& filter, const Page& page) {
  Listed<Item> listed;
  std::uint32_t skipped = 0;
  std::uint32_t looked_at = 0;
  std::int64_t last = 0;
  auto row = page.before ? rows.lower_bound(*page.before) : rows.end();
  while (page.limit > 0 && row != rows.begin()) {
    if (looked_at++ == std::max(page.scanned_max, 1u)) {
      listed.next = row->first;
      break;
    }
    --row;
    if (!matches(filter, row->second)) {
      continue;
    }
    if (skipped < page.offset) {
      ++skipped;
      continue;
    }
    if (listed.items.size() == page.limit) {
      listed.next = last;
      break;
    }
    listed.items.push_back(item_of(row->second));
    last = row->first;
  }
  return listed;
}

template <class Row, class Filter>
PartialCount count(const std::map<std::int64_t, Row>& rows, const Filter& filter,
                   const CountRange& range) {
  PartialCount counted;
  std::uint32_t looked_at = 0;
  auto row = range.before ? rows.lower_bound(*range.before) : rows.end();
  while (row != rows.begin()) {
    if (looked_at++ == std::max(range.scanned_max, 1u)) {
      counted.next = row->first;
      break;
    }
    --row;
    counted.count += matches(filter, row->second) ? 1 : 0;
  }
  return counted;
}

class MemoryHistory final : public History {
 public:
  explicit MemoryHistory(MemoryStore& store) : store_(store) {}

  Result<Listed<DeliveryRecord>> list_deliveries(const DeliveryFilter& filter,
                                                 const Page& page) override {
    const std::lock_guard guard{store_.mutex};
    return list<DeliveryRecord>(store_.deliveries, filter, page);
  }

  Result<DeliveryRecord> find_delivery(DeliveryId id) override {
    const std::lock_guard guard{store_.mutex};
    const DeliveryRecord* record = find(store_, id);
    if (record == nullptr) {
      return fail(Errc::not_found, "There is no such delivery.");
    }
    return *record;
  }

  Result<std::vector<Attempt>> attempts_of(DeliveryId id) override {
    const std::lock_guard guard{store_.mutex};
    std::vector<Attempt> attempts;
    if (const DeliveryRecord* record = find(store_, id)) {
      const std::int64_t sequence = record->delivery.sequence;
      for (auto row = store_.attempts.lower_bound({sequence, 0});
           row != store_.attempts.end() && row->first.first == sequence; ++row) {
        attempts.push_back(row->second);
      }
    }
    return attempts;
  }

  Result<std::map<std::uint32_t, RequestShape>> requests_of(DeliveryId id) override {
    const std::lock_guard guard{store_.mutex};
    std::map<std::uint32_t, RequestShape> requests;
    if (const DeliveryRecord* record = find(store_, id)) {
      const std::int64_t sequence = record->delivery.sequence;
      for (auto row = store_.requests.lower_bound({sequence, 0});
           row != store_.requests.end() && row->first.first == sequence; ++row) {
        requests.emplace(row->first.second, *row->second);
      }
    }
    return requests;
  }

  Result<Listed<Event>> list_events(const EventFilter& filter, const Page& page) override {
    const std::lock_guard guard{store_.mutex};
    return list<Event>(store_.events, filter, page);
  }

  Result<Event> find_event(EventId id) override {
    const std::lock_guard guard{store_.mutex};
    const auto found = store_.event_sequences.find(id);
    if (found == store_.event_sequences.end()) {
      return fail(Errc::not_found, "There is no such event.");
    }
    return *store_.events.at(found->second).event;
  }

  Result<Listed<EventForWebhook>> list_events_for(WebhookId webhook_id, const EventFilter& filter,
                                                  const ForwardPage& page) override {
    const std::lock_guard guard{store_.mutex};
    Listed<EventForWebhook> listed;
    std::uint32_t looked_at = 0;
    std::int64_t last = page.after;
    for (auto row = store_.events.upper_bound(page.after); row != store_.events.end(); ++row) {
      const bool fits = matches(filter, row->second);
      const bool full = fits && listed.items.size() == page.limit;
      if (full || looked_at++ == std::max(page.scanned_max, 1u)) {
        listed.next = full && page.limit > 0 ? listed.items.back().sequence : last;
        break;
      }
      if (fits) {
        listed.items.push_back({.sequence = row->first,
                                .event = *row->second.event,
                                .delivery = delivery_of(row->second, webhook_id)});
      }
      last = row->first;
    }
    return listed;
  }

  Result<PartialCount> count_deliveries(const DeliveryFilter& filter,
                                        const CountRange& range) override {
    const std::lock_guard guard{store_.mutex};
    return count(store_.deliveries, filter, range);
  }

  Result<WebhookHealth> webhook_health(WebhookId id) override {
    const std::lock_guard guard{store_.mutex};
    WebhookHealth health = health_of_attempts(id);
    for (const auto& [sequence, record] : store_.deliveries) {
      const Delivery& delivery = record.delivery;
      const bool shown = is_waiting(delivery.state) || delivery.state == DeliveryState::dead_letter;
      if (delivery.webhook_id == id && shown) {
        ++health.deliveries[delivery.state];
      }
    }
    return health;
  }

  Result<std::map<TenantId, std::uint64_t>> dead_letter_counts() override {
    const std::lock_guard guard{store_.mutex};
    std::map<TenantId, std::uint64_t> counts;
    for (const auto& [sequence, record] : store_.deliveries) {
      if (record.delivery.state == DeliveryState::dead_letter) {
        ++counts[record.tenant_id];
      }
    }
    return counts;
  }

 private:
  [[nodiscard]] std::optional<DeliveryRecord> delivery_of(const MemoryEvent& stored,
                                                          WebhookId webhook_id) const {
    for (const std::vector<std::int64_t>* sequences : {&stored.deliveries, &stored.late}) {
      for (const std::int64_t sequence : *sequences) {
        const auto row = store_.deliveries.find(sequence);  // Retention may have removed it.
        if (row != store_.deliveries.end() && row->second.delivery.webhook_id == webhook_id) {
          return row->second;
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] WebhookHealth health_of_attempts(WebhookId id) const {
    const auto recorded = store_.attempts_recorded.find(id);
    if (recorded == store_.attempts_recorded.end()) {
      return {};
    }
    HealthTally tally;
    std::uint32_t counted = 0;
    for (auto key = recorded->second.rbegin();
         key != recorded->second.rend() && counted < health_attempts_max; ++key, ++counted) {
      const Attempt& attempt = store_.attempts.at(*key);
      tally.add(attempt.failure_category, attempt.outcome.duration);
    }
    WebhookHealth health = tally.finish();
    health.last_success_at = find_time(store_.last_success_at, id);
    health.last_failure_at = find_time(store_.last_failure_at, id);
    return health;
  }

  MemoryStore& store_;
};

}  // namespace

std::unique_ptr<History> make_memory_history(MemoryStore& store) {
  return std::make_unique<MemoryHistory>(store);
}

}  // namespace postrider
