#include <algorithm>
#include <mutex>

#include "adapters/memory/memory_fanouts.h"
#include "adapters/memory/memory_rows.h"
#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

DeliveryCompletion standing_of(const DeliveryRecord& record) {
  return {record.delivery.state, record.completed_at};
}

/// The sequences of the event's deliveries that are still stored.
std::vector<std::int64_t> stored_deliveries(const MemoryStore& store, const MemoryEvent& event) {
  std::vector<std::int64_t> sequences = event.deliveries;
  sequences.insert(sequences.end(), event.late.begin(), event.late.end());
  std::erase_if(sequences,
                [&](std::int64_t sequence) { return !store.deliveries.contains(sequence); });
  return sequences;
}

bool is_removable(const MemoryStore& store, const MemoryEvent& event,
                  const RetentionCutoffs& cutoffs) {
  std::vector<DeliveryCompletion> standings;
  for (const std::int64_t sequence : stored_deliveries(store, event)) {
    standings.push_back(standing_of(store.deliveries.at(sequence)));
  }
  return event_is_expired(event.event->created_at, standings, cutoffs) &&
         find_note(store, *event.event) == nullptr;
}

/// True if the webhook was removed long enough ago.
bool is_expired_webhook(const MemoryStore& store, WebhookId id, const RetentionCutoffs& cutoffs) {
  const auto removed = store.removed_webhooks.find(id);
  return removed != store.removed_webhooks.end() && cutoffs.removed_webhooks &&
         removed->second.removed_at <= *cutoffs.removed_webhooks;
}

class MemoryRetentionReader final : public RetentionReader {
 public:
  explicit MemoryRetentionReader(MemoryStore& store) : store_(store) {}

  Result<ExpiredPage> expired_events(const ExpiredQuery& query) override {
    const std::lock_guard guard{store_.mutex};
    ExpiredPage page;
    std::uint32_t rows_read = 0;
    bool any_expired = false;
    for (auto row = store_.events.upper_bound(query.after); row != store_.events.end(); ++row) {
      if (rows_read++ == query.limit) {
        page.next = any_expired ? std::optional{std::prev(row)->first} : std::nullopt;
        break;
      }
      any_expired = any_expired || (query.cutoffs.events &&
                                    row->second.event->created_at <= *query.cutoffs.events);
      if (is_removable(store_, row->second, query.cutoffs)) {
        page.items.push_back(read(row->first, std::nullopt, query));
      }
    }
    return page;
  }

  Result<ExpiredPage> expired_dead_letters(const ExpiredQuery& query) override {
    const std::lock_guard guard{store_.mutex};
    ExpiredPage page;
    std::uint32_t rows_read = 0;
    std::int64_t last = query.after;
    for (auto row = store_.deliveries.upper_bound(query.after); row != store_.deliveries.end();
         ++row) {
      if (row->second.delivery.state != DeliveryState::dead_letter) {
        continue;
      }
      if (rows_read++ == query.limit) {
        page.next = last;
        break;
      }
      last = row->first;
      if (dead_letter_is_expired(standing_of(row->second), query.cutoffs)) {
        const auto event = store_.event_sequences.find(row->second.delivery.event_id);
        page.items.push_back(read(event->second, row->first, query));
      }
    }
    return page;
  }

  Result<std::optional<WebhookId>> expired_webhook(const RetentionCutoffs& cutoffs,
                                                   std::optional<WebhookId> after) override {
    const std::lock_guard guard{store_.mutex};
    for (const auto& [id, removed] : store_.removed_webhooks) {
      if ((!after || *after < id) && is_expired_webhook(store_, id, cutoffs)) {
        return id;
      }
    }
    return std::nullopt;
  }

  Result<ExpiredPage> deliveries_of_removed(const ExpiredQuery& query) override {
    const std::lock_guard guard{store_.mutex};
    ExpiredPage page;
    std::uint32_t rows_read = 0;
    std::int64_t last = 0;
    auto row =
        query.after > 0 ? store_.deliveries.lower_bound(query.after) : store_.deliveries.end();
    while (row != store_.deliveries.begin()) {
      --row;
      const Delivery& delivery = row->second.delivery;
      if (delivery.webhook_id != query.webhook_id) {
        continue;
      }
      if (rows_read++ == query.limit) {
        page.next = last;
        break;
      }
      last = row->first;
      if (!is_waiting(delivery.state)) {
        const auto event = store_.event_sequences.find(delivery.event_id);
        page.items.push_back(read(event->second, row->first, query));
      }
    }
    return page;
  }

 private:
  [[nodiscard]] ExpiredEvent read(std::int64_t event, std::optional<std::int64_t> only_delivery,
                                  const ExpiredQuery& query) const {
    ExpiredEvent expired{
        .sequence = event, .only_delivery = only_delivery, .event = {}, .deliveries = {}};
    if (!query.with_content) {
      return expired;
    }
    const MemoryEvent& stored = store_.events.at(event);
    expired.event = *stored.event;
    for (const std::int64_t sequence : stored_deliveries(store_, stored)) {
      if (!only_delivery || *only_delivery == sequence) {
        ExpiredDelivery delivery{.record = complete(store_, store_.deliveries.at(sequence)),
                                 .attempts = {}};
        for (auto row = store_.attempts.lower_bound({sequence, 0});
             row != store_.attempts.end() && row->first.first == sequence; ++row) {
          delivery.attempts.push_back(row->second);
        }
        expired.deliveries.push_back(std::move(delivery));
      }
    }
    return expired;
  }

  MemoryStore& store_;
};

class MemoryRetentionWriter final : public RetentionWriter {
 public:
  explicit MemoryRetentionWriter(MemoryStore& store) : store_(store) {}

  Result<Removed> remove(const std::vector<ExpiredKey>& keys,
                         const RetentionCutoffs& cutoffs) override {
    const std::lock_guard guard{store_.mutex};
    Removed removed;
    for (const ExpiredKey& key : keys) {
      if (key.only_delivery) {
        const auto row = store_.deliveries.find(*key.only_delivery);
        if (row != store_.deliveries.end() && is_removable_alone(row->second, cutoffs)) {
          remove_delivery(row->first, removed);
        }
      } else {
        remove_event(key.sequence, cutoffs, removed);
      }
    }
    return removed;
  }

  Result<bool> forget_webhook(WebhookId id) override {
    const std::lock_guard guard{store_.mutex};
    const bool has_history = std::ranges::any_of(
        store_.deliveries, [id](const auto& row) { return row.second.delivery.webhook_id == id; });
    return !has_history && store_.removed_webhooks.erase(id) > 0;
  }

  Result<std::uint64_t> remove_stats(WallTime before, std::uint32_t limit) override {
    const std::lock_guard guard{store_.mutex};
    const std::int64_t first_kept = stats_span_of(before);
    std::uint64_t count = 0;
    for (std::uint32_t i = 0; i < limit; ++i) {
      const auto tenant = store_.tenant_tallies.begin();
      const auto webhook = store_.webhook_tallies.begin();
      if (tenant != store_.tenant_tallies.end() && tenant->first.first < first_kept) {
        store_.tenant_tallies.erase(tenant);
        ++count;
      }
      if (webhook != store_.webhook_tallies.end() && std::get<0>(webhook->first) < first_kept) {
        store_.webhook_tallies.erase(webhook);
        ++count;
      }
    }
    return count;
  }

  Result<std::uint64_t> remove_open_periods(WallTime before, std::uint32_t limit) override {
    const std::lock_guard guard{store_.mutex};
    std::uint64_t count = 0;
    std::erase_if(store_.open_periods, [&](const auto& row) {
      const OpenPeriod& period = row.second;
      const bool expired =
          period.ended_at ? *period.ended_at < before
                          : period.opened_at < before && !store_.webhooks.contains(row.first.first);
      const bool removes = expired && count < limit;
      count += removes ? 1 : 0;
      return removes;
    });
    return count;
  }

  Result<bool> release_space() override { return false; }

 private:
  [[nodiscard]] bool is_removable_alone(const DeliveryRecord& record,
                                        const RetentionCutoffs& cutoffs) const {
    return dead_letter_is_expired(standing_of(record), cutoffs) ||
           (!is_waiting(record.delivery.state) &&
            is_expired_webhook(store_, record.delivery.webhook_id, cutoffs));
  }

  void remove_event(std::int64_t sequence, const RetentionCutoffs& cutoffs, Removed& removed) {
    const auto row = store_.events.find(sequence);
    if (row == store_.events.end() || !is_removable(store_, row->second, cutoffs) ||
        is_claimed(sequence, cutoffs.now)) {
      return;
    }
    for (const std::int64_t delivery : stored_deliveries(store_, row->second)) {
      remove_delivery(delivery, removed);
    }
    std::erase_if(store_.claims,
                  [&](const auto& claim) { return claim.second.event_sequence == sequence; });
    std::erase_if(store_.source_rows,
                  [&](const auto& each) { return each.second.event_sequence == sequence; });
    store_.event_sequences.erase(row->second.event->id);
    store_.events.erase(row);
    ++removed.events;
  }

  [[nodiscard]] bool is_claimed(std::int64_t sequence, WallTime now) const {
    return std::ranges::any_of(store_.claims, [&](const auto& claim) {
      return claim.second.event_sequence == sequence && claim.second.expires_at > now;
    });
  }

  void remove_delivery(std::int64_t sequence, Removed& removed) {
    const DeliveryRecord& record = store_.deliveries.at(sequence);
    // A webhook's health does not look past a removed attempt.
    auto& recorded = store_.attempts_recorded[record.delivery.webhook_id];
    const auto last =
        std::ranges::find_if(recorded.rbegin(), recorded.rend(),
                             [&](const auto& attempt) { return attempt.first == sequence; });
    recorded.erase(recorded.begin(), last.base());
    const auto of_delivery = [&](const auto& row) { return row.first.first == sequence; };
    removed.attempts += std::erase_if(store_.attempts, of_delivery);
    std::erase_if(store_.requests, of_delivery);
    if (record.delivery.state == DeliveryState::dead_letter) {
      ++removed.dead_letters[record.tenant_id];
    }
    ++removed.deliveries;
    std::erase(store_.events.at(store_.event_sequences.at(record.delivery.event_id)).late,
               sequence);
    store_.operation_of.erase(sequence);
    store_.delivery_sequences.erase(record.delivery.id);
    store_.deliveries.erase(sequence);
  }

  MemoryStore& store_;
};

}  // namespace

std::unique_ptr<RetentionReader> make_memory_retention_reader(MemoryStore& store) {
  return std::make_unique<MemoryRetentionReader>(store);
}

std::unique_ptr<RetentionWriter> make_memory_retention_writer(MemoryStore& store) {
  return std::make_unique<MemoryRetentionWriter>(store);
}

}  // namespace postrider
