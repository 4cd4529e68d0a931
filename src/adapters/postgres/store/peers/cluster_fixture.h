// Three nodes whose stores are in one schema. For tests only.
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/postgres/store/leases/postgres_leases.h"

#include "tests/contract/store_script.h"
#include "tests/support/open_postgres.h"

namespace postrider::test {

class ClusterTest : public testing::Test {
 protected:
  static constexpr Millis length = std::chrono::hours{1};

  struct ClusterMember {
    NodeIdentity identity;
    Store store;
    std::unique_ptr<Leases> leases;

    [[nodiscard]] Peers& peers() const { return *store.peers; }
    [[nodiscard]] Ledger& ledger() const { return *store.ledger; }
  };

  /// A member of the pool. Fails the test on an error.
  ClusterMember open(int number, std::string pool = {}) {
    ClusterMember made = open_alone(number, pool);
    made.store.peers->join(std::move(pool));
    return made;
  }
  /// A node that has not joined.
  ClusterMember open_alone(int number, std::string pool = {}) {
    Result<Store> opened = open_postgres_store(one_.options());
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    ClusterMember made{.identity = {.id = NodeId{{static_cast<std::uint8_t>(number)}},
                                    .pool = std::move(pool),
                                    .address = {}},
                       .store = *std::move(opened),
                       .leases = nullptr};
    made.leases = make_postgres_leases(one_.options().connect, made.identity);
    return made;
  }

  /// Takes the lease, if it is free or expired, and tells the node's store.
  static Epoch hold(ClusterMember& node, ShardNumber shard) {
    const Epoch epoch = take(node, shard);
    node.peers().hold({.shard = shard, .epoch = epoch});
    return epoch;
  }
  static Epoch hold(ClusterMember& node, WebhookId webhook) {
    return hold(node, shard_of(webhook));
  }
  /// Takes the lease without telling the node's store.
  static Epoch take(ClusterMember& node, ShardNumber shard) {
    const Result<ClusterView> view = node.leases->take_turn({.length = length, .take = {shard}});
    EXPECT_TRUE(view.has_value()) << view.error().message;
    if (!view) {
      return 0;
    }
    EXPECT_EQ(view->leases[shard].owner, node.identity.id);
    return view->leases[shard].epoch;
  }
  /// Ends all leases. Their owners are not told.
  void expire_leases() const {
    run(fmt::format("UPDATE lease_clock SET steady = steady + {}", length.count()));
  }
  /// As the superuser.
  void run(const std::string& sql) const {
    run_as_admin(fmt::format("SET search_path = {}; {}", one_.schema().name(), sql));
  }

  /// Returns when a statement of a store waits for a lock.
  static void await_waiter() {
    run_as_admin(
        "DO $$ BEGIN FOR i IN 1..10000 LOOP"
        "  EXIT WHEN EXISTS (SELECT 1 FROM pg_stat_activity"
        "   WHERE usename = 'app' AND wait_event_type = 'Lock');"
        "  PERFORM pg_sleep(0.002); PERFORM pg_stat_clear_snapshot(); END LOOP; END $$");
  }

  static BatchReceipt commit(ClusterMember& node, const Batch& batch) {
    Result<BatchReceipt> receipt = node.ledger().commit(batch);
    EXPECT_TRUE(receipt.has_value()) << receipt.error().message;
    return receipt ? *std::move(receipt) : BatchReceipt{};
  }

  std::vector<Delivery> publish(ClusterMember& node, const std::vector<WebhookId>& to,
                                const PublishOptions& options = {}) {
    const BatchReceipt receipt = commit(node, {.publishes = {script_.publish(to, options)}});
    return std::get<Accepted>(receipt.publishes.at(0)).deliveries;
  }

  static HandedOver receive(ClusterMember& node, std::size_t limit = 1'000) {
    Result<HandedOver> handed = node.peers().receive(limit);
    EXPECT_TRUE(handed.has_value()) << handed.error().message;
    return handed ? *std::move(handed) : HandedOver{};
  }

  DeliveryRecord record(DeliveryId id) { return one_.reader().history->find_delivery(id).value(); }

  OpenPostgres one_;
  StoreScript script_;
  const WebhookId webhook_ = StoreScript::webhook(1);
  const WebhookId another_ = StoreScript::webhook(2);
  ClusterMember a_ = open(1);
  ClusterMember b_ = open(2);
  ClusterMember c_ = open(3);
};

}  // namespace postrider::test
