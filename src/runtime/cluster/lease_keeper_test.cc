#include "runtime/cluster/lease_keeper.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "adapters/memory/memory_leases.h"

#include "tests/support/manual_clock.h"
#include "tests/support/scripted_transport.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::eventually;

constexpr Millis lease_length{600};
constexpr Millis margin{100};

NodeId node_id(std::uint8_t number) { return NodeId{{number}}; }

/// The table of leases as one node reaches it: calls hang or fail when the test says so.
class LineToTable {
 public:
  explicit LineToTable(MemoryLeaseTable& table) : table_(table) {}

  [[nodiscard]] std::unique_ptr<Leases> open(std::uint8_t node) {
    return std::make_unique<Port>(
        *this, make_memory_leases(table_, {.id = node_id(node), .pool = {}, .address = {}}));
  }
  void hang(bool hanging) {
    {
      const std::lock_guard lock{mutex_};
      hanging_ = hanging;
    }
    changed_.notify_all();
  }
  void fail_calls(bool failing) {
    const std::lock_guard lock{mutex_};
    failing_ = failing;
  }
  [[nodiscard]] std::size_t waiting() const {
    const std::lock_guard lock{mutex_};
    return waiting_;
  }

 private:
  class Port final : public Leases {
   public:
    Port(LineToTable& line, std::unique_ptr<Leases> table)
        : line_(line), table_(std::move(table)) {}
    Result<ClusterView> take_turn(const LeaseTurn& turn) override {
      POSTRIDER_CHECK(line_.pass());
      return table_->take_turn(turn);
    }
    Result<void> leave() override {
      POSTRIDER_CHECK(line_.pass());
      return table_->leave();
    }

   private:
    LineToTable& line_;
    std::unique_ptr<Leases> table_;
  };

  Result<void> pass() {
    std::unique_lock lock{mutex_};
    ++waiting_;
    changed_.wait(lock, [this] { return !hanging_; });
    --waiting_;
    return failing_ ? fail(Errc::unavailable, "The table is away.") : Result<void>{};
  }

  MemoryLeaseTable& table_;
  mutable std::mutex mutex_;  // Guards everything below.
  std::condition_variable changed_;
  bool hanging_ = false;
  bool failing_ = false;
  std::size_t waiting_ = 0;
};

class LeaseKeeperTest : public testing::Test, private LeaseObserver {
 protected:
  void SetUp() override { keeper_ = make(1); }
  void TearDown() override {
    line_.hang(false);
    keeper_->stop();  // Its threads use the pointer.
    keeper_.reset();
  }

  [[nodiscard]] std::unique_ptr<LeaseKeeper> make(std::uint8_t node) {
    return std::make_unique<LeaseKeeper>(
        LeaseOptions{.node = node_id(node),
                     .pool = {},
                     .length = lease_length,
                     .margin = margin,
                     .turn_pause = Millis{10}},
        LeaseKeeper::Parts{.clock = &clock_, .leases = line_.open(node), .observer = this});
  }

  /// The clocks of the node and of the table go on.
  void pass(Millis time) {
    clock_.advance(time);
    table_.pass(time);
  }
  /// Advances the clocks until `condition` holds: slower than real time, because threads must keep
  /// up.
  template <class Condition>
  [[nodiscard]] bool passes(Condition condition) {
    auto looked_at = std::chrono::steady_clock::now();
    return eventually([&] {
      const auto now = std::chrono::steady_clock::now();
      if (now - looked_at < 2ms) {
        return false;  // Other threads need what `condition` locks.
      }
      looked_at = now;
      const bool holds = condition();
      if (!holds) {
        pass(Millis{1});
      }
      return holds;
    });
  }
  [[nodiscard]] std::size_t sendable() const {
    std::size_t count = 0;
    for (ShardNumber shard = 0; shard < shard_count; ++shard) {
      count += keeper_->may_send(shard) ? 1 : 0;
    }
    return count;
  }
  [[nodiscard]] std::size_t owned(std::uint8_t node) const {
    const std::vector<Lease> leases = table_.view("").leases;
    return static_cast<std::size_t>(std::ranges::count_if(
        leases, [&](const Lease& lease) { return lease.is_held_by(node_id(node)); }));
  }
  void start_and_acquire() {
    keeper_->start();
    ASSERT_TRUE(passes([&] { return sendable() == shard_count; }));
  }
  [[nodiscard]] std::vector<ShardLost> lost() const {
    const std::lock_guard lock{mutex_};
    return lost_;
  }

  test::ManualClock clock_;
  MemoryLeaseTable table_;
  LineToTable line_{table_};
  std::atomic<bool> hands_back_{true};
  std::atomic<std::size_t> acquired_{0};
  std::atomic<std::size_t> left_{0};
  std::atomic<std::uint32_t> alive_{0};
  std::atomic<std::size_t> sendable_when_lost_{0};
  mutable std::mutex mutex_;
  std::vector<ShardLost> lost_;  // Guarded by mutex_.
  std::unique_ptr<LeaseKeeper> keeper_;

 private:
  void shard_acquired(const ShardAcquired&) override { ++acquired_; }
  void shard_lost(const ShardLost& lost) override {
    sendable_when_lost_ = std::max<std::size_t>(sendable_when_lost_, sendable());
    {
      const std::lock_guard lock{mutex_};
      lost_.push_back(lost);
    }
    if (hands_back_) {
      keeper_->shard_handed_back(lost.shard);
    }
  }
  void cluster_seen(const ClusterView& view) override {
    alive_ = static_cast<std::uint32_t>(view.nodes.size());
  }
  void shards_left() override { ++left_; }
};

TEST_F(LeaseKeeperTest, NothingMayBeSentBeforeALeaseIsAcquired) {
  EXPECT_EQ(sendable(), 0u);
  start_and_acquire();
  EXPECT_EQ(acquired_, shard_count);
  EXPECT_GE(keeper_->counts().turns, 2u);
  EXPECT_EQ(keeper_->counts().turn_failures, 0u);
  EXPECT_EQ(alive_, 1u);
}

TEST_F(LeaseKeeperTest, RenewsItsLeases) {
  start_and_acquire();
  const std::uint64_t turns = keeper_->counts().turns;
  ASSERT_TRUE(passes([&] { return keeper_->counts().turns >= turns + 10; }));
  EXPECT_EQ(owned(1), shard_count);
  EXPECT_TRUE(lost().empty());
}

TEST_F(LeaseKeeperTest, LosesEverythingWhileATurnHangs) {  // P8
  start_and_acquire();
  line_.hang(true);
  ASSERT_TRUE(passes([&] { return line_.waiting() == 1; }));
  ASSERT_TRUE(passes([&] { return lost().size() == shard_count; }));
  EXPECT_GT(owned(1), 0u) << "lost before the table says so";
  EXPECT_EQ(sendable(), 0u);
  for (const ShardLost& each : lost()) {
    EXPECT_TRUE(each.at_once);
  }
  line_.hang(false);
  ASSERT_TRUE(passes([&] { return sendable() == shard_count; }));
}

/// The process was paused: no thread has noticed yet that the leases have ended.
TEST_F(LeaseKeeperTest, NothingMayBeSentAfterTheLeasesHaveEnded) {  // P8
  start_and_acquire();
  line_.hang(true);
  EXPECT_TRUE(keeper_->may_send(0));
  clock_.advance(lease_length);
  EXPECT_FALSE(keeper_->may_send(0));
}

/// The clock that measures waits has stood still.
TEST_F(LeaseKeeperTest, LosesEverythingWhileTheMachineIsSuspended) {  // P8
  start_and_acquire();
  line_.hang(true);
  clock_.suspend(60s);
  EXPECT_EQ(sendable(), 0u);
  ASSERT_TRUE(passes([&] { return lost().size() == shard_count; }));
  line_.hang(false);
  EXPECT_TRUE(passes([&] { return sendable() == shard_count; }));
}

/// A hypervisor stopped all clocks and has set the wall clock since. Nobody knows yet what others
/// have taken meanwhile.
TEST_F(LeaseKeeperTest, NothingMayBeSentAfterTheWallClockWasSetForwardUntilTheNextTurn) {  // P8
  start_and_acquire();
  line_.hang(true);
  ASSERT_TRUE(passes([&] { return line_.waiting() == 1; }));
  ASSERT_EQ(sendable(), shard_count);
  clock_.jump_wall(60s);
  EXPECT_EQ(sendable(), 0u);
  const std::uint64_t turns = keeper_->counts().turns;
  line_.hang(false);
  ASSERT_TRUE(eventually([&] { return keeper_->counts().turns > turns; }));
  EXPECT_EQ(sendable(), 0u) << "the turn was sent before";
  EXPECT_TRUE(passes([&] { return sendable() == shard_count; }));
  EXPECT_TRUE(lost().empty());
}

TEST_F(LeaseKeeperTest, AWallClockThatIsSetBackChangesNothing) {
  start_and_acquire();
  line_.hang(true);
  clock_.jump_wall(-60s);
  EXPECT_EQ(sendable(), shard_count);
  ASSERT_TRUE(passes([&] { return lost().size() == shard_count; })) << "its leases end";
  line_.hang(false);
}

/// A late answer must not renew a lease that has already ended.
TEST_F(LeaseKeeperTest, ALateAnswerDoesNotPermitWhatItTakesAway) {  // P8
  start_and_acquire();
  ASSERT_TRUE(passes([end = clock_.now().mono + lease_length, this] {
    return clock_.now().mono >= end;  // A fifth of a lease between two turns.
  }));
  line_.hang(true);
  ASSERT_TRUE(passes([&] { return line_.waiting() == 1; }));
  // The table goes on alone, and another node takes everything.
  table_.pass(lease_length);
  const NodeIdentity other{.id = node_id(2), .pool = {}, .address = {}};
  std::vector<ShardNumber> all(shard_count);
  for (ShardNumber shard = 0; shard < shard_count; ++shard) {
    all[shard] = shard;
  }
  (void)table_.take_turn(other, {.length = Millis{60'000}, .release = {}, .take = all});
  // What was held ends here while the answer arrives. The turn would renew it for some time more.
  ASSERT_EQ(sendable(), shard_count);
  clock_.advance(lease_length - margin - Millis{100});
  line_.hang(false);
  ASSERT_TRUE(eventually([&] { return lost().size() == shard_count; }));
  EXPECT_EQ(sendable_when_lost_, 0u);
  EXPECT_EQ(sendable(), 0u);
  EXPECT_EQ(owned(2), shard_count);
}

TEST_F(LeaseKeeperTest, GivesAShardAwayOnlyWhenItIsHandedBack) {
  start_and_acquire();
  hands_back_ = false;
  const NodeIdentity other{.id = node_id(2), .pool = {}, .address = {}};
  (void)table_.take_turn(other, {.length = Millis{600'000}, .release = {}, .take = {}});
  ASSERT_TRUE(passes([&] { return lost().size() == shard_count / 2; }));
  EXPECT_EQ(owned(1), shard_count);
  EXPECT_EQ(sendable(), shard_count) << "they are worked until they are handed back";
  EXPECT_EQ(alive_, 2u);
  for (const ShardLost& each : lost()) {
    EXPECT_FALSE(each.at_once);
    keeper_->shard_handed_back(each.shard);
  }
  EXPECT_EQ(sendable(), shard_count / 2);
  EXPECT_TRUE(passes([&] { return owned(1) == shard_count / 2; }));
}

TEST_F(LeaseKeeperTest, LeavingHandsEverythingOver) {
  start_and_acquire();
  keeper_->leave();
  ASSERT_TRUE(passes([&] { return left_ == 1; }));
  EXPECT_EQ(lost().size(), shard_count);
  EXPECT_EQ(sendable(), 0u);
  keeper_->stop();
  EXPECT_EQ(owned(1), 0u);
  EXPECT_TRUE(table_.view("").nodes.empty());
}

TEST_F(LeaseKeeperTest, StoppingWithoutLeavingFreesTheLeases) {
  start_and_acquire();
  keeper_->stop();
  keeper_->stop();
  EXPECT_EQ(owned(1), 0u);
  EXPECT_TRUE(table_.view("").nodes.empty());
  EXPECT_EQ(sendable(), 0u);
  EXPECT_EQ(left_, 0u);
}

TEST_F(LeaseKeeperTest, CountsTurnsThatFailAndLosesItsLeases) {
  start_and_acquire();
  line_.fail_calls(true);
  ASSERT_TRUE(passes([&] { return lost().size() == shard_count; }));
  EXPECT_GE(keeper_->counts().turn_failures, 1u);
  line_.fail_calls(false);
  EXPECT_TRUE(passes([&] { return sendable() == shard_count; }));
}

TEST_F(LeaseKeeperTest, StopsBeforeItWasStarted) {
  keeper_->leave();
  keeper_->stop();
  EXPECT_EQ(left_, 0u);
}

}  // namespace
}  // namespace postrider
