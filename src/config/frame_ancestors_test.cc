#include "config/frame_ancestors.h"

#include <gtest/gtest.h>

namespace postrider::config {
namespace {

using List = std::vector<std::string>;

TEST(FrameAncestors, AreNoneUnlessGiven) {
  EXPECT_EQ(read_frame_ancestors({}), List{"none"});
  EXPECT_EQ(read_frame_ancestors({"none"}), List{"none"});
  EXPECT_EQ(read_frame_ancestors({"'none'"}), List{"none"});
}

TEST(FrameAncestors, AreTheServerItselfAndOrigins) {
  const List origins = {"self",
                        "https://app.example.com",
                        "https://app.example.com:8443",
                        "https://*.example.com",
                        "https://192.0.2.7",
                        "http://localhost:3000",
                        "http://127.0.0.1:3000",
                        "http://127.1.2.3"};
  EXPECT_EQ(read_frame_ancestors(origins), origins);
  EXPECT_EQ(read_frame_ancestors({"'self'"}), List{"self"});
}

TEST(FrameAncestors, EverythingElseIsRefused) {
  for (const char* entry : {"",
                            "*",
                            "'",
                            "''",
                            "self'",
                            "https:",
                            "https://",
                            "https://*",
                            "https://*.",
                            "https://a.*.example.com",
                            "https://example.com/",
                            "https://example.com/a",
                            "https://example.com?",
                            "https://user@example.com",
                            "https://example.com:",
                            "https://example.com:0",
                            "https://example.com:65536",
                            "https://example.com:*",
                            "https://example..com",
                            "https://.example.com",
                            "https://example.com.",
                            "https://example.com; script-src *",
                            "https://a.com https://b.com",
                            "https://a.com,https://b.com",
                            "https://ex\nample.com",
                            "https://[::1]",
                            "http://[::1]",
                            "http://example.com",
                            "http://localhost.example.com",
                            "http://127.example.com",
                            "http://127.0.0.1.example.com",
                            "http://10.0.0.1",
                            "http://*.localhost",
                            "HTTPS://a.com",
                            "ftp://example.com",
                            "data:",
                            "example.com",
                            "none self"}) {
    EXPECT_EQ(read_frame_ancestors({entry}), std::nullopt) << entry;
    EXPECT_EQ(read_frame_ancestors({"https://ok.example.com", entry}), std::nullopt) << entry;
  }
  EXPECT_EQ(read_frame_ancestors({"none", "self"}), std::nullopt);
  EXPECT_EQ(read_frame_ancestors({"self", "'none'"}), std::nullopt);
  EXPECT_EQ(read_frame_ancestors(List(frame_ancestors_max + 1, "self")), std::nullopt);
  EXPECT_EQ(read_frame_ancestors({"https://" + std::string(254, 'a')}), std::nullopt);
}

}  // namespace
}  // namespace postrider::config
