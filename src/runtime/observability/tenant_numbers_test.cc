#include "runtime/observability/tenant_numbers.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(TenantNumbers, AddUpForEachTenantAndInTotal) {
  TenantNumbers numbers;
  numbers.set_waiting({{{"acme", {{1, 2, 3}}}, {"other", {{0, 4, 0}}}}});
  numbers.add_waiting({{{"acme", {{0, 1, -1}}}, {"other", {{0, 1, 0}}}}});
  numbers.remove_waiting({{{"other", {{0, 2, 0}}}}});
  numbers.add_loads({{"acme", {.in_flight = 2, .open_circuits = 1}}});
  numbers.add_loads({{"acme", {.in_flight = -1}}, {"other", {.in_flight = 1}}});  // Of two threads.
  numbers.add_dead_letters("other", 7);
  EXPECT_EQ(numbers.of("acme"), (CurrentLoad{.waiting = 5, .in_flight = 1, .open_circuits = 1}));
  EXPECT_EQ(numbers.of("other"), (CurrentLoad{.waiting = 2, .in_flight = 1, .dead_letters = 7}));
  EXPECT_EQ(numbers.total(),
            (CurrentLoad{.waiting = 7, .in_flight = 2, .dead_letters = 7, .open_circuits = 1}));
  EXPECT_EQ(numbers.of("unknown"), CurrentLoad{});
}

TEST(TenantNumbers, ANewCountReplacesOnlyTheWaitingOnes) {
  TenantNumbers numbers;
  numbers.set_waiting({{{"acme", {{0, 9, 0}}}, {"gone", {{0, 9, 0}}}}});
  numbers.add_loads({{"acme", {.in_flight = 1}}});
  numbers.add_dead_letters("gone", 1);
  numbers.set_waiting({{{"acme", {{0, 3, 0}}}}});
  EXPECT_EQ(numbers.of("acme"), (CurrentLoad{.waiting = 2, .in_flight = 1}));
  EXPECT_EQ(numbers.of("gone"), (CurrentLoad{.dead_letters = 1}));
  EXPECT_EQ(numbers.total().waiting, 2);
}

TEST(TenantNumbers, AnAttemptThatTheStoreHasSettledFirstMakesNothingNegative) {
  TenantNumbers numbers;
  numbers.add_waiting({{{"acme", {{0, 1, 0}}}}});
  numbers.add_loads({{"acme", {.in_flight = 1}}});
  numbers.add_waiting({{{"acme", {{0, -1, 0}}}}});
  EXPECT_EQ(numbers.of("acme"), (CurrentLoad{.waiting = 0, .in_flight = 1}));
  numbers.add_loads({{"acme", {.in_flight = -1}}});
  EXPECT_EQ(numbers.of("acme"), CurrentLoad{});
}

TEST(TenantNumbers, NameTheTenantsWithTooManyDeadLetters) {
  TenantNumbers numbers;
  numbers.add_dead_letters("many", 3);
  numbers.add_dead_letters("few", 2);
  numbers.add_dead_letters("none", 3);
  numbers.add_dead_letters("none", -3);
  EXPECT_EQ(numbers.dead_letters_over(2), (std::map<TenantId, std::int64_t>{{"many", 3}}));
}

TEST(TenantNumbers, ANewCountOfDeadLettersReplacesTheOlderOne) {
  TenantNumbers numbers;
  numbers.add_dead_letters("acme", 5);
  numbers.add_dead_letters("gone", 5);
  numbers.add_loads({{"acme", {.in_flight = 1}}});
  numbers.set_dead_letters({{"acme", 3}, {"new", 1}});
  EXPECT_EQ(numbers.of("acme"), (CurrentLoad{.in_flight = 1, .dead_letters = 3}));
  EXPECT_EQ(numbers.of("gone"), CurrentLoad{});
  EXPECT_EQ(numbers.total().dead_letters, 4);
}

/// Two servers share the store: one makes dead letters, the other retries them.
TEST(TenantNumbers, DeadLettersOfAnotherServerMakeNothingNegative) {
  TenantNumbers numbers;
  EXPECT_EQ(numbers.add_dead_letters("acme", 2), 2);
  EXPECT_EQ(numbers.add_dead_letters("acme", -50), -2);
  EXPECT_EQ(numbers.add_dead_letters("other", -1), 0);
  EXPECT_EQ(numbers.of("acme"), CurrentLoad{});
  EXPECT_EQ(numbers.total(), CurrentLoad{});
}

}  // namespace
}  // namespace postrider
