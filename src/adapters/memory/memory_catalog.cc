#include <algorithm>
#include <iterator>
#include <mutex>
#include <ranges>
#include <vector>

#include "adapters/memory/memory_rows.h"
#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

class MemoryCatalog final : public Catalog {
 public:
  explicit MemoryCatalog(MemoryStore& store) : store_(store) {}

  Result<std::vector<Webhook>> load_webhooks() override {
    const std::lock_guard guard{store_.mutex};
    std::vector<Webhook> webhooks;
    webhooks.reserve(store_.webhooks.size());
    for (const auto& [id, webhook] : store_.webhooks) {
      webhooks.push_back(webhook);
    }
    return webhooks;
  }

  Result<std::optional<Webhook>> find_webhook(WebhookId id) override {
    const std::lock_guard guard{store_.mutex};
    const auto found = store_.webhooks.find(id);
    return found == store_.webhooks.end() ? std::nullopt : std::optional{found->second};
  }

  Result<void> put_webhook(const Webhook& webhook) override {
    const std::lock_guard guard{store_.mutex};
    store_.webhooks[webhook.id] = webhook;
    return {};
  }

  Result<void> remove_webhook(WebhookId id, WallTime now) override {
    const std::lock_guard guard{store_.mutex};
    const auto webhook = store_.webhooks.find(id);
    if (webhook == store_.webhooks.end()) {
      return fail(Errc::not_found, "There is no such webhook.");
    }
    store_.removed_webhooks[id] = {.tenant_id = webhook->second.tenant_id, .removed_at = now};
    store_.webhooks.erase(webhook);
    store_.circuits.erase(id);
    store_.rescheduling.erase(id);
    return {};
  }

  Result<TenantCounts> cancel_waiting(WebhookId id, WallTime now, std::uint32_t limit) override {
    const std::lock_guard guard{store_.mutex};
    std::vector<std::int64_t> first;
    if (const auto lane = store_.waiting.find(id); lane != store_.waiting.end()) {
      const auto& waiting = lane->second;
      std::ranges::copy(waiting | std::views::take(limit), std::back_inserter(first));
    }
    OutcomeChanges outcomes;
    TenantCounts cancelled;
    for (const std::int64_t sequence : first) {
      DeliveryRecord record = store_.deliveries.at(sequence);
      ++cancelled[record.tenant_id][record.delivery.priority];
      mark_cancelled(store_, record, now, outcomes);
      put(store_, std::move(record));
    }
    add_to_operations(store_, outcomes);
    return cancelled;
  }

  Result<void> mark_rescheduling(WebhookId id) override {
    const std::lock_guard guard{store_.mutex};
    store_.rescheduling.insert(id);
    return {};
  }

  Result<std::vector<WebhookId>> load_rescheduling() override {
    const std::lock_guard guard{store_.mutex};
    return std::vector<WebhookId>(store_.rescheduling.begin(), store_.rescheduling.end());
  }

  /// The memory store does not encrypt.
  Result<ResealStep> reseal_webhooks(std::optional<WebhookId>, std::uint32_t) override {
    return ResealStep{};
  }

  Result<std::map<WebhookId, CircuitRecord>> load_circuits() override {
    const std::lock_guard guard{store_.mutex};
    return store_.circuits;
  }

 private:
  MemoryStore& store_;
};

}  // namespace

std::unique_ptr<Catalog> make_memory_catalog(MemoryStore& store) {
  return std::make_unique<MemoryCatalog>(store);
}

}  // namespace postrider
