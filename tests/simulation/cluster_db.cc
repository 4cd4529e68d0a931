#include "tests/simulation/cluster_db.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/assert.h"

namespace postrider::sim {

SimPeerLedger::SimPeerLedger(ClusterDb& db, NodeId node, Watches watches)
    : db_(db), node_(node), watches_(std::move(watches)), ledger_(make_memory_ledger(db.durable)) {}

bool SimPeerLedger::is_held(ShardNumber shard) const {
  const auto held = held_.find(shard);
  if (held == held_.end()) {
    return false;
  }
  const Lease lease = db_.lease(shard);
  return lease.owner == node_ && lease.epoch == held->second;
}

Result<BatchReceipt> SimPeerLedger::commit(const Batch& batch) {
  Batch stored = batch;
  std::set<ShardNumber> lost;
  std::vector<Settlement> refused;
  const auto is_refused = [&](WebhookId webhook_id) {
    const ShardNumber shard = shard_of(webhook_id);
    if (!is_held(shard) && held_.contains(shard)) {
      lost.insert(shard);
    }
    return !is_held(shard);
  };
  std::erase_if(stored.settlements, [&](const Settlement& settlement) {
    const bool refuses = is_refused(settlement.delivery.webhook_id);
    if (refuses) {
      refused.push_back(settlement);
    }
    return refuses;
  });
  std::erase_if(stored.circuits,
                [&](const SaveCircuit& save) { return is_refused(save.webhook_id); });
  const bool outdated = batch.catalog_seen && *batch.catalog_seen != db_.version();
  if (outdated) {
    stored.publishes.clear();
  }
  watches_.refused(refused);
  watches_.stored(stored.settlements);
  Result<BatchReceipt> receipt = ledger_->commit(stored);
  POSTRIDER_ASSERT(receipt.has_value());
  if (outdated) {
    receipt->publishes.assign(batch.publishes.size(), Outdated{});
  }
  receipt->lost.assign(lost.begin(), lost.end());
  hand_over(*receipt);
  return receipt;
}

void SimPeerLedger::hand_over(const BatchReceipt& receipt) {
  for (const PublishReceipt& publish : receipt.publishes) {
    if (const auto* accepted = std::get_if<Accepted>(&publish)) {
      for (const Delivery& delivery : accepted->deliveries) {
        hand_over(delivery);
      }
    }
  }
  for (const auto* changed : {&receipt.revivals, &receipt.cancels}) {
    for (const Result<Delivery>& delivery : *changed) {
      if (delivery) {
        hand_over(*delivery);
      }
    }
  }
}

void SimPeerLedger::hand_over(const Delivery& delivery) {
  const ShardNumber shard = shard_of(delivery.webhook_id);
  if (!is_held(shard)) {
    db_.handoff[shard].push_back({delivery.webhook_id, delivery.id});
  }
}

std::vector<Delivery> SimPeerLedger::receive(std::vector<LaneDelivery>& closed) {
  std::vector<Delivery> waiting;
  for (const auto& [shard, epoch] : held_) {
    const auto rows = db_.handoff.find(shard);
    if (rows == db_.handoff.end() || !is_held(shard)) {
      continue;
    }
    for (const LaneDelivery& row : rows->second) {
      const std::int64_t sequence = db_.durable.delivery_sequences.at(row.delivery_id);
      const Delivery& delivery = db_.durable.deliveries.at(sequence).delivery;
      if (is_waiting(delivery.state)) {
        waiting.push_back(delivery);
      } else {
        closed.push_back(row);
      }
    }
    db_.handoff.erase(rows);
  }
  return waiting;
}

Result<BroughtForward> SimPeerLedger::bring_forward(const BringForward& order) {
  if (!is_held(shard_of(order.webhook_id))) {
    return BroughtForward{};
  }
  return ledger_->bring_forward(order);
}

}  // namespace postrider::sim
