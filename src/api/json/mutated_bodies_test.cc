// Bodies that were good once: thousands of small damages, none of which may be our fault.
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/json/json_text.h"

#include "api/resources/api_world_test.h"

namespace postrider::api {
namespace {

constexpr int rounds = 2'000;
constexpr std::string_view tokens[] = {"null", "{}", "[]", "-1", "1e400", "\"\"", "\\u0000", "\xFF",
                                       "\"",   ",",  ":",  "}",  "]",     "true", "\n",      "0"};

/// One to four random edits.
std::string damage(std::string text, SplitMix64& random) {
  const std::uint64_t edits = 1 + random.below(4);
  for (std::uint64_t edit = 0; edit < edits; ++edit) {
    const std::size_t at = random.below(text.size());
    const std::size_t length = random.below(12);
    const std::string_view token = tokens[random.below(std::size(tokens))];
    switch (random.below(3)) {
      case 0:
        text.replace(at, length, token);
        break;
      case 1:
        text.insert(at, text.substr(random.below(text.size()), length));
        break;
      default:
        text[at] = static_cast<char>(random.below(256));
    }
    text += text.empty() ? " " : "";
  }
  return text;
}

/// Counts of answers by status class; every answer is JSON and none blames the server.
void check_damaged(const std::string& path, const std::string& body, std::uint64_t seed) {
  ApiWorld world;
  SplitMix64 random{seed};
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string damaged = damage(body, random);
    const Answer answer = world.call("POST", path, damaged);
    ASSERT_LT(answer.status, 500) << damaged;
    ASSERT_TRUE(check_json(answer.body)) << damaged << "\n" << answer.body;
    ASSERT_LT(answer.body.size(), 20'000u) << damaged;
    (answer.status < 300 ? accepted : refused) += 1;
  }
  EXPECT_EQ(world.call("POST", path, body).status / 100, 2);
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, rounds / 2);
}

TEST(MutatedBodies, OfWebhooksAreTakenOrRefusedWithAReason) {
  check_damaged("/v1/webhooks",
                R"({"url":"https://example.com/x?y=1","events":["order.*","swap.created"],)"
                R"("name":"n","description":"d","tenant_id":"t","owner_id":"o","resource_id":"r",)"
                R"("headers":{"X-A":"1","Authorization":"b"},"metadata":{"a":[1,2.5,"x"]},)"
                R"("signature":{"scheme":"t-v1","header_prefix":"X-Mine-"},"active":true,)"
                R"("payload_format":"raw","retry_config":{"preset":"quick","max_attempts":"auto",)"
                R"("jitter":{"minus":0.1},"schedule_ms":[1,2],"permanent_statuses":[404]},)"
                R"("circuit_breaker_config":{"window":"count","window_calls":20},)"
                R"("rate_limit":{"requests_per_minute":60,"burst":5},"max_in_flight":3,)"
                R"("ordering_guarantee":"strict","timeout_ms":1000})",
                1);
}

TEST(MutatedBodies, OfEventsAreTakenOrRefusedWithAReason) {
  check_damaged("/v1/events",
                R"({"type":"order.created","data":{"a":[1,2.5,"x"],"b":null},"tenant_id":"t",)"
                R"("resource_id":"r","source":"s","priority":"high","ordering_key":"o",)"
                R"("timestamp":"2026-01-31T23:59:59Z","metadata":{"m":1}})",
                2);
}

TEST(MutatedBodies, OfBatchesAreTakenOrRefusedWithAReason) {
  check_damaged(
      "/v1/events/batch?atomic=false",
      R"({"events":[{"type":"a","data":1},{"type":"b","data":[2]},{"type":"c","data":{}}]})", 3);
}

}  // namespace
}  // namespace postrider::api
