// Secrets, verification, test sends and alerts through the router.
#include <gtest/gtest.h>

#include "core/request/signature.h"

#include "api/resources/api_world_test.h"
#include "api/resources/verification.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

using namespace std::chrono_literals;

Outcome answered(std::uint16_t status, std::string body = {}) {
  Outcome outcome;
  outcome.http_status = status;
  outcome.response_sample = std::move(body);
  return outcome;
}

/// A receiver that repeats the challenge.
Outcome echo(const Event& event) { return answered(200, event.data); }

TEST(Verification, RequiresA2xxAnswerThatRepeatsTheChallenge) {
  const auto fault = [](const Outcome& outcome) {
    return verification_fault(outcome, "abc").value_or("");
  };
  EXPECT_EQ(fault(answered(200, "abc")), "");
  EXPECT_EQ(fault(answered(299, "\r\n abc\n")), "");
  EXPECT_EQ(fault(answered(200, "\"abc\"")), "");
  EXPECT_EQ(fault(answered(200, R"({"a":{},"challenge":"a\u0062c"})")), "");
  for (const char* body : {"", "abcd", "ab", "{\"challenge\":\"ab\"}", "{\"challenge\":null}",
                           "{\"challenge\":\"abc\"", "[\"abc\"]", "{\"x\":\"abc\"}"}) {
    EXPECT_NE(fault(answered(200, body)).find("does not repeat"), std::string::npos) << body;
  }
  EXPECT_NE(fault(answered(199, "abc")).find("answered 199"), std::string::npos);
  EXPECT_NE(fault(answered(300, "abc")).find("answered 300"), std::string::npos);
  Outcome cut = answered(200, "abc");
  cut.failure = FailureCategory::timeout;
  cut.error_message = "Too slow.";
  EXPECT_EQ(fault(cut), "The URL could not be verified: Too slow.");
}

TEST(VerificationRoutes, ServerCanRequireVerification) {
  ApiWorld world;
  const std::string body = R"({"url":"https://example.com/","events":["*"],"verify_url":true})";
  world.service().receive = [](const Webhook&, const Event& event) { return echo(event); };
  EXPECT_EQ(world.call("POST", "/v1/webhooks", body).at("active"), "true");
  world.service().receive = nullptr;
  const Answer silent = world.call("POST", "/v1/webhooks", body);
  EXPECT_EQ(silent.status, 201);
  EXPECT_EQ(silent.at("active"), "false");
  EXPECT_EQ(silent.at("disabled_reason"),
            "The URL could not be verified: The receiver did not answer in time.");
}

TEST(SecretRoutes, AuditsReadingAndRotatingASecret) {
  ApiWorld world;
  const std::string path = "/v1/webhooks/" + world.make_webhook() + "/secret";
  auto& audit = world.service().store.audit;
  audit.clear();
  const Answer shown = world.call("GET", path);
  const Answer rotated = world.call("POST", path + "/rotate", R"({"grace_period_seconds":60})");
  EXPECT_NE(shown.at("secret"), rotated.at("secret"));
  EXPECT_EQ(rotated.at("set_at"), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(rotated.at("old_secrets.0.ends_at"), "2026-01-01T00:01:00.000Z");
  ASSERT_EQ(audit.size(), 2u);
  EXPECT_EQ(audit[0].entry.action, "webhook.secret.read");
  EXPECT_EQ(audit[1].entry.action, "webhook.secret.rotate");
  EXPECT_EQ(audit[1].entry.detail, R"({"grace_period_seconds":60})");

  world.service().moment.wall += 60s;
  EXPECT_EQ(world.call("GET", path).at("old_secrets.0.ends_at"), "(none)");
}

TEST(SecretRoutes, DoesNotShowASecretIfTheAuditFails) {
  ApiWorld world;
  const std::string id = world.make_webhook();
  world.service().store_failure = Error{Errc::unavailable, "No disk."};
  const Answer refused = world.call("GET", "/v1/webhooks/" + id + "/secret");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body.find("whsec_"), std::string::npos);
}

TEST(SecretRoutes, PatchingTheSecretSetsItsTime) {
  ApiWorld world;
  const std::string path = "/v1/webhooks/" + world.make_webhook();
  world.service().moment.wall += 1h;
  EXPECT_EQ(world.call("PATCH", path, R"({"name":"x"})").at("secret_set_at"),
            "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(
      world.call("PATCH", path, R"({"secret":"0123456789012345678901234"})").at("secret_set_at"),
      "2026-01-01T01:00:00.000Z");
}

TEST(TestRoutes, AnswersWithTheAttempt) {
  ApiWorld world;
  const std::string path = "/v1/webhooks/" + world.make_webhook() + "/test";
  world.service().receive = [](const Webhook&, const Event& event) {
    EXPECT_EQ(event.type, "postrider.test");
    EXPECT_EQ(event.data, R"({"message":"This is a test."})");
    return answered(500);
  };
  const Answer sent = world.call("POST", path);
  EXPECT_EQ(sent.status, 200) << sent.body;
  EXPECT_EQ(sent.at("attempt.http_status"), "500");
  EXPECT_EQ(sent.at("attempt.request.headers.webhook-id"), sent.at("event_id"));
  EXPECT_NE(sent.at("attempt.request.body").find("This is a test."), std::string::npos);
  world.service().receive = nullptr;
  const Answer slow = world.call("POST", path, R"({"event_type":null,"data":null})");
  EXPECT_EQ(slow.status, 202);
  EXPECT_EQ(world.call("GET", "/v1/deliveries/" + slow.at("delivery_id")).at("trigger"), "test");
}

TEST(TestRoutes, BinaryResponseSampleStaysWithinItsLimit) {
  ApiWorld world;
  const std::string path = "/v1/webhooks/" + world.make_webhook() + "/test";
  const auto shown = [&](const std::string& sample) {
    world.service().receive = [&](const Webhook&, const Event&) { return answered(500, sample); };
    return world.call("POST", path).at("attempt.response_sample");
  };
  EXPECT_EQ(shown(std::string(1024, 'a')), std::string(1024, 'a'));
  const std::string wide = shown(std::string(1024, '\xFF'));
  EXPECT_EQ(wide.size(), 1023u);  // 341 times U+FFFD, three bytes each.
  EXPECT_TRUE(wide.ends_with("\uFFFD"));
}

TEST(TestRoutes, RejectsABlockedLaneButNotABusyOne) {
  ApiWorld world;
  const std::string id = world.make_webhook();
  const auto send_while = [&](BlockReason reason) {
    world.service().lanes[*WebhookId::parse(id)].blocked = reason;
    return world.call("POST", "/v1/webhooks/" + id + "/test").status;
  };
  EXPECT_EQ(send_while(BlockReason::paused), 409);
  EXPECT_EQ(send_while(BlockReason::inactive), 409);
  EXPECT_EQ(send_while(BlockReason::circuit), 409);
  EXPECT_EQ(send_while(BlockReason::store), 503);
  EXPECT_EQ(send_while(BlockReason::drain), 503);
  EXPECT_EQ(send_while(BlockReason::rate), 202);
  EXPECT_EQ(send_while(BlockReason::slots), 202);
  EXPECT_EQ(send_while(BlockReason::order), 202);
}

TEST(DisablingRoutes, ReactivatedWebhookIsOfferedAReplay) {
  ApiWorld world;
  const std::string id = world.make_webhook();
  const std::string path = "/v1/webhooks/" + id;
  world.service().apply_now(*WebhookId::parse(id), [&](const Webhook& current) -> Result<Webhook> {
    Webhook off = current;
    switch_off(off, "Gone.", world.service().moment.wall);
    return off;
  });
  EXPECT_EQ(world.call("GET", path).at("disabled_reason"), "Gone.");
  world.service().moment.wall += 1h;
  EXPECT_EQ(world.call("PATCH", path, R"({"name":"x"})").at("replay.since"), "(none)");
  const Answer on = world.call("PATCH", path, R"({"active":true})");
  EXPECT_EQ(on.at("replay.since"), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(on.at("replay.path"), path + "/replay");
  EXPECT_EQ(world.call("PATCH", path, R"({"active":true})").at("replay.since"), "(none)");
}

}  // namespace
}  // namespace postrider::api
