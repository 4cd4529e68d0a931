// Checks the promises that concern several nodes, as the receivers and the database see them:
// limits (P7), a single owner (P8), and order across owners (P4). The promises about the store
// (P1, P2, P3) are checked as for one server.
//
// A node that is paused until its lease has ended cannot end its requests, and its successor does
// not see them. From then on these requests are not checked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/shard/messages.h"

#include "tests/simulation/checks.h"
#include "tests/simulation/cluster_db.h"
#include "tests/simulation/sim_home.h"
#include "tests/simulation/sim_node.h"

namespace postrider::sim {

class ClusterChecks {
 public:
  /// Calls `violate` with what is wrong. `drift_max`: how much clocks differ in their rates.
  ClusterChecks(const ClusterDb& db, Timeline& timeline, Checks& checks, double drift_max)
      : db_(db), timeline_(timeline), checks_(checks), drift_max_(drift_max) {}

  void attempt_started(const SimNode& node, DeliveryId id) {
    started_[{node.id(), id}] = timeline_.mono();
  }
  void request_sent(const SimNode& node, const SimRequest& request);
  void request_ended(const SimNode& node, const SimRequest& request);
  void revived(DeliveryId id) { revived_.insert(id); }

  void settle_requested(const SimNode& node, const Settlement& settlement, Epoch epoch);
  void settled(const SimNode& node, DeliveryId id) { unsettled_[node.id()].shards.erase(id); }
  void settlements_stored(const SimNode& node, const std::vector<Settlement>& settlements);
  void settlements_refused(const std::vector<Settlement>& settlements);

  /// The shard was lost at once: unsettled attempts may or may not be stored.
  void shard_lost(const SimNode& node, ShardNumber shard);
  void handed_back(const SimNode& node, ShardNumber shard);
  void node_resumed(const SimNode& node);
  void node_ended(const SimNode& node);

  [[nodiscard]] bool is_idle() const { return flights_.empty(); }

 private:
  struct Flight {
    const SimNode* node = nullptr;
    SimRequest request;
    std::string event_type;
    bool is_stale = false;  // Of a node that was paused until its lease had ended.
  };
  using Flights = std::map<std::pair<NodeId, std::pair<std::size_t, std::uint64_t>>, Flight>;
  /// What a node has decided and not seen stored.
  struct Unsettled {
    const SimNode* node = nullptr;
    std::map<DeliveryId, ShardNumber> shards;
  };
  struct Decision {
    NodeId node;
    Epoch epoch = 0;
  };

  void mark_stale(const SimNode& node);
  void mark_ambiguous(DeliveryId id);
  void check_owner(const Flight& flight);
  void check_limits(const Flight& flight, const Webhook& webhook);
  void check_rate(const Flight& flight, const Webhook& webhook);
  void check_order(const Flight& flight, const Webhook& webhook);

  const ClusterDb& db_;
  Timeline& timeline_;
  Checks& checks_;
  double drift_max_;
  Flights flights_;
  std::map<std::pair<NodeId, DeliveryId>, MonoTime> started_;
  std::map<WebhookId, std::vector<MonoTime>> starts_;  // Of the requests that were sent. Sorted.
  std::set<DeliveryId> revived_;
  std::map<NodeId, Unsettled> unsettled_;
  std::map<std::pair<DeliveryId, std::uint32_t>, Decision> decisions_;  // By attempt number.
};

}  // namespace postrider::sim
