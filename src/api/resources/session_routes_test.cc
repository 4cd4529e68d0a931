// Sign-in, sessions and links through the router.
#include <gtest/gtest.h>

#include "adapters/openssl/digest.h"
#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const std::string admin = R"({"key":"pk_test_admin"})";
const ApiWorld::Pairs json_type = {{"content-type", "application/json"}};

std::string with_token(const std::string& token) { return R"({"token":")" + token + R"("})"; }
std::string with_key(const std::string& key) { return R"({"key":")" + key + R"("})"; }

/// The headers of a session without its CSRF token.
ApiWorld::Pairs cookie_only(const ApiWorld::Pairs& session) { return {session.front()}; }

std::string text_of(const ApiWorld::Pairs& session) {
  return session.front().second.substr(std::string{"postrider_session="}.size());
}

TEST(SessionRoutes, AKeyOpensASessionWithItsRights) {
  ApiWorld world;
  const Answer opened = world.call("POST", "/v1/sessions", admin, json_type);
  ASSERT_EQ(opened.status, 201) << opened.body;
  const std::string cookie = opened.header("Set-Cookie");
  EXPECT_TRUE(cookie.starts_with("postrider_session=prs_")) << cookie;
  EXPECT_TRUE(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200")) << cookie;
  EXPECT_EQ(opened.header("Cache-Control"), "no-store");
  const ApiWorld::Pairs session = {{"cookie", cookie.substr(0, cookie.find(';'))},
                                   {"x-csrf-token", opened.at("csrf_token")}};
  EXPECT_EQ(opened.body.find(text_of(session)), std::string::npos);
  const Answer shown = world.call("GET", "/v1/sessions", "", cookie_only(session));
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(shown.body, opened.body);
  EXPECT_EQ(shown.at("scope"), "admin");
  EXPECT_EQ(shown.at("role"), "admin");
  EXPECT_EQ(shown.at("tenant_id"), "null");
  EXPECT_EQ(shown.at("key_name"), "admin");
  EXPECT_EQ(shown.at("expires_at"), "2026-01-01T12:00:00.000Z");
  EXPECT_NE(shown.at("server.version"), "(none)");
  EXPECT_EQ(shown.at("branding.title"), "Postrider");
  EXPECT_EQ(world.call("POST", "/v1/tenants", R"({"id":"acme"})", session).status, 201);
  EXPECT_EQ(world.call("GET", "/v1/api-keys").at("data.1"), "(none)") << "sessions are no keys";
}

TEST(SessionRoutes, ASessionOfAKeyLastsAsLongAsTheSettingSays) {
  ApiWorld world{[](ApiOptions& options) { options.key_session = std::chrono::minutes{90}; }};
  const Answer opened = world.call("POST", "/v1/sessions", admin, json_type);
  EXPECT_TRUE(opened.header("Set-Cookie").ends_with("Max-Age=5400"));
  EXPECT_EQ(opened.at("expires_at"), "2026-01-01T01:30:00.000Z");
}

TEST(SessionRoutes, EveryScopeCanSignIn) {
  ApiWorld world;
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {R"("scope":"read")", "read", "viewer"},
      {R"("scope":"publish")", "publish", "viewer"},
      {R"("scope":"tenant","tenant_id":"t")", "tenant", "admin"},
      {R"("scope":"tenant","tenant_id":"t","role":"viewer")", "tenant", "viewer"}};
  for (const auto& [fields, scope, role] : cases) {
    const Answer key = world.call("POST", "/v1/api-keys", "{" + std::string{fields} + "}");
    const ApiWorld::Pairs session = world.sign_in(with_key(key.at("key")));
    ASSERT_FALSE(session.empty()) << fields;
    const Answer shown = world.call("GET", "/v1/sessions", "", session);
    EXPECT_EQ(shown.at("scope"), scope);
    EXPECT_EQ(shown.at("role"), role);
    EXPECT_EQ(world.call("GET", "/v1/tenants", "", session).status, 403) << fields;
    EXPECT_EQ(world.call("DELETE", "/v1/sessions", "", session).status, 204);
  }
}

TEST(SessionRoutes, RefusesWhatIsNoKey) {
  ApiWorld world;
  const Answer passing = world.call("POST", "/v1/api-keys",
                                    R"({"scope":"admin","expires_at":"2026-01-01T00:00:10Z"})");
  const Answer unknown = world.call("POST", "/v1/sessions", with_key("prk_no"), json_type);
  EXPECT_EQ(unknown.status, 401);
  EXPECT_EQ(unknown.at("code"), "unauthorized");
  EXPECT_EQ(unknown.header("Set-Cookie"), "(none)");
  const ApiWorld::Pairs session = world.sign_in(with_key(passing.at("key")));
  EXPECT_EQ(world.call("GET", "/v1/sessions", "", session).at("expires_at"),
            "2026-01-01T00:00:10.000Z")
      << "it ends with its key";
  EXPECT_EQ(world.call("POST", "/v1/sessions", with_key(text_of(session)), json_type).status, 401);
  world.service().moment.wall += seconds{10};
  EXPECT_EQ(world.call("GET", "/v1/sessions", "", session).status, 401);
  EXPECT_EQ(world.call("POST", "/v1/sessions", with_key(passing.at("key")), json_type).status, 401);
}

TEST(SessionRoutes, RefusesBodiesThatAreNotOneCredential) {
  ApiWorld world;
  for (const char* body : {"{}", R"({"key":null})", R"({"key":"a","token":"b"})", R"({"key":5})",
                           R"({"token":""})", R"({"key":"a","remember":true})"}) {
    EXPECT_EQ(world.call("POST", "/v1/sessions", body, json_type).status, 422) << body;
  }
  EXPECT_EQ(world.call("POST", "/v1/sessions", "{", json_type).status, 400);
  EXPECT_EQ(world.call("POST", "/v1/sessions", with_token("prp_no"), json_type).at("code"),
            "link_spent");
}

TEST(SessionRoutes, RefusesASignInFromAnotherSite) {
  ApiWorld world;
  EXPECT_EQ(world.call("POST", "/v1/sessions", admin).status, 415) << "no Content-Type";
  const auto status = [&](ApiWorld::Pairs headers) {
    headers.emplace_back("content-type", "application/json");
    return world.call("POST", "/v1/sessions", admin, headers).status;
  };
  EXPECT_EQ(world.call("POST", "/v1/sessions", admin, {{"content-type", "text/plain"}}).status,
            415);
  EXPECT_EQ(status({{"sec-fetch-site", "cross-site"}}), 403);
  EXPECT_EQ(status({{"origin", "https://evil.example"}}), 403);
  EXPECT_EQ(status({{"origin", "http://localhost"}}), 201);
  EXPECT_EQ(world.service().store.sessions.size(), 1u);
}

TEST(SessionRoutes, AChangeNeedsTheCsrfTokenOfItsSession) {
  ApiWorld world;
  const ApiWorld::Pairs session = world.sign_in(admin);
  const ApiWorld::Pairs other = world.sign_in(admin);
  const std::string body = R"({"id":"acme"})";
  const std::vector<ApiWorld::Pairs> refused = {
      cookie_only(session),
      {session[0], {"x-csrf-token", ""}},
      {session[0], other[1]},
      {session[0], {"x-csrf-token", session[1].second + "0"}},
      {session[0], {"x-csrf-token", text_of(session)}}};
  for (const ApiWorld::Pairs& headers : refused) {
    const Answer answer = world.call("POST", "/v1/tenants", body, headers);
    EXPECT_EQ(answer.status, 403);
    EXPECT_EQ(answer.at("code"), "csrf_token_required");
    EXPECT_EQ(world.call("DELETE", "/v1/sessions", "", headers).status, 403);
  }
  EXPECT_TRUE(world.service().store.tenants.empty());
  EXPECT_EQ(world.call("GET", "/v1/tenants", "", cookie_only(session)).status, 200);
  EXPECT_EQ(world.call("POST", "/v1/tenants", body, session).status, 201);
}

TEST(SessionRoutes, AuthorizationOverridesTheCookie) {
  ApiWorld world;
  const std::string reader = world.call("POST", "/v1/api-keys", R"({"scope":"read"})").at("key");
  const ApiWorld::Pairs session = world.sign_in(admin);
  const auto with = [&](const std::string& authorization) {
    ApiWorld::Pairs both = cookie_only(session);
    both.emplace_back("authorization", authorization);
    return both;
  };
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", with("Bearer " + reader)).status, 200);
  EXPECT_EQ(world.call("GET", "/v1/tenants", "", with("Bearer " + reader)).status, 403);
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", with("Bearer wrong")).status, 401);
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", with("")).status, 401);
  EXPECT_EQ(world.call("GET", "/v1/sessions", "", with("Bearer pk_test_admin")).status, 401);
  EXPECT_EQ(world.call("POST", "/v1/tenants", R"({"id":"a"})", with("Bearer pk_test_admin")).status,
            201)
      << "a key needs no CSRF token";
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", {{"authorization", "Bearer " + text_of(session)}})
                .status,
            401)
      << "a session is no key";
}

TEST(SessionRoutes, RefusesDamagedCookies) {
  ApiWorld world;
  const std::string text = text_of(world.sign_in(admin));
  const auto status = [&](const std::vector<std::string>& cookies) {
    ApiWorld::Pairs headers;
    for (const std::string& cookie : cookies) {
      headers.emplace_back("cookie", cookie);
    }
    return world.call("GET", "/v1/webhooks", "", headers).status;
  };
  const std::string good = "postrider_session=" + text;
  EXPECT_EQ(status({good}), 200);
  EXPECT_EQ(status({"a=b; " + good + "; c=\"d\""}), 200);
  EXPECT_EQ(status({"a=b", good}), 200);
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{good + "; " + good},
                                             {good, good},
                                             {good + "; postrider_session="},
                                             {"postrider_session=\"" + text + "\""},
                                             {good + "x"},
                                             {"postrider_session=" + text.substr(1)},
                                             {"postrider_session=pk_test_admin"},
                                             {"postrider_session=" + std::string(9000, 'x')},
                                             {"postrider_session"},
                                             {"a=b"},
                                             {""}}) {
    EXPECT_EQ(status(bad), 401) << bad.front();
  }
}

TEST(SessionRoutes, SignOutEndsTheSessionAndIsAudited) {
  ApiWorld world;
  const ApiWorld::Pairs session = world.sign_in(admin);
  const ApiWorld::Pairs other = world.sign_in(admin);
  const Answer out = world.call("DELETE", "/v1/sessions", "", session);
  EXPECT_EQ(out.status, 204);
  EXPECT_EQ(out.header("Set-Cookie"),
            "postrider_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", session).status, 401);
  EXPECT_EQ(world.call("DELETE", "/v1/sessions", "", session).status, 401);
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", other).status, 200);
  const Answer log = world.call("GET", "/v1/audit-log");
  EXPECT_EQ(log.at("data.0.action"), "session.delete");
  EXPECT_EQ(log.at("data.1.action"), "session.create");
  for (const char* entry : {"data.0", "data.1", "data.2"}) {
    EXPECT_EQ(log.at(std::string{entry} + ".actor_name"), "admin");
  }
  EXPECT_EQ(log.body.find(text_of(session)), std::string::npos);
}

TEST(SessionRoutes, ActionsOfASessionAreThoseOfItsKey) {
  ApiWorld world;
  const Answer key = world.call("POST", "/v1/api-keys", R"({"scope":"admin","name":"ops"})");
  const ApiWorld::Pairs session = world.sign_in(with_key(key.at("key")));
  ASSERT_EQ(world.call("POST", "/v1/tenants", R"({"id":"acme"})", session).status, 201);
  EXPECT_EQ(world.service().key_uses.back().first.to_string(), key.at("id"))
      << "the key counts as used";
  const Answer log = world.call("GET", "/v1/audit-log");
  EXPECT_EQ(log.at("data.0.action"), "tenant.create");
  EXPECT_EQ(log.at("data.0.actor"), key.at("id"));
  EXPECT_EQ(log.at("data.0.actor_name"), "ops");
}

TEST(SessionRoutes, ASessionEndsWithItsKey) {
  ApiWorld world;
  const Answer key = world.call("POST", "/v1/api-keys", R"({"scope":"admin"})");
  const ApiWorld::Pairs session = world.sign_in(with_key(key.at("key")));
  const std::string link = world.call("POST", "/v1/sign-in-links", "", session).at("token");
  const ApiWorld::Pairs linked = world.sign_in(with_token(link));
  const std::string unused = world.call("POST", "/v1/sign-in-links", "", linked).at("token");
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", linked).status, 200);
  EXPECT_EQ(world.call("DELETE", "/v1/api-keys/" + key.at("id")).status, 204);
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", session).status, 401);
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", linked).status, 401);
  EXPECT_TRUE(world.sign_in(with_token(unused)).empty());
  EXPECT_TRUE(world.service().store.sessions.empty());
  EXPECT_TRUE(world.service().store.links.empty());
}

TEST(SessionRoutes, TheOldestOfTooManySessionsEnds) {
  ApiWorld world;
  const ApiWorld::Pairs first = world.sign_in(admin);
  const ApiWorld::Pairs second = world.sign_in(admin);
  for (std::size_t i = 2; i < sessions_max; ++i) {
    ASSERT_FALSE(world.sign_in(admin).empty());
  }
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", first).status, 200);
  const ApiWorld::Pairs last = world.sign_in(admin);
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", first).status, 401);
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", second).status, 200);
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", last).status, 200);
  EXPECT_EQ(world.service().store.sessions.size(), sessions_max);
}

TEST(SessionRoutes, SessionsShareTheRateOfTheirKey) {
  ApiWorld world{[](ApiOptions& options) {
    options.key_rate = RateLimit{.count = 1, .period = std::chrono::minutes{1}, .burst = 2};
    options.address_rate = RateLimit{.count = 1, .period = std::chrono::minutes{1}, .burst = 3};
  }};
  const ApiWorld::Pairs first = world.sign_in(admin);
  const ApiWorld::Pairs second = world.sign_in(admin);
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", first).status, 200);
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", second).status, 200);
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", first).status, 429);
  EXPECT_EQ(world.call("POST", "/v1/sessions", with_key("guess"), json_type).status, 401);
  EXPECT_EQ(world.call("POST", "/v1/sessions", with_key("guess"), json_type).status, 429)
      << "sign-ins are counted by address";
}

TEST(SignInLinkRoutes, LinkOpensOneSessionOfAnOperator) {
  ApiWorld world;
  const Answer link = world.call("POST", "/v1/sign-in-links", R"({"role":"viewer"})");
  ASSERT_EQ(link.status, 201) << link.body;
  EXPECT_EQ(link.at("url"), "http://localhost/#token=" + link.at("token"));
  EXPECT_EQ(link.at("role"), "viewer");
  EXPECT_EQ(link.at("expires_at"), "2026-01-01T00:05:00.000Z");
  EXPECT_EQ(link.header("Cache-Control"), "no-store");
  const ApiWorld::Pairs session = world.sign_in(with_token(link.at("token")));
  ASSERT_FALSE(session.empty());
  const Answer shown = world.call("GET", "/v1/sessions", "", session);
  EXPECT_EQ(shown.at("scope"), "read");
  EXPECT_EQ(shown.at("role"), "viewer");
  EXPECT_EQ(shown.at("key_name"), "admin");
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", session).status, 200);
  EXPECT_EQ(world.call("POST", "/v1/sign-in-links", "", session).status, 403);
  EXPECT_TRUE(world.sign_in(with_token(link.at("token"))).empty());
  const std::string full =
      world.call("POST", "/v1/sign-in-links", R"({"session_seconds":60})").at("token");
  const ApiWorld::Pairs operators = world.sign_in(with_token(full));
  EXPECT_EQ(world.call("GET", "/v1/sessions", "", operators).at("scope"), "admin");
  world.service().moment.wall += seconds{60};
  EXPECT_EQ(world.call("GET", "/v1/sessions", "", operators).status, 401);
}

TEST(SignInLinkRoutes, InvalidBodyNamesTheField) {
  ApiWorld world;
  const std::pair<const char*, const char*> cases[] = {
      {R"({"role":"owner"})", "role"},
      {R"({"expires_in_seconds":0})", "expires_in_seconds"},
      {R"({"expires_in_seconds":3601})", "expires_in_seconds"},
      {R"({"session_seconds":86401})", "session_seconds"},
      {R"({"tenant_id":"t"})", "tenant_id"}};
  for (const auto& [body, field] : cases) {
    const Answer answer = world.call("POST", "/v1/sign-in-links", body);
    EXPECT_EQ(answer.status, 422) << body;
    EXPECT_EQ(answer.at("errors.0.field"), field) << body;
  }
}

TEST(PortalRoutes, LinkOpensOneSessionOfItsTenant) {
  ApiWorld world;
  const std::string mine = world.make_webhook(R"("tenant_id":"acme")");
  world.make_webhook(R"("tenant_id":"other")");
  const Answer link =
      world.call("POST", "/v1/portal-links", R"({"tenant_id":"acme","session_seconds":60})",
                 {{"host", "192.0.2.1:8080"}});
  ASSERT_EQ(link.status, 201) << link.body;
  EXPECT_EQ(link.at("url"), "http://192.0.2.1:8080/#token=" + link.at("token"));
  EXPECT_EQ(link.at("expires_at"), "2026-01-01T00:05:00.000Z");
  const ApiWorld::Pairs session = world.sign_in(with_token(link.at("token")));
  ASSERT_FALSE(session.empty());
  const Answer shown = world.call("GET", "/v1/sessions", "", session);
  EXPECT_EQ(shown.at("scope"), "tenant");
  EXPECT_EQ(shown.at("tenant_id"), "acme");
  EXPECT_EQ(shown.at("expires_at"), "2026-01-01T00:01:00.000Z");
  EXPECT_EQ(shown.at("key_name"), "portal session");
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", session).at("data.0.id"), mine);
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", session).at("data.1"), "(none)");
  EXPECT_EQ(world.call("GET", "/v1/tenants", "", session).status, 403);
  EXPECT_TRUE(world.sign_in(with_token(link.at("token"))).empty());
  EXPECT_EQ(world.call("POST", "/v1/webhooks/" + mine + "/pause", "", session).status, 200);
  const Answer log = world.call("GET", "/v1/audit-log");
  EXPECT_EQ(log.at("data.0.actor_name"), "portal session");
  EXPECT_EQ(log.at("data.0.actor"), log.at("data.1.subject")) << "not the operator's key";
  EXPECT_EQ(log.at("data.1.actor"), "portal_link");
  world.service().moment.wall += seconds{60};
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", session).status, 401);
}

TEST(PortalRoutes, LinksHaveTheListenersSchemeOrThePublicUrl) {
  const std::string body = R"({"tenant_id":"acme"})";
  const ApiWorld::Pairs host = {{"host", "hooks.example"}, {"x-forwarded-proto", "https"}};
  ApiWorld plain;
  EXPECT_EQ(plain.call("POST", "/v1/portal-links", body, host).at("code"), "unknown_host");
  ApiWorld secure{[](ApiOptions& options) { options.tls = true; }};
  EXPECT_TRUE(secure.call("POST", "/v1/portal-links", body, {{"host", "localhost:1"}})
                  .at("url")
                  .starts_with("https://localhost:1/#"));
  ApiWorld named{[](ApiOptions& options) { options.public_url = "https://p.example/"; }};
  EXPECT_TRUE(named.call("POST", "/v1/portal-links", body, host)
                  .at("url")
                  .starts_with("https://p.example/#"));
}

TEST(PortalRoutes, RefusesAndRemovesExpiredLinksAndSessions) {
  ApiWorld world;
  const std::string make = R"({"tenant_id":"acme","expires_in_seconds":5,"session_seconds":5})";
  const std::string first = world.call("POST", "/v1/portal-links", make).at("token");
  const std::string second = world.call("POST", "/v1/portal-links", make).at("token");
  EXPECT_FALSE(world.sign_in(with_token(first)).empty());
  world.service().moment.wall += seconds{5};
  EXPECT_EQ(world.call("POST", "/v1/sessions", with_token(second), json_type).status, 410);
  EXPECT_EQ(world.service().store.links.size(), 1u);
  world.call("POST", "/v1/portal-links", make);
  EXPECT_EQ(world.service().store.links.size(), 1u);
  EXPECT_TRUE(world.service().store.sessions.empty());
}

TEST(PortalRoutes, InvalidBodyNamesTheField) {
  ApiWorld world;
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "tenant_id"},
      {R"({"tenant_id":""})", "tenant_id"},
      {R"({"tenant_id":"t","expires_in_seconds":0})", "expires_in_seconds"},
      {R"({"tenant_id":"t","expires_in_seconds":301})", "expires_in_seconds"},
      {R"({"tenant_id":"t","session_seconds":3601})", "session_seconds"},
      {R"({"tenant_id":"t","branding":{"title":""}})", "branding.title"},
      {R"({"tenant_id":"t","branding":{"logo_url":"http://x/"}})", "branding.logo_url"},
      {R"({"tenant_id":"t","branding":{"primary_color":"red"}})", "branding.primary_color"},
      {R"({"tenant_id":"t","branding":{"font":"x"}})", "branding.font"},
      {R"({"tenant_id":"t","branding":"x"})", "branding"},
      {R"({"tenant_id":"t","url":"x"})", "url"}};
  for (const auto& [body, field] : cases) {
    const Answer answer = world.call("POST", "/v1/portal-links", body);
    EXPECT_EQ(answer.status, 422) << body;
    EXPECT_EQ(answer.at("errors.0.field"), field) << body;
  }
}

TEST(PortalRoutes, BrandingOfTheLinkOverridesTheSettings) {
  ApiWorld world{[](ApiOptions& options) {
    options.branding = {.title = "Hooks", .logo_url = "/logo.svg", .primary_color = std::nullopt};
  }};
  const auto branding = [&](const std::string& link) {
    const Answer made = world.call("POST", "/v1/portal-links", link);
    return world.call("GET", "/v1/sessions", "", world.sign_in(with_token(made.at("token"))))
        .at("branding");
  };
  EXPECT_EQ(branding(R"({"tenant_id":"t"})"),
            R"({"title":"Hooks","logo_url":"/logo.svg","primary_color":null})");
  EXPECT_EQ(branding(R"({"tenant_id":"t","branding":{"title":"<b>","primary_color":"#aA0000"}})"),
            R"({"title":"<b>","logo_url":"/logo.svg","primary_color":"#aA0000"})");
  EXPECT_EQ(world.call("GET", "/v1/sessions", "", world.sign_in(admin)).at("branding.title"),
            "Hooks");
}

TEST(PortalRoutes, SuspensionClosesThePortalButLetsVisitorsSignOut) {
  ApiWorld world;
  world.call("POST", "/v1/tenants", R"({"id":"acme"})");
  const Answer key = world.call("POST", "/v1/api-keys", R"({"scope":"tenant","tenant_id":"acme"})");
  const ApiWorld::Pairs session = world.sign_in(with_key(key.at("key")));
  world.call("POST", "/v1/tenants/acme/suspend");
  EXPECT_EQ(world.call("GET", "/v1/sessions", "", session).at("code"), "tenant_suspended");
  EXPECT_EQ(world.call("POST", "/v1/sessions", with_key(key.at("key")), json_type).at("code"),
            "tenant_suspended");
  EXPECT_EQ(world.call("DELETE", "/v1/sessions", "", session).status, 204);
  EXPECT_TRUE(world.service().store.sessions.empty());
}

}  // namespace
}  // namespace postrider::api
