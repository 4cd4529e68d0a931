// Requests over HTTP to one of several servers that share a store, whose bodies arrive after their
// headers.
#include <gtest/gtest.h>

#include "adapters/openssl/digest.h"
#include "adapters/openssl/openssl_crypto.h"
#include "api/http/http_server_fixture.h"
#include "api/resources/catch_ups.h"
#include "api/resources/routes.h"
#include "api/resources/shared_answer.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

using test::RawClient;
using test::TestServer;

/// The service runs on the server's thread: use it with call() once there are connections.
class SharedStoreServer : public testing::Test {
 protected:
  HttpServerOptions options() {
    service_.shared = true;
    ApiOptions api;
    api.crypto = &openssl_crypto();
    control_ = add_routes(router_, service_, std::move(api));
    HttpServerOptions options = test::long_timeouts();
    options.check_head = [this](const HttpRequest& head) { return router_.check_head(head); };
    options.recheck_head = make_head_recheck(router_, service_, control_);
    return options;
  }

  void add_key() {
    service_.add_key({.id = {},
                      .name = "new",
                      .sha256 = sha256("pk_new"),
                      .scope = KeyScope::publish,
                      .created_at = {}});
  }

  std::uint64_t catch_ups() {
    std::uint64_t count = 0;
    server_.call([&] { count = service_.catch_ups; });
    return count;
  }

  postrider::test::MemoryService service_;
  Router router_;
  std::shared_ptr<ApiControl> control_;
  TestServer server_{[this](HttpRequest request) { return router_.route(std::move(request)); },
                     options()};
};

std::string head(const std::string& more) {
  return "POST /v1/events HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer pk_new\r\n" + more + "\r\n";
}

const std::string body = R"({"type":"a","data":1})";
const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";

TEST_F(SharedStoreServer, ReadsTheBodyOfAPublisherWhoseKeyWasMadeElsewhere) {
  server_.call([this] { service_.on_catch_up = [this] { add_key(); }; });
  const auto client = server_.connect();
  ASSERT_TRUE(client->send(head(length + "Expect: 100-continue\r\n")));
  EXPECT_EQ(client->read_response().head, "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(client->send(body));
  EXPECT_EQ(client->read_response().status(), 202);
  ASSERT_TRUE(client->send(head(length) + body));
  EXPECT_EQ(client->read_response().status(), 202);
  EXPECT_EQ(catch_ups(), 1u);
}

TEST_F(SharedStoreServer, ClientsWithoutAKeyCannotCauseMoreWaitsThanTheirLimit) {
  for (std::uint32_t number = 0; number < fruitless_catch_ups.burst + 10; ++number) {
    const auto client = server_.connect();
    ASSERT_TRUE(client->send(head(length)));
    EXPECT_EQ(client->read_response().status(), 401);
  }
  EXPECT_EQ(catch_ups(), fruitless_catch_ups.burst);
}

TEST(HeadRecheck, IsNotNeededIfTheStoreIsNotShared) {
  postrider::test::MemoryService service;
  Router router;
  ApiOptions options;
  options.crypto = &openssl_crypto();
  const auto control = add_routes(router, service, std::move(options));
  EXPECT_EQ(make_head_recheck(router, service, control), nullptr);
}

}  // namespace
}  // namespace postrider::api
