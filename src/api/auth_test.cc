#include "api/auth.h"

#include <gtest/gtest.h>

#include "adapters/openssl/digest.h"

namespace postrider::api {
namespace {

ApiKey make_key(std::string_view key, std::string scope) {
  return {.id = {}, .name = {}, .sha256 = sha256(key), .scope = std::move(scope), .created_at = {}};
}

const std::vector<ApiKey>& some_keys() {
  static const std::vector<ApiKey> keys = {
      make_key("pk_admin", "admin"), make_key("pk_read", "read"), make_key("pk_publish", "publish"),
      make_key("pk_strange", "strange")};
  return keys;
}

int status_of(std::optional<std::string> authorization, Access access) {
  HttpRequest request;
  if (authorization) {
    request.headers.emplace_back("authorization", *authorization);
  }
  const auto caller = authenticate(request, access, some_keys());
  return caller ? 200 : caller.error().status;
}

TEST(Authenticate, LetsAnyoneIntoWhatIsOpen) {
  EXPECT_EQ(status_of(std::nullopt, Access::open), 200);
}

TEST(Authenticate, WantsAKnownKey) {
  EXPECT_EQ(status_of("Bearer pk_admin", Access::admin), 200);
  EXPECT_EQ(status_of("bearer pk_admin", Access::admin), 200);
  EXPECT_EQ(status_of("BEARER   pk_admin", Access::admin), 200);
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
    EXPECT_EQ(status_of(header, Access::admin), 401) << header.value_or("(none)");
  }
}

TEST(Authenticate, SaysHowToAuthenticate) {
  const auto caller = authenticate({}, Access::read, some_keys());
  ASSERT_FALSE(caller);
  ASSERT_EQ(caller.error().headers.size(), 1u);
  EXPECT_EQ(caller.error().headers[0].first, "WWW-Authenticate");
  EXPECT_EQ(caller.error().headers[0].second, "Bearer realm=\"postrider\"");
}

TEST(Authenticate, HoldsAKeyToItsScope) {
  struct Case {
    const char* key;
    int read, publish, admin;
  };
  const Case cases[] = {{"pk_admin", 200, 200, 200},
                        {"pk_read", 200, 403, 403},
                        {"pk_publish", 403, 200, 403},
                        {"pk_strange", 403, 403, 403}};
  for (const Case& c : cases) {
    const std::string header = std::string{"Bearer "} + c.key;
    EXPECT_EQ(status_of(header, Access::read), c.read) << c.key;
    EXPECT_EQ(status_of(header, Access::publish), c.publish) << c.key;
    EXPECT_EQ(status_of(header, Access::admin), c.admin) << c.key;
  }
}

TEST(Authenticate, LetsNobodyInWithoutKeys) {
  HttpRequest request;
  request.headers.emplace_back("authorization", "Bearer pk_admin");
  EXPECT_EQ(authenticate(request, Access::read, {}).error().status, 401);
}

}  // namespace
}  // namespace postrider::api
