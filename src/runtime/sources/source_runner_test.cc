#include "runtime/sources/source_runner.h"

#include <functional>
#include <future>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "adapters/memory/memory_source.h"

#include "tests/support/manual_clock.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t message_count = 20;
constexpr std::uint32_t batch_max = 3;

enum class IntakeFault : std::uint8_t { none, not_stored, stored_and_not_known };

/// Stores events in a set of keys. Messages whose key is `bad…` are rejected.
struct KeyStore {
  std::set<std::string> stored;
  std::map<std::string, int> rejections;
  std::size_t batch_largest = 0;
  int calls = 0;
  std::function<IntakeFault(int call)> faults;  // The first call is 1.
  std::function<void()> on_publish;

  std::vector<RecordOutcome> publish(const std::vector<SourceRecord>& records) {
    const IntakeFault fault = faults ? faults(++calls) : IntakeFault::none;
    batch_largest = std::max(batch_largest, records.size());
    std::vector<RecordOutcome> outcomes;
    for (const SourceRecord& record : records) {
      const RecordOutcome outcome =
          fault == IntakeFault::not_stored ? RecordDeferred{} : store(record.fields.front().value);
      outcomes.push_back(fault == IntakeFault::none ? outcome : RecordDeferred{});
    }
    if (on_publish) {
      on_publish();
    }
    return outcomes;
  }

  RecordOutcome store(const std::string& key) {
    if (key.starts_with("bad")) {
      ++rejections[key];
      return RecordRejected{"It is " + key + "."};
    }
    return RecordStored{.event_id = {}, .duplicate = !stored.insert(key).second};
  }
};

class KeyIntake final : public SourceIntake {
 public:
  explicit KeyIntake(KeyStore& store) : store_(store) {}
  std::vector<RecordOutcome> publish(const std::vector<SourceRecord>& records) override {
    return store_.publish(records);
  }

 private:
  KeyStore& store_;
};

/// A source, its server and a store, without a thread.
class SourceWorld {
 public:
  explicit SourceWorld(std::size_t messages = 0) {
    for (std::size_t index = 0; index < messages; ++index) {
      add("key-" + std::to_string(index));
    }
  }

  void add(const std::string& key) { queue.add({{.name = "id", .value = key}}); }

  /// Steps until the server has no message left. Returns the waits that were not zero.
  std::vector<Millis> drain() {
    std::vector<Millis> waits;
    for (int step = 0; queue.size() > 0 && step < 1'000; ++step) {
      const Millis wait = runner.step();
      clock.advance(wait);
      if (wait > Millis{0}) {
        waits.push_back(wait);
      }
    }
    EXPECT_EQ(queue.size(), 0u);
    return waits;
  }

  [[nodiscard]] SourceCounts counts() const { return runner.view().counts; }
  [[nodiscard]] SourceState state() const { return runner.view().state; }

  test::ManualClock clock;
  MemoryQueue queue;
  KeyStore store;
  SourceRunner runner{{.name = "shop",
                       .kind = "outbox",
                       .batch_max = batch_max,
                       .source = make_memory_source(queue),
                       .intake = std::make_unique<KeyIntake>(store)},
                      clock,
                      7};
};

/// Fails the nth call of one kind, once or from then on.
std::function<SourceFault(SourceCall)> failing(SourceCall call, int nth, SourceFault fault) {
  return [call, nth, fault, calls = 0](SourceCall made) mutable {
    calls += made == call ? 1 : 0;
    return made == call && calls == nth ? fault : SourceFault::none;
  };
}

TEST(SourceRunner, MovesAllMessagesInBatches) {
  SourceWorld world{message_count};
  EXPECT_EQ(world.state(), SourceState::starting);
  EXPECT_TRUE(world.drain().empty());
  EXPECT_EQ(world.store.stored.size(), message_count);
  EXPECT_EQ(world.store.batch_largest, batch_max);
  EXPECT_EQ(world.counts(), (SourceCounts{.received = message_count, .stored = message_count}));
  EXPECT_EQ(world.state(), SourceState::connected);
}

// P1 and P3: whichever call fails, and whether or not the server performed it, every message is
// stored, and once.
TEST(SourceRunner, NoFailureOfACallLosesOrDuplicatesAMessage) {
  for (const SourceCall call : {SourceCall::connect, SourceCall::receive, SourceCall::settle}) {
    for (const SourceFault fault : {SourceFault::not_performed, SourceFault::performed}) {
      for (int nth = 1; nth <= 8; ++nth) {
        SourceWorld world{message_count};
        world.queue.inject(failing(call, nth, fault));
        (void)world.drain();
        EXPECT_EQ(world.store.stored.size(), message_count);
        EXPECT_EQ(world.counts().stored, message_count);
        EXPECT_LE(world.counts().duplicates, batch_max);
        EXPECT_EQ(world.counts().rejected, 0u);
      }
    }
  }
}

TEST(SourceRunner, NoFailureToPublishLosesOrDuplicatesAMessage) {
  for (const IntakeFault fault : {IntakeFault::not_stored, IntakeFault::stored_and_not_known}) {
    for (int nth = 1; nth <= 8; ++nth) {
      SourceWorld world{message_count};
      world.store.faults = [=](int call) { return call == nth ? fault : IntakeFault::none; };
      (void)world.drain();
      EXPECT_EQ(world.store.stored.size(), message_count);
      EXPECT_EQ(world.counts().stored + world.counts().duplicates, message_count);
    }
  }
}

TEST(SourceRunner, AFailedLagIsUnknownAndNothingElse) {
  SourceWorld world{message_count};
  world.queue.inject(failing(SourceCall::lag, 1, SourceFault::not_performed));
  EXPECT_TRUE(world.drain().empty());
  EXPECT_EQ(world.runner.view().lag.messages, std::nullopt);
}

TEST(SourceRunner, TheLagOfASourceThatIsAwayIsUnknown) {
  SourceWorld world{message_count};
  (void)world.runner.step();
  EXPECT_TRUE(world.runner.view().lag.messages.has_value());
  world.queue.set_reachable(false);
  (void)world.runner.step();
  EXPECT_EQ(world.runner.view().lag.messages, std::nullopt);
}

TEST(SourceRunner, LagIsMeasuredEveryFewSeconds) {
  SourceWorld world{message_count};
  (void)world.runner.step();
  EXPECT_EQ(world.runner.view().lag.messages, message_count - batch_max);
  (void)world.runner.step();
  EXPECT_EQ(world.runner.view().lag.messages, message_count - batch_max);
  world.clock.advance(lag_period);
  (void)world.runner.step();
  EXPECT_EQ(world.runner.view().lag.messages, message_count - 3 * batch_max);
}

TEST(SourceRunner, RejectedMessagesAreKeptByTheSourceAndCounted) {
  SourceWorld world;
  world.add("bad-1");
  world.add("good");
  world.add("bad-2");
  (void)world.drain();
  const auto rejected = world.queue.rejected();
  ASSERT_EQ(rejected.size(), 2u);
  EXPECT_EQ(rejected[0].reason, "It is bad-1.");
  EXPECT_EQ(world.counts().rejected, 2u);
  EXPECT_EQ(world.store.stored, std::set<std::string>{"good"});
  EXPECT_EQ(world.runner.facts().rejected, 2u);
  EXPECT_EQ(world.runner.facts().last_rejection, "It is bad-2.");
}

TEST(SourceRunner, ARejectionThatTheSourceDoesNotKnowIsCountedOnce) {
  SourceWorld world;
  world.add("bad-1");
  world.queue.inject(failing(SourceCall::settle, 1, SourceFault::not_performed));
  (void)world.drain();
  EXPECT_EQ(world.store.rejections["bad-1"], 2);
  EXPECT_EQ(world.counts().rejected, 1u);
  EXPECT_EQ(world.queue.rejected().size(), 1u);
}

TEST(SourceRunner, ASourceThatIsAwayIsTriedLessAndLessOften) {
  SourceWorld world{1};
  world.queue.set_reachable(false);
  std::vector<Millis> waits;
  for (int step = 0; step < 12; ++step) {
    waits.push_back(world.runner.step());
    world.clock.advance(waits.back());
  }
  for (std::size_t index = 0; index < waits.size(); ++index) {
    const Millis full = std::min<Millis>(1s * (1 << index), 300s);
    EXPECT_LE(waits[index], full) << index;
    EXPECT_GE(waits[index], full * 4 / 5) << index;
  }
  EXPECT_EQ(world.state(), SourceState::failing);
  EXPECT_TRUE(world.runner.facts().is_failing);
  EXPECT_EQ(world.runner.view().reason, "The queue in memory is not reachable.");
  world.queue.set_reachable(true);
  EXPECT_EQ(world.runner.step(), 0ms);
  EXPECT_EQ(world.state(), SourceState::connected);
  EXPECT_TRUE(world.runner.facts().is_working);
  EXPECT_EQ(world.runner.view().reason, std::nullopt);
}

TEST(SourceRunner, AServerThatCannotStoreIsOfferedTheMessagesAgain) {
  SourceWorld world{2};
  world.store.faults = [](int call) {
    return call <= 4 ? IntakeFault::not_stored : IntakeFault::none;
  };
  const std::vector<Millis> waits = world.drain();
  ASSERT_EQ(waits.size(), 4u);
  for (std::size_t index = 0; index < waits.size(); ++index) {
    EXPECT_LE(waits[index], 100ms * (1 << index));
    EXPECT_GE(waits[index], 80ms * (1 << index));
  }
  EXPECT_EQ(world.counts().deferred, 8u);
  EXPECT_EQ(world.counts().stored, 2u);
  EXPECT_EQ(world.state(), SourceState::connected);
}

TEST(SourceRunner, IsOnStandbyWhileAnotherNodeReads) {
  SourceWorld world{1};
  world.queue.set_taken(true);
  (void)world.runner.step();
  EXPECT_EQ(world.state(), SourceState::standby);
  EXPECT_TRUE(world.runner.facts().is_working);
  world.queue.set_taken(false);
  (void)world.drain();
  EXPECT_EQ(world.state(), SourceState::connected);
}

TEST(SourceRunner, APausedSourceReceivesNothing) {
  SourceWorld world{1};
  world.runner.pause();
  for (int step = 0; step < 3; ++step) {
    EXPECT_GT(world.runner.step(), 0ms);
  }
  EXPECT_EQ(world.state(), SourceState::paused);
  EXPECT_EQ(world.queue.size(), 1u);
  world.runner.resume();
  (void)world.drain();
  EXPECT_EQ(world.counts().stored, 1u);
}

TEST(SourceRunner, TheBatchThatWasReceivedIsSettledBeforeAPause) {
  SourceWorld world{5};
  world.store.on_publish = [&] { world.runner.pause(); };
  (void)world.runner.step();
  EXPECT_EQ(world.queue.size(), 2u);
  EXPECT_EQ(world.state(), SourceState::paused);
}

TEST(SourceRunner, StoppingSettlesWhatWasPublished) {
  SourceWorld world{message_count};
  std::promise<void> publishing;
  std::promise<void> go_on;
  bool first = true;
  world.store.on_publish = [&] {
    if (std::exchange(first, false)) {
      publishing.set_value();
      go_on.get_future().wait();
    }
  };
  world.runner.start();
  publishing.get_future().wait();
  world.runner.stop_receiving();
  go_on.set_value();
  world.runner.join();
  EXPECT_EQ(world.state(), SourceState::stopped);
  EXPECT_EQ(world.store.stored.size(), batch_max);
  EXPECT_EQ(world.queue.size(), message_count - batch_max);
}

TEST(SourceRunner, AWaitingSourceStopsAtOnce) {
  SourceWorld idle;
  idle.runner.start();
  idle.runner.stop_receiving();
  idle.runner.join();
  SourceWorld away;
  away.queue.set_reachable(false);
  away.runner.start();
  away.runner.stop_receiving();
  away.runner.join();
  EXPECT_EQ(away.state(), SourceState::stopped);
}

TEST(SourceRunner, ItsThreadMovesMessagesAsTheyCome) {
  SourceWorld world;
  std::promise<void> stored;
  world.store.on_publish = [&] {
    if (world.store.stored.size() == 2) {
      stored.set_value();
    }
  };
  world.runner.start();
  world.add("a");
  world.add("b");
  stored.get_future().wait();
  world.runner.stop_receiving();
  world.runner.join();
  EXPECT_EQ(world.queue.size(), 0u);
}

}  // namespace
}  // namespace postrider
