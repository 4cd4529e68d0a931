// Sends valid bodies with random or systematic damage. Each must be accepted or refused with a
// problem document that states the reason.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/json/json_text.h"

#include "api/json/json_writer.h"
#include "api/resources/api_world_test.h"

namespace postrider::api {
namespace {

constexpr int rounds = 2'000;
constexpr std::string_view tokens[] = {"null", "{}", "[]", "-1", "1e400", "\"\"", "\\u0000", "\xFF",
                                       "\"",   ",",  ":",  "}",  "]",     "true", "\n",      "0"};
constexpr std::string_view values[] = {"null",  "{}",   "[]",    "-1",          "0",
                                       "1e400", "true", R"("")", R"("\u0000")", R"({"x":1})"};

constexpr std::string_view webhook =
    R"({"url":"https://example.com/x?y=1","events":["order.*","swap.created"],)"
    R"("name":"n","description":"d","tenant_id":"t","owner_id":"o","resource_id":"r",)"
    R"("headers":{"X-A":"1","Authorization":"b"},"metadata":{"a":[1,2.5,"x"]},)"
    R"("signature":{"scheme":"t-v1","header_prefix":"X-Mine-"},"active":true,)"
    R"("payload_format":"raw","payload":{"form":"sorted"},"retry_config":{"preset":"quick","max_attempts":"auto",)"
    R"("jitter":{"minus":0.1},"schedule_ms":[1,2],"permanent_statuses":[404]},)"
    R"("circuit_breaker_config":{"window":"count","window_calls":20},)"
    R"("rate_limit":{"requests_per_minute":60,"burst":5},"max_in_flight":3,)"
    R"("ordering_guarantee":"strict","timeout_ms":1000})";
constexpr std::string_view event =
    R"({"type":"order.created","data":{"a":[1,2.5,"x"],"b":null},"tenant_id":"t",)"
    R"("resource_id":"r","source":"s","priority":"high","ordering_key":"o",)"
    R"("timestamp":"2026-01-31T23:59:59Z","metadata":{"m":1}})";
constexpr std::string_view batch =
    R"({"events":[{"type":"a","data":1},{"type":"b","data":[2]},{"type":"c","data":{}}]})";

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

std::vector<std::string> error_fields(const Answer& answer) {
  std::vector<std::string> fields;
  for (std::size_t index = 0;; ++index) {
    const std::string path = "errors." + std::to_string(index);
    if (answer.at(path) == "(none)") {
      return fields;
    }
    EXPECT_GT(answer.at(path + ".message").size(), std::string_view{"(none)"}.size());
    fields.push_back(answer.at(path + ".field"));
  }
}

/// A refusal is a problem document with a known code, a sentence, and the fields that are wrong.
void expect_problem(const Answer& answer) {
  const std::map<int, std::set<std::string>> codes = {
      {400, {"invalid_json"}},
      {413, {"body_too_large", "data_too_large"}},
      {422, {"unacceptable_json", "unknown_field", "validation_failed"}}};
  EXPECT_EQ(answer.content_type, "application/problem+json");
  ASSERT_TRUE(codes.contains(answer.status)) << answer.status;
  const std::string code = answer.at("code");
  EXPECT_TRUE(codes.at(answer.status).contains(code)) << code;
  EXPECT_EQ(answer.at("type"), "urn:postrider:problem:" + code);
  EXPECT_EQ(answer.at("status"), std::to_string(answer.status));
  const std::string detail = answer.at("detail");
  EXPECT_GT(detail.size(), 10u) << detail;
  EXPECT_TRUE(detail.ends_with('.')) << detail;
  if (code == "unknown_field" || code == "validation_failed") {
    const std::vector<std::string> fields = error_fields(answer);
    ASSERT_FALSE(fields.empty());
    EXPECT_TRUE(detail.starts_with("`" + fields.front() + "` ")) << detail;
  }
}

/// Each error names a field of the body or a required field that is missing.
void expect_fields_of(const std::string& body, const Answer& answer) {
  const Result<std::vector<JsonMember>> members = read_json_object(body);
  if (!members) {
    EXPECT_NE(answer.at("code"), "validation_failed");
    EXPECT_NE(answer.at("code"), "unknown_field");
    return;
  }
  std::vector<std::string> names = {"url", "events", "type", "data"};
  for (const JsonMember& member : *members) {
    names.push_back(clip(member.key, 64));
  }
  for (const std::string& field : error_fields(answer)) {
    EXPECT_TRUE(std::ranges::any_of(names, [&](const std::string& name) {
      return field.starts_with(name);
    })) << field;
  }
}

void check_damaged(const std::string& path, std::string_view body, std::uint64_t seed) {
  ApiWorld world;
  SplitMix64 random{seed};
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string damaged = damage(std::string{body}, random);
    const Answer answer = world.call("POST", path, damaged);
    SCOPED_TRACE(damaged + "\n" + answer.body);
    ASSERT_TRUE(check_json(answer.body));
    ASSERT_LT(answer.body.size(), 20'000u);
    if (answer.status < 300) {
      ++accepted;
      continue;
    }
    ++refused;
    expect_problem(answer);
    expect_fields_of(damaged, answer);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_EQ(world.call("POST", path, std::string{body}).status / 100, 2);
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, rounds / 2);
}

/// A member of a body: its dotted path, and its value in the text of the body.
struct Member {
  std::string path;
  std::string_view value;
};

/// The members of an object and of the objects directly in it.
std::vector<Member> members_of(std::string_view text, const std::string& parent = {}) {
  const Result<std::vector<JsonMember>> members = read_json_object(text);
  EXPECT_TRUE(members) << text;
  std::vector<Member> all;
  for (const JsonMember& member : *members) {
    const std::string path = parent.empty() ? member.key : parent + "." + member.key;
    all.push_back({path, member.value});
    if (parent.empty() && member.value.starts_with('{')) {
      const std::vector<Member> inner = members_of(member.value, path);
      all.insert(all.end(), inner.begin(), inner.end());
    }
  }
  return all;
}

/// Replaces the value of one member after the other. A refusal must name that member. Members in
/// `free` accept any value.
void check_replaced(const std::string& path, std::string_view body,
                    const std::set<std::string>& free) {
  ApiWorld world;
  for (const Member& member : members_of(body)) {
    int refused = 0;
    for (const std::string_view value : values) {
      std::string changed{body};
      changed.replace(static_cast<std::size_t>(member.value.data() - body.data()),
                      member.value.size(), value);
      const Answer answer = world.call("POST", path, changed);
      SCOPED_TRACE(member.path + ": " + std::string{value} + "\n" + answer.body);
      if (answer.status < 300) {
        continue;
      }
      ++refused;
      expect_problem(answer);
      EXPECT_EQ(answer.status, 422);
      const std::vector<std::string> fields = error_fields(answer);
      EXPECT_FALSE(fields.empty());
      for (const std::string& field : fields) {
        EXPECT_TRUE(field.starts_with(member.path)) << field;
      }
    }
    EXPECT_EQ(refused > 0, !free.contains(member.path)) << member.path;
  }
}

TEST(MutatedBodies, DamagedWebhooksAreAcceptedOrRefusedWithAReason) {
  check_damaged("/v1/webhooks", webhook, 1);
}

TEST(MutatedBodies, DamagedEventsAreAcceptedOrRefusedWithAReason) {
  check_damaged("/v1/events", event, 2);
}

TEST(MutatedBodies, DamagedBatchesAreAcceptedOrRefusedWithAReason) {
  check_damaged("/v1/events/batch?atomic=false", batch, 3);
}

TEST(MutatedBodies, AWrongFieldOfAWebhookIsNamed) {
  check_replaced("/v1/webhooks", webhook, {"metadata.a"});
}

TEST(MutatedBodies, AWrongFieldOfAnEventIsNamed) {
  check_replaced("/v1/events", event, {"data", "data.a", "data.b", "metadata.m"});
}

}  // namespace
}  // namespace postrider::api
