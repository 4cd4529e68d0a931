#include "runtime/admin/admin_changes.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

using testing::ElementsAre;

/// Notes in which order a transaction changes the parts of webhooks.
class OrderedCatalog final : public Catalog {
 public:
  OrderedCatalog(std::unique_ptr<Catalog> real, std::vector<std::string>& changed)
      : real_(std::move(real)), changed_(changed) {}

  Result<std::vector<Webhook>> load_webhooks() override { return real_->load_webhooks(); }
  Result<std::optional<Webhook>> find_webhook(WebhookId id) override {
    return real_->find_webhook(id);
  }
  Result<void> put_webhook(const Webhook& webhook) override { return real_->put_webhook(webhook); }
  Result<void> remove_webhook(WebhookId id, WallTime now) override {
    changed_.emplace_back("webhook");
    return real_->remove_webhook(id, now);
  }
  Result<TenantCounts> cancel_waiting(WebhookId id, WallTime now, std::uint32_t limit) override {
    changed_.emplace_back("deliveries");
    return real_->cancel_waiting(id, now, limit);
  }
  Result<void> mark_rescheduling(WebhookId id) override { return real_->mark_rescheduling(id); }
  Result<std::vector<WebhookId>> load_rescheduling() override { return real_->load_rescheduling(); }
  Result<ResealStep> reseal_webhooks(std::optional<WebhookId> after, std::uint32_t limit) override {
    return real_->reseal_webhooks(after, limit);
  }
  Result<std::map<WebhookId, CircuitRecord>> load_circuits() override {
    return real_->load_circuits();
  }

 private:
  std::unique_ptr<Catalog> real_;
  std::vector<std::string>& changed_;
};

class OrderedAudit final : public AuditWriter {
 public:
  explicit OrderedAudit(std::vector<std::string>& changed) : changed_(changed) {}
  Result<void> append(const AuditEntry&) override {
    changed_.emplace_back("audit");
    return {};
  }

 private:
  std::vector<std::string>& changed_;
};

/// Two webhooks of the tenant "acme". Settlements lock deliveries, then webhooks, then the audit
/// log: removals that lock them in another order deadlock with those of another server.
class RemovalOrderTest : public testing::Test {
 protected:
  RemovalOrderTest() {
    std::vector<WebhookRef> webhooks;
    for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
      Webhook webhook;
      webhook.id = id(number);
      webhook.tenant_id = "acme";
      memory_.webhooks.emplace(webhook.id, webhook);
      webhooks.push_back(std::make_shared<const Webhook>(std::move(webhook)));
    }
    changes_.emplace(Directory{std::move(webhooks)}, AccessSnapshot{}, ChannelDirectory{});
    store_.catalog = std::make_unique<OrderedCatalog>(std::move(store_.catalog), changed_);
    store_.audit = std::make_unique<OrderedAudit>(changed_);
  }

  static WebhookId id(std::uint8_t number) {
    WebhookId id;
    id.bytes[15] = number;
    return id;
  }

  MemoryStore memory_;
  Store store_ = make_memory_store(memory_);
  std::vector<std::string> changed_;
  std::optional<AdminChanges> changes_;
  RepliesByShard replies_ = RepliesByShard(1);
};

TEST_F(RemovalOrderTest, AWebhookIsRemovedAfterItsDeliveries) {
  ASSERT_TRUE(changes_->remove_webhook({store_, replies_, AuditEntry{}}, id(1)));
  EXPECT_THAT(changed_, ElementsAre("deliveries", "webhook", "audit"));
}

TEST_F(RemovalOrderTest, ATenantsWebhooksAreRemovedAfterAllTheirDeliveries) {
  AddTenant added;
  added.tenant.id = "acme";
  ASSERT_TRUE(changes_->change_registry({store_, replies_, AuditEntry{}}, added, std::nullopt));
  changed_.clear();
  ASSERT_TRUE(changes_->remove_tenant({store_, replies_, AuditEntry{}}, "acme", true));
  EXPECT_THAT(changed_, ElementsAre("deliveries", "deliveries", "webhook", "webhook", "audit",
                                    "audit", "audit"));
}

}  // namespace
}  // namespace postrider
