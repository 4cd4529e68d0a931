#include "core/source/row_status.h"

#include <vector>

#include <gtest/gtest.h>

namespace postrider {
namespace {

constexpr WallTime published = wall_from_unix_ms(1'000);

WallTime at(std::int64_t ms) { return wall_from_unix_ms(ms); }

RowDelivery waiting(std::int64_t due) { return {.due = at(due)}; }

RowDelivery retrying(std::uint32_t attempts, std::int64_t due, std::int64_t failed) {
  return {.state = DeliveryState::retrying,
          .attempts = attempts,
          .due = at(due),
          .failed_at = at(failed),
          .http_status = 500,
          .error = {}};
}

RowDelivery succeeded(std::uint32_t attempts, std::int64_t done) {
  return {.state = DeliveryState::succeeded, .attempts = attempts, .completed_at = at(done)};
}

RowDelivery dead(std::uint32_t attempts, std::int64_t failed) {
  return {.state = DeliveryState::dead_letter,
          .attempts = attempts,
          .completed_at = at(failed),
          .failed_at = at(failed),
          .error = "The connection was refused."};
}

RowDelivery cancelled(std::int64_t done, bool webhook_removed = false) {
  return {.state = DeliveryState::cancelled,
          .completed_at = at(done),
          .webhook_removed = webhook_removed};
}

RowStatus status_of(const std::vector<RowDelivery>& deliveries, std::uint64_t remaining = 0) {
  RowFacts facts{
      .published_at = published, .expected = deliveries.size() + remaining, .remaining = remaining};
  for (const RowDelivery& delivery : deliveries) {
    facts.add(delivery);
  }
  return row_status(facts);
}

const std::string http_500 = "The receiver answered with HTTP status 500.";

TEST(RowStatus, IsPendingUntilAnAttemptEnds) {
  EXPECT_EQ(status_of({waiting(2'000)}),
            (RowStatus{.state = RowState::pending, .next_attempt_at = at(2'000)}));
}

TEST(RowStatus, IsRetryingAfterAFailedAttempt) {
  EXPECT_EQ(status_of({retrying(2, 9'000, 5'000)}), (RowStatus{.state = RowState::retrying,
                                                               .attempts = 2,
                                                               .last_error = http_500,
                                                               .next_attempt_at = at(9'000)}));
}

TEST(RowStatus, IsDeliveredWithoutAnErrorAfterASuccess) {
  EXPECT_EQ(status_of({succeeded(3, 7'000)}),
            (RowStatus{.state = RowState::delivered, .attempts = 3, .delivered_at = at(7'000)}));
}

TEST(RowStatus, IsFailedAfterTheLastAttempt) {
  EXPECT_EQ(status_of({dead(5, 8'000)}), (RowStatus{.state = RowState::failed,
                                                    .attempts = 5,
                                                    .last_error = "The connection was refused."}));
}

TEST(RowStatus, OfSeveralWebhooksIsDeliveredWhenAllAre) {
  EXPECT_EQ(status_of({succeeded(1, 3'000), waiting(4'000)}),
            (RowStatus{.state = RowState::pending, .attempts = 1, .next_attempt_at = at(4'000)}));
  EXPECT_EQ(status_of({succeeded(1, 3'000), retrying(2, 9'000, 5'000), retrying(1, 8'000, 6'000)}),
            (RowStatus{.state = RowState::retrying,
                       .attempts = 2,
                       .last_error = http_500,
                       .next_attempt_at = at(8'000)}));
  EXPECT_EQ(status_of({succeeded(1, 3'000), succeeded(4, 6'000), succeeded(2, 5'000)}),
            (RowStatus{.state = RowState::delivered, .attempts = 4, .delivered_at = at(6'000)}));
}

TEST(RowStatus, OfSeveralWebhooksIsFailedOnlyWhenNoneIsUnderWay) {
  EXPECT_EQ(status_of({dead(5, 8'000), waiting(9'000)}),
            (RowStatus{.state = RowState::retrying,
                       .attempts = 5,
                       .last_error = "The connection was refused.",
                       .next_attempt_at = at(9'000)}));
  EXPECT_EQ(
      status_of({dead(5, 8'000), succeeded(1, 9'000)}),
      (RowStatus{
          .state = RowState::failed, .attempts = 5, .last_error = "The connection was refused."}));
}

TEST(RowStatus, HasTheErrorOfTheLatestFailure) {
  RowDelivery later = dead(1, 9'000);
  later.error = "The name does not resolve.";
  const std::string expected = "The name does not resolve.";
  EXPECT_EQ(status_of({dead(5, 8'000), later}).last_error, expected);
  EXPECT_EQ(status_of({later, dead(5, 8'000)}).last_error, expected);
}

TEST(RowStatus, WithoutASubscriberIsDeliveredWithANote) {
  EXPECT_EQ(status_of({}), (RowStatus{.state = RowState::delivered,
                                      .last_error = "No webhook is subscribed to this event.",
                                      .delivered_at = published}));
}

TEST(RowStatus, IsFailedWhenADeliveryWasCancelled) {
  EXPECT_EQ(status_of({cancelled(4'000)}),
            (RowStatus{.state = RowState::failed, .last_error = "The delivery was cancelled."}));
  EXPECT_EQ(
      status_of({cancelled(4'000, true), succeeded(1, 2'000)}),
      (RowStatus{
          .state = RowState::failed, .attempts = 1, .last_error = "The webhook was removed."}));
  RowDelivery tried = cancelled(4'000);
  tried.attempts = 2;
  tried.failed_at = at(3'000);
  EXPECT_EQ(
      status_of({tried}),
      (RowStatus{.state = RowState::failed, .attempts = 2, .last_error = "The attempt failed."}));
}

TEST(RowStatus, IsUnderWayWhileDeliveriesAreStillToBeMade) {
  EXPECT_EQ(status_of({}, 3), (RowStatus{.state = RowState::pending}));
  EXPECT_EQ(status_of({succeeded(1, 2'000)}, 3),
            (RowStatus{.state = RowState::pending, .attempts = 1}));
}

TEST(RowStatus, IsFailedIfTheDeliveriesAreGone) {
  EXPECT_EQ(
      row_status({.published_at = published, .expected = 2}),
      (RowStatus{.state = RowState::failed,
                 .last_error = "The deliveries of this event were removed before they ended."}));
}

TEST(RowStatus, ErrorIsPrintableAndBounded) {
  EXPECT_EQ(row_error(std::string_view{"a\0b\nc\xc3\xa9\x7f", 9}), "a?b?c????");
  EXPECT_EQ(row_error(std::string(5'000, 'x')), std::string(row_error_bytes_max, 'x'));
}

TEST(RowStatus, NamesAreThoseOfTheTable) {
  EXPECT_EQ(to_string(RowState::pending), "pending");
  EXPECT_EQ(to_string(RowState::retrying), "retrying");
  EXPECT_EQ(to_string(RowState::delivered), "delivered");
  EXPECT_EQ(to_string(RowState::failed), "failed");
  EXPECT_FALSE(is_final(RowState::retrying));
  EXPECT_TRUE(is_final(RowState::failed));
}

}  // namespace
}  // namespace postrider
