// POST /v1/webhooks/preview through the router.
#include <gtest/gtest.h>

#include "adapters/openssl/digest.h"
#include "adapters/openssl/hmac_key.h"
#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

constexpr const char* path = "/v1/webhooks/preview";
const std::string minimal = R"("webhook":{"url":"https://example.com/a","events":["order.*"]})";

std::string header_of(const Answer& answer, std::string_view name) {
  for (int index = 0;; ++index) {
    const std::string header = "request.headers." + std::to_string(index);
    if (answer.at(header) == "(none)" || answer.at(header + ".name") == name) {
      return answer.at(header + ".value");
    }
  }
}

TEST(WebhookPreview, ShowsTheEffectiveWebhookAndStoresNothing) {
  ApiWorld world;
  const std::size_t audited = world.service().store.audit.size();
  const Answer shown = world.call("POST", path, "{" + minimal + "}");
  ASSERT_EQ(shown.status, 200) << shown.body;
  EXPECT_EQ(shown.header("Cache-Control"), "no-store");
  EXPECT_EQ(shown.at("webhook.max_in_flight"), "5");
  EXPECT_EQ(shown.at("webhook.retry_config.preset"), "patient");
  EXPECT_EQ(shown.at("webhook.secret"), "(none)");
  EXPECT_EQ(shown.at("matches"), "null");
  EXPECT_EQ(shown.at("request"), "null");
  EXPECT_EQ(shown.at("signed_with"), "example_secret");
  EXPECT_TRUE(world.service().store.webhooks.empty());
  EXPECT_EQ(world.service().store.audit.size(), audited);
}

TEST(WebhookPreview, ShowsWhenAFailingDeliveryIsRetried) {
  ApiWorld world;
  const Answer shown = world.call(
      "POST", path,
      R"({"webhook":{"url":"https://example.com/","events":["*"],"retry_config":{"max_attempts":3}}})");
  EXPECT_EQ(
      shown.at("retry_schedule"),
      R"([{"attempt":2,"delay_ms":30000,"delay_min_ms":27000,"delay_max_ms":33000,"at_ms":30000},)"
      R"({"attempt":3,"delay_ms":60000,"delay_min_ms":54000,"delay_max_ms":66000,"at_ms":90000}])");
}

TEST(WebhookPreview, SaysWhichConditionAnEventMeets) {
  ApiWorld world;
  const std::string webhook =
      R"("webhook":{"url":"https://example.com/","events":["order.*"],"tenant_id":"acme",)"
      R"("resource_id":"r1","filter":{"data":{"n":[{"numeric":[">",5]}]}}})";
  const auto matches = [&](const std::string& event) {
    return world.call("POST", path, "{" + webhook + R"(,"event":)" + event + "}").at("matches");
  };
  EXPECT_EQ(matches(R"({"type":"order.paid","data":{"n":6},"resource_id":"r1"})"),
            R"({"event_type":true,"filter":true,"tenant":true,"resource":true})")
      << "an event without a tenant is the webhook's";
  EXPECT_EQ(matches(R"({"type":"user.new","data":{"n":6},"resource_id":"r1"})"),
            R"({"event_type":false,"filter":true,"tenant":true,"resource":true})");
  EXPECT_EQ(matches(R"({"type":"order.paid","data":{"n":5},"tenant_id":"b","resource_id":"r2"})"),
            R"({"event_type":true,"filter":false,"tenant":false,"resource":false})");
}

TEST(WebhookPreview, ShowsTheExactRequestSignedWithTheWebhooksSecret) {
  ApiWorld world;
  const std::string secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz";
  const std::string id = world.make_webhook(
      R"("secret":")" + secret + R"(","headers":{"Authorization":"Bearer hush","X-Plain":"1"})");
  const Answer shown =
      world.call("POST", path,
                 R"({"webhook_id":")" + id +
                     R"(","webhook":{"payload_format":"raw","signature":{"scheme":"sha256-body"}},)"
                     R"("event":{"type":"order.paid","data":{"n": 1}}})");
  ASSERT_EQ(shown.status, 200) << shown.body;
  EXPECT_EQ(shown.at("webhook.id"), id);
  EXPECT_EQ(shown.at("webhook.payload_format"), "raw");
  EXPECT_EQ(shown.at("request.method"), "POST");
  EXPECT_EQ(shown.at("request.url"), "https://example.com/");
  EXPECT_EQ(shown.at("request.body"), R"({"n": 1})");
  EXPECT_EQ(header_of(shown, "Content-Length"), "8");
  EXPECT_EQ(header_of(shown, "X-Plain"), "1");
  EXPECT_EQ(header_of(shown, "Authorization"), "[hidden]");
  EXPECT_EQ(header_of(shown, "X-Webhook-Signature"),
            "sha256=" + to_hex(HmacKey{Secret<std::string>{secret}}.sign("", R"({"n": 1})")));
  EXPECT_EQ(shown.at("signed_with"), "webhook_secret");
  EXPECT_EQ(shown.body.find("hush"), std::string::npos);
  EXPECT_EQ(shown.body.find("whsec_"), std::string::npos);
  EXPECT_EQ(world.call("GET", "/v1/webhooks/" + id).at("payload_format"), "standard");
}

TEST(WebhookPreview, RefusesWhatCreationRefuses) {
  ApiWorld world;
  const std::pair<std::string, std::string> cases[] = {
      {R"({"webhook":{"url":"http://10.0.0.1/","events":["*"]}})", "url"},
      {R"({"webhook":{"url":"https://example.com/"}})", "events"},
      {R"({"webhook":{"url":"https://example.com/","events":["*"],"filter":{"data":{"a":1}}}})",
       "filter.data.a"},
      {R"({"webhook":{"url":"https://example.com/","events":["*"],"colour":1}})", "colour"},
      {"{" + minimal + R"(,"event":{"type":"order.paid"}})", "event.data"},
      {"{" + minimal + R"(,"event":{"type":"a b","data":1}})", "event.type"},
      {"{" + minimal + R"(,"event":3})", "event"},
      {"{" + minimal + R"(,"colour":3})", "colour"},
      {R"({"webhook_id":"whk_00000000000000000000000000"})", "webhook_id"},
      {R"({"webhook_id":"x"})", "webhook_id"},
      {R"({"webhook_id":null})", "webhook"},
      {"{}", "webhook"}};
  for (const auto& [body, field] : cases) {
    const Answer refused = world.call("POST", path, body);
    EXPECT_EQ(refused.status, 422) << body;
    EXPECT_EQ(refused.at("errors.0.field"), field) << body << refused.body;
  }
}

TEST(WebhookPreview, ReachesOnlyTheTenantsOwnData) {  // P11
  ApiWorld world;
  const std::string theirs = world.make_webhook(R"("tenant_id":"theirs","name":"hidden name")");
  world.service().add_key({.id = KeyId{world.service().new_uuid()},
                           .name = "mine",
                           .sha256 = sha256("prk_mine"),
                           .scope = KeyScope::tenant,
                           .tenant_id = "mine",
                           .created_at = {}});
  const auto preview = [&](const std::string& body) {
    return world.call("POST", path, body, {{"authorization", "Bearer prk_mine"}});
  };
  const std::string unknown = R"({"webhook_id":"whk_00000000000000000000000000"})";
  const Answer of_other = preview(R"({"webhook_id":")" + theirs + R"("})");
  EXPECT_EQ(of_other.status, 422);
  EXPECT_EQ(of_other.body, preview(unknown).body);
  EXPECT_EQ(
      preview(R"({"webhook":{"url":"https://a.example/","events":["*"],"tenant_id":"theirs"}})")
          .at("errors.0.field"),
      "tenant_id");
  EXPECT_EQ(preview("{" + minimal + R"(,"event":{"type":"a","data":1,"tenant_id":"theirs"}})")
                .at("errors.0.field"),
            "event.tenant_id");
  const Answer own = preview("{" + minimal + R"(,"event":{"type":"order.a","data":1}})");
  EXPECT_EQ(own.at("webhook.tenant_id"), "mine") << own.body;
  EXPECT_EQ(own.at("matches.tenant"), "true");
}

}  // namespace
}  // namespace postrider::api
