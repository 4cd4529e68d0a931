#include "core/policy/webhook_caps.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

TEST(WebhookCaps, AreTheDefaultsUnlessTheTenantHasItsOwn) {
  const WebhookCaps defaults{.timeout = 20s, .in_flight = 10};
  EXPECT_EQ(caps_of({}, defaults), defaults);
  EXPECT_EQ(caps_of({.webhooks_max = 1, .timeout_ms_max = 5'000}, defaults),
            (WebhookCaps{.timeout = 5s, .in_flight = 10}));
  EXPECT_EQ(caps_of({.max_in_flight_max = 2}, defaults),
            (WebhookCaps{.timeout = 20s, .in_flight = 2}));
}

TEST(WebhookCaps, OfATenantMayBeLargerThanTheDefaults) {
  EXPECT_EQ(caps_of({.timeout_ms_max = 300'000, .max_in_flight_max = 1'000},
                    {.timeout = 20s, .in_flight = 10}),
            (WebhookCaps{.timeout = 300s, .in_flight = 1'000}));
}

TEST(WebhookCaps, CapNothingByDefault) {
  EXPECT_EQ(WebhookCaps{}.timeout, Millis::max());
  EXPECT_EQ(WebhookCaps{}.in_flight, 4'294'967'295u);
}

}  // namespace
}  // namespace postrider
