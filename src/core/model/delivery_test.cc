#include "core/model/delivery.h"

#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace postrider {
namespace {

constexpr DeliveryState all_states[] = {DeliveryState::pending, DeliveryState::retrying,
                                        DeliveryState::succeeded, DeliveryState::dead_letter,
                                        DeliveryState::cancelled};

TEST(DeliveryStates, HaveExactlyTheseTransitions) {
  using enum DeliveryState;
  const std::set<std::pair<DeliveryState, DeliveryState>> legal = {
      {pending, retrying},      {pending, succeeded},  {pending, dead_letter},
      {pending, cancelled},     {retrying, retrying},  {retrying, succeeded},
      {retrying, dead_letter},  {retrying, cancelled}, {succeeded, pending},
      {dead_letter, pending},   {cancelled, pending},  // Revived.
      {dead_letter, cancelled},                        // Discarded.
  };
  for (const DeliveryState from : all_states) {
    for (const DeliveryState to : all_states) {
      EXPECT_EQ(can_transition(from, to), legal.contains({from, to}))
          << to_string(from) << " -> " << to_string(to);
    }
  }
}

TEST(DeliveryStates, AreAllReachableFromEveryState) {
  for (const DeliveryState start : all_states) {
    std::set<DeliveryState> reached;
    for (std::size_t steps = 0; steps < std::size(all_states); ++steps) {
      for (const DeliveryState to : all_states) {
        const auto leads_to = [to](DeliveryState from) { return can_transition(from, to); };
        if (leads_to(start) || std::any_of(reached.begin(), reached.end(), leads_to)) {
          reached.insert(to);
        }
      }
    }
    EXPECT_EQ(reached.size(), std::size(all_states)) << "from " << to_string(start);
  }
}

TEST(DeliveryStates, AreWaitingIfPendingOrRetrying) {
  EXPECT_TRUE(is_waiting(DeliveryState::pending));
  EXPECT_TRUE(is_waiting(DeliveryState::retrying));
  EXPECT_FALSE(is_waiting(DeliveryState::succeeded));
  EXPECT_FALSE(is_waiting(DeliveryState::dead_letter));
  EXPECT_FALSE(is_waiting(DeliveryState::cancelled));
}

}  // namespace
}  // namespace postrider
