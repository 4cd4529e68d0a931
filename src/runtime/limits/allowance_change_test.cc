// Limits that change while workers use them.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "engine/shard/shard.h"

#include "runtime/limits/shared_allowance.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime start{1h};
constexpr TenantIndex acme = 0;
constexpr TenantIndex other = 1;
constexpr HostIndex host = 0;
constexpr SlotClaim first{};
constexpr SlotClaim retry{.candidates = Candidates::all, .rank = SlotRank::retry};

AllowanceLimits slots(std::uint32_t total, std::uint32_t tenant) {
  return {.in_flight_max = total, .tenant_in_flight_max = tenant, .first_attempt_reserve = 0};
}
AllowanceLimits per_host(std::uint32_t max) { return {.host_in_flight_max = max}; }
AllowanceLimits tenant_rate(const RateLimit& rate) { return {.tenant_rate = rate}; }
AllowanceLimits total_rate(const RateLimit& rate) { return {.total_rate = rate}; }

/// Two workers, each with lanes of two tenants and one host.
class AllowanceChange : public testing::Test {
 protected:
  void share(const AllowanceLimits& limits) {
    shared_.emplace(limits, 2, [this](std::size_t worker, SlotReserved reserved) {
      woken_.emplace_back(worker, std::move(reserved));
    });
    for (const std::size_t worker : {0, 1}) {
      shared_->of(worker).join(acme, "acme", start);
      shared_->of(worker).join(other, "other", start);
      if (limits.host_in_flight_max) {
        shared_->of(worker).join_host(host, "receiver.example");
      }
    }
  }
  [[nodiscard]] Limit take(std::size_t worker, TenantIndex tenant, MonoTime now = start) {
    return shared_->of(worker).take({tenant}, first, now).refused_by;
  }
  [[nodiscard]] Limit take_of_host(std::size_t worker) {
    return shared_->of(worker).take({acme, host}, first, start).refused_by;
  }

  using Woken = std::vector<std::pair<std::size_t, SlotReserved>>;
  Woken woken_;
  std::optional<SharedAllowance> shared_;
};

TEST_F(AllowanceChange, ASmallerLimitHoldsAtOnceAndInterruptsNothing) {  // P7
  share(slots(4, 4));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(take(0, acme), Limit::none);
  }
  shared_->change(slots(2, 2), start);
  EXPECT_EQ(shared_->of(1).in_flight_max(), 2u);
  EXPECT_EQ(take(1, other), Limit::total_slots);
  shared_->of(0).give_back({acme});
  EXPECT_EQ(take(1, other), Limit::total_slots) << "two are still in flight";
  shared_->of(0).give_back({acme});
  EXPECT_EQ(take(1, other), Limit::none);
  EXPECT_EQ(take(0, acme), Limit::total_slots);
}

TEST_F(AllowanceChange, ASlotReservedUnderALargerLimitIsNotUsed) {  // P7
  share(slots(3, 3));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(take(0, acme), Limit::none);
  }
  EXPECT_EQ(take(1, other), Limit::total_slots);
  shared_->of(0).give_back({acme});
  EXPECT_EQ(woken_, (Woken{{1, SlotReserved{}}}));
  shared_->change(slots(2, 2), start);
  EXPECT_EQ(take(1, other), Limit::total_slots);
  shared_->of(0).give_back({acme});
  EXPECT_EQ(take(1, other), Limit::none);
}

TEST_F(AllowanceChange, ALargerLimitWakesTheWorkersThatWaitForASlot) {
  share(slots(1, 1));
  EXPECT_EQ(take(0, acme), Limit::none);
  EXPECT_EQ(take(1, other), Limit::total_slots);
  shared_->change(slots(2, 1), start);
  EXPECT_EQ(woken_, (Woken{{1, SlotReserved{}}}));
  EXPECT_EQ(take(1, other), Limit::none);

  shared_->change(slots(3, 1), start);
  EXPECT_EQ(take(1, acme), Limit::tenant_slots);
  woken_.clear();
  shared_->change(slots(3, 2), start);
  EXPECT_EQ(woken_, (Woken{{1, SlotReserved{"acme"}}}));
  EXPECT_EQ(take(1, acme), Limit::none);
}

TEST_F(AllowanceChange, TheReserveOfFirstAttemptsFollows) {
  share(slots(4, 4));
  shared_->change({.in_flight_max = 4, .tenant_in_flight_max = 4, .first_attempt_reserve = 3},
                  start);
  EXPECT_EQ(shared_->of(0).take({acme}, retry, start), Permit{});
  EXPECT_EQ(shared_->of(0).take({acme}, retry, start).refused_by, Limit::total_slots);
  EXPECT_EQ(take(0, acme), Limit::none);
}

TEST_F(AllowanceChange, AKnownHostFollows) {  // P7
  share(per_host(2));
  EXPECT_EQ(take_of_host(0), Limit::none);
  shared_->change(per_host(1), start);
  EXPECT_EQ(take_of_host(1), Limit::host_slots);
  shared_->change(per_host(2), start);
  EXPECT_EQ(woken_, (Woken{{1, SlotReserved{.host = "receiver.example"}}}));
  EXPECT_EQ(take_of_host(1), Limit::none);
  EXPECT_EQ(take_of_host(0), Limit::host_slots);
}

TEST_F(AllowanceChange, AKnownTenantsBucketKeepsItsTokensUpToTheNewBurst) {
  share(tenant_rate({.count = 1, .period = 1h, .burst = 4}));
  EXPECT_EQ(take(0, acme), Limit::none);
  shared_->change(tenant_rate({.count = 1, .period = 1h, .burst = 2}), start);
  EXPECT_EQ(take(0, acme), Limit::none);
  EXPECT_EQ(take(1, acme), Limit::none);
  EXPECT_EQ(take(0, acme), Limit::tenant_rate);
  shared_->change(tenant_rate({.count = 1, .period = 1h, .burst = 9}), start);
  EXPECT_EQ(take(0, acme), Limit::tenant_rate) << "a larger burst adds no tokens";
  EXPECT_EQ(take(0, other), Limit::none);
}

TEST_F(AllowanceChange, ANewTenantStartsWithTheNewRate) {
  share(tenant_rate({.count = 1, .period = 1h, .burst = 4}));
  shared_->change(tenant_rate({.count = 1, .period = 1h, .burst = 1}), start);
  constexpr TenantIndex added = 2;
  shared_->of(0).join(added, "added", start);
  EXPECT_EQ(take(0, added), Limit::none);
  EXPECT_EQ(take(0, added), Limit::tenant_rate);
}

TEST_F(AllowanceChange, TimeBeforeTheChangeEarnsTokensAtTheOldRate) {  // P7
  share(total_rate({.count = 1, .period = 10s, .burst = 1}));
  EXPECT_EQ(take(0, acme), Limit::none);
  shared_->change(total_rate({.count = 10, .period = 10s, .burst = 1}), start + 5s);
  EXPECT_EQ(shared_->of(0).take({acme}, first, start + 5s),
            (Permit{.refused_by = Limit::total_rate, .again_at = start + 5s + 500ms}));
}

TEST_F(AllowanceChange, ALargerRateWakesTheWorkersThatWaitForAToken) {
  share({.tenant_rate = RateLimit{.count = 1, .period = 1h, .burst = 1},
         .total_rate = RateLimit{.count = 2, .period = 1h, .burst = 2}});
  EXPECT_EQ(take(0, acme), Limit::none);
  EXPECT_EQ(take(0, other), Limit::none);
  EXPECT_EQ(take(1, acme), Limit::tenant_rate);
  shared_->change({.tenant_rate = RateLimit{.count = 2, .period = 1h, .burst = 1},
                   .total_rate = RateLimit{.count = 2, .period = 1h, .burst = 2}},
                  start);
  EXPECT_EQ(woken_, (Woken{{1, SlotReserved{"acme"}}}));
  EXPECT_EQ(shared_->of(1).take({acme}, first, start).again_at, start + 30min);
  EXPECT_EQ(take(1, acme, start + 30min), Limit::none);
  EXPECT_EQ(take(1, other, start + 30min), Limit::total_rate);
  woken_.clear();
  shared_->change({.tenant_rate = RateLimit{.count = 2, .period = 1h, .burst = 1},
                   .total_rate = RateLimit{.count = 4, .period = 1h, .burst = 2}},
                  start + 30min);
  EXPECT_EQ(woken_, (Woken{{1, SlotReserved{}}, {1, SlotReserved{"other"}}}));
}

TEST_F(AllowanceChange, TheTurnsOfASmallerRateDoNotLapseEarly) {
  share(total_rate({.count = 1, .period = 1s, .burst = 1}));
  EXPECT_EQ(take(0, acme), Limit::none);
  EXPECT_EQ(take(1, acme), Limit::total_rate);
  shared_->change(total_rate({.count = 1, .period = 10s, .burst = 1}), start);
  EXPECT_EQ(shared_->of(0).take({acme}, first, start + 10s).refused_by, Limit::total_rate)
      << "worker 1 comes first";
  EXPECT_EQ(take(1, acme, start + 10s), Limit::none);
}

/// A shard whose tenant waits for a token is told of the larger rate.
TEST(AllowanceChangeOfShard, StartsADeliveryThatWaitedForATokenOfTheSmallerRate) {
  std::vector<SlotReserved> reserved;
  const ShardOptions options{.tenant_rate = RateLimit{.count = 1, .period = 1h, .burst = 1}};
  SharedAllowance shared{limits_of(options), 1, [&](std::size_t, SlotReserved slot) {
                           reserved.push_back(std::move(slot));
                         }};
  Shard shard{options, 1, shared.of(0)};
  Moment now{.wall = wall_from_unix_ms(1'767'225'600'000), .mono = start};

  auto webhook = std::make_shared<Webhook>();
  webhook->id = WebhookId{{1}};
  webhook->tenant_id = "acme";
  (void)shard.step(WebhookChanged{.webhook = webhook, .circuit = {}, .backlog_due = {}}, now);
  std::vector<Delivery> deliveries(2);
  for (std::uint8_t i = 0; i < 2; ++i) {
    deliveries[i].id = DeliveryId{{i}};
    deliveries[i].webhook_id = webhook->id;
    deliveries[i].sequence = i + 1;
    deliveries[i].due = now.wall;
  }
  const auto started = [](const Commands& commands) {
    return std::ranges::count_if(commands, [](const Command& command) {
      return std::holds_alternative<StartAttempt>(command);
    });
  };
  EXPECT_EQ(started(shard.step(Admitted{deliveries}, now)), 1);

  now.mono += 10min;
  now.wall += 10min;
  EXPECT_EQ(started(shard.step(AlarmRang{}, now)), 0);
  shared.change(tenant_rate({.count = 3600, .period = 1h, .burst = 1}), now.mono);
  ASSERT_EQ(reserved.size(), 1u);
  now.mono += 1s;
  now.wall += 1s;
  EXPECT_EQ(started(shard.step(reserved.front(), now)), 1) << "not only after an hour";
}

/// What a worker's thread waits for.
class Bell {
 public:
  void ring() {
    const std::lock_guard lock{mutex_};
    rung_ = true;
    changed_.notify_one();
  }
  /// Returns false on timeout.
  [[nodiscard]] bool wait() {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, 20s, [this] { return std::exchange(rung_, false); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
};

/// The worker asks before or while the limit grows. It must get the slot, or be woken.
TEST(AllowanceChangeThreads, AWorkerThatAsksDuringAChangeIsNotForgotten) {
  constexpr int rounds = 200;
  Bell bell;
  SharedAllowance shared{slots(1, 2), 2, [&](std::size_t, const SlotReserved&) { bell.ring(); }};
  shared.of(0).join(acme, "acme", start);
  shared.of(1).join(acme, "acme", start);
  ASSERT_EQ(shared.of(0).take({acme}, first, start), Permit{});  // For good.
  std::atomic<int> begun{0};
  std::atomic<int> refused{0};
  std::atomic<int> done{0};
  std::atomic<bool> forgotten{false};
  std::thread worker{[&] {
    for (int round = 1; round <= rounds; ++round) {
      while (begun < round) {
        std::this_thread::yield();
      }
      while (shared.of(1).take({acme}, first, start).refused_by != Limit::none) {
        refused = round;
        if (!bell.wait()) {
          forgotten = true;
          return;
        }
      }
      shared.of(1).give_back({acme});
      done = round;
    }
  }};
  for (int round = 1; round <= rounds && !forgotten; ++round) {
    begun = round;
    while (round % 2 == 0 && refused < round) {
      std::this_thread::yield();
    }
    shared.change(slots(2, 2), start);
    while (done < round && !forgotten) {
      std::this_thread::yield();
    }
    shared.change(slots(1, 2), start);
  }
  worker.join();
  EXPECT_FALSE(forgotten);
}

TEST(AllowanceChangeThreads, TheLimitsHoldWhileTheyChange) {  // P7
  constexpr std::size_t workers = 3;
  constexpr std::uint32_t most = 2;
  std::vector<Bell> bells(workers);
  SharedAllowance shared{slots(most, most), workers,
                         [&](std::size_t worker, const SlotReserved&) { bells[worker].ring(); }};
  std::atomic<std::uint32_t> inside{0};
  std::atomic<std::uint32_t> too_many{0};
  std::atomic<std::uint32_t> forgotten{0};
  std::atomic<std::size_t> working{workers};
  const auto work = [&](std::size_t number) {
    Allowance& own = shared.of(number);
    own.join(acme, "acme", start);
    for (int round = 0; round < 200 && forgotten == 0; ++round) {
      while (own.take({acme}, first, start).refused_by != Limit::none && forgotten == 0) {
        forgotten += bells[number].wait() ? 0 : 1;
      }
      too_many += inside.fetch_add(1) >= most ? 1 : 0;
      std::this_thread::yield();
      inside.fetch_sub(1);
      own.give_back({acme});
    }
    own.release_reserved();
    own.leave(acme);
    --working;
  };
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < workers; ++number) {
    threads.emplace_back(work, number);
  }
  for (std::uint32_t change = 0; working > 0; ++change) {
    shared.change(slots(1 + change % most, most), start);
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(forgotten, 0u);
  EXPECT_EQ(too_many, 0u);
}

}  // namespace
}  // namespace postrider
