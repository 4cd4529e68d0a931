// P11 on every route: with a tenant's key nothing of another tenant can be read or changed. The
// tests walk the route table, so a new route is covered automatically.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/openssl/digest.h"
#include "api/resources/api_world_test.h"
#include "api/resources/routes.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

const std::string other = "elsewhere";   // The other tenant's id.
const std::string marker = "otherland";  // Part of all other texts of the other tenant.

/// The data of one tenant.
struct OwnedIds {
  std::string webhook;
  std::string event;
  std::string delivery;
  std::string dead;
  std::string key;
  std::string operation;
  std::string channel;

  [[nodiscard]] std::vector<std::string> ids() const {
    return {webhook, event, delivery, dead, key, operation, channel};
  }
};

class Tenancy : public testing::Test {
 protected:
  Tenancy() {
    call_as_admin("POST", "/v1/tenants", R"({"id":")" + other + R"("})");
    theirs_ = settle_in(other, marker, "prk_theirs");
    mine_ = settle_in("mine", "my own", "prk_mine");
  }

  OwnedIds settle_in(const std::string& tenant, const std::string& name, const std::string& key) {
    const std::string owner = R"("tenant_id":")" + tenant + R"(")";
    OwnedIds made;
    made.webhook = world_.make_webhook(owner + R"(,"name":")" + name + R"(","headers":{"X-Of":")" +
                                       name + R"("})");
    const std::string event = R"({"type":"order.created","resource_id":")" + name +
                              R"(","data":{"of":")" + name + R"("},)" + owner + "}";
    made.event = world_.publish(event);
    made.delivery = world_.delivery_of(made.event);
    made.dead = world_.delivery_of(world_.publish(event));
    world_.settle(made.dead, DeliveryState::dead_letter, 404);
    const Answer operation =
        world_.call("POST", "/v1/dlq/retry-batch", R"({"filter":{)" + owner + "}}");
    made.operation = operation.at("id");
    const Answer channel = world_.call(
        "POST", "/v1/notification-channels",
        R"({"kind":"email","target":{"to_owner":true},"name":")" + name + R"(",)" + owner + "}");
    made.channel = channel.at("id");
    EXPECT_EQ(world_.call("POST", "/v1/notification-channels/" + made.channel + "/test").status,
              200);
    ApiKey record{.id = KeyId{world_.service().new_uuid()},
                  .name = name,
                  .sha256 = sha256(key),
                  .scope = KeyScope::tenant,
                  .tenant_id = tenant,
                  .created_at = {}};
    made.key = record.id.to_string();
    world_.service().add_key(std::move(record));
    return made;
  }

  Answer call_as_admin(const std::string& method, const std::string& target, std::string body) {
    return world_.call(method, target, std::move(body));
  }

  Answer call(const std::string& method, const std::string& target, std::string body = {}) {
    return world_.call(method, target, std::move(body), {{"authorization", "Bearer prk_mine"}});
  }

  /// All stored data of a tenant as text, to detect any change.
  std::string picture(const std::string& tenant = other) {
    std::string text;
    MemoryStore& store = world_.service().store;
    for (const auto& [id, webhook] : store.webhooks) {
      if (webhook.tenant_id == tenant) {
        text += id.to_string() + webhook.url + (webhook.active ? "a" : "-") +
                (webhook.paused ? "p" : "-") + to_rfc3339(webhook.updated_at) + "\n";
      }
    }
    for (const auto& [sequence, record] : store.deliveries) {
      if (record.tenant_id == tenant) {
        text += record.delivery.id.to_string() + std::string{to_string(record.delivery.state)} +
                to_rfc3339(record.updated_at) + "\n";
      }
    }
    const auto count = [&](const auto& rows, auto is_theirs) {
      text += std::to_string(std::ranges::count_if(rows, is_theirs)) + "\n";
    };
    for (const auto& [id, operation] : store.operations) {
      if (operation.tenant_id == tenant) {
        text += id.to_string() + std::string{operation_statuses.name(operation.status)} + "\n";
      }
    }
    for (const auto& [id, channel] : store.channels) {
      if (channel.tenant_id == tenant) {
        text += id.to_string() + channel.name + to_rfc3339(channel.updated_at) + "\n";
        count(store.notifications,
              [&](const auto& row) { return row.second.channel_id == channel.id; });
      }
    }
    count(store.events, [&](const auto& row) { return row.second.event->tenant_id == tenant; });
    count(store.api_keys, [&](const auto& row) { return row.second.tenant_id == tenant; });
    count(store.sessions, [&](const auto& row) { return row.second.tenant_id == tenant; });
    count(store.tenants, [&](const auto& row) { return row.second.id == tenant; });
    count(store.audit, [&](const AuditRecord& row) { return row.entry.tenant_id == tenant; });
    const auto lane = world_.service().lanes.find(
        *WebhookId::parse(tenant == other ? theirs_.webhook : mine_.webhook));
    text += std::to_string(static_cast<int>(lane->second.circuit.state));
    return text;
  }

  /// Removes the caller's own operations: they show the ids that the caller named.
  void forget_my_operations() {
    std::erase_if(world_.service().store.operations,
                  [](const auto& row) { return row.second.tenant_id == "mine"; });
  }

  ApiWorld world_;
  OwnedIds mine_;
  OwnedIds theirs_;
};

std::vector<std::string> fill(const std::string& pattern, const std::vector<std::string>& ids) {
  const std::size_t open = pattern.find('{');
  if (open == std::string::npos) {
    return {pattern};
  }
  const std::size_t close = pattern.find('}', open);
  std::vector<std::string> filled;
  for (const std::string& id : ids) {
    const auto rest = fill(pattern.substr(0, open) + id + pattern.substr(close + 1), ids);
    filled.insert(filled.end(), rest.begin(), rest.end());
  }
  return filled;
}

/// Bodies that some route accepts.
std::vector<std::string> bodies(const std::string& method, const OwnedIds& theirs) {
  if (method == "GET" || method == "DELETE") {
    return {""};
  }
  const std::string owner = R"("tenant_id":")" + other + R"(")";
  return {"",
          "{}",
          R"({"action":"force_open"})",
          R"({"name":"changed"})",
          R"({"priority":"high"})",
          R"({"type":"order.created","data":1,)" + owner + "}",
          R"({"events":[{"type":"order.created","data":1,)" + owner + "}]}",
          R"({"url":"https://example.com/","events":["*"],)" + owner + "}",
          R"({"since":"2020-01-01T00:00:00Z"})",
          R"({"filter":{"webhook_ids":[")" + theirs.webhook + R"("]}})",
          R"({"scope":"tenant",)" + owner + "}",
          R"({"name":"a","kind":"email","target":{"to_owner":true},)" + owner + "}",
          "{" + owner + "}"};
}

std::vector<std::string> queries(const std::string& method, const OwnedIds& theirs) {
  if (method != "GET" && method != "DELETE") {
    return {""};
  }
  std::vector<std::string> all = {"",
                                  "?tenant_id=" + other,
                                  "?webhook_id=" + theirs.webhook,
                                  "?event_id=" + theirs.event,
                                  "?q=" + marker,
                                  "?delivery_id=" + theirs.delivery,
                                  "?webhook_id=" + theirs.webhook + "," + theirs.webhook,
                                  "?limit=250"};
  if (method == "GET") {  // An operation shows the resource that its caller named.
    all.push_back("?resource_id=" + marker);
  }
  return all;
}

TEST_F(Tenancy, NoRouteShowsOrChangesAnotherTenantsData) {
  const std::string before = picture();
  std::vector<std::string> ids = theirs_.ids();
  ids.push_back(other);
  std::vector<std::string> mixed = ids;
  mixed.push_back(mine_.webhook);  // The caller's webhook with another tenant's delivery.
  for (const RouteEntry& route : route_table()) {
    const std::string method{route.method};
    const std::string pattern{route.pattern};
    const bool several = std::ranges::count(pattern, '{') > 1;
    for (const std::string& path : fill(pattern, several ? mixed : ids)) {
      for (const std::string& query : queries(method, theirs_)) {
        for (const std::string& body : bodies(method, theirs_)) {
          const Answer answer = call(method, path + query, body);
          const std::string what = method + " " + path + query + " " + body + "\n" + answer.body;
          if (path != pattern) {
            EXPECT_GE(answer.status, 400) << what;
          }
          EXPECT_LT(answer.status, 500) << what;
          EXPECT_TRUE(answer.body.find(marker) == std::string::npos) << what;
          for (const std::string& id : ids) {
            const bool echoed = (path + query + body).find(id) != std::string::npos;
            EXPECT_TRUE(echoed || answer.body.find(id) == std::string::npos) << what;
          }
          ASSERT_EQ(picture(), before) << what;
          forget_my_operations();
        }
      }
    }
  }
}

TEST_F(Tenancy, AnotherTenantsDataIsAnsweredLikeMissingData) {
  const std::pair<std::string, std::string> cases[] = {
      {theirs_.webhook, "whk_00000000000000000000000000"},
      {theirs_.event, "evt_00000000000000000000000000"},
      {theirs_.delivery, "dlv_00000000000000000000000000"},
      {theirs_.dead, "dlv_00000000000000000000000000"},
      {theirs_.operation, "opr_00000000000000000000000000"},
      {theirs_.channel, "ntc_00000000000000000000000000"},
      {theirs_.key, "key_0000000000000000000000000z"}};
  std::size_t compared = 0;
  for (const RouteEntry& route : route_table()) {
    if (route.admission.tenants != Tenants::served ||
        route.pattern.find('{') == std::string::npos) {
      continue;
    }
    for (const auto& [foreign, unknown] : cases) {
      const std::string method{route.method};
      const std::string body = method == "GET" || method == "DELETE" ? "" : "{}";
      const Answer theirs = call(method, fill(std::string{route.pattern}, {foreign})[0], body);
      const Answer nobodys = call(method, fill(std::string{route.pattern}, {unknown})[0], body);
      EXPECT_EQ(theirs.status, nobodys.status) << route.pattern;
      std::string replaced = theirs.body;
      for (std::size_t at = replaced.find(foreign); at != std::string::npos;
           at = replaced.find(foreign)) {
        replaced.replace(at, foreign.size(), unknown);
      }
      EXPECT_EQ(replaced, nobodys.body) << route.pattern;
      ++compared;
    }
  }
  EXPECT_GE(compared, 50u);
}

TEST_F(Tenancy, EveryRouteForTenantsServesTheirOwnData) {
  const std::map<std::string, std::string> own = {
      {"webhooks", mine_.webhook},     {"events", mine_.event},
      {"deliveries", mine_.delivery},  {"dlq", mine_.dead},
      {"operations", mine_.operation}, {"batch-operations", mine_.operation},
      {"api-keys", mine_.key},         {"notification-channels", mine_.channel}};
  for (const RouteEntry& route : route_table()) {
    std::string path{route.pattern};
    bool known = route.admission.tenants == Tenants::served && route.method != "DELETE";
    for (std::size_t open = path.find('{'); known && open != std::string::npos;
         open = path.find('{')) {
      const std::size_t noun = path.rfind('/', open - 2) + 1;
      const auto found = own.find(path.substr(noun, open - 1 - noun));
      known = found != own.end();
      if (known) {
        path.replace(open, path.find('}', open) + 1 - open, found->second);
      }
    }
    if (known) {
      const Answer answer =
          call(std::string{route.method}, path, route.method == "GET" ? "" : "{}");
      EXPECT_NE(answer.status, 403) << route.method << " " << path << answer.body;
      EXPECT_NE(answer.status, 404) << route.method << " " << path << answer.body;
    }
  }
}

TEST_F(Tenancy, ViewerReadsWhatTheTenantsAdminReadsAndChangesNothing) {
  world_.service().add_key({.id = KeyId{world_.service().new_uuid()},
                            .name = "viewer",
                            .sha256 = sha256("prk_viewer"),
                            .scope = KeyScope::tenant,
                            .tenant_id = "mine",
                            .role = KeyRole::viewer,
                            .created_at = {}});
  const std::string before = picture("mine") + picture();
  std::size_t refused = 0;
  for (const RouteEntry& route : route_table()) {
    const std::string method{route.method};
    for (const std::string& path : fill(std::string{route.pattern}, mine_.ids())) {
      for (const std::string& body : bodies(method, mine_)) {
        const Answer answer =
            world_.call(method, path, body, {{"authorization", "Bearer prk_viewer"}});
        const std::string what = method + " " + path + " " + body + "\n" + answer.body;
        const bool open = route.admission.access == Access::open;
        if (route.admission.access == Access::session) {
          EXPECT_EQ(answer.status, 401) << what;
        } else if (!open && (route.admission.access != Access::read ||
                             route.admission.tenants != Tenants::served)) {
          EXPECT_EQ(answer.status, 403) << what;
          EXPECT_EQ(answer.at("code"), "insufficient_scope") << what;
          ++refused;
        } else if (!open && path != "/v1/stream") {
          EXPECT_EQ(answer.body, call(method, path, body).body) << what;
        }
        EXPECT_TRUE(open || answer.body.find("whsec_") == std::string::npos) << what;
        ASSERT_EQ(picture("mine") + picture(), before) << what;
      }
    }
  }
  EXPECT_GE(refused, 100u);
  const Answer answer = world_.call("DELETE", "/v1/webhooks/" + mine_.webhook, "",
                                    {{"authorization", "Bearer prk_viewer"}});
  EXPECT_EQ(answer.at("detail"),
            "This API key has role `viewer` and can only read; this request needs a key with role "
            "`admin`.");
}

TEST_F(Tenancy, ListsShowOnlyTheTenantsData) {
  EXPECT_EQ(call("GET", "/v1/webhooks").at("data.0.id"), mine_.webhook);
  EXPECT_EQ(call("GET", "/v1/webhooks").at("data.1"), "(none)");
  EXPECT_EQ(call("GET", "/v1/webhooks?tenant_id=" + other).at("data"), "[]");
  EXPECT_EQ(call("GET", "/v1/webhooks?tenant_id=mine").at("data.0.id"), mine_.webhook);
  EXPECT_EQ(call("GET", "/v1/events").at("data.2"), "(none)");
  EXPECT_EQ(call("GET", "/v1/events?tenant_id=" + other).at("data"), "[]");
  EXPECT_EQ(call("GET", "/v1/deliveries").at("data.1.id"), mine_.delivery);
  EXPECT_EQ(call("GET", "/v1/deliveries").at("data.2"), "(none)");
  EXPECT_EQ(call("GET", "/v1/deliveries?webhook_id=" + theirs_.webhook).at("data"), "[]");
  EXPECT_EQ(call("GET", "/v1/deliveries?event_id=" + theirs_.event).at("data"), "[]");
  EXPECT_EQ(call("GET", "/v1/attempts").at("data.0.delivery_id"), mine_.dead);
  EXPECT_EQ(call("GET", "/v1/attempts").at("data.1"), "(none)");
  EXPECT_EQ(call("GET", "/v1/attempts?tenant_id=" + other).at("data"), "[]");
  EXPECT_EQ(call("GET", "/v1/attempts?webhook_id=" + theirs_.webhook).at("data"), "[]");
  EXPECT_EQ(call("GET", "/v1/attempts?delivery_id=" + theirs_.dead).at("data"), "[]");
  EXPECT_EQ(call("GET", "/v1/dlq").at("data.0.id"), mine_.dead);
  EXPECT_EQ(call("GET", "/v1/dlq").at("data.1"), "(none)");
  EXPECT_EQ(call("GET", "/v1/dlq?tenant_id=" + other).at("data"), "[]");
  EXPECT_EQ(call("GET", "/v1/dlq").at("age_buckets.lt_1h"), "1");
  EXPECT_EQ(call("GET", "/v1/operations").at("data.0.id"), mine_.operation);
  EXPECT_EQ(call("GET", "/v1/operations").at("data.1"), "(none)");
  EXPECT_EQ(call("GET", "/v1/operations?tenant_id=" + other).at("data"), "[]");
}

TEST_F(Tenancy, OperationIsRestrictedToTheTenantsData) {
  for (const auto& [method, target, body] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"POST", "/v1/dlq/retry-batch", "{}"},
           {"DELETE", "/v1/dlq?all=true", ""},
           {"POST", "/v1/webhooks/" + mine_.webhook + "/replay",
            R"({"since":"2020-01-01T00:00:00Z"})"}}) {
    const Answer answer = call(method, target, body);
    ASSERT_EQ(answer.status, 202) << answer.body;
    const auto id = OperationId::parse(answer.at("id"));
    const Operation& stored = world_.service().store.operations.at(*id);
    EXPECT_EQ(stored.tenant_id, "mine");
    EXPECT_EQ(stored.spec.filter.tenant_id, "mine");
  }
  EXPECT_EQ(call("DELETE", "/v1/dlq?tenant_id=" + other).status, 422);
}

TEST_F(Tenancy, WhatATenantCreatesBelongsToIt) {
  const Answer webhook =
      call("POST", "/v1/webhooks", R"({"url":"https://example.com/","events":["*"]})");
  EXPECT_EQ(webhook.status, 201) << webhook.body;
  EXPECT_EQ(webhook.at("tenant_id"), "mine");
  const Answer event = call("POST", "/v1/events", R"({"type":"a.b","data":1})");
  EXPECT_EQ(event.status, 202) << event.body;
  EXPECT_EQ(event.at("deliveries"), "2");
  EXPECT_EQ(call("GET", "/v1/events/" + event.at("id")).at("tenant_id"), "mine");
  EXPECT_EQ(call("POST", "/v1/events", R"({"type":"a.b","data":1,"tenant_id":"mine"})").status,
            202);
  EXPECT_EQ(call("POST", "/v1/events", R"({"type":"a.b","data":1,"tenant_id":null})").status, 202);
  const Answer batch = call("POST", "/v1/events/batch", R"([{"type":"a.b","data":1}])");
  EXPECT_EQ(batch.at("results.0.deliveries"), "2");
  EXPECT_EQ(world_.service().store.audit.back().entry.tenant_id, "mine");
}

TEST_F(Tenancy, RejectsTheNameOfAnotherTenant) {
  const std::string owner = R"("tenant_id":")" + other + R"(")";
  const Answer webhook = call("POST", "/v1/webhooks",
                              R"({"url":"https://example.com/","events":["*"],)" + owner + "}");
  EXPECT_EQ(webhook.status, 422);
  EXPECT_EQ(webhook.at("errors.0.field"), "tenant_id");
  const Answer event = call("POST", "/v1/events", R"({"type":"a.b","data":1,)" + owner + "}");
  EXPECT_EQ(event.status, 422);
  EXPECT_EQ(event.at("errors.0.field"), "tenant_id");
  const Answer batch = call("POST", "/v1/events/batch?atomic=false",
                            R"([{"type":"a.b","data":1},{"type":"a.b","data":1,)" + owner + "}]");
  EXPECT_EQ(batch.at("accepted"), "1");
  EXPECT_EQ(batch.at("results.1.errors.0.field"), "events[1].tenant_id");
}

TEST_F(Tenancy, TenantsDoNotShareIdempotencyKeys) {
  const std::string body = R"({"type":"a.b","data":1,"idempotency_key":"k"})";
  EXPECT_EQ(call("POST", "/v1/events", body).status, 202);
  EXPECT_EQ(
      world_.call("POST", "/v1/events", body, {{"authorization", "Bearer prk_theirs"}}).status,
      202);
}

TEST_F(Tenancy, TenantsKeyIsRejectedOnServerWideRoutes) {
  for (const char* path :
       {"/v1/tenants", "/v1/audit-log", "/v1/audit-log/verify", "/v1/tenants/mine/limits"}) {
    EXPECT_EQ(call("GET", path).status, 403) << path;
  }
  EXPECT_EQ(call("POST", "/v1/portal-links", R"({"tenant_id":"mine"})").status, 403);
  EXPECT_EQ(call("POST", "/v1/sign-in-links", "{}").status, 403);
}

TEST_F(Tenancy, TenantManagesItsOwnKeysOnly) {
  EXPECT_EQ(call("GET", "/v1/api-keys").at("data.0.id"), mine_.key);
  EXPECT_EQ(call("GET", "/v1/api-keys").at("data.1"), "(none)");
  EXPECT_EQ(call("GET", "/v1/api-keys/" + theirs_.key).status, 404);
  EXPECT_EQ(call("DELETE", "/v1/api-keys/" + theirs_.key).status, 404);
  const std::string operators = world_.call("POST", "/v1/api-keys", R"({"scope":"read"})").at("id");
  EXPECT_EQ(call("DELETE", "/v1/api-keys/" + operators).status, 404);
  for (const auto& [body, field] : std::vector<std::pair<std::string, std::string>>{
           {R"({"scope":"admin"})", "scope"},
           {R"({"scope":"read"})", "scope"},
           {R"({"scope":"publish"})", "scope"},
           {R"({"scope":"tenant","tenant_id":")" + other + R"("})", "tenant_id"},
           {R"({"tenant_id":")" + other + R"("})", "tenant_id"},
           {R"({"role":"owner"})", "role"}}) {
    const Answer refused = call("POST", "/v1/api-keys", body);
    EXPECT_EQ(refused.status, 422) << body << refused.body;
    EXPECT_EQ(refused.at("errors.0.field"), field) << body;
  }
  for (const char* body : {"{}", R"({"scope":"tenant","tenant_id":"mine","role":"viewer"})",
                           R"({"tenant_id":null,"role":"admin"})"}) {
    const Answer made = call("POST", "/v1/api-keys", body);
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(made.at("scope"), "tenant");
    EXPECT_EQ(made.at("tenant_id"), "mine");
    const ApiWorld::Pairs key = {{"authorization", "Bearer " + made.at("key")}};
    EXPECT_EQ(world_.call("GET", "/v1/webhooks", "", key).at("data.0.id"), mine_.webhook);
    EXPECT_EQ(call("DELETE", "/v1/api-keys/" + made.at("id")).status, 204);
    EXPECT_EQ(world_.call("GET", "/v1/webhooks", "", key).status, 401);
  }
  EXPECT_EQ(world_.service().store.audit.back().entry.tenant_id, "mine");
}

TEST_F(Tenancy, TenantCannotCreateKeysWithoutLimit) {
  for (int i = 1; i < 100; ++i) {
    ASSERT_EQ(call("POST", "/v1/api-keys", "{}").status, 201) << i;
  }
  const Answer refused = call("POST", "/v1/api-keys", "{}");
  EXPECT_EQ(refused.status, 429) << refused.body;
  EXPECT_EQ(refused.at("code"), "api_key_quota_exceeded");
  EXPECT_EQ(world_.call("POST", "/v1/api-keys", R"({"scope":"tenant","tenant_id":"mine"})").status,
            201)
      << "the operator may";
}

TEST_F(Tenancy, TenantReadsTheSecretsOfItsWebhooksAndTheReadIsAudited) {
  const Answer secret = call("GET", "/v1/webhooks/" + mine_.webhook + "/secret");
  EXPECT_EQ(secret.status, 200);
  EXPECT_TRUE(secret.at("secret").starts_with("whsec_"));
  const AuditEntry& entry = world_.service().store.audit.back().entry;
  EXPECT_EQ(entry.action, "webhook.secret.read");
  EXPECT_EQ(entry.tenant_id, "mine");
  EXPECT_EQ(entry.actor, mine_.key);
  EXPECT_EQ(call("GET", "/v1/webhooks/" + theirs_.webhook + "/secret").status, 404);
}

TEST_F(Tenancy, SessionReachesTheSameAsItsKey) {
  const ApiWorld::Pairs session = world_.sign_in(R"({"key":"prk_mine"})");
  ASSERT_FALSE(session.empty());
  const std::string before = picture();
  for (const RouteEntry& route : route_table()) {
    if (route.method != "GET" || route.admission.tenants != Tenants::served ||
        route.admission.access == Access::session || route.pattern == "/v1/stream") {
      continue;
    }
    for (const std::string& id : {mine_.webhook, theirs_.webhook, theirs_.event, theirs_.key}) {
      const std::string path = fill(std::string{route.pattern}, {id})[0];
      EXPECT_EQ(world_.call("GET", path, "", session).body, call("GET", path).body) << path;
    }
  }
  const ApiWorld::Pairs theirs = world_.sign_in(R"({"key":"prk_theirs"})");
  ApiWorld::Pairs mixed = {session[0], theirs[1]};
  EXPECT_EQ(world_.call("POST", "/v1/api-keys", "{}", mixed).at("code"), "csrf_token_required");
  EXPECT_EQ(world_.call("DELETE", "/v1/sessions", "", theirs).status, 204);
  EXPECT_EQ(world_.call("GET", "/v1/webhooks", "", session).status, 200);
}

}  // namespace
}  // namespace postrider::api
