#include "runtime/background/retention.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime now = wall_from_unix_ms(1'750'000'000'000);

class StillClock final : public Clock {
 public:
  [[nodiscard]] Moment now() const override { return {postrider::now, {}}; }
};

/// Keeps lines in memory; fails while it is told to.
class ListArchive final : public Archive {
 public:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> open;
    std::set<std::string> sealed;
    bool failing = false;
    int failures = 0;
  };

  explicit ListArchive(State& state) : state_(state) {}

  Result<bool> append(std::string_view line, WallTime) override {
    const std::lock_guard lock{state_.mutex};
    state_.open.emplace_back(line);
    return state_.open.size() >= 3;
  }

  Result<void> seal() override {
    const std::lock_guard lock{state_.mutex};
    if (state_.failing) {
      state_.open.clear();
      ++state_.failures;
      state_.changed.notify_all();
      return fail(Errc::unavailable, "There is no room.");
    }
    state_.sealed.insert(state_.open.begin(), state_.open.end());
    state_.open.clear();
    state_.changed.notify_all();
    return {};
  }

 private:
  State& state_;
};

class RetentionTest : public testing::Test {
 protected:
  void publish(std::uint8_t number, Millis age) {
    Publish publish;
    publish.event.id.bytes[15] = number;
    publish.event.type = "order.paid";
    publish.event.data = "{}";
    publish.event.created_at = now - age;
    ASSERT_TRUE(make_memory_ledger(store_)->commit({.publishes = {publish}}).has_value());
  }

  void run(bool archiving) {
    std::vector<Reader> readers;
    readers.push_back(make_memory_reader(store_));
    readers_ = std::make_unique<ReaderPool>(std::move(readers));
    thread_ = std::make_unique<StoreThread>(
        StoreThreadOptions{}, StoreThread::Parts{.store = make_memory_store(store_),
                                                 .clock = &clock_,
                                                 .metrics = metrics_.get(),
                                                 .send = [](std::size_t, ShardReplies) {},
                                                 .on_failure = [](const std::string&) {},
                                                 .on_recovered = [](const std::vector<LaneBacklog>&,
                                                                    RepliesByShard&) {}});
    thread_->start();
    Retention::Parts parts{.clock = &clock_,
                           .metrics = metrics_.get(),
                           .readers = readers_.get(),
                           .store = thread_.get()};
    if (archiving) {
      parts.archive = std::make_unique<ListArchive>(archive_);
      parts.archive_line = [](const ExpiredEvent& old) { return old.event.id.to_string(); };
    }
    // An age of a second is looked for ten times a second.
    retention_ = std::make_unique<Retention>(options_, std::move(parts));
    retention_->start();
  }

  void TearDown() override {
    if (retention_) {
      retention_->stop();
      thread_->stop();
      readers_->stop();
    }
  }

  [[nodiscard]] std::size_t events_left() {
    const std::lock_guard lock{store_.mutex};
    return store_.events.size();
  }

  /// Waits on the archive's changes, or just for a while: the memory store tells nobody.
  template <class Condition>
  bool eventually(Condition condition) {
    for (int i = 0; i < 1'000; ++i) {
      if (condition()) {
        return true;
      }
      std::unique_lock lock{archive_.mutex};
      archive_.changed.wait_for(lock, 10ms);
    }
    return false;
  }

  MemoryStore store_;
  StillClock clock_;
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  ListArchive::State archive_;
  RetentionOptions options_{.ages = {.events = 1s, .dead_letters = 1s}, .turn_max = 2};
  std::unique_ptr<ReaderPool> readers_;
  std::unique_ptr<StoreThread> thread_;
  std::unique_ptr<Retention> retention_;
};

TEST(SweepInterval, FollowsTheShortestAgeWithinItsBounds) {
  EXPECT_EQ(sweep_interval({}), 1h);
  EXPECT_EQ(sweep_interval({.ages = {.events = 12h, .dead_letters = 48h}}), 30min);
  EXPECT_EQ(sweep_interval({.ages = {.events = 1ms, .dead_letters = 48h}}), 100ms);
  EXPECT_EQ(sweep_interval({.ages = {.events = 0ms, .dead_letters = 0ms}, .stats = 0ms}), 1h);
}

TEST_F(RetentionTest, RemovesWhatIsOldInSmallTurnsAndCountsIt) {
  for (std::uint8_t number = 1; number <= 7; ++number) {
    publish(number, number <= 5 ? 1s : 999ms);
  }
  run(false);
  EXPECT_TRUE(eventually([this] { return events_left() == 2; }));
  EXPECT_TRUE(eventually([this] {
    return metrics_->text().find("webhook_retention_removed_total{kind=\"event\"} 5\n") !=
           std::string::npos;
  }));
}

TEST_F(RetentionTest, NothingIsRemovedBeforeItIsInTheArchive) {
  archive_.failing = true;
  for (std::uint8_t number = 1; number <= 5; ++number) {
    publish(number, 1s);
  }
  run(true);
  EXPECT_TRUE(eventually([this] {
    const std::lock_guard lock{archive_.mutex};
    return archive_.failures >= 2;
  })) << "it tries again";
  EXPECT_EQ(events_left(), 5u);
  EXPECT_EQ(metrics_->text().find("webhook_archive_failures_total 0\n"), std::string::npos);
  {
    const std::lock_guard lock{archive_.mutex};
    archive_.failing = false;
  }
  EXPECT_TRUE(eventually([this] { return events_left() == 0; })) << "healed, it goes on";
  EXPECT_EQ(archive_.sealed.size(), 5u);
}

TEST_F(RetentionTest, OtherAgesAndAnotherArchiveAreUsedAtOnce) {
  publish(1, 1h);
  publish(2, 1min);
  publish(3, 0s);
  options_.ages = {.events = 24h, .dead_letters = 24h};
  run(true);
  ListArchive::State other;
  options_.ages.events = 1min;
  retention_->change({.options = options_,
                      .other_archive = true,
                      .archive = std::make_unique<ListArchive>(other)});
  // The next sweep would be an hour away.
  EXPECT_TRUE(eventually([this] { return events_left() == 1; }));
  retention_->stop();
  EXPECT_EQ(other.sealed.size(), 2u);
  EXPECT_TRUE(archive_.sealed.empty());
}

TEST_F(RetentionTest, AChangeCutsASweepShort) {
  for (std::uint8_t number = 1; number <= 200; ++number) {
    publish(number, 1s);
  }
  run(true);
  EXPECT_TRUE(eventually([this] { return events_left() < 200; }));
  ListArchive::State other;
  retention_->change({.options = options_,
                      .other_archive = true,
                      .archive = std::make_unique<ListArchive>(other)});
  retention_->change({.options = options_});  // Does not take the archive back.
  EXPECT_TRUE(eventually([this] { return events_left() == 0; }));
  retention_->stop();
  EXPECT_FALSE(other.sealed.empty());
  EXPECT_EQ(archive_.sealed.size() + other.sealed.size(), 200u);
}

TEST_F(RetentionTest, StopsInTheMiddleOfTheWork) {  // P10
  for (std::uint8_t number = 1; number <= 200; ++number) {
    publish(number, 1s);
  }
  run(true);
  EXPECT_TRUE(eventually([this] { return events_left() < 200; }));
  retention_->stop();
  const std::lock_guard lock{archive_.mutex};
  EXPECT_GE(archive_.sealed.size() + events_left(), 200u);
}

}  // namespace
}  // namespace postrider
