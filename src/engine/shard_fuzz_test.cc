// Random histories against a model of the store: whatever happens, nothing is lost, nothing is sent
// out of order, no limit is broken, and once the trouble ends everything reaches a final state.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "engine/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

/// What the promises of a Ledger amount to: answers come in the order in which the store did the
/// work.
class ModelStore {
 public:
  std::map<DeliveryId, Delivery> rows;
  std::set<std::pair<DeliveryId, std::uint32_t>> attempts;
  bool broken = false;

  void settle(const Settlement& settlement) {
    if (settlement.attempt) {
      attempts.emplace(settlement.delivery.id, settlement.attempt->number);
    }
    Delivery& row = rows.at(settlement.delivery.id);
    const bool current = settlement.delivery.revivals >= row.revivals ||
                         settlement.delivery.state == DeliveryState::succeeded;
    if (is_waiting(row.state) && current) {
      const std::uint32_t revivals = row.revivals;
      row = settlement.delivery;
      row.revivals = revivals;
    } else if (is_waiting(row.state)) {
      row.attempt_count = std::max(row.attempt_count, settlement.delivery.attempt_count);
    }
  }

  LaneLoaded load(const LoadLane& query) const {
    std::vector<Delivery> waiting;
    for (const auto& [id, row] : rows) {
      if (row.webhook_id == query.webhook_id && is_waiting(row.state)) {
        waiting.push_back(row);
      }
    }
    const bool ordered = query.ordering != Ordering::none;
    std::ranges::sort(waiting, [&](const Delivery& a, const Delivery& b) {
      return ordered ? a.sequence < b.sequence
                     : std::tie(a.due, a.sequence) < std::tie(b.due, b.sequence);
    });
    LaneLoaded page{.webhook_id = query.webhook_id, .deliveries = {}, .rest_due = {}};
    std::map<std::string, std::uint32_t> counts;
    for (const Delivery& row : waiting) {
      const std::string group = query.ordering == Ordering::none
                                    ? std::string{to_string(row.priority)}
                                : query.ordering == Ordering::per_event_type ? row.event_type
                                                                             : std::string{};
      const bool early = ordered || row.due < query.due_before;
      if (early && counts[group] < query.limit) {
        ++counts[group];
        page.deliveries.push_back(row);
      } else {
        page.rest_due = page.rest_due ? std::min(*page.rest_due, row.due) : row.due;
      }
    }
    return page;
  }
};

class World {
 public:
  World(std::uint64_t seed, Ordering ordering)
      : random_(seed),
        ordering_(ordering),
        driver_({.in_flight_max = 6,
                 .tenant_in_flight_max = 4,
                 .first_attempt_reserve = 2,
                 .window_max = 8,
                 .waiting_max = 20,
                 .unsettled_max = 10,
                 .loads_max = 2,
                 .load_ahead = 5s},
                seed) {
    for (int i = 0; i < 4; ++i) {
      webhooks_.push_back(driver_.add_webhook([&](Webhook& webhook) {
        webhook.tenant_id = i < 2 ? "one" : "two";
        webhook.ordering = ordering;
        webhook.max_in_flight = 3;
        webhook.retry = retry_policy(RetryPreset::quick);
        webhook.breaker = breaker_policy(BreakerPreset::standard);
        webhook.breaker.minimum_throughput = 4;
        if (i == 0) {
          webhook.rate_limit = RateLimit{.count = 5, .period = 1s, .burst = 2};
        }
      }));
    }
  }

  void run_with_trouble(int steps) {
    for (int i = 0; i < steps; ++i) {
      act();
      check();
    }
  }

  /// False when something never ends.
  bool run_to_the_end() {
    trouble_ = false;
    if (store_.broken) {
      recover();
    }
    for (const WebhookId id : webhooks_) {
      driver_.change_webhook(id, [](Webhook& webhook) { webhook.paused = false; });
    }
    for (int i = 0; i < 20'000; ++i) {
      collect();
      if (!in_flight_.empty()) {
        finish_one();
      } else if (!jobs_.empty()) {
        store_turn();
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

  std::string unfinished() const {
    std::string text;
    for (const auto& [id, row] : store_.rows) {
      if (is_waiting(row.state)) {
        text += fmt::format("{} seq={} due={} now={}\n", id.to_string(), row.sequence,
                            to_unix_ms(row.due), to_unix_ms(driver_.wall()));
      }
    }
    return text;
  }

  [[nodiscard]] std::vector<std::string> log() const { return driver_.log(); }

 private:
  struct Publish {
    Delivery delivery;
  };
  struct Revive {
    DeliveryId id;
  };
  struct Cancel {
    DeliveryId id;
  };
  using Job = std::variant<Publish, Settlement, LoadLane, Revive, Cancel>;

  bool chance(std::uint64_t percent) { return random_.below(100) < percent; }

  void act() {
    switch (random_.below(12)) {
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
        store_turn();
        break;
      case 9:
        pass_time();
        break;
      case 10:
        meddle();
        break;
      default:
        if (store_.broken && chance(50)) {
          recover();
        }
        break;
    }
    collect();
  }

  void publish() {
    const WebhookId webhook = webhooks_[random_.below(webhooks_.size())];
    jobs_.push_back(Publish{driver_.make(webhook, [&](Delivery& delivery) {
      delivery.priority = static_cast<Priority>(random_.below(3));
      delivery.event_type = fmt::format("type.{}", random_.below(3));
    })});
  }

  void finish_one() {
    if (in_flight_.empty()) {
      return;
    }
    const std::size_t chosen = random_.below(in_flight_.size());
    const StartAttempt start = in_flight_[chosen];
    in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(chosen));
    if (trouble_ && chance(5)) {
      driver_.feed(AttemptAbandoned{start.delivery.webhook_id, start.delivery.id});
      return;
    }
    const bool ok = !trouble_ || chance(60);
    driver_.finish(start, test::answered(ok ? 200 : chance(10) ? 404 : 503));
  }

  void pass_time() {
    if (chance(10)) {
      driver_.jump_wall(Millis{static_cast<std::int64_t>(random_.below(7'200'000)) - 3'600'000});
    }
    if (chance(50)) {
      (void)driver_.ring_next();
    } else {
      driver_.pass(Millis{static_cast<std::int64_t>(random_.below(3'000))});
    }
  }

  void meddle() {
    const WebhookId webhook = webhooks_[random_.below(webhooks_.size())];
    switch (random_.below(5)) {
      case 0:
        driver_.change_webhook(webhook, [](Webhook& each) { each.paused = !each.paused; });
        break;
      case 1:
        driver_.feed(CircuitCommanded{.webhook_id = webhook,
                                      .action = static_cast<CircuitAction>(random_.below(3)),
                                      .duration = 10s});
        break;
      case 2:
      case 3:
        if (!store_.rows.empty()) {
          auto row = store_.rows.begin();
          std::advance(row, random_.below(store_.rows.size()));
          chance(50) ? jobs_.push_back(Revive{row->first}) : jobs_.push_back(Cancel{row->first});
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

  /// All that queued up, as one transaction; then the loads.
  void store_turn() {
    std::deque<Job> jobs = std::exchange(jobs_, {});
    const bool fails = store_.broken || (trouble_ && chance(10));
    const bool stored = !store_.broken && (!fails || chance(50));
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
        }
      }
    } else {
      answer(jobs);
    }
    collect();
  }

  void commit(const Job& job) {
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

  void answer(const std::deque<Job>& jobs) {
    for (const Job& job : jobs) {
      if (const auto* publish = std::get_if<Publish>(&job)) {
        driver_.feed(Admitted{{publish->delivery}});
      } else if (const auto* settlement = std::get_if<Settlement>(&job)) {
        driver_.settled(*settlement);
        const Delivery& row = store_.rows.at(settlement->delivery.id);
        if (is_waiting(row.state) && settlement->delivery.revivals < row.revivals) {
          driver_.feed(Admitted{{row}});  // It was revived meanwhile.
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
      }
    }
  }

  void recover() {
    store_.broken = false;
    for (const WebhookId id : webhooks_) {
      const LaneLoaded page = store_.load({.webhook_id = id,
                                           .ordering = Ordering::none,
                                           .due_before = wall_time_max,
                                           .limit = 10'000});
      if (!page.deliveries.empty()) {
        WebhookChanged changed{
            .webhook = driver_.webhook(id), .circuit = {}, .backlog_due = page.deliveries[0].due};
        driver_.feed(std::move(changed));
      }
    }
    collect();
  }

  void collect() {
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

  /// P4: nothing older that waits in the store, and nothing of the same line in flight.
  void check_start(const StartAttempt& start) {
    EXPECT_TRUE(store_.rows.contains(start.delivery.id));
    if (ordering_ == Ordering::none) {
      return;
    }
    const auto same_line = [&](const Delivery& other) {
      return other.webhook_id == start.delivery.webhook_id && other.id != start.delivery.id &&
             (ordering_ == Ordering::strict || other.event_type == start.delivery.event_type);
    };
    for (const StartAttempt& other : in_flight_) {
      EXPECT_FALSE(same_line(other.delivery)) << "two at once";
    }
    for (const auto& [id, row] : store_.rows) {
      // A revived or ambiguously stored one may be ahead without anyone having been told yet.
      if (same_line(row) && is_waiting(row.state) && row.trigger == Trigger::scheduled &&
          row.sequence < start.delivery.sequence && !recently_unsure(row)) {
        ADD_FAILURE() << "overtook sequence " << row.sequence << " with "
                      << start.delivery.sequence;
      }
    }
  }

  /// Stored by a transaction whose answer was an error, and the store has not recovered yet.
  bool recently_unsure(const Delivery&) const { return store_.broken; }

  void check() const {
    const ShardView totals = driver_.totals();
    EXPECT_EQ(totals.in_flight, in_flight_.size());
    EXPECT_LE(totals.in_flight, 6u);
    std::map<WebhookId, std::uint32_t> by_webhook;
    for (const StartAttempt& start : in_flight_) {
      ++by_webhook[start.delivery.webhook_id];
    }
    for (const auto& [id, count] : by_webhook) {
      EXPECT_LE(count, 4u);
      EXPECT_EQ(driver_.view(id).in_flight.size(), count);
    }
    for (const WebhookId id : webhooks_) {
      EXPECT_LE(driver_.view(id).window_count, 8u);
    }
  }

  bool all_final() const {
    return std::ranges::none_of(store_.rows,
                                [](const auto& row) { return is_waiting(row.second.state); });
  }

  SplitMix64 random_;
  Ordering ordering_;
  test::ShardDriver driver_;
  std::vector<WebhookId> webhooks_;
  ModelStore store_;
  std::deque<Job> jobs_;
  std::vector<StartAttempt> in_flight_;
  bool trouble_ = true;
};

class ShardFuzz : public testing::TestWithParam<Ordering> {};

TEST_P(ShardFuzz, WhateverHappensEverythingReachesAFinalState) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    World world{seed, GetParam()};
    world.run_with_trouble(600);
    EXPECT_TRUE(world.run_to_the_end()) << world.unfinished();
    if (HasFailure()) {
      return;
    }
  }
}

TEST_P(ShardFuzz, TheSameSeedAndInputsGiveTheSameCommands) {
  const auto run = [](std::uint64_t seed) {
    World world{seed, GetParam()};
    world.run_with_trouble(1'000);
    return world.log();
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_EQ(run(seed), run(seed));
    EXPECT_NE(run(seed), run(seed + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Orderings, ShardFuzz,
                         testing::Values(Ordering::none, Ordering::per_event_type,
                                         Ordering::strict),
                         [](const auto& param) { return std::string{to_string(param.param)}; });

}  // namespace
}  // namespace postrider
