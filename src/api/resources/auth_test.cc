#include "api/resources/auth.h"

#include <gtest/gtest.h>

#include "adapters/openssl/digest.h"
#include "adapters/openssl/openssl_crypto.h"
#include "api/http/request_observer.h"

namespace postrider::api {
namespace {

const WallTime now = wall_from_unix_ms(1'700'000'000'000);

ApiKey make_key(std::uint8_t number, std::string_view key, KeyScope scope) {
  ApiKey made{.id = {}, .name = {}, .sha256 = sha256(key), .scope = scope, .created_at = {}};
  made.id.bytes[0] = number;
  return made;
}

AccessSnapshot some_keys() {
  ApiKey tenant = make_key(4, "pk_tenant", KeyScope::tenant);
  tenant.tenant_id = "acme";
  ApiKey expired = make_key(5, "pk_expired", KeyScope::admin);
  expired.expires_at = now;
  ApiKey expiring = make_key(6, "pk_expiring", KeyScope::admin);
  expiring.expires_at = now + Millis{1};
  return AccessSnapshot{
      {.keys = {make_key(1, "pk_admin", KeyScope::admin), make_key(2, "pk_read", KeyScope::read),
                make_key(3, "pk_publish", KeyScope::publish), tenant, expired, expiring},
       .tenants = {},
       .links = {}}};
}

HttpRequest with_key(std::string_view key) {
  HttpRequest request;
  request.headers.emplace_back("authorization", "Bearer " + std::string{key});
  return request;
}

Parsed<Caller> check(const HttpRequest& request, Admission admission,
                     const AccessSnapshot& access = some_keys()) {
  return authenticate(request, admission, {access, openssl_crypto(), now});
}

int status_of(std::optional<std::string> authorization, Admission admission) {
  HttpRequest request;
  if (authorization) {
    request.headers.emplace_back("authorization", *authorization);
  }
  const auto caller = check(request, admission);
  return caller ? 200 : caller.error().status;
}

TEST(Authenticate, OpenRouteNeedsNoKey) { EXPECT_EQ(status_of(std::nullopt, {Access::open}), 200); }

TEST(Authenticate, RequiresAKnownKey) {
  EXPECT_EQ(status_of("Bearer pk_admin", {Access::admin}), 200);
  EXPECT_EQ(status_of("bearer pk_admin", {Access::admin}), 200);
  EXPECT_EQ(status_of("BEARER   pk_admin", {Access::admin}), 200);
  const std::optional<std::string> wrong[] = {std::nullopt,
                                              "",
                                              "Bearer",
                                              "Bearer ",
                                              "Bearer    ",
                                              "pk_admin",
                                              "Basic pk_admin",
                                              "Bearer pk_admi",
                                              "Bearer pk_adminx",
                                              "Bearer PK_ADMIN",
                                              "Bearer pk_admin ",
                                              "Bearerpk_admin",
                                              "Bearer " + std::string(5000, 'x')};
  for (const auto& header : wrong) {
    EXPECT_EQ(status_of(header, {Access::admin}), 401) << header.value_or("(none)");
  }
}

TEST(Authenticate, ProblemTellsHowToAuthenticate) {
  const auto caller = check({}, {Access::read});
  ASSERT_FALSE(caller);
  ASSERT_EQ(caller.error().headers.size(), 1u);
  EXPECT_EQ(caller.error().headers[0].first, "WWW-Authenticate");
  EXPECT_EQ(caller.error().headers[0].second, "Bearer realm=\"postrider\"");
}

TEST(Authenticate, RestrictsAKeyToItsScope) {
  struct Case {
    const char* key;
    int read, publish, admin;
  };
  const Case cases[] = {{"pk_admin", 200, 200, 200},
                        {"pk_read", 200, 403, 403},
                        {"pk_publish", 403, 200, 403},
                        {"pk_tenant", 403, 403, 403}};
  for (const Case& c : cases) {
    const std::string header = std::string{"Bearer "} + c.key;
    EXPECT_EQ(status_of(header, {Access::read}), c.read) << c.key;
    EXPECT_EQ(status_of(header, {Access::publish}), c.publish) << c.key;
    EXPECT_EQ(status_of(header, {Access::admin}), c.admin) << c.key;
  }
}

TEST(Authenticate, NamesTheScopeOfTheKeyAndTheRequiredScope) {
  const auto detail = [](std::string_view key, Access access) {
    const auto caller = check(with_key(key), {access});
    return caller ? std::string{"let in"} : caller.error().detail;
  };
  EXPECT_NE(detail("pk_publish", Access::read)
                .find("This API key has scope `publish`; this request needs scope `read` or "
                      "`admin`."),
            std::string::npos);
  EXPECT_NE(detail("pk_read", Access::admin).find("`read`; this request needs scope `admin`."),
            std::string::npos);
  EXPECT_NE(detail("pk_tenant", Access::publish)
                .find("`tenant`; this request needs scope `publish` or `admin`."),
            std::string::npos);
}

TEST(Authenticate, AcceptsATenantsKeyOnlyOnRoutesForTenants) {
  for (const Access access : {Access::read, Access::publish, Access::admin}) {
    EXPECT_EQ(status_of("Bearer pk_tenant", {access, Tenants::served}), 200);
    EXPECT_EQ(status_of("Bearer pk_tenant", {access, Tenants::shut_out}), 403);
  }
  const auto tenant = check(with_key("pk_tenant"), {Access::read, Tenants::served});
  ASSERT_TRUE(tenant);
  EXPECT_EQ(tenant->tenant_id, "acme");
  const auto reader = check(with_key("pk_read"), {Access::read, Tenants::served});
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->tenant_id, std::nullopt);
}

TEST(Authenticate, RejectsAnExpiredKey) {
  EXPECT_EQ(status_of("Bearer pk_expiring", {Access::admin}), 200);
  const auto expired = check(with_key("pk_expired"), {Access::admin});
  ASSERT_FALSE(expired);
  EXPECT_EQ(expired.error().status, 401);
  EXPECT_NE(expired.error().detail.find("expired at 2023-11-14T22:13:20.000Z"), std::string::npos)
      << expired.error().detail;
}

TEST(Authenticate, NotesTheKeyAlsoIfItMayNotCall) {
  const AccessSnapshot access = some_keys();
  const auto note_of = [&](std::string_view text, Admission admission) {
    RequestNote note;
    HttpRequest request = with_key(text);
    request.note = &note;
    (void)check(request, admission, access);
    return note;
  };
  for (const Tenants tenants : {Tenants::served, Tenants::shut_out}) {
    const RequestNote note = note_of("pk_tenant", {Access::read, tenants});
    ASSERT_TRUE(note.key_id);
    EXPECT_EQ(note.key_id->bytes[0], 4);
    EXPECT_EQ(note.tenant_id, "acme");
  }
  EXPECT_EQ(note_of("pk_admin", {Access::read}).tenant_id, "");
  EXPECT_FALSE(note_of("pk_unknown", {Access::read}).key_id);
  EXPECT_FALSE(note_of("pk_expired", {Access::read}).key_id);
}

TEST(Authenticate, RejectsEveryKeyIfNoneIsRegistered) {
  EXPECT_EQ(check(with_key("pk_admin"), {Access::read}, AccessSnapshot{}).error().status, 401);
}

}  // namespace
}  // namespace postrider::api
