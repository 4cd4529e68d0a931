#include "engine/shard/shard_world_test.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace postrider::test {

using namespace std::chrono_literals;

ShardWorld::ShardWorld(std::uint64_t seed, ShardWorldOptions options)
    : random_(seed),
      ordering_(options.ordering),
      leased_(options.leased),
      driver_({.in_flight_max = 6,
               .tenant_in_flight_max = 4,
               .first_attempt_reserve = 2,
               .host_in_flight_max = 3,
               .window_max = 8,
               .waiting_max = 20,
               .unsettled_max = 10,
               .loads_max = 2,
               .load_ahead = 5s,
               .leased = options.leased},
              seed) {
  for (int i = 0; i < 4; ++i) {
    webhooks_.push_back(driver_.add_webhook([&](Webhook& webhook) {
      webhook.tenant_id = i < 2 ? "one" : "two";
      webhook.url = fmt::format("https://host-{}.example/", i % 2);
      webhook.ordering = options.ordering;
      webhook.max_in_flight = 3;
      webhook.retry = retry_policy(RetryPreset::quick);
      webhook.breaker = breaker_policy(BreakerPreset::standard);
      webhook.breaker.minimum_throughput = 4;
      if (i == 0) {
        webhook.rate_limit = RateLimit{.count = 5, .period = 1s, .burst = 2};
      }
    }));
    parts_[shard_of(webhooks_.back())];
  }
  for (const auto& [shard, part] : parts_) {
    ask_for(shard);
  }
}

void ShardWorld::run_with_faults(int steps) {
  for (int i = 0; i < steps; ++i) {
    random_action();
    check();
  }
}

bool ShardWorld::run_until_final() {
  with_faults_ = false;
  if (store_.broken) {
    recover();
  }
  for (const WebhookId id : webhooks_) {
    driver_.change_webhook(id, [](Webhook& webhook) { webhook.paused = false; });
  }
  for (const char* tenant : {"one", "two"}) {
    driver_.feed(TenantSuspension{.tenant_id = tenant, .suspended = false});
  }
  for (const auto& [shard, part] : parts_) {
    ask_for(shard);
  }
  for (int i = 0; i < 20'000; ++i) {
    collect();
    if (!in_flight_.empty()) {
      finish_one();
    } else if (!jobs_.empty()) {
      run_store();
    } else if (!driver_.ring_next()) {
      break;
    }
    collect();
    check();
    if (all_final() && in_flight_.empty() && jobs_.empty()) {
      return true;
    }
  }
  return all_final();
}

void ShardWorld::random_action() {
  switch (random_.below(leased_ ? 14 : 12)) {
    case 0:
    case 1:
    case 2:
      publish();
      break;
    case 3:
    case 4:
    case 5:
      finish_one();
      break;
    case 6:
    case 7:
    case 8:
      run_store();
      break;
    case 9:
      pass_time();
      break;
    case 10:
      act_as_user();
      break;
    case 12:
    case 13:
      acquire_or_lose();
      break;
    default:
      if (store_.broken && with_probability(50)) {
        recover();
      }
      break;
  }
  collect();
}

void ShardWorld::publish() {
  const WebhookId webhook = webhooks_[random_.below(webhooks_.size())];
  jobs_.push_back(Publish{driver_.make(webhook, [&](Delivery& delivery) {
    delivery.priority = static_cast<Priority>(random_.below(3));
    delivery.event_type = fmt::format("type.{}", random_.below(3));
  })});
}

void ShardWorld::finish_one() {
  if (in_flight_.empty()) {
    return;
  }
  const std::size_t chosen = random_.below(in_flight_.size());
  const StartAttempt start = in_flight_[chosen];
  in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(chosen));
  if (with_faults_ && with_probability(5)) {
    driver_.feed(AttemptAbandoned{.webhook_id = start.delivery.webhook_id,
                                  .delivery_id = start.delivery.id,
                                  .not_permitted = leased_ && with_probability(50)});
    return;
  }
  const bool ok = !with_faults_ || with_probability(60);
  driver_.finish(start, answered(ok ? 200 : with_probability(10) ? 404 : 503));
}

void ShardWorld::pass_time() {
  if (with_probability(10)) {
    driver_.jump_wall(Millis{static_cast<std::int64_t>(random_.below(7'200'000)) - 3'600'000});
  }
  if (with_probability(50)) {
    (void)driver_.ring_next();
  } else {
    driver_.pass(Millis{static_cast<std::int64_t>(random_.below(3'000))});
  }
}

void ShardWorld::act_as_user() {
  const WebhookId webhook = webhooks_[random_.below(webhooks_.size())];
  switch (random_.below(6)) {
    case 0:
      driver_.change_webhook(webhook, [](Webhook& each) { each.paused = !each.paused; });
      break;
    case 1:
      driver_.feed(CircuitCommanded{.webhook_id = webhook,
                                    .action = static_cast<CircuitAction>(random_.below(3)),
                                    .duration = 10s});
      break;
    case 4:
      driver_.feed(TenantSuspension{.tenant_id = driver_.webhook(webhook)->tenant_id,
                                    .suspended = with_probability(50)});
      break;
    case 2:
    case 3:
      if (!store_.rows.empty()) {
        auto row = store_.rows.begin();
        std::advance(row, random_.below(store_.rows.size()));
        with_probability(50) ? jobs_.push_back(Revive{row->first})
                             : jobs_.push_back(Cancel{row->first});
      }
      break;
    default:
      if (ordering_ == Ordering::none) {
        driver_.change_webhook(webhook, [&](Webhook& each) {
          each.max_in_flight = static_cast<std::uint32_t>(1 + random_.below(4));
        });
      }
      break;
  }
}

void ShardWorld::run_store() {
  std::deque<Job> jobs = std::exchange(jobs_, {});
  const bool fails = store_.broken || (with_faults_ && with_probability(10));
  const bool stored = !store_.broken && (!fails || with_probability(50));
  store_.broken = fails;
  if (stored) {
    for (const Job& job : jobs) {
      commit(job);
    }
  }
  if (fails) {
    for (const Job& job : jobs) {
      if (const auto* settlement = std::get_if<Settlement>(&job)) {
        driver_.store_failed(*settlement);
      } else if (const auto* load = std::get_if<LoadLane>(&job)) {
        driver_.feed(LaneLoadFailed{load->webhook_id});
      } else if (const auto* acquire = std::get_if<Acquire>(&job)) {
        jobs_.push_back(*acquire);  // Tried again.
      }
    }
  } else {
    answer(jobs);
  }
  collect();
}

void ShardWorld::commit(const Job& job) {
  if (const auto* publish = std::get_if<Publish>(&job)) {
    store_.rows.emplace(publish->delivery.id, publish->delivery);
  } else if (const auto* settlement = std::get_if<Settlement>(&job)) {
    store_.settle(*settlement);
  } else if (const auto* revive = std::get_if<Revive>(&job)) {
    Delivery& row = store_.rows.at(revive->id);
    row.state = DeliveryState::pending;
    row.trigger = Trigger::manual;
    row.budget_used = 0;
    ++row.revivals;
    row.due = driver_.wall();
  } else if (const auto* cancel = std::get_if<Cancel>(&job)) {
    Delivery& row = store_.rows.at(cancel->id);
    if (is_waiting(row.state)) {
      row.state = DeliveryState::cancelled;
    }
  }
}

void ShardWorld::answer(const std::deque<Job>& jobs) {
  for (const Job& job : jobs) {
    if (const auto* publish = std::get_if<Publish>(&job)) {
      driver_.feed(Admitted{{publish->delivery}});
    } else if (const auto* settlement = std::get_if<Settlement>(&job)) {
      driver_.settled(*settlement);
      const Delivery& row = store_.rows.at(settlement->delivery.id);
      if (is_waiting(row.state) && settlement->delivery.revivals < row.revivals) {
        driver_.feed(Admitted{{row}});  // Revived meanwhile.
      }
    } else if (const auto* revive = std::get_if<Revive>(&job)) {
      const Delivery& row = store_.rows.at(revive->id);
      if (is_waiting(row.state)) {
        driver_.feed(Admitted{{row}});
      }
    } else if (const auto* cancel = std::get_if<Cancel>(&job)) {
      const Delivery& row = store_.rows.at(cancel->id);
      if (row.state == DeliveryState::cancelled) {
        driver_.feed(DeliveryCancelled{row.webhook_id, row.id});
      }
    }
  }
  for (const Job& job : jobs) {
    if (const auto* load = std::get_if<LoadLane>(&job)) {
      driver_.feed(store_.load(*load));
    } else if (const auto* asked = std::get_if<Acquire>(&job)) {
      acquire(*asked);
    }
  }
}

void ShardWorld::recover() {
  store_.broken = false;
  for (const WebhookId id : webhooks_) {
    tell(id, false);
  }
  collect();
}

/// Says what the store has for the webhook.
void ShardWorld::tell(WebhookId id, bool at_start) {
  const LaneLoaded page = store_.load(
      {.webhook_id = id, .ordering = Ordering::none, .due_before = wall_time_max, .limit = 10'000});
  WebhookChanged changed{.webhook = driver_.webhook(id), .circuit = {}, .at_start = at_start};
  if (!page.deliveries.empty()) {
    changed.backlog_due = page.deliveries[0].due;
  }
  if (at_start || changed.backlog_due) {
    driver_.feed(std::move(changed));
  }
}

void ShardWorld::collect() {
  do {
    collect_once();
    for (const EndAttempts& end : driver_.take<EndAttempts>()) {
      end_attempts(end.shard);
    }
    for (const ShardHandedBack& back : driver_.take<ShardHandedBack>()) {
      part_handed_back(back.shard);
    }
  } while (driver_.has<StartAttempt>() || driver_.has<EndAttempts>() ||
           driver_.has<ShardHandedBack>());
}

void ShardWorld::collect_once() {
  for (StartAttempt& start : driver_.take<StartAttempt>()) {
    check_start(start);
    in_flight_.push_back(std::move(start));
  }
  for (Settle& settle : driver_.take<Settle>()) {
    jobs_.push_back(std::move(settle.settlement));
  }
  for (LoadLane& load : driver_.take<LoadLane>()) {
    jobs_.push_back(load);
  }
}

}  // namespace postrider::test
