#include "ports/settlement_rule.h"

#include <initializer_list>

#include <gtest/gtest.h>

namespace postrider {
namespace {

using enum DeliveryState;

constexpr DeliveryState all_states[] = {pending, retrying, succeeded, dead_letter, cancelled};

Delivery delivery(DeliveryState state, std::uint32_t attempt_count, std::uint32_t revivals) {
  Delivery delivery{
      .sequence = 7, .state = state, .attempt_count = attempt_count, .revivals = revivals};
  delivery.id.bytes = {1};
  return delivery;
}

/// With an attempt of the number `attempt`; 0: without one.
Settlement settlement(const Delivery& settled, std::uint32_t attempt) {
  Settlement settlement{.delivery = settled};
  if (attempt > 0) {
    settlement.attempt.emplace().number = attempt;
  }
  return settlement;
}

constexpr SettlementDecision applied{
    .effect = SettlementEffect::apply, .record_attempt = true, .is_last_attempt = true};
constexpr SettlementDecision kept{.effect = SettlementEffect::keep, .record_attempt = true};
constexpr SettlementDecision kept_with_last_attempt{
    .effect = SettlementEffect::keep, .record_attempt = true, .is_last_attempt = true};
constexpr SettlementDecision kept_without_attempt{.effect = SettlementEffect::keep};

struct Case {
  const char* name;
  Delivery stored;
  Settlement settlement;
  SettlementDecision expected;
};

void check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(decide_settlement(c.settlement, c.stored), c.expected) << c.name;
  }
}

TEST(SettlementRule, AppliesToAWaitingDelivery) {
  check({
      {"first attempt fails", delivery(pending, 0, 0), settlement(delivery(retrying, 1, 0), 1),
       applied},
      {"first attempt succeeds", delivery(pending, 0, 0), settlement(delivery(succeeded, 1, 0), 1),
       applied},
      {"next attempt fails", delivery(retrying, 1, 0), settlement(delivery(retrying, 2, 0), 2),
       applied},
      {"last attempt fails", delivery(retrying, 1, 0), settlement(delivery(dead_letter, 2, 0), 2),
       applied},
      {"closed without an attempt",
       delivery(pending, 0, 0),
       settlement(delivery(dead_letter, 0, 0), 0),
       {.effect = SettlementEffect::apply}},
      {"same settlement again", delivery(retrying, 1, 0), settlement(delivery(retrying, 1, 0), 1),
       applied},
      {"earlier settlement again", delivery(retrying, 2, 0),
       settlement(delivery(retrying, 1, 0), 1), kept},
  });
}

TEST(SettlementRule, KeepsAFinalDelivery) {
  check({
      {"same attempt", delivery(dead_letter, 1, 0), settlement(delivery(dead_letter, 1, 0), 1),
       kept},
      {"later attempt", delivery(dead_letter, 1, 0), settlement(delivery(succeeded, 2, 0), 2),
       kept_with_last_attempt},
      {"no attempt", delivery(succeeded, 1, 0), settlement(delivery(dead_letter, 1, 0), 0),
       kept_without_attempt},
      {"cancelled, attempt fails", delivery(cancelled, 0, 0),
       settlement(delivery(retrying, 1, 0), 1), kept_with_last_attempt},
      {"cancelled, success without an attempt", delivery(cancelled, 0, 0),
       settlement(delivery(succeeded, 0, 0), 0), kept_without_attempt},
  });
}

TEST(SettlementRule, CancelledDeliveryThatWasAcceptedSucceeds) {
  constexpr auto succeed = SettlementEffect::succeed_cancelled;
  check({
      {"cancelled during the attempt",
       delivery(cancelled, 0, 0),
       settlement(delivery(succeeded, 1, 0), 1),
       {.effect = succeed, .record_attempt = true, .is_last_attempt = true}},
      {"cancelled in a later life",
       delivery(cancelled, 2, 1),
       settlement(delivery(succeeded, 1, 0), 1),
       {.effect = succeed, .record_attempt = true}},
  });
}

TEST(SettlementRule, SettlementFromAnEarlierLifeDoesNotEndTheNewOne) {
  constexpr auto keep = SettlementEffect::keep;
  check({
      {"attempt fails",
       delivery(pending, 0, 1),
       settlement(delivery(dead_letter, 1, 0), 1),
       {.effect = keep,
        .record_attempt = true,
        .is_last_attempt = true,
        .revived_meanwhile = true}},
      {"tried since, attempt fails",
       delivery(retrying, 2, 1),
       settlement(delivery(retrying, 1, 0), 1),
       {.effect = keep, .record_attempt = true, .revived_meanwhile = true}},
      {"closed without an attempt",
       delivery(pending, 0, 1),
       settlement(delivery(cancelled, 0, 0), 0),
       {.effect = keep, .revived_meanwhile = true}},
      {"final again, attempt fails", delivery(dead_letter, 2, 1),
       settlement(delivery(retrying, 1, 0), 1), kept},
      {"attempt succeeds", delivery(pending, 0, 1), settlement(delivery(succeeded, 1, 0), 1),
       applied},
      {"tried since, earlier attempt succeeds", delivery(retrying, 2, 1),
       settlement(delivery(succeeded, 1, 0), 1), kept},
  });
}

TEST(SettlementRule, IgnoresAnotherDelivery) {
  const Settlement success = settlement(delivery(succeeded, 1, 0), 1);
  Delivery other_id = delivery(pending, 0, 0);
  other_id.id.bytes = {2};
  Delivery other_sequence = delivery(pending, 0, 0);
  other_sequence.sequence = 8;
  EXPECT_EQ(decide_settlement(success, other_id), SettlementDecision{});
  EXPECT_EQ(decide_settlement(success, other_sequence), SettlementDecision{});
}

TEST(SettlementRule, NeverChangesTheStateOfAFinalDeliveryExceptFromCancelledToSucceeded) {
  for (const DeliveryState stored : {succeeded, dead_letter, cancelled}) {
    for (const DeliveryState settled : all_states) {
      const SettlementDecision decision =
          decide_settlement(settlement(delivery(settled, 9, 9), 9), delivery(stored, 1, 0));
      const bool accepted = stored == cancelled && settled == succeeded;
      EXPECT_EQ(decision.effect,
                accepted ? SettlementEffect::succeed_cancelled : SettlementEffect::keep)
          << to_string(stored) << " -> " << to_string(settled);
      EXPECT_FALSE(decision.revived_meanwhile);
    }
  }
}

TEST(RevivalRule, MakesAFinalDeliveryPendingAndLeavesAWaitingOneInItsState) {
  for (const DeliveryState state : all_states) {
    Delivery before = delivery(state, 3, 1);
    before.budget_used = 2;
    before.priority = Priority::low;
    const Revive order{.delivery_id = before.id, .now = wall_from_unix_ms(5), .priority = {}};
    Delivery expected = before;
    expected.state = is_waiting(state) ? state : pending;
    expected.trigger = Trigger::manual;
    expected.due = order.now;
    expected.budget_used = 0;
    expected.revivals = 2;
    EXPECT_EQ(revived(before, order), expected) << to_string(state);
  }
}

TEST(RevivalRule, TakesOverPriorityAndTrigger) {
  const Delivery after = revived(delivery(dead_letter, 1, 0), {.delivery_id = {},
                                                               .now = wall_from_unix_ms(5),
                                                               .priority = Priority::high,
                                                               .trigger = Trigger::replay});
  EXPECT_EQ(after.priority, Priority::high);
  EXPECT_EQ(after.trigger, Trigger::replay);
}

}  // namespace
}  // namespace postrider
