#include "tests/simulation/sim_worker.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/overloaded.h"

#include "tests/simulation/network.h"
#include "tests/simulation/trace.h"

namespace postrider::sim {
namespace {

/// The id in a header of the request. It must be there.
template <class Id>
Id id_in_header(std::string_view request, std::string_view name) {
  const std::string line_start = fmt::format("\r\n{}: ", name);
  const std::size_t found = request.find(line_start);
  POSTRIDER_ASSERT(found != std::string_view::npos);
  const std::size_t begin = found + line_start.size();
  const auto id = Id::parse(request.substr(begin, request.find("\r\n", begin) - begin));
  POSTRIDER_ASSERT(id.has_value());
  return *id;
}

Sign make_no_signature(SignatureScheme, const Secret<std::string>&) {
  return [](std::string_view, std::string_view) { return std::string{}; };
}

Outcome connection_lost() {
  Outcome outcome;
  outcome.failure = FailureCategory::network;
  return outcome;
}

}  // namespace

World::SimWorker::SimWorker(World& world, std::size_t index)
    : world_(world),
      index_(index),
      host_({.index = index,
             .shard = world.scenario_.shard,
             .seed = world.scenario_.seed + world.life_ * 100 + index,
             .payload_cache_bytes = world.scenario_.payload_cache_bytes,
             .url_policy = {},
             .user_agent = "simulation"},
            {.clock = world.clock_,
             .allowance = world.allowance_->of(index),
             .transport = *this,
             .store = *this,
             .loop = *this,
             .owner = *this,
             .metrics = *world.metrics_,
             .stream = world.stream_,
             .make_sign = make_no_signature,
             .trace = this}) {}

// ---------------------------------------------------------------- the network

void World::SimWorker::send(OutboundRequest request, std::function<void(Outcome)> done) {
  const auto id = id_in_header<DeliveryId>(request.bytes, "X-Webhook-Delivery");
  const auto webhook_id = id_in_header<WebhookId>(request.bytes, "X-Webhook-ID");
  const std::uint64_t flight = next_flight_++;
  flights_.emplace(flight, Flight{id, std::move(done)});
  const bool in_trouble = world_.timeline_.mono() < MonoTime{} + world_.scenario_.trouble_time;
  if (in_trouble && !stopped_ && world_.random_.below(1'000) < world_.scenario_.shortages) {
    world_.in_this_life(
        Micros{0}, [this, flight, outcome = not_sent(world_.random_)] { finish(flight, outcome); });
    return;
  }
  world_.checks_.sent(id, webhook_id, id_in_header<EventId>(request.bytes, "webhook-id"));
  if (stopped_) {
    world_.in_this_life(Micros{0}, [this, flight] { finish(flight, connection_lost()); });
    return;
  }
  const auto receiver = std::ranges::find_if(world_.scenario_.receivers, [&](const Receiver& each) {
    return each.webhook.id == webhook_id;
  });
  POSTRIDER_ASSERT(receiver != world_.scenario_.receivers.end());
  Reply reply = reply_of(receiver->behavior, request.timeout, world_.random_);
  reply.outcome.duration = reply.delay;
  if (reply.accepted && reply.outcome.failure) {
    world_.checks_.ambiguous(id);
  }
  if (reply.accepted) {
    // The receiver does not know whether the server is still alive.
    world_.timeline_.after(reply.delay / 2, [&world = world_, id] { world.checks_.accepted(id); });
  }
  world_.in_this_life(reply.delay,
                      [this, flight, outcome = reply.outcome] { finish(flight, outcome); });
}

void World::SimWorker::finish(std::uint64_t flight, const Outcome& outcome) {
  const auto found = flights_.find(flight);
  if (found == flights_.end()) {
    return;  // Ended by `stop`.
  }
  const Flight ended = std::move(found->second);
  flights_.erase(found);
  ended.done(outcome);
}

void World::SimWorker::stop() {
  stopped_ = true;
  while (!flights_.empty()) {
    world_.checks_.ambiguous(flights_.begin()->second.delivery_id);
    finish(flights_.begin()->first, connection_lost());
  }
}

// ---------------------------------------------------------------- store and event loop

void World::SimWorker::settle(std::vector<Settlement> settlements) {
  world_.store_.submit(SimSettle{index_, std::move(settlements)});
}

void World::SimWorker::save_circuit(SaveCircuit save) { world_.store_.submit(SimCircuit{save}); }

void World::SimWorker::load_lane(LoadLane query) {
  world_.store_.submit(SimLoadLane{index_, query});
}

void World::SimWorker::load_events(std::vector<EventId> ids,
                                   std::function<void(Result<std::vector<Event>>)> done) {
  world_.note(fmt::format("load {} events", ids.size()));
  world_.store_.submit(SimLoadEvents{index_, std::move(ids), std::move(done)});
}

void World::SimWorker::set_alarm(MonoTime at) {
  const std::uint64_t number = ++alarm_number_;
  world_.in_this_life(std::max(at - world_.timeline_.mono(), Micros{0}), [this, number] {
    if (alarm_number_ == number) {
      host_.ring_alarm();
    }
  });
}

void World::SimWorker::post(std::function<void()> task) {
  world_.in_this_life(Micros{0}, std::move(task));
}

// ---------------------------------------------------------------- the node

void World::SimWorker::disable_webhook(WebhookId id, const std::string&) {
  world_.change_webhook(id, [](Webhook& webhook) { webhook.active = false; });
}

void World::SimWorker::alert_changed(const AlertChange& change) {
  world_.note(fmt::format("alert {} {}", to_string(change.subject.kind),
                          change.active ? "raised" : "resolved"));
}

void World::SimWorker::shard_drained() {
  world_.checks_.drained(host_.shard().view());
  world_.shard_drained();
}

// ---------------------------------------------------------------- checks

void World::SimWorker::before_step(const Input& input) {
  Checks& checks = world_.checks_;
  const auto check = Overloaded{
      [&](const Admitted& admitted) {
        for (const Delivery& delivery : admitted.deliveries) {
          checks.admitted(delivery);
        }
      },
      [&](const WebhookChanged& changed) { checks.webhook_changed(*changed.webhook); },
      [&](const WebhookRemoved& removed) { checks.webhook_removed(removed.webhook_id); },
      [&](const Settled& settled) {
        for (const LaneDelivery& delivery : settled.deliveries) {
          checks.settled(delivery.delivery_id);
        }
      },
      [&](const StoreFailed&) { checks.trouble(); },
      [this](const AttemptFinished& finished) { attempt_ended(finished.delivery_id, true); },
      [this, &checks](const AttemptAbandoned& abandoned) {
        if (abandoned.shortage != Shortage::none) {
          checks.trouble();
        }
        attempt_ended(abandoned.delivery_id, false);
      },
      [](const auto&) {},
  };
  std::visit(check, input);
}

void World::SimWorker::attempt_ended(DeliveryId id, bool sent) {
  --world_.in_flight_;
  world_.checks_.attempt_ended(id, sent);
}

void World::SimWorker::after_step(const Commands& commands) {
  const Moment now = world_.timeline_.now();
  const auto check = Overloaded{
      [&](const StartAttempt& start) {
        ++world_.attempts_;
        ++world_.in_flight_;
        if (world_.draining_) {
          world_.checks_.started_while_draining(start.delivery.id);
        }
        world_.checks_.lane_seen(*host_.shard().view(start.delivery.webhook_id, now), true);
        world_.checks_.attempt_started(start);
      },
      [&](const Settle& settle) { world_.checks_.settle_requested(settle.settlement.delivery.id); },
      [](const auto&) {},
  };
  world_.checks_.shard_seen(host_.shard().view());
  for (const Command& command : commands) {
    world_.note(describe(command));
    std::visit(check, command);
  }
}

}  // namespace postrider::sim
