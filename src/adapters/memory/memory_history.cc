#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "core/filter/event_type_filter.h"
#include "ports/health_tally.h"

#include "adapters/memory/memory_fanouts.h"
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

bool has_resource(const std::optional<std::string>& wanted, const Event& event) {
  return !wanted || event.resource_id == wanted;
}

bool is_open(const CircuitRecord& circuit) {
  return circuit.state != CircuitState::closed || (circuit.forced_until && circuit.forced_open);
}

bool has_state(const MemoryStore& store, const DeliveryFilter& filter, const Delivery& delivery) {
  if (!filter.circuit_blocked) {
    return admits(filter.states, delivery.state);
  }
  const auto circuit = store.circuits.find(delivery.webhook_id);
  return std::ranges::find(filter.states, delivery.state) != filter.states.end() ||
         (is_waiting(delivery.state) && circuit != store.circuits.end() &&
          is_open(circuit->second));
}

bool matches(const MemoryStore& store, const DeliveryFilter& filter, const DeliveryRecord& record) {
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
         admits(filter.event_id, delivery.event_id) && has_state(store, filter, delivery) &&
         admits_type(filter.event_types, delivery.event_type) && category_fits && class_fits &&
         within(filter.from, filter.to, time) &&
         has_resource(filter.resource_id,
                      *store.events.at(store.event_sequences.at(delivery.event_id)).event);
}

bool matches(const MemoryStore&, const EventFilter& filter, const MemoryEvent& stored) {
  const Event& event = *stored.event;
  const bool matched = !stored.deliveries.empty() || !stored.late.empty() || stored.fanned_out > 0;
  return admits(filter.matched, matched) && admits(filter.tenant_id, event.tenant_id) &&
         admits_type(filter.types, event.type) &&
         within(filter.from, filter.to, event.created_at) &&
         has_resource(filter.resource_id, event);
}

bool matches(const AttemptFilter& filter, const AttemptRecord& record) {
  const Attempt& attempt = record.attempt;
  const bool category_fits =
      filter.failure_categories.empty() ||
      (attempt.failure_category && admits(filter.failure_categories, *attempt.failure_category));
  return admits(filter.tenant_id, record.tenant_id) &&
         admits(filter.webhook_ids, record.webhook_id) &&
         admits(filter.delivery_id, record.delivery_id) && admits_status(filter, attempt) &&
         admits_type(filter.event_types, record.event_type) && category_fits &&
         within(filter.from, filter.to, attempt.outcome.executed_at);
}

DeliveryRecord item_of(const MemoryStore& store, const DeliveryRecord& record) {
  return complete(store, record);
}
Event item_of(const MemoryStore&, const MemoryEvent& stored) { return *stored.event; }

using AttemptKey = std::pair<std::int64_t, std::uint32_t>;  // (delivery, number)

AttemptRecord attempt_record(const MemoryStore& store, const AttemptKey& key) {
  const DeliveryRecord& of = store.deliveries.at(key.first);
  return {.attempt = store.attempts.at(key),
          .delivery_id = of.delivery.id,
          .event_id = of.delivery.event_id,
          .webhook_id = of.delivery.webhook_id,
          .tenant_id = of.tenant_id,
          .event_type = of.delivery.event_type};
}

AttemptPosition position_of(const MemoryStore& store, const AttemptKey& key) {
  return {.executed_at = store.attempts.at(key).outcome.executed_at,
          .delivery = key.first,
          .number = key.second};
}

/// The attempts below the cursor, in the order in which they are paged.
std::vector<AttemptPosition> attempts_below(const MemoryStore& store, const AttemptFilter& filter,
                                            const std::optional<AttemptPosition>& before) {
  std::vector<AttemptPosition> positions;
  if (filter.webhook_ids.size() == 1 && !filter.delivery_id) {
    const auto recorded = store.attempts_recorded.find(filter.webhook_ids.front());
    if (recorded == store.attempts_recorded.end()) {
      return {};
    }
    for (auto key = recorded->second.rbegin(); key != recorded->second.rend(); ++key) {
      positions.push_back(position_of(store, *key));
    }
    const auto cursor = before ? std::ranges::find(positions, *before) : positions.end();
    if (cursor != positions.end()) {
      positions.erase(positions.begin(), cursor + 1);
      return positions;
    }
  } else {
    for (const auto& [key, attempt] : store.attempts) {
      positions.push_back(position_of(store, key));
    }
    std::ranges::sort(positions, std::greater<>{});
  }
  std::erase_if(positions, [&](const auto& position) { return before && position >= *before; });
  return positions;
}

ListedAttempts list_attempts_of(const MemoryStore& store, const AttemptFilter& filter,
                                const AttemptPage& page) {
  ListedAttempts listed;
  std::uint32_t skipped = 0;
  std::uint32_t looked_at = 0;
  AttemptPosition last;
  AttemptPosition last_item;
  std::vector<std::pair<AttemptPosition, AttemptRecord>> found;
  for (const AttemptPosition& position : attempts_below(store, filter, page.before)) {
    if (page.limit == 0) {
      break;
    }
    if (looked_at++ == std::max(page.scanned_max, 1u)) {
      listed.next = last;
      break;
    }
    last = position;
    AttemptRecord record = attempt_record(store, {position.delivery, position.number});
    if (!matches(filter, record) || skipped++ < page.offset) {
      continue;
    }
    if (found.size() == page.limit) {
      listed.next = last_item;
      break;
    }
    found.emplace_back(position, std::move(record));
    last_item = position;
  }
  std::ranges::sort(found, std::greater<>{}, &std::pair<AttemptPosition, AttemptRecord>::first);
  for (auto& item : found) {
    listed.items.push_back(std::move(item.second));
  }
  return listed;
}

/// Newest first: `rows` is keyed by sequence.
template <class Item, class Row, class Filter>
Listed<Item> list(const MemoryStore& store, const std::map<std::int64_t, Row>& rows,
                  const Filter& filter, const Page& page) {
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
    if (!matches(store, filter, row->second)) {
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
    listed.items.push_back(item_of(store, row->second));
    last = row->first;
  }
  return listed;
}

/// Calls `take` for each matching delivery of the range. Returns where the next range begins.
template <class Take>
std::optional<std::int64_t> scan(const MemoryStore& store, const DeliveryFilter& filter,
                                 const CountRange& range, Take take) {
  const std::map<std::int64_t, DeliveryRecord>& rows = store.deliveries;
  std::uint32_t looked_at = 0;
  auto row = range.before ? rows.lower_bound(*range.before) : rows.end();
  while (row != rows.begin()) {
    if (looked_at++ == std::max(range.scanned_max, 1u)) {
      return row->first;
    }
    --row;
    if (matches(store, filter, row->second)) {
      take(row->second);
    }
  }
  return std::nullopt;
}

class MemoryHistory final : public History {
 public:
  explicit MemoryHistory(MemoryStore& store) : store_(store) {}

  Result<Listed<DeliveryRecord>> list_deliveries(const DeliveryFilter& filter,
                                                 const Page& page) override {
    const std::lock_guard guard{store_.mutex};
    return list<DeliveryRecord>(store_, store_.deliveries, filter, page);
  }

  Result<DeliveryRecord> find_delivery(DeliveryId id) override {
    const std::lock_guard guard{store_.mutex};
    const DeliveryRecord* record = find(store_, id);
    if (record == nullptr) {
      return fail(Errc::not_found, "There is no such delivery.");
    }
    return complete(store_, *record);
  }

  Result<ListedAttempts> list_attempts(const AttemptFilter& filter,
                                       const AttemptPage& page) override {
    const std::lock_guard guard{store_.mutex};
    return list_attempts_of(store_, filter, page);
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

  Result<std::vector<OpenPeriod>> open_periods_of(DeliveryId id) override {
    const std::lock_guard guard{store_.mutex};
    std::vector<OpenPeriod> periods;
    const DeliveryRecord* record = find(store_, id);
    for (const auto& [key, period] : store_.open_periods) {
      if (record != nullptr && key.first == record->delivery.webhook_id &&
          (!record->completed_at || period.opened_at < *record->completed_at) &&
          (!period.ended_at || *period.ended_at > record->created_at)) {
        periods.push_back(period);
      }
    }
    if (periods.size() > open_periods_max) {
      periods.erase(periods.begin(), periods.end() - open_periods_max);
    }
    return periods;
  }

  Result<Listed<OpenPeriod>> list_open_periods(WebhookId id, const Page& page) override {
    const std::lock_guard guard{store_.mutex};
    Listed<OpenPeriod> listed;
    std::uint32_t skipped = 0;
    const WallTime before = page.before ? wall_from_unix_ms(*page.before) : wall_time_max;
    for (auto row = store_.open_periods.rbegin();
         page.limit > 0 && row != store_.open_periods.rend(); ++row) {
      const OpenPeriod& period = row->second;
      if (row->first.first != id || period.opened_at >= before || skipped++ < page.offset) {
        continue;
      }
      if (listed.items.size() == page.limit) {
        listed.next = to_unix_ms(listed.items.back().opened_at);
        break;
      }
      listed.items.push_back(period);
    }
    return listed;
  }

  Result<std::map<WebhookId, CircuitRecord>> circuits_of(
      const std::vector<WebhookId>& ids) override {
    const std::lock_guard guard{store_.mutex};
    std::map<WebhookId, CircuitRecord> circuits;
    for (const WebhookId id : ids) {
      if (const auto found = store_.circuits.find(id); found != store_.circuits.end()) {
        circuits.insert(*found);
      }
    }
    return circuits;
  }

  Result<std::vector<PastCall>> recent_calls(WebhookId id, const CallsToRestore& which) override {
    const std::lock_guard guard{store_.mutex};
    return postrider::recent_calls(store_, id, which);
  }

  Result<std::map<WebhookId, CircuitState>> open_circuits() override {
    const std::lock_guard guard{store_.mutex};
    std::map<WebhookId, CircuitState> circuits;
    for (const auto& [id, circuit] : store_.circuits) {
      if (circuit.state != CircuitState::closed) {
        circuits.emplace(id, circuit.state);
      }
    }
    return circuits;
  }

  Result<Listed<Event>> list_events(const EventFilter& filter, const Page& page) override {
    const std::lock_guard guard{store_.mutex};
    return list<Event>(store_, store_.events, filter, page);
  }

  Result<Event> find_event(EventId id) override {
    const std::lock_guard guard{store_.mutex};
    const auto found = store_.event_sequences.find(id);
    if (found == store_.event_sequences.end()) {
      return fail(Errc::not_found, "There is no such event.");
    }
    return *store_.events.at(found->second).event;
  }

  Result<std::uint64_t> fanout_remaining(EventId id) override {
    const std::lock_guard guard{store_.mutex};
    const auto found = store_.event_sequences.find(id);
    if (found == store_.event_sequences.end()) {
      return 0;
    }
    const MemoryFanout* note = find_note(store_, *store_.events.at(found->second).event);
    return note == nullptr ? 0 : note->remaining;
  }

  Result<Listed<EventForWebhook>> list_events_for(WebhookId webhook_id, const EventFilter& filter,
                                                  const ForwardPage& page) override {
    const std::lock_guard guard{store_.mutex};
    Listed<EventForWebhook> listed;
    std::uint32_t looked_at = 0;
    std::int64_t last = page.after;
    for (auto row = store_.events.upper_bound(page.after); row != store_.events.end(); ++row) {
      const bool fits = matches(store_, filter, row->second);
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
    PartialCount counted;
    counted.next = scan(store_, filter, range, [&](const DeliveryRecord&) { ++counted.count; });
    return counted;
  }

  Result<std::optional<std::int64_t>> scan_dead_letters(const DeliveryFilter& filter,
                                                        const CountRange& range,
                                                        const TakeDeadLetter& take) override {
    POSTRIDER_ASSERT(lists_dead_letters(filter));
    const std::lock_guard guard{store_.mutex};
    return scan(store_, filter, range, [&take](const DeliveryRecord& record) {
      take({.webhook_id = record.delivery.webhook_id,
            .event_type = record.delivery.event_type,
            .failure_category = record.last_failure,
            .classification =
                record.dead ? std::optional{record.dead->classification} : std::nullopt,
            .completed_at = record.completed_at.value_or(WallTime{})});
    });
  }

  Result<std::optional<TenantId>> tenant_of_removed(WebhookId id) override {
    const std::lock_guard guard{store_.mutex};
    const auto removed = store_.removed_webhooks.find(id);
    return removed == store_.removed_webhooks.end() ? std::nullopt
                                                    : std::optional{removed->second.tenant_id};
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

  Result<std::map<WebhookId, LatestResults>> latest_results(
      const std::vector<WebhookId>& ids) override {
    const std::lock_guard guard{store_.mutex};
    std::map<WebhookId, LatestResults> results;
    for (const WebhookId& id : ids) {
      const LatestResults latest{.last_success_at = find_time(store_.last_success_at, id),
                                 .last_failure_at = find_time(store_.last_failure_at, id)};
      if (latest != LatestResults{}) {
        results.emplace(id, latest);
      }
    }
    return results;
  }

  Result<TenantCounts> waiting_counts() override {
    const std::lock_guard guard{store_.mutex};
    TenantCounts waiting;
    for (const auto& [webhook_id, sequences] : store_.waiting) {
      for (const std::int64_t sequence : sequences) {
        const DeliveryRecord& record = store_.deliveries.at(sequence);
        ++waiting[record.tenant_id][record.delivery.priority];
      }
    }
    return waiting;
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
          return complete(store_, row->second);
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
