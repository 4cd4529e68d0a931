#include "tests/simulation/cluster_checks.h"

#include <algorithm>

#include <fmt/format.h>

namespace postrider::sim {

void ClusterChecks::mark_stale(const SimNode& node) {
  if (!node.has_expired()) {
    return;
  }
  for (auto& [key, flight] : flights_) {
    if (flight.node == &node && !flight.is_stale) {
      flight.is_stale = true;
      checks_.ambiguous(flight.request.delivery_id);
    }
  }
}

/// A node whose leases have ended may have made an attempt that its successor cannot know of.
void ClusterChecks::mark_ambiguous(DeliveryId id) {
  for (const auto& [node_id, unsettled] : unsettled_) {
    if (unsettled.shards.contains(id) && unsettled.node->has_expired()) {
      checks_.ambiguous(id);
    }
  }
}

void ClusterChecks::request_sent(const SimNode& node, const SimRequest& request) {
  std::set<const SimNode*> paused;
  for (const auto& [key, each] : flights_) {
    if (each.node->is_paused()) {
      paused.insert(each.node);
    }
  }
  for (const SimNode* each : paused) {
    mark_stale(*each);
  }
  const auto sequence = db_.durable.delivery_sequences.find(request.delivery_id);
  const auto webhook = db_.durable.webhooks.find(request.webhook_id);
  if (sequence == db_.durable.delivery_sequences.end()) {
    checks_.violate("a request for an unknown delivery: " + request.delivery_id.to_string());
    return;
  }
  const Delivery& delivery = db_.durable.deliveries.at(sequence->second).delivery;
  if (delivery.webhook_id != request.webhook_id || delivery.event_id != request.event_id) {
    checks_.violate("the wrong event or receiver: " + request.delivery_id.to_string());
  }
  checks_.attempted(request.delivery_id);
  mark_ambiguous(request.delivery_id);
  const Flight flight{.node = &node, .request = request, .event_type = delivery.event_type};
  check_owner(flight);
  if (webhook != db_.durable.webhooks.end()) {
    check_limits(flight, webhook->second);
    check_order(flight, webhook->second);
  }
  flights_.emplace(std::pair{node.id(), std::pair{request.worker, request.number}}, flight);
}

void ClusterChecks::request_ended(const SimNode& node, const SimRequest& request) {
  flights_.erase(std::pair{node.id(), std::pair{request.worker, request.number}});
}

/// P8.
void ClusterChecks::check_owner(const Flight& flight) {
  const WebhookId webhook_id = flight.request.webhook_id;
  const Lease lease = db_.lease(shard_of(webhook_id));
  if (!lease.is_held_by(flight.node->id())) {
    checks_.violate(fmt::format("P8: node {} sends for {} without the lease", flight.node->number(),
                                webhook_id.to_string()));
  }
  for (const auto& [key, other] : flights_) {
    if (other.request.webhook_id == webhook_id && other.node != flight.node && !other.is_stale) {
      checks_.violate(fmt::format("P8: nodes {} and {} send for {}", flight.node->number(),
                                  other.node->number(), webhook_id.to_string()));
    }
  }
}

/// P7.
void ClusterChecks::check_limits(const Flight& flight, const Webhook& webhook) {
  const auto in_flight = std::ranges::count_if(flights_, [&](const auto& each) {
    return each.second.request.webhook_id == webhook.id && !each.second.is_stale;
  });
  if (in_flight >= static_cast<std::ptrdiff_t>(webhook.max_in_flight)) {
    checks_.violate("P7: more in flight than max_in_flight: " +
                    flight.request.delivery_id.to_string());
  }
  check_rate(flight, webhook);
}

/// An attempt counts from its start, although its request is sent when its payload has been read.
void ClusterChecks::check_rate(const Flight& flight, const Webhook& webhook) {
  const MonoTime at = started_.at({flight.node->id(), flight.request.delivery_id});
  std::vector<MonoTime>& starts = starts_[webhook.id];
  const auto place = starts.insert(std::ranges::upper_bound(starts, at), at);
  for (auto last = place; last != starts.end(); ++last) {
    const std::vector<MonoTime> until{starts.begin(), last + 1};
    if (const std::string excess = excess_of(webhook.rate_limit, until, 1 + drift_max_);
        !excess.empty()) {
      checks_.violate(fmt::format("P7: {} of {}", excess, webhook.id.to_string()));
    }
  }
}

/// P4: every earlier delivery of the same order is final in the store.
void ClusterChecks::check_order(const Flight& flight, const Webhook& webhook) {
  if (webhook.ordering == Ordering::none) {
    return;
  }
  const DeliveryId id = flight.request.delivery_id;
  const auto same_line = [&](const std::string& event_type) {
    return webhook.ordering == Ordering::strict || event_type == flight.event_type;
  };
  for (const auto& [key, other] : flights_) {
    if (other.request.webhook_id == webhook.id && !other.is_stale && same_line(other.event_type)) {
      checks_.violate("P4: two of one line in flight: " + id.to_string());
    }
  }
  const auto waiting = db_.durable.waiting.find(webhook.id);
  if (waiting == db_.durable.waiting.end() || revived_.contains(id)) {
    return;
  }
  for (const std::int64_t sequence : waiting->second) {
    if (sequence >= db_.durable.delivery_sequences.at(id)) {
      break;
    }
    const Delivery& earlier = db_.durable.deliveries.at(sequence).delivery;
    if (same_line(earlier.event_type) && !revived_.contains(earlier.id)) {
      checks_.violate(
          fmt::format("P4: {} starts before {}", id.to_string(), earlier.id.to_string()));
    }
  }
}

void ClusterChecks::settle_requested(const SimNode& node, const Settlement& settlement,
                                     Epoch epoch) {
  const Delivery& delivery = settlement.delivery;
  Unsettled& unsettled = unsettled_[node.id()];
  unsettled.node = &node;
  unsettled.shards[delivery.id] = shard_of(delivery.webhook_id);
  decisions_[{delivery.id, delivery.attempt_count}] = {.node = node.id(), .epoch = epoch};
}

/// P8: what was decided with an old lease must not be written over what the successor does.
void ClusterChecks::settlements_stored(const SimNode& node,
                                       const std::vector<Settlement>& settlements) {
  for (const Settlement& settlement : settlements) {
    const Delivery& delivery = settlement.delivery;
    const Lease lease = db_.lease(shard_of(delivery.webhook_id));
    const auto decision = decisions_.find({delivery.id, delivery.attempt_count});
    if (decision == decisions_.end() || decision->second.node != node.id()) {
      continue;  // The successor has made the same attempt meanwhile: only its record counts.
    }
    if (lease.owner != node.id() || lease.epoch != decision->second.epoch) {
      checks_.violate(fmt::format("P8: node {} stores {} with an old lease", node.number(),
                                  delivery.id.to_string()));
    }
  }
}

void ClusterChecks::settlements_refused(const std::vector<Settlement>& settlements) {
  for (const Settlement& settlement : settlements) {
    checks_.ambiguous(settlement.delivery.id);
  }
}

void ClusterChecks::shard_lost(const SimNode& node, ShardNumber shard) {
  std::erase_if(unsettled_[node.id()].shards, [&](const auto& each) {
    if (each.second == shard) {
      checks_.ambiguous(each.first);
    }
    return each.second == shard;
  });
}

void ClusterChecks::handed_back(const SimNode& node, ShardNumber shard) {
  for (const auto& [key, flight] : flights_) {
    if (flight.node == &node && shard_of(flight.request.webhook_id) == shard) {
      checks_.violate(fmt::format("P8: node {} hands shard {} back with requests in flight",
                                  node.number(), shard));
    }
  }
  for (const auto& [id, part] : unsettled_[node.id()].shards) {
    if (part == shard) {
      checks_.violate(fmt::format("P8: node {} hands shard {} back before {} is settled",
                                  node.number(), shard, id.to_string()));
    }
  }
}

void ClusterChecks::node_resumed(const SimNode& node) { mark_stale(node); }

/// Its connections are closed.
void ClusterChecks::node_ended(const SimNode& node) {
  std::erase_if(flights_, [&](const auto& each) {
    const bool ends = each.second.node == &node;
    if (ends) {
      checks_.ambiguous(each.second.request.delivery_id);
    }
    return ends;
  });
  for (const auto& [id, shard] : unsettled_[node.id()].shards) {
    checks_.ambiguous(id);
  }
}

}  // namespace postrider::sim
