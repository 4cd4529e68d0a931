#include "core/net/tenant_text.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(TenantText, ReplacesInternalAddresses) {
  const auto shown = [](std::string_view text) { return without_internal_addresses(text); };
  EXPECT_EQ(shown("Could not connect to 10.1.2.3 port 443: refused."),
            "Could not connect to an internal address port 443: refused.");
  EXPECT_EQ(shown("127.0.0.1"), "an internal address");
  EXPECT_EQ(shown("to 127.0.0.1:8080, (fd00::1) or [::1]:80."),
            "to an internal address, (an internal address) or [an internal address]:80.");
  EXPECT_EQ(shown("::ffff:192.168.0.1: no route."), "an internal address: no route.");
  EXPECT_EQ(shown("private (10.0.0.0/8)."), "private (an internal address).");
}

TEST(TenantText, KeepsEverythingElse) {
  for (const std::string_view text :
       {"", ".", "Could not connect to 93.184.216.34 port 443: refused.", "2001:4860::1 is public.",
        "The receiver answered 503 at 12:30.", "face: bad", "a/b/c 1.2.3.4.5", "   ", "10.0"}) {
    EXPECT_EQ(without_internal_addresses(text), text);
  }
}

TEST(TenantText, DoesNotSayWhichRuleRefusedAnAddress) {
  EXPECT_EQ(without_internal_addresses(
                "Requests to this address are not allowed: 10.0.0.5: private (10.0.0.0/8)."),
            "Requests to this address are not allowed.");
  EXPECT_EQ(without_internal_addresses("Last: Requests to this address are not allowed: "
                                       "8.8.8.8: denied by the operator (8.8.8.0/24)."),
            "Last: Requests to this address are not allowed.");
}

TEST(TenantText, KnowsPublicAddresses) {
  EXPECT_TRUE(is_public_address("93.184.216.34"));
  EXPECT_FALSE(is_public_address("10.0.0.1"));
  EXPECT_FALSE(is_public_address("::1"));
  EXPECT_FALSE(is_public_address(""));
  EXPECT_FALSE(is_public_address("example.com"));
}

}  // namespace
}  // namespace postrider
