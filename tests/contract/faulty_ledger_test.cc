// Tests FaultyLedger, the test double of a failing store.
#include "tests/support/faulty_ledger.h"

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

#include "tests/contract/store_script.h"

namespace postrider::test {
namespace {

struct Outcome {
  bool acknowledged = false;
  bool stored = false;
  bool fired = false;
};

/// Publishes once. If that fails, recovers the ledger and reads.
Outcome publish_once(const StoreFaultPlan& plan) {
  MemoryStore store;
  const auto real = make_memory_ledger(store);
  FaultyLedger ledger{*real, plan};
  StoreScript script;
  Outcome outcome;
  outcome.acknowledged = ledger.commit({.publishes = {script.publish({})}}).has_value();
  if (!outcome.acknowledged) {
    EXPECT_EQ(ledger.backlog().error().code, Errc::unavailable);
    EXPECT_TRUE(ledger.recover().has_value());
  }
  const std::uint64_t fired_before = ledger.faults_fired();
  const bool readable = ledger.backlog().has_value();
  EXPECT_EQ(readable, ledger.faults_fired() == fired_before);
  outcome.stored = !store.events.empty();
  outcome.fired = ledger.faults_fired() > 0;
  return outcome;
}

TEST(FaultyLedger, LostCommitIsNotStoredAndAmbiguousCommitIs) {
  EXPECT_FALSE(publish_once(fail_nth(0, StoreFault::lost)).acknowledged);
  EXPECT_FALSE(publish_once(fail_nth(0, StoreFault::lost)).stored);
  EXPECT_FALSE(publish_once(fail_nth(0, StoreFault::ambiguous)).acknowledged);
  EXPECT_TRUE(publish_once(fail_nth(0, StoreFault::ambiguous)).stored);
  EXPECT_TRUE(publish_once(fail_nth(99, StoreFault::lost)).acknowledged);
}

TEST(FaultyLedger, EveryCallOfAScenarioFailsOnce) {
  const std::uint64_t failed = for_every_store_fault(
      StoreFault::lost, [](const StoreFaultPlan& plan) { return publish_once(plan).fired; });
  EXPECT_EQ(failed, 2u);  // The commit, then the read.
}

}  // namespace
}  // namespace postrider::test
