// What the workers of the simulated world ask for and tell.
#include <algorithm>
#include <utility>

#include "core/base/overloaded.h"

#include "tests/simulation/world_state.h"

namespace postrider::sim {

void World::later(Micros delay, std::function<void()> act) { in_this_life(delay, std::move(act)); }

void World::later_at(MonoTime at, std::function<void()> act) {
  in_this_life(std::max(at - timeline_.mono(), Micros{0}), std::move(act));
}

void World::elsewhere(Micros delay, std::function<void()> act) {
  timeline_.after(delay, std::move(act));
}

void World::disable_webhook(WebhookId id) {
  change_webhook(id, [](Webhook& webhook) { webhook.active = false; });
}

void World::drained(const ShardView& view) {
  checks_.drained(view);
  shard_drained();
}

void World::request_sent(const SimRequest& request) {
  checks_.sent(request.delivery_id, request.webhook_id, request.event_id);
}

void World::attempt_ended(DeliveryId id, bool sent) {
  --in_flight_;
  checks_.attempt_ended(id, sent);
}

void World::before_step(const Input& input) {
  const auto check = Overloaded{
      [this](const Admitted& admitted) {
        for (const Delivery& delivery : admitted.deliveries) {
          checks_.admitted(delivery);
        }
      },
      [this](const WebhookChanged& changed) { checks_.webhook_changed(*changed.webhook); },
      [this](const WebhookRemoved& removed) { checks_.webhook_removed(removed.webhook_id); },
      [this](const Settled& settled) {
        for (const LaneDelivery& delivery : settled.deliveries) {
          checks_.settled(delivery.delivery_id);
        }
      },
      [this](const StoreFailed&) { checks_.trouble(); },
      [this](const AttemptFinished& finished) { attempt_ended(finished.delivery_id, true); },
      [this](const AttemptAbandoned& abandoned) {
        if (abandoned.shortage != Shortage::none) {
          checks_.trouble();
        }
        attempt_ended(abandoned.delivery_id, false);
      },
      [](const auto&) {},
  };
  std::visit(check, input);
}

void World::after_step(ShardHost& host, const Commands& commands) {
  const Moment now = timeline_.now();
  const auto check = Overloaded{
      [&](const StartAttempt& start) {
        ++attempts_;
        ++in_flight_;
        if (draining_) {
          checks_.started_while_draining(start.delivery.id);
        }
        checks_.lane_seen(*host.shard().view(start.delivery.webhook_id, now), true);
        checks_.attempt_started(start);
      },
      [&](const Settle& settle) { checks_.settle_requested(settle.settlement.delivery.id); },
      [](const auto&) {},
  };
  checks_.shard_seen(host.shard().view());
  for (const Command& command : commands) {
    std::visit(check, command);
  }
}

}  // namespace postrider::sim
