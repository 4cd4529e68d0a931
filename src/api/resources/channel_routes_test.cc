// Notification channels through the router.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "adapters/openssl/digest.h"
#include "api/openapi/document.h"
#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

const std::string path = "/v1/notification-channels";
const std::string email_body =
    R"({"name":"On call","kind":"email","target":{"to":["ops@example.com"]}})";
const std::string hook_body =
    R"({"name":"Ops","kind":"webhook","target":{"url":"https://example.com/ops"}})";

class ChannelRoutes : public testing::Test {
 protected:
  std::string make(const std::string& body) {
    const Answer made = world_.call("POST", path, body);
    EXPECT_EQ(made.status, 201) << made.body;
    return made.at("id");
  }

  ApiWorld::Pairs tenant_key(const std::string& tenant, const std::string& key,
                             KeyRole role = KeyRole::admin) {
    world_.service().add_key({.id = KeyId{world_.service().new_uuid()},
                              .name = tenant,
                              .sha256 = sha256(key),
                              .scope = KeyScope::tenant,
                              .tenant_id = tenant,
                              .role = role,
                              .created_at = {}});
    return {{"authorization", "Bearer " + key}};
  }

  const Webhook& webhook_of(const Answer& channel) {
    return world_.service().store.webhooks.at(*WebhookId::parse(channel.at("webhook_id")));
  }

  ApiWorld world_;
};

TEST_F(ChannelRoutes, AnEmailChannelIsCreatedAndShown) {
  const Answer made = world_.call("POST", path, email_body);
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_TRUE(made.at("id").starts_with("ntc_"));
  EXPECT_EQ(made.header("Location"), path + "/" + made.at("id"));
  EXPECT_EQ(made.at("tenant_id"), "null");
  EXPECT_EQ(made.at("target.to.0"), "ops@example.com");
  EXPECT_EQ(made.at("target.to_owner"), "false");
  EXPECT_EQ(made.at("webhook_id"), "null");
  EXPECT_EQ(made.at("kinds"), "[]");
  EXPECT_EQ(made.at("severity_min"), "info");
  EXPECT_EQ(made.at("send_resolved"), "true");
  EXPECT_EQ(made.at("group_window_ms"), "60000");
  EXPECT_EQ(made.at("per_hour_max"), "30");
  EXPECT_EQ(made.at("active"), "true");
  EXPECT_EQ(made.at("configured"), "false");
  const Answer shown = world_.call("GET", path + "/" + made.at("id"));
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(shown.body, made.body);
  EXPECT_EQ(shown.at("notifications.waiting"), "0");
  EXPECT_EQ(world_.call("GET", path).at("data.0.id"), made.at("id"));
  EXPECT_TRUE(world_.service().store.webhooks.empty());
  EXPECT_EQ(world_.service().store.audit.back().entry.action, "notification_channel.create");
}

TEST_F(ChannelRoutes, AWebhookChannelOwnsAWebhookOfTheReservedTenant) {
  const Answer made = world_.call("POST", path, hook_body);
  ASSERT_EQ(made.status, 201) << made.body;
  const Webhook& webhook = webhook_of(made);
  EXPECT_EQ(webhook.tenant_id, "postrider");
  EXPECT_EQ(webhook.url, "https://example.com/ops");
  EXPECT_EQ(webhook.name, "Notifications: Ops");
  EXPECT_TRUE(webhook.events.empty());
  EXPECT_EQ(webhook.payload_format, PayloadFormat::standard);
  EXPECT_FALSE(webhook.secret.reveal().empty());
  EXPECT_EQ(made.at("target.url"), "https://example.com/ops");
  EXPECT_EQ(made.body.find("whsec_"), std::string::npos);
  EXPECT_EQ(world_.call("GET", "/v1/webhooks/" + made.at("webhook_id") + "/secret").status, 200);
}

TEST_F(ChannelRoutes, AChatChannelSendsTheDataAlone) {
  for (const std::string kind : {"slack", "teams"}) {
    const Answer made = world_.call(
        "POST", path,
        R"({"name":"Chat","kind":")" + kind + R"(","target":{"url":"https://example.com/x"}})");
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(webhook_of(made).payload_format, PayloadFormat::raw);
  }
}

TEST_F(ChannelRoutes, ASecretCanBeGiven) {
  const std::string secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
  const Answer made = world_.call(
      "POST", path,
      R"({"name":"Ops","kind":"webhook","target":{"url":"https://example.com/","secret":")" +
          secret + R"("}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(world_.call("GET", "/v1/webhooks/" + made.at("webhook_id") + "/secret").at("secret"),
            secret);
}

TEST_F(ChannelRoutes, InvalidBodyNamesTheField) {
  const std::string other = world_.make_webhook(R"("tenant_id":"other")");
  const std::pair<std::string, std::string> cases[] = {
      {"{}", "name"},
      {R"({"name":"a","target":{}})", "kind"},
      {R"({"name":"a","kind":"fax","target":{}})", "kind"},
      {R"({"name":"a","kind":"email"})", "target"},
      {R"({"name":"a","kind":"email","target":{}})", "target.to"},
      {R"({"name":"a","kind":"email","target":{"to":[]}})", "target.to"},
      {R"({"name":"a","kind":"email","target":{"to":["x"]}})", "target.to[0]"},
      {R"({"name":"a","kind":"email","target":{"to":["a@b.c\r\nBcc: d@e.f"]}})", "target.to[0]"},
      {R"({"name":"a","kind":"email","target":{"to":["a@b.c"],"url":"https://x.y/"}})",
       "target.url"},
      {R"({"name":"a","kind":"webhook","target":{}})", "target.url"},
      {R"({"name":"a","kind":"webhook","target":{"url":"http://127.0.0.1/"}})", "target.url"},
      {R"({"name":"a","kind":"slack","target":{"url":"https://example.com/","secret":"abcdefgh"}})",
       "target.secret"},
      {R"({"name":"a","kind":"webhook","target":{"url":"https://example.com/","secret":"x"}})",
       "target.secret"},
      {R"({"name":"a","kind":"email","target":{"to_owner":true},"kinds":["nothing"]})", "kinds[0]"},
      {R"({"name":"a","kind":"email","target":{"to_owner":true},"kinds":["circuit_recovered"]})",
       "kinds[0]"},
      {R"({"name":"a","kind":"email","target":{"to_owner":true},"kinds":["test"]})", "kinds[0]"},
      {R"({"name":"a","kind":"email","target":{"to_owner":true},"severity_min":"loud"})",
       "severity_min"},
      {R"({"name":"a","kind":"email","target":{"to_owner":true},"per_hour_max":0})",
       "per_hour_max"},
      {R"({"name":"a","kind":"email","target":{"to_owner":true},"webhook_ids":["whk_x"]})",
       "webhook_ids[0]"},
      {R"({"name":"a","kind":"email","target":{"to_owner":true},"tenant_id":"mine",)"
       R"("webhook_ids":[")" +
           other + R"("]})",
       "webhook_ids[0]"},
      {R"({"name":"a","kind":"email","target":{"to_owner":true},"configured":true})", "configured"},
      {R"({"name":"a","kind":"email","target":{"to_owner":true},"tenant_id":"postrider"})",
       "tenant_id"},
      {R"({"name":"a\nb","kind":"email","target":{"to_owner":true}})", "name"},
      {R"({"name":"a","kind":"email","target":{"to_owner":true},"colour":"red"})", "colour"}};
  for (const auto& [body, field] : cases) {
    const Answer answer = world_.call("POST", path, body);
    EXPECT_EQ(answer.status, 422) << body << answer.body;
    EXPECT_EQ(answer.at("errors.0.field"), field) << body << answer.body;
  }
  EXPECT_TRUE(world_.service().store.channels.empty());
}

TEST_F(ChannelRoutes, AChangeKeepsWhatItOmits) {
  const std::string webhook = world_.make_webhook();
  const std::string id = make(email_body);
  const Answer changed =
      world_.call("PATCH", path + "/" + id,
                  R"({"kinds":["circuit_opened","operation_finished"],"severity_min":"warning",)"
                  R"("webhook_ids":[")" +
                      webhook + R"("],"send_resolved":false,"target":{"to_contacts":true}})");
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(changed.at("name"), "On call");
  EXPECT_EQ(changed.at("target.to.0"), "ops@example.com");
  EXPECT_EQ(changed.at("target.to_contacts"), "true");
  EXPECT_EQ(changed.at("kinds.1"), "operation_finished");
  EXPECT_EQ(changed.at("webhook_ids.0"), webhook);
  const Answer reset = world_.call("PATCH", path + "/" + id,
                                   R"({"kinds":null,"webhook_ids":null,"severity_min":null})");
  EXPECT_EQ(reset.at("kinds"), "[]");
  EXPECT_EQ(reset.at("webhook_ids"), "[]");
  EXPECT_EQ(reset.at("severity_min"), "info");
  const std::pair<const char*, const char*> cases[] = {
      {R"({"kind":"slack"})", "kind"},
      {R"({"tenant_id":"other"})", "tenant_id"},
      {R"({"name":null})", "name"},
      {R"({"target":null})", "target"},
      {R"({"target":{"to":[],"to_contacts":false}})", "target.to"}};
  for (const auto& [body, field] : cases) {
    const Answer refused = world_.call("PATCH", path + "/" + id, body);
    EXPECT_EQ(refused.status, 422) << body;
    EXPECT_EQ(refused.at("errors.0.field"), field) << body << refused.body;
  }
}

TEST_F(ChannelRoutes, AWebhookMayBeGoneThatTheChannelNames) {
  const std::string webhook = world_.make_webhook();
  const std::string id = make(R"({"name":"a","kind":"email","target":{"to_owner":true},)"
                              R"("webhook_ids":[")" +
                              webhook + R"("]})");
  EXPECT_EQ(world_.call("DELETE", "/v1/webhooks/" + webhook).status, 204);
  const Answer kept =
      world_.call("PATCH", path + "/" + id, R"({"webhook_ids":[")" + webhook + "\"]}");
  EXPECT_EQ(kept.status, 200) << kept.body;
  EXPECT_EQ(kept.at("webhook_ids.0"), webhook);
}

TEST_F(ChannelRoutes, TheWebhookChangesWithItsChannel) {
  const Answer made = world_.call("POST", path, hook_body);
  const std::string webhook = "/v1/webhooks/" + made.at("webhook_id");
  const Answer changed =
      world_.call("PATCH", path + "/" + made.at("id"),
                  R"({"name":"Night","target":{"url":"https://example.com/night"}})");
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(changed.at("target.url"), "https://example.com/night");
  EXPECT_EQ(world_.call("GET", webhook).at("url"), "https://example.com/night");
  EXPECT_EQ(world_.call("GET", webhook).at("name"), "Notifications: Night");

  EXPECT_EQ(world_.call("PATCH", webhook, R"({"timeout_ms":1000})").status, 200);
  const Answer events = world_.call("PATCH", webhook, R"({"events":["*"]})");
  EXPECT_EQ(events.status, 409) << events.body;
  EXPECT_EQ(events.at("code"), "webhook_of_channel");
  EXPECT_EQ(world_.call("PATCH", webhook, R"({"payload_format":"tenant"})").status, 409);
  const Answer removed = world_.call("DELETE", webhook);
  EXPECT_EQ(removed.status, 409) << removed.body;
  EXPECT_EQ(removed.at("code"), "webhook_of_channel");

  EXPECT_EQ(world_.call("DELETE", path + "/" + made.at("id")).status, 204);
  EXPECT_EQ(world_.call("GET", webhook).status, 404);
  EXPECT_EQ(world_.call("GET", path + "/" + made.at("id")).status, 404);
  EXPECT_TRUE(world_.service().store.channels.empty());
  EXPECT_TRUE(world_.service().store.webhooks.empty());
}

TEST_F(ChannelRoutes, SwitchingAChannelOnEnablesItsWebhook) {
  const Answer made = world_.call("POST", path, hook_body);
  const std::string webhook = "/v1/webhooks/" + made.at("webhook_id");
  EXPECT_EQ(world_.call("PATCH", webhook, R"({"active":false})").at("active"), "false");
  EXPECT_EQ(world_.call("PATCH", path + "/" + made.at("id"), R"({"active":true})").status, 200);
  EXPECT_EQ(world_.call("GET", webhook).at("active"), "true");
}

TEST_F(ChannelRoutes, SubscriptionsDoNotGetReservedEvents) {
  const Answer refused = world_.call("POST", "/v1/webhooks",
                                     R"({"url":"https://example.com/","events":["postrider.*"]})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.at("errors.0.field"), "events[0]");
  const Answer published =
      world_.call("POST", "/v1/events", R"({"type":"postrider.alert.raised","data":{}})");
  EXPECT_EQ(published.status, 422) << published.body;
  EXPECT_EQ(published.at("errors.0.field"), "type");
  const Answer type =
      world_.call("POST", "/v1/event-types", R"({"name":"postrider.alert.raised"})");
  EXPECT_EQ(type.status, 422) << type.body;
  EXPECT_EQ(world_.call("DELETE", "/v1/event-types/postrider.alert.raised").at("code"),
            "event_type_reserved");
}

TEST_F(ChannelRoutes, TheReservedTenantCanBeUsedByNobody) {
  for (const auto& [target, body] : std::vector<std::pair<std::string, std::string>>{
           {"/v1/tenants", R"({"id":"postrider"})"},
           {"/v1/webhooks",
            R"({"url":"https://example.com/","events":["*"],"tenant_id":"postrider"})"},
           {"/v1/events", R"({"type":"a.b","data":1,"tenant_id":"postrider"})"},
           {"/v1/api-keys", R"({"scope":"tenant","tenant_id":"postrider"})"},
           {"/v1/portal-links", R"({"tenant_id":"postrider"})"}}) {
    const Answer answer = world_.call("POST", target, body);
    EXPECT_EQ(answer.status, 422) << target << answer.body;
  }
  const Answer batch = world_.call("POST", "/v1/events/batch",
                                   R"([{"type":"a.b","data":1,"tenant_id":"postrider"}])");
  EXPECT_EQ(batch.status, 422) << batch.body;
  make(hook_body);
  // A key that is older than the reservation.
  const auto old = tenant_key("postrider", "prk_old");
  EXPECT_EQ(world_.call("GET", "/v1/webhooks", "", old).status, 403);
  EXPECT_EQ(world_.call("POST", "/v1/events", R"({"type":"a.b","data":1})", old).status, 403);
}

TEST_F(ChannelRoutes, ATenantManagesItsOwnChannels) {
  const auto mine = tenant_key("mine", "prk_mine");
  const auto theirs = tenant_key("theirs", "prk_theirs");
  const std::string servers = make(hook_body);
  const Answer made = world_.call("POST", path, hook_body, mine);
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at("tenant_id"), "mine");
  EXPECT_EQ(webhook_of(made).tenant_id, "mine");
  const std::string own = path + "/" + made.at("id");
  EXPECT_EQ(world_.call("GET", path, "", mine).at("data.0.id"), made.at("id"));
  EXPECT_EQ(world_.call("GET", path, "", mine).at("data.1"), "(none)");
  EXPECT_EQ(world_.call("GET", path, "", theirs).at("data"), "[]");
  EXPECT_EQ(world_.call("GET", path + "?tenant_id=mine").at("data.0.id"), made.at("id"));
  EXPECT_EQ(world_.call("GET", path).at("data.1.id"), servers);
  for (const std::string& id : {own, path + "/" + servers}) {
    EXPECT_EQ(world_.call("GET", id, "", theirs).status, 404);
    EXPECT_EQ(world_.call("PATCH", id, R"({"name":"x"})", theirs).status, 404);
    EXPECT_EQ(world_.call("DELETE", id, "", theirs).status, 404);
    EXPECT_EQ(world_.call("POST", id + "/test", "", theirs).status, 404);
    EXPECT_EQ(world_.call("GET", id + "/notifications", "", theirs).status, 404);
  }
  EXPECT_EQ(world_
                .call("POST", path,
                      R"({"name":"a","kind":"email","target":{"to_owner":true},)"
                      R"("tenant_id":"theirs"})",
                      mine)
                .status,
            422);
  EXPECT_EQ(world_.call("PATCH", own, R"({"name":"x"})", mine).at("name"), "x");
  EXPECT_EQ(world_.call("POST", own + "/test", "", mine).status, 200);
  EXPECT_EQ(world_.call("DELETE", own, "", mine).status, 204);
}

TEST_F(ChannelRoutes, ViewersReadAndDoNotChange) {
  const auto viewer = tenant_key("mine", "prk_viewer", KeyRole::viewer);
  const std::string servers = make(hook_body);
  const Answer made = world_.call("POST", path, hook_body, tenant_key("mine", "prk_mine"));
  const std::string own = path + "/" + made.at("id");
  EXPECT_EQ(world_.call("GET", path, "", viewer).at("data.0.id"), made.at("id"));
  EXPECT_EQ(world_.call("GET", path, "", viewer).at("data.1"), "(none)");
  EXPECT_EQ(world_.call("GET", own, "", viewer).status, 200);
  EXPECT_EQ(world_.call("GET", own + "/notifications", "", viewer).status, 200);
  EXPECT_EQ(world_.call("GET", path + "/" + servers, "", viewer).status, 404);
  EXPECT_EQ(world_.call("POST", path, hook_body, viewer).status, 403);
  EXPECT_EQ(world_.call("PATCH", own, R"({"name":"x"})", viewer).status, 403);
  EXPECT_EQ(world_.call("POST", own + "/test", "", viewer).status, 403);
  EXPECT_EQ(world_.call("DELETE", own, "", viewer).status, 403);
}

TEST_F(ChannelRoutes, RemovingATenantRemovesItsChannels) {
  EXPECT_EQ(world_.call("POST", "/v1/tenants", R"({"id":"acme"})").status, 201);
  make(R"({"name":"a","kind":"email","target":{"to_owner":true},"tenant_id":"acme"})");
  make(R"({"name":"b","kind":"slack","target":{"url":"https://example.com/"},"tenant_id":"acme"})");
  const std::string kept = make(email_body);
  EXPECT_EQ(world_.call("DELETE", "/v1/tenants/acme?force=true").status, 204);
  EXPECT_EQ(world_.call("GET", path).at("data.0.id"), kept);
  EXPECT_EQ(world_.call("GET", path).at("data.1"), "(none)");
  EXPECT_EQ(world_.service().store.channels.size(), 1u);
  EXPECT_TRUE(world_.service().store.webhooks.empty());
}

TEST_F(ChannelRoutes, ConfiguredChannelsAreReadOnly) {
  const std::string id = make(email_body);
  // As the server's start makes it.
  world_.service().configure(*ChannelId::parse(id));
  const Answer changed = world_.call("PATCH", path + "/" + id, R"({"name":"x"})");
  EXPECT_EQ(changed.status, 409) << changed.body;
  EXPECT_EQ(changed.at("code"), "channel_configured");
  EXPECT_EQ(world_.call("DELETE", path + "/" + id).at("code"), "channel_configured");
  EXPECT_EQ(world_.call("POST", path + "/" + id + "/test").status, 200);
}

TEST_F(ChannelRoutes, AnOwnerHasALimitedNumberOfChannels) {
  for (std::size_t count = 0; count < channels_per_owner_max; ++count) {
    make(email_body);
  }
  const Answer refused = world_.call("POST", path, email_body);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.at("code"), "too_many_channels");
  make(R"({"name":"a","kind":"email","target":{"to_owner":true},"tenant_id":"acme"})");
}

TEST_F(ChannelRoutes, ATestIsStoredAndListed) {
  const std::string id = make(email_body);
  const Answer sent = world_.call("POST", path + "/" + id + "/test");
  ASSERT_EQ(sent.status, 200) << sent.body;
  EXPECT_EQ(sent.at("kind"), "test");
  EXPECT_EQ(sent.at("transition"), "test");
  EXPECT_EQ(sent.at("state"), "waiting");
  EXPECT_EQ(sent.at("channel_id"), id);
  const std::string list = path + "/" + id + "/notifications";
  EXPECT_EQ(world_.call("GET", list).at("data.0.id"), sent.at("id"));
  EXPECT_EQ(world_.call("GET", list + "?state=failed,sent").at("data"), "[]");
  EXPECT_EQ(world_.call("GET", list + "?state=waiting").at("data.0.id"), sent.at("id"));
  EXPECT_EQ(world_.call("GET", list + "?alert_id=alt_00000000000000000000000000").at("data"), "[]");
  EXPECT_EQ(world_.call("GET", list + "?state=lost").status, 400);
  EXPECT_EQ(world_.call("GET", path + "/" + id).at("notifications.waiting"), "1");
  EXPECT_EQ(world_.service().store.audit.back().entry.action, "notification_channel.test");
  EXPECT_EQ(world_.call("POST", path + "/" + id + "/test", R"({"to":"x"})").status, 422);
}

TEST_F(ChannelRoutes, ARepeatedTestIsSentOnce) {
  const std::string id = make(email_body);
  const ApiWorld::Pairs key{{"idempotency-key", "once"}};
  const Answer first = world_.call("POST", path + "/" + id + "/test", "", key);
  const Answer again = world_.call("POST", path + "/" + id + "/test", "", key);
  ASSERT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(again.at("id"), first.at("id"));
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(world_.service().store.notifications.size(), 1u);
  const Answer made = world_.call("POST", path, email_body, {{"idempotency-key", "make"}});
  const Answer repeated = world_.call("POST", path, email_body, {{"idempotency-key", "make"}});
  EXPECT_EQ(repeated.status, 201);
  EXPECT_EQ(repeated.at("id"), made.at("id"));
}

TEST_F(ChannelRoutes, TestsAreLimitedPerHour) {
  const std::string id = make(email_body);
  for (int count = 0; count < 20; ++count) {
    ASSERT_EQ(world_.call("POST", path + "/" + id + "/test").status, 200);
  }
  const Answer refused = world_.call("POST", path + "/" + id + "/test");
  EXPECT_EQ(refused.status, 429) << refused.body;
  EXPECT_EQ(refused.at("code"), "too_many_tests");
  EXPECT_EQ(world_.call("POST", path + "/" + make(email_body) + "/test").status, 200);
  world_.service().moment.wall += std::chrono::hours{1};
  EXPECT_EQ(world_.call("POST", path + "/" + id + "/test").status, 200);
}

TEST(ChannelVerification, URLsAreVerifiedWhereTheServerRequiresIt) {
  ApiWorld world{[](ApiOptions& options) { options.require_verification = true; }};
  const Answer refused = world.call("POST", path, hook_body);
  EXPECT_EQ(refused.status, 422) << refused.body;
  EXPECT_EQ(refused.at("code"), "verification_failed");
  EXPECT_EQ(world.call("POST", path, email_body).status, 201);
  const std::string chat = R"({"name":"a","kind":"slack","target":{"url":"https://example.com/"}})";
  EXPECT_EQ(world.call("POST", path, chat).status, 201);
  world.service().add_key({.id = KeyId{world.service().new_uuid()},
                           .name = "mine",
                           .sha256 = sha256("prk_mine"),
                           .scope = KeyScope::tenant,
                           .tenant_id = "mine",
                           .created_at = {}});
  EXPECT_EQ(world.call("POST", path, chat, {{"authorization", "Bearer prk_mine"}}).at("code"),
            "verification_failed");
}

TEST(ChannelDocument, ListsTheKindsThatAChannelCanChoose) {
  const boost::json::value document = boost::json::parse(openapi_document());
  const boost::json::value& listed =
      document.at_pointer("/components/schemas/NotificationKind/enum");
  std::vector<std::string> kinds;
  for (const boost::json::value& kind : listed.as_array()) {
    kinds.emplace_back(kind.as_string());
  }
  std::vector<std::string> expected;
  for (const NotificationKind kind : choosable_kinds()) {
    expected.emplace_back(to_string(kind));
  }
  EXPECT_EQ(kinds, expected);
}

TEST(WebhookOwner, HasAnEmailAddress) {
  ApiWorld world;
  const std::string id = world.make_webhook(R"("owner_email":"owner@example.com")");
  EXPECT_EQ(world.call("GET", "/v1/webhooks/" + id).at("owner_email"), "owner@example.com");
  const Answer refused =
      world.call("PATCH", "/v1/webhooks/" + id, R"({"owner_email":"a@b.c\nBcc: x@y.z"})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.at("errors.0.field"), "owner_email");
  EXPECT_EQ(world.call("PATCH", "/v1/webhooks/" + id, R"({"owner_email":null})").at("owner_email"),
            "null");
}

TEST(TenantContacts, AreSetWithTheTenantAndReplaced) {
  ApiWorld world;
  const Answer made =
      world.call("POST", "/v1/tenants", R"({"id":"acme","contacts":["ops@acme.example"]})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at("contacts.0"), "ops@acme.example");
  const std::string target = "/v1/tenants/acme/contacts";
  const Answer replaced = world.call(
      "PUT", target, R"({"contacts":["a@acme.example","a@acme.example","b@acme.example"]})");
  ASSERT_EQ(replaced.status, 200) << replaced.body;
  EXPECT_EQ(replaced.at("contacts.1"), "b@acme.example");
  EXPECT_EQ(replaced.at("contacts.2"), "(none)");
  EXPECT_EQ(world.call("GET", "/v1/tenants/acme").at("contacts.0"), "a@acme.example");
  EXPECT_EQ(world.call("PUT", target, R"({"contacts":["x"]})").at("errors.0.field"), "contacts[0]");
  EXPECT_EQ(world.call("PUT", target, "{}").at("errors.0.field"), "contacts");
  EXPECT_EQ(world.call("PUT", target, R"({"contacts":[]})").at("contacts"), "[]");
  EXPECT_EQ(world.call("PUT", "/v1/tenants/none/contacts", R"({"contacts":[]})").status, 404);
  EXPECT_EQ(world.service().store.audit.back().entry.action, "tenant.contacts");
}

}  // namespace
}  // namespace postrider::api
