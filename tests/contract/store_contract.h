// The contract of a store, as test suites. The test binary of each store adapter links this library
// and instantiates all suites with POSTRIDER_STORE_CONTRACT and its own StoreFactory.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/contract/store_script.h"
#include "tests/support/store_factory.h"

namespace postrider::test {

/// The event without the sequence that the store assigns.
[[nodiscard]] inline Event as_published(Event stored) {
  stored.sequence = 0;
  return stored;
}

class StoreContract : public testing::TestWithParam<StoreFactory> {
 protected:
  [[nodiscard]] Ledger& ledger() { return *store_->store().ledger; }
  [[nodiscard]] Catalog& catalog() { return *store_->store().catalog; }
  [[nodiscard]] EventTypes& types() { return *store_->store().event_types; }
  [[nodiscard]] History& history() { return *store_->reader().history; }
  [[nodiscard]] RetentionReader& retention_reader() { return *store_->reader().retention; }
  [[nodiscard]] RetentionWriter& retention_writer() { return *store_->store().retention; }
  [[nodiscard]] Stats& stats() { return *store_->reader().stats; }
  [[nodiscard]] OperationWriter& operations() { return *store_->store().operations; }
  [[nodiscard]] AlertWriter& alerts() { return *store_->store().alerts; }

  /// Each of these fails the test if the store fails.
  BatchReceipt commit(const Batch& batch);
  PublishReceipt publish(const std::vector<WebhookId>& to, const PublishOptions& options = {});
  /// Publishes to one webhook; fails the test unless the publish is accepted.
  Delivery accept(WebhookId to, const PublishOptions& options = {});
  void settle(const Settlement& settlement);
  Result<Delivery> revive(const Revive& order);
  Result<Delivery> cancel(DeliveryId id);
  /// Adds a late delivery. Returns nullopt if the store ignores it.
  std::optional<Delivery> add_late_delivery(EventId event, WebhookId to);
  LanePage load(const LoadLane& query);
  DeliveryRecord record(DeliveryId id);
  std::vector<Attempt> attempts(DeliveryId id);
  Listed<Alert> list_alerts(const AlertFilter& filter, const Page& page = {});

  StoreScript script_;
  std::unique_ptr<OpenStore> store_ = GetParam().make();
  const WebhookId first_ = StoreScript::webhook(1);
  const WebhookId second_ = StoreScript::webhook(2);
};

class PublishContract : public StoreContract {};
class LedgerContract : public StoreContract {};
class LaneContract : public StoreContract {};
class ReschedulingContract : public StoreContract {
 protected:
  BroughtForward bring_forward(const BringForward& order);
};
class FanoutContract : public StoreContract {
 protected:
  /// An event with a note. `chosen` and `count`: see Fanout; 0: all of them.
  Publish noted(const std::vector<WebhookId>& to, const PublishOptions& options = {},
                const std::string& chosen = {}, std::uint32_t count = 0);
  FannedOut step(std::uint32_t limit, const TenantId& tenant_id = "acme");
  std::map<TenantId, std::uint64_t> open();

  std::set<WebhookId> removed_;
  UuidGenerator ids_{11};
};
class CatalogContract : public StoreContract {};
class HistoryContract : public StoreContract {};
class EventTypesContract : public StoreContract {};
class StatsContract : public StoreContract {};
class RetentionContract : public StoreContract {};
class AuditContract : public StoreContract {
 protected:
  [[nodiscard]] AuditWriter& audit_writer() { return *store_->store().audit; }
  [[nodiscard]] AuditReader& audit_reader() { return *store_->reader().audit; }

  void append(int first, int last);
  Listed<AuditRecord> list(const AuditFilter& filter, const Page& page = {});
  std::vector<std::int64_t> sequences(const AuditFilter& filter, const Page& page = {});
};
class RegistryContract : public StoreContract {
 protected:
  [[nodiscard]] Registry& registry() { return *store_->store().registry; }

  void apply(const RegistryChange& change);
  /// The contents after a restart.
  RegistryContents contents();
};
class AlertContract : public StoreContract {};
class NotificationContract : public StoreContract {
 protected:
  [[nodiscard]] NotificationWriter& writer() { return *store_->store().notifications; }
  [[nodiscard]] NotificationReader& reader() { return *store_->reader().notifications; }

  ChannelId add_channel(const NotificationChannel& channel);
  Listed<Notification> list(const NotificationFilter& filter, const Page& page = {});
};
class LateDeliveryContract : public StoreContract {};
class TraceContract : public StoreContract {};
class OperationsContract : public StoreContract {};
class SourceRowsContract : public StoreContract {
 protected:
  [[nodiscard]] SourceRowReader& reader() { return *store_->reader().source_rows; }
  [[nodiscard]] SourceRowWriter& writer() { return *store_->store().source_rows; }

  /// A publish of a row of one source, whose id is the idempotency key.
  Publish of_row(const std::string& row_id, const std::vector<WebhookId>& to,
                 std::uint32_t generation = 0);
  Delivery accept_row(const std::string& row_id, WebhookId to);
  std::vector<TrackedRow> unsettled();
  void record(const RowWrittenBack& row);
};
class RequestKeysContract : public StoreContract {
 protected:
  [[nodiscard]] RequestKeyWriter& keys() { return *store_->store().request_keys; }
  std::optional<KeyUse> find(const std::string& caller, const std::string& key, WallTime now);
};

/// Instantiates all suites for one store: `POSTRIDER_STORE_CONTRACT(Memory, factory)`.
#define POSTRIDER_STORE_CONTRACT(prefix, ...)                       \
  POSTRIDER_STORE_SUITE(prefix, PublishContract, __VA_ARGS__);      \
  POSTRIDER_STORE_SUITE(prefix, LedgerContract, __VA_ARGS__);       \
  POSTRIDER_STORE_SUITE(prefix, LaneContract, __VA_ARGS__);         \
  POSTRIDER_STORE_SUITE(prefix, CatalogContract, __VA_ARGS__);      \
  POSTRIDER_STORE_SUITE(prefix, EventTypesContract, __VA_ARGS__);   \
  POSTRIDER_STORE_SUITE(prefix, HistoryContract, __VA_ARGS__);      \
  POSTRIDER_STORE_SUITE(prefix, AuditContract, __VA_ARGS__);        \
  POSTRIDER_STORE_SUITE(prefix, RegistryContract, __VA_ARGS__);     \
  POSTRIDER_STORE_SUITE(prefix, ReschedulingContract, __VA_ARGS__); \
  POSTRIDER_STORE_SUITE(prefix, RetentionContract, __VA_ARGS__);    \
  POSTRIDER_STORE_SUITE(prefix, StatsContract, __VA_ARGS__);        \
  POSTRIDER_STORE_SUITE(prefix, LateDeliveryContract, __VA_ARGS__); \
  POSTRIDER_STORE_SUITE(prefix, FanoutContract, __VA_ARGS__);       \
  POSTRIDER_STORE_SUITE(prefix, OperationsContract, __VA_ARGS__);   \
  POSTRIDER_STORE_SUITE(prefix, RequestKeysContract, __VA_ARGS__);  \
  POSTRIDER_STORE_SUITE(prefix, SourceRowsContract, __VA_ARGS__);   \
  POSTRIDER_STORE_SUITE(prefix, NotificationContract, __VA_ARGS__); \
  POSTRIDER_STORE_SUITE(prefix, TraceContract, __VA_ARGS__);        \
  POSTRIDER_STORE_SUITE(prefix, AlertContract, __VA_ARGS__)

#define POSTRIDER_STORE_SUITE(prefix, suite, ...) \
  INSTANTIATE_TEST_SUITE_P(prefix, suite, testing::Values(__VA_ARGS__), store_name)

[[nodiscard]] inline std::string store_name(const testing::TestParamInfo<StoreFactory>& info) {
  return info.param.name;
}

}  // namespace postrider::test
