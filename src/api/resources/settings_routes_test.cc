#include <gtest/gtest.h>

#include "api/resources/api_world_test.h"

namespace postrider::api {
namespace {

TEST(SettingsRoutes, ListTheSettingsInForce) {
  ApiWorld world{[](ApiOptions& options) {
    options.settings = {{.name = "listen",
                         .value = "\"127.0.0.1:1\"",
                         .default_value = "\"127.0.0.1:8080\"",
                         .origin = "file",
                         .detail = "caf\xE9.toml:3",
                         .description = "The address.",
                         .reloads = false},
                        {.name = "dns.servers",
                         .value = "[]",
                         .default_value = "[]",
                         .origin = "default",
                         .detail = std::nullopt,
                         .description = "The servers.",
                         .reloads = true}};
  }};
  const Answer answer = world.call("GET", "/v1/settings");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.at("data.0"),
            "{\"name\":\"listen\",\"value\":\"127.0.0.1:1\",\"default\":\"127.0.0.1:8080\","
            "\"origin\":\"file\",\"detail\":\"caf\xEF\xBF\xBD.toml:3\","
            "\"description\":\"The address.\",\"reload\":false}");
  EXPECT_EQ(answer.at("data.1.value"), "[]");
  EXPECT_EQ(answer.at("data.1.detail"), "null");
  EXPECT_EQ(answer.at("data.1.reload"), "true");
  EXPECT_EQ(world.call("GET", "/v1/settings?x=1").status, 400);
}

}  // namespace
}  // namespace postrider::api
