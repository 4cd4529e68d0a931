#include "adapters/json_schema/formats.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace postrider::json_schema {
namespace {

bool fits(std::string_view name, std::string_view text) {
  const std::optional<Format> format = find_format(name);
  return format && has_format(text, *format);
}

TEST(Formats, AcceptAndReject) {
  EXPECT_TRUE(fits("date-time", "2026-01-31T23:59:59.123Z"));
  EXPECT_TRUE(fits("date-time", "2026-01-31T23:59:59+01:00"));
  EXPECT_FALSE(fits("date-time", "2026-02-30T00:00:00Z"));
  EXPECT_TRUE(fits("date", "2024-02-29"));
  EXPECT_FALSE(fits("date", "2026-02-29"));
  EXPECT_FALSE(fits("date", "2026-02-2"));
  EXPECT_TRUE(fits("ipv4", "10.0.0.1"));
  EXPECT_FALSE(fits("ipv4", "::1"));
  EXPECT_TRUE(fits("ipv6", "::1"));
  EXPECT_FALSE(fits("ipv6", "10.0.0.1"));
  EXPECT_TRUE(fits("uuid", "0190b5d8-8f3a-7c2e-9d41-4c2f5a6b7c8d"));
  EXPECT_FALSE(fits("uuid", "0190b5d8"));
  EXPECT_FALSE(fits("date-time", std::string(200'000, '1')));
}

TEST(Formats, HaveNames) {
  EXPECT_FALSE(find_format("hostname"));
  for (const std::string_view name : {"date-time", "date", "ipv4", "ipv6", "uuid"}) {
    EXPECT_EQ(name_of(*find_format(name)), name);
  }
}

}  // namespace
}  // namespace postrider::json_schema
