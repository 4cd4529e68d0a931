// A memory store that several nodes of one process share, as servers share a database: a small
// model of ports/peers.h, with leases and signals. The rows are an ordinary MemoryStore.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ports/peer_signals.h"
#include "ports/peers.h"

#include "adapters/memory/memory_leases.h"
#include "adapters/memory/memory_store.h"

namespace postrider::test {

/// Fails the call of a member, identified by its name, as a lost connection would.
using FailCall = std::function<bool(const std::string& call)>;

/// Must outlive the stores that are opened on it. Any thread.
class SharedMemoryStore {
 public:
  /// What one node has told the store.
  struct Member {
    NodeId id;
    std::string pool;
    bool joined = false;
    std::map<ShardNumber, Epoch> held;
    std::map<TenantId, std::string> pools;
    FailCall fails;
  };

  /// The store as the node sees it. `fails` may be empty.
  [[nodiscard]] Store open(NodeId id, FailCall fails = {});

  /// Turns of the members: transactions and calls of a ledger or of Peers.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> take_turn() {
    return std::unique_lock{turn_};
  }
  /// Forgets which changes led to the current version.
  void forget_changes() {
    const auto turn = take_turn();
    changes_complete_since_ = version();
    changes_.clear();
  }

  // For the roles of members, in a turn.

  /// Detects what has changed in the rows since the last call.
  [[nodiscard]] CatalogVersion version();
  [[nodiscard]] CatalogChanges changes_since(CatalogVersion seen);
  [[nodiscard]] bool may_store(const Member& member, ShardNumber shard) const;
  /// Whether the delivery was handed over.
  bool hand_over(const Member& member, const Delivery& delivery);
  [[nodiscard]] Result<void> hand_over(const Member& member, const CircuitCommanded& command);
  /// Whether there is more.
  [[nodiscard]] bool forget_handed_over(const Member& member, const std::vector<ShardEpoch>& of,
                                        std::size_t limit);
  [[nodiscard]] HandedOver receive(const Member& member, std::size_t limit);
  [[nodiscard]] std::vector<LaneBacklog> of_shard(const Member& member, ShardNumber shard,
                                                  std::vector<LaneBacklog> all);

  /// How many commands members have received.
  [[nodiscard]] std::size_t commands_taken() const { return commands_taken_; }

  MemoryStore rows;
  MemoryLeaseTable leases;

 private:
  struct Catalog {
    std::map<WebhookId, Webhook> webhooks;
    std::map<KeyId, ApiKey> keys;
    std::map<KeyId, ApiKey> sessions;
    std::map<std::string, SignInLink> links;
    std::map<TenantSerial, RegisteredTenant> tenants;
    std::map<std::string, EventType> event_types;
    std::map<ChannelId, NotificationChannel> channels;
    std::map<OperationId, OperationStatus> operations;
  };
  struct Change {
    CatalogVersion version = 0;
    CatalogPart part = CatalogPart::webhooks;
    WebhookId webhook_id = {};
  };
  struct Handed {
    std::string pool;
    WebhookId webhook_id;
    std::optional<DeliveryId> delivery_id;
    std::optional<CircuitCommanded> command;
  };

  [[nodiscard]] Catalog current();
  [[nodiscard]] std::string pool_of(const Member& member, WebhookId id);

  std::recursive_mutex turn_;  // Guards everything below.
  Catalog known_;
  CatalogVersion version_ = 1;
  CatalogVersion changes_complete_since_ = 0;
  std::vector<Change> changes_;
  std::vector<Handed> handed_;
  std::atomic<std::size_t> commands_taken_{0};  // Any thread.
};

/// Signals among the nodes of a test.
class SharedSignals {
 public:
  [[nodiscard]] std::unique_ptr<PeerSignals> open();

  /// From now on signals fail, or work again.
  void fail(bool failing) {
    const std::lock_guard lock{mutex_};
    failing_ = failing;
    changed_.notify_all();
  }
  /// From now on signals are lost, or delivered again.
  void deafen(bool deaf) {
    const std::lock_guard lock{mutex_};
    deaf_ = deaf;
  }
  [[nodiscard]] std::size_t sent() const {
    const std::lock_guard lock{mutex_};
    return sent_;
  }

 private:
  class Port;

  mutable std::mutex mutex_;  // Guards everything below.
  std::condition_variable changed_;
  std::set<Port*> ports_;
  bool failing_ = false;
  bool deaf_ = false;
  std::size_t sent_ = 0;
};

}  // namespace postrider::test
