#include "core/model/attempt.h"

#include <string_view>

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(ShortFailure, IsTheStatusOrTheCategory) {
  Outcome outcome;
  outcome.error_message = "10.0.0.1 refused the connection.";
  EXPECT_EQ(short_failure(outcome, FailureCategory::network), "network");
  outcome.http_status = 503;
  EXPECT_EQ(short_failure(outcome, FailureCategory::server_error), "HTTP 503");
}

TEST(FailureCategory, HasItsApiName) {
  struct Known {
    FailureCategory category;
    std::string_view name;
  };
  constexpr Known categories[] = {
      {FailureCategory::timeout, "timeout"},
      {FailureCategory::server_error, "server_error"},
      {FailureCategory::client_error, "client_error"},
      {FailureCategory::network, "network"},
      {FailureCategory::dns, "dns"},
      {FailureCategory::ssl, "ssl"},
      {FailureCategory::rate_limit, "rate_limit"},
      {FailureCategory::payload_too_large, "payload_too_large"},
      {FailureCategory::redirect, "redirect"},
      {FailureCategory::blocked_address, "blocked_address"},
      {FailureCategory::protocol, "protocol"},
  };
  EXPECT_EQ(std::size(categories), failure_category_count);
  for (const Known& known : categories) {
    EXPECT_EQ(to_string(known.category), known.name);
    EXPECT_EQ(parse_failure_category(known.name), known.category) << known.name;
  }
  for (const std::string_view text : {"", "Timeout", "time", "server error", "tls"}) {
    EXPECT_EQ(parse_failure_category(text), std::nullopt) << text;
  }
}

TEST(Trigger, HasItsApiName) {
  struct Known {
    Trigger trigger;
    std::string_view name;
  };
  constexpr Known triggers[] = {{Trigger::scheduled, "scheduled"},
                                {Trigger::manual, "manual"},
                                {Trigger::replay, "replay"},
                                {Trigger::test, "test"}};
  for (const Known& known : triggers) {
    EXPECT_EQ(to_string(known.trigger), known.name);
    EXPECT_EQ(parse_trigger(known.name), known.trigger) << known.name;
  }
  for (const std::string_view text : {"", "Scheduled", "tests", "retry"}) {
    EXPECT_EQ(parse_trigger(text), std::nullopt) << text;
  }
}

// The values are stored in the database. Changing one would change the meaning of old rows.
TEST(Attempt, EnumValuesMatchTheStoredNumbers) {
  EXPECT_EQ(static_cast<int>(FailureCategory::timeout), 0);
  EXPECT_EQ(static_cast<int>(FailureCategory::rate_limit), 6);
  EXPECT_EQ(static_cast<int>(FailureCategory::protocol), 10);
  EXPECT_EQ(static_cast<int>(Trigger::scheduled), 0);
  EXPECT_EQ(static_cast<int>(Trigger::test), 3);
}

TEST(Attempt, IsFirstAndScheduledByDefault) {
  const Attempt attempt;
  EXPECT_EQ(attempt.number, 1u);
  EXPECT_EQ(attempt.trigger, Trigger::scheduled);
  EXPECT_EQ(attempt.failure_category, std::nullopt);
  EXPECT_EQ(attempt.outcome.timings, Timings{});
}

TEST(Attempt, ComparesItsOutcome) {
  Attempt one;
  Attempt other;
  EXPECT_EQ(one, other);
  other.outcome.timings.tls = Micros{1};
  EXPECT_NE(one, other);
  one.outcome.timings.tls = Micros{1};
  EXPECT_EQ(one, other);
  one.outcome.response_headers = {{"a", "b"}};
  EXPECT_NE(one, other);
}

}  // namespace
}  // namespace postrider
