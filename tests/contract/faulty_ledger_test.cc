// The fake that fails must itself keep the contract of a failing store.
#include "tests/support/faulty_ledger.h"

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

#include "tests/contract/store_script.h"

namespace postrider::test {
namespace {

struct Seen {
  bool acknowledged = false;
  bool stored = false;
  bool fired = false;
};

/// Publishes once; recovers and goes on when that fails.
Seen publish_once(const StoreFaultPlan& plan) {
  MemoryStore store;
  const auto real = make_memory_ledger(store);
  FaultyLedger ledger{*real, plan};
  StoreScript script;
  Seen seen;
  seen.acknowledged = ledger.commit({.publishes = {script.publish({})}}).has_value();
  if (!seen.acknowledged) {
    EXPECT_EQ(ledger.backlog().error().code, Errc::unavailable);
    EXPECT_TRUE(ledger.recover().has_value());
  }
  const std::uint64_t fired_before = ledger.faults_fired();
  const bool readable = ledger.backlog().has_value();
  EXPECT_EQ(readable, ledger.faults_fired() == fired_before);
  seen.stored = !store.events.empty();
  seen.fired = ledger.faults_fired() > 0;
  return seen;
}

TEST(FaultyLedger, ALostCommitIsNotStoredAndAnAmbiguousOneIs) {
  EXPECT_FALSE(publish_once(fail_nth(0, StoreFault::lost)).acknowledged);
  EXPECT_FALSE(publish_once(fail_nth(0, StoreFault::lost)).stored);
  EXPECT_FALSE(publish_once(fail_nth(0, StoreFault::ambiguous)).acknowledged);
  EXPECT_TRUE(publish_once(fail_nth(0, StoreFault::ambiguous)).stored);
  EXPECT_TRUE(publish_once(fail_nth(99, StoreFault::lost)).acknowledged);
}

TEST(FaultyLedger, EveryCallOfAScenarioGetsItsTurn) {
  const std::uint64_t failed = for_every_store_fault(
      StoreFault::lost, [](const StoreFaultPlan& plan) { return publish_once(plan).fired; });
  EXPECT_EQ(failed, 2u);  // The commit, then the read.
}

}  // namespace
}  // namespace postrider::test
