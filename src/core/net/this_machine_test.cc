#include "core/net/this_machine.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(IsThisMachine, HoldsForLocalhostAndLoopbackAddressesOnly) {
  const auto is_local = [](const char* url) {
    const UrlPolicy policy{.allow_http = true, .addresses = {.allow_private = true}};
    const Result<TargetUrl> parsed = parse_target_url(url, policy);
    EXPECT_TRUE(parsed) << url;
    return parsed && is_this_machine(*parsed);
  };
  for (const char* url : {"http://localhost:8080", "http://LOCALHOST/", "http://127.0.0.1",
                          "http://127.9.9.9", "http://[::1]", "http://[::ffff:127.0.0.1]"}) {
    EXPECT_TRUE(is_local(url)) << url;
  }
  for (const char* url :
       {"http://localhost.example.com", "http://10.0.0.1", "http://[::2]", "http://128.0.0.1"}) {
    EXPECT_FALSE(is_local(url)) << url;
  }
}

}  // namespace
}  // namespace postrider
