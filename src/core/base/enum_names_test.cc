#include "core/base/enum_names.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "core/model/attempt.h"
#include "core/model/delivery.h"
#include "core/model/event.h"
#include "core/model/webhook.h"
#include "core/policy/breaker.h"
#include "core/policy/retry.h"

namespace postrider {
namespace {

/// Expects that the enum's values have the names in `want`, in order, that the names are distinct
/// and that `parse` accepts exactly these.
template <class Enum>
void expect_names(std::initializer_list<std::string_view> want,
                  std::optional<Enum> (*parse)(std::string_view)) {
  std::set<std::string_view> seen;
  std::size_t index = 0;
  for (const std::string_view name : want) {
    const auto value = static_cast<Enum>(index++);
    EXPECT_EQ(to_string(value), name);
    EXPECT_EQ(parse(name), value) << name;
    EXPECT_TRUE(seen.insert(name).second) << name << " twice";

    EXPECT_FALSE(parse(std::string{name} + " ")) << name;
    EXPECT_FALSE(parse(name.substr(1))) << name;
    std::string upper{name};
    upper[0] = static_cast<char>(upper[0] - 'a' + 'A');
    EXPECT_FALSE(parse(upper)) << upper;
  }
  EXPECT_FALSE(parse(""));
  EXPECT_DEATH(static_cast<void>(to_string(static_cast<Enum>(index))), "assertion failed")
      << "a value without a name";
}

TEST(EnumNames, MatchTheApiAndRoundTrip) {
  expect_names({"timeout", "server_error", "client_error", "network", "dns", "ssl", "rate_limit",
                "payload_too_large", "redirect", "blocked_address", "protocol"},
               parse_failure_category);
  expect_names({"scheduled", "manual", "replay", "test"}, parse_trigger);
  expect_names({"high", "normal", "low"}, parse_priority);
  expect_names({"pending", "retrying", "succeeded", "dead_letter", "cancelled"},
               parse_delivery_state);
  expect_names({"permanent", "recoverable"}, parse_classification);
  expect_names({"closed", "open", "half_open"}, parse_circuit_state);
  expect_names({"time", "count"}, parse_breaker_window);
  expect_names({"standard", "patient", "sensitive"}, parse_breaker_preset);
  expect_names({"patient", "balanced", "quick", "steep", "hourly", "stepped", "standard"},
               parse_retry_preset);
  expect_names({"none", "per_event_type", "strict"}, parse_ordering);
}

}  // namespace
}  // namespace postrider
