// Applies every settlement to every stored state of a delivery. Each ledger must do what
// decide_settlement says.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include <fmt/format.h>

#include "ports/settlement_rule.h"

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

constexpr DeliveryState all_states[] = {DeliveryState::pending, DeliveryState::retrying,
                                        DeliveryState::succeeded, DeliveryState::dead_letter,
                                        DeliveryState::cancelled};
constexpr std::uint32_t attempts_max = 2;
constexpr std::uint32_t revivals_max = 2;

const DeadReason gone{Classification::permanent, "permanent_client_error_404"};

/// One stored delivery and the settlement for it.
struct Case {
  DeliveryState stored_state = DeliveryState::pending;
  std::uint32_t stored_attempts = 0;
  std::uint32_t stored_revivals = 0;
  DeliveryState settled_state = DeliveryState::pending;
  std::uint32_t settled_attempts = 0;
  std::uint32_t settled_revivals = 0;
  std::uint32_t attempt = 0;  // Its number. 0: the settlement has none.

  [[nodiscard]] std::string name() const {
    return fmt::format("stored {} {}/{}, settled {} {}/{}, attempt {}", to_string(stored_state),
                       stored_attempts, stored_revivals, to_string(settled_state), settled_attempts,
                       settled_revivals, attempt);
  }
};

/// Calls `visit` for every number from 0 to `last`.
template <class Visit>
void up_to(std::uint32_t last, Visit visit) {
  for (std::uint32_t number = 0; number <= last; ++number) {
    visit(number);
  }
}

/// Adds every settlement for the stored delivery of `c`.
void add_settlements(Case c, std::vector<Case>& cases) {
  for (const DeliveryState state : all_states) {
    up_to(attempts_max, [&](std::uint32_t attempts) {
      up_to(revivals_max, [&](std::uint32_t revivals) {
        up_to(attempts_max + 1, [&](std::uint32_t attempt) {
          c.settled_state = state;
          c.settled_attempts = attempts;
          c.settled_revivals = revivals;
          c.attempt = attempt;
          cases.push_back(c);
        });
      });
    });
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const DeliveryState state : all_states) {
    up_to(attempts_max, [&](std::uint32_t attempts) {
      up_to(revivals_max, [&](std::uint32_t revivals) {
        add_settlements(
            {.stored_state = state, .stored_attempts = attempts, .stored_revivals = revivals},
            cases);
      });
    });
  }
  return cases;
}

/// The record after the decision, as the comments of SettlementEffect and SettlementDecision say.
DeliveryRecord after(DeliveryRecord record, const Settlement& settlement,
                     const SettlementDecision& decision) {
  if (decision.effect == SettlementEffect::apply) {
    const Delivery before = record.delivery;
    record.delivery = settlement.delivery;
    record.delivery.priority = before.priority;
    record.delivery.revivals = before.revivals;
    record.dead = settlement.dead;
  }
  if (decision.effect == SettlementEffect::succeed_cancelled) {
    record.delivery.state = DeliveryState::succeeded;
    record.dead.reset();
  }
  if (decision.effect == SettlementEffect::apply ||
      decision.effect == SettlementEffect::succeed_cancelled) {
    record.updated_at = settled_at(settlement);
    record.completed_at =
        is_waiting(record.delivery.state) ? std::nullopt : std::optional{settled_at(settlement)};
  }
  if (decision.is_last_attempt) {
    record.delivery.attempt_count =
        std::max(record.delivery.attempt_count, settlement.attempt->number);
    record.last_failure = settlement.attempt->failure_category;
    record.last_http_status = settlement.attempt->outcome.http_status;
  }
  return record;
}

/// Every revival changes the priority.
Priority priority_after(std::uint32_t revivals) {
  constexpr std::array priorities{Priority::normal, Priority::high, Priority::low};
  return priorities.at(revivals);
}

/// The attempts after the decision: each number once, the first record of it.
std::vector<Attempt> after(std::vector<Attempt> attempts, const Settlement& settlement,
                           const SettlementDecision& decision) {
  const auto same_number = [&](const Attempt& attempt) {
    return attempt.number == settlement.attempt->number;
  };
  if (decision.record_attempt && std::ranges::none_of(attempts, same_number)) {
    attempts.push_back(*settlement.attempt);
    std::ranges::sort(attempts, {}, &Attempt::number);
  }
  return attempts;
}

std::optional<LastAttempt> last_attempt(const std::vector<Attempt>& attempts,
                                        std::uint32_t number) {
  const auto found = std::ranges::find(attempts, number, &Attempt::number);
  if (found == attempts.end()) {
    return std::nullopt;
  }
  return LastAttempt{.executed_at = found->outcome.executed_at,
                     .duration = found->outcome.duration,
                     .error_message = found->outcome.error_message};
}

}  // namespace

class SettlementWalk {
 public:
  explicit SettlementWalk(StoreScript& script) : script_(script), cases_(all_cases()) {}

  [[nodiscard]] const std::vector<Case>& cases() const { return cases_; }

  [[nodiscard]] Batch publishes(WebhookId webhook_id) {
    Batch batch;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      batch.publishes.push_back(script_.publish({webhook_id}));
    }
    return batch;
  }

  /// The revivals of round `round`, from 1: of every delivery that is stored with that many.
  [[nodiscard]] Batch revivals(const std::vector<Delivery>& deliveries, std::uint32_t round) const {
    Batch batch;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (cases_[i].stored_revivals >= round) {
        batch.revivals.push_back({.delivery_id = deliveries[i].id,
                                  .now = script_.now,
                                  .priority = priority_after(round)});
      }
    }
    return batch;
  }

  /// Brings the deliveries into their stored states. The last attempt of each is recorded.
  [[nodiscard]] Batch preparations(const std::vector<Delivery>& deliveries) {
    Batch batch;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const Case& c = cases_[i];
      if (c.stored_state != DeliveryState::pending || c.stored_attempts > 0) {
        batch.settlements.push_back(
            settlement(deliveries[i], c.stored_state, c.stored_attempts, c.stored_attempts));
        live(batch.settlements.back().delivery, c.stored_revivals);
      }
    }
    return batch;
  }

  [[nodiscard]] Batch settlements(const std::vector<Delivery>& deliveries) {
    Batch batch;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const Case& c = cases_[i];
      batch.settlements.push_back(
          settlement(deliveries[i], c.settled_state, c.settled_attempts, c.attempt));
      live(batch.settlements.back().delivery, c.settled_revivals);
    }
    return batch;
  }

 private:
  static void live(Delivery& delivery, std::uint32_t revivals) {
    delivery.revivals = revivals;
    delivery.priority = priority_after(revivals);
  }

  [[nodiscard]] Settlement settlement(Delivery delivery, DeliveryState state,
                                      std::uint32_t attempt_count, std::uint32_t attempt) {
    delivery.state = state;
    delivery.trigger = Trigger::replay;
    delivery.due = script_.now + Millis{500};
    delivery.attempt_count = attempt_count;
    delivery.budget_used = attempt_count;
    Settlement settlement{.delivery = delivery};
    if (attempt > 0) {
      settlement.attempt = script_.attempt(attempt, state == DeliveryState::succeeded
                                                        ? std::nullopt
                                                        : std::optional{FailureCategory::timeout});
    }
    if (state == DeliveryState::dead_letter) {
      settlement.dead = gone;
    }
    return settlement;
  }

  StoreScript& script_;
  std::vector<Case> cases_;
};

TEST_P(LedgerContract, EverySettlementDoesToEveryStoredDeliveryWhatTheRuleSays) {
  SettlementWalk walk{script_};
  const std::size_t count = walk.cases().size();
  ASSERT_EQ(count, 5u * 3 * 3 * 5 * 3 * 3 * 4);

  std::vector<Delivery> deliveries;
  for (const PublishReceipt& receipt : commit(walk.publishes(first_)).publishes) {
    deliveries.push_back(std::get<Accepted>(receipt).deliveries.front());
  }
  for (std::uint32_t round = 1; round <= revivals_max; ++round) {
    commit(walk.revivals(deliveries, round));
  }
  commit(walk.preparations(deliveries));
  std::vector<DeliveryRecord> before;
  std::vector<std::vector<Attempt>> attempts_before;
  for (std::size_t i = 0; i < count; ++i) {
    const Case& c = walk.cases()[i];
    before.push_back(record(deliveries[i].id));
    attempts_before.push_back(attempts(deliveries[i].id));
    ASSERT_EQ(before[i].delivery.state, c.stored_state) << c.name();
    ASSERT_EQ(before[i].delivery.attempt_count, c.stored_attempts) << c.name();
    ASSERT_EQ(before[i].delivery.revivals, c.stored_revivals) << c.name();
  }

  script_.now += Millis{60'000};
  const Batch batch = walk.settlements(deliveries);
  const BatchReceipt receipt = commit(batch);

  BatchReceipt expected;
  for (std::size_t i = 0; i < count; ++i) {
    const Settlement& settlement = batch.settlements[i];
    const SettlementDecision decision = decide_settlement(settlement, before[i].delivery);
    const std::vector<Attempt> wanted_attempts = after(attempts_before[i], settlement, decision);
    DeliveryRecord wanted = after(before[i], settlement, decision);
    wanted.last_attempt = last_attempt(wanted_attempts, wanted.delivery.attempt_count);
    const std::string name = walk.cases()[i].name();
    ASSERT_EQ(record(deliveries[i].id), wanted) << name;
    ASSERT_EQ(attempts(deliveries[i].id), wanted_attempts) << name;
    if (decision.revived_meanwhile) {
      expected.revived_meanwhile.push_back(wanted.delivery);
    }
    if (decision.effect == SettlementEffect::apply && !is_waiting(wanted.delivery.state)) {
      --expected.waiting_change["acme"][wanted.delivery.priority];
      expected.dead_letter_changes["acme"] +=
          wanted.delivery.state == DeliveryState::dead_letter ? 1 : 0;
    }
  }
  EXPECT_EQ(receipt.revived_meanwhile, expected.revived_meanwhile);
  EXPECT_EQ(receipt.waiting_change, expected.waiting_change);
  EXPECT_EQ(receipt.dead_letter_changes, expected.dead_letter_changes);
}

TEST_P(LedgerContract, ASettlementWithAnotherSequenceIsIgnored) {
  const Delivery delivery = accept(first_);
  Settlement success = script_.success(delivery);
  success.delivery.sequence += 1;
  const BatchReceipt receipt = commit({.settlements = {success}});
  EXPECT_EQ(record(delivery.id).delivery, delivery);
  EXPECT_TRUE(attempts(delivery.id).empty());
  EXPECT_EQ(receipt.waiting_change, TenantCounts{});
  EXPECT_TRUE(receipt.revived_meanwhile.empty());
}

}  // namespace postrider::test
