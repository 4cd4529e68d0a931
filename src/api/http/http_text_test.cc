// The parts of the HTTP layer without I/O: targets, listen addresses, problems, response heads,
// counters, routes.
#include <future>
#include <string>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/http/http_samples.h"
#include "api/http/listen_address.h"
#include "api/http/problem.h"
#include "api/http/response_writer.h"
#include "api/http/router.h"
#include "api/http/shared_shares.h"
#include "api/http/url_text.h"

namespace postrider::api {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(ParseTarget, DecodesPathAndQuery) {
  const Result<Target> target = parse_target("/v1/caf%C3%A9/a+b?q=x+y%2Fz&empty=&flag&&a=1&a=2");
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ(target->path, "/v1/café/a+b");
  const Pairs want = {{"q", "x y/z"}, {"empty", ""}, {"flag", ""}, {"a", "1"}, {"a", "2"}};
  EXPECT_EQ(target->query, want);
}

TEST(ParseTarget, RefusesAmbiguousTargets) {
  const char* refused[] = {"",        "*",     "http://h/", "h:443",      "/a%",
                           "/a%2",    "/a%zz", "/a%2Fb",    "/a%2fb",     "/%00",
                           "/%0a",    "/%7f",  "/a/../b",   "/.",         "/a/%2e%2e",
                           "/a#b",    "/%ff",  "/%c0%af",   "/%ed%a0%80", "/%f4%90%80%80",
                           "/?a=%00", "/?a=%", "/?%zz=1",   "/?a=%ff"};
  for (const char* raw : refused) {
    EXPECT_FALSE(parse_target(raw).has_value()) << raw;
  }
}

TEST(ParseTarget, AcceptsDotsInsideASegment) {
  for (const char* raw : {"/a..b", "/...", "/.well-known/x", "/a.", "/"}) {
    const Result<Target> target = parse_target(raw);
    ASSERT_TRUE(target.has_value()) << raw;
    EXPECT_EQ(target->path, raw);
  }
}

TEST(IsUtf8, AcceptsTheFirstAndLastValidSequencesOnly) {
  for (const char* good :
       {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x90\x80\x41", "\xff"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

TEST(ParseListenAddress, AcceptsAddressesWithAPort) {
  struct Case {
    const char* text;
    const char* address;
    std::uint16_t port;
  };
  const Case cases[] = {{"127.0.0.1:8080", "127.0.0.1", 8080},
                        {"0.0.0.0:0", "0.0.0.0", 0},
                        {"[::1]:65535", "::1", 65535},
                        {"localhost:80", "127.0.0.1", 80}};
  for (const Case& c : cases) {
    const auto endpoint = parse_listen_address(c.text);
    ASSERT_TRUE(endpoint.has_value()) << c.text;
    EXPECT_EQ(endpoint->address().to_string(), c.address);
    EXPECT_EQ(endpoint->port(), c.port);
  }
}

TEST(ParseListenAddress, RefusesEverythingElse) {
  for (const char* text : {"", ":", ":8080", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                           "127.0.0.1:-1", "127.0.0.1:80x", "127.0.0.1:+80", "::1:8080", "[::1]",
                           "[127.0.0.1]:80", "example.com:80", "127.1:80"}) {
    EXPECT_FALSE(parse_listen_address(text).has_value()) << text;
  }
}

TEST(RenderProblem, WritesAllMembersInOrder) {
  const HttpResponse response = render({.status = 422,
                                        .code = "invalid",
                                        .title = "Not valid",
                                        .detail = "Say \"why\".",
                                        .errors = {{"retry_config.max_attempts", "Too many."}}});
  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(response.body,
            R"({"type":"urn:postrider:problem:invalid","title":"Not valid","status":422,)"
            R"("detail":"Say \"why\".","code":"invalid",)"
            R"("errors":[{"field":"retry_config.max_attempts","message":"Too many."}]})");
  EXPECT_TRUE(response.headers.empty());
}

TEST(RenderProblem, ReplacesBytesThatAreNotUtf8) {
  const HttpResponse response = render({.status = 400,
                                        .code = "c",
                                        .title = "t",
                                        .detail = "a\xff"
                                                  "b",
                                        .errors = {}});
  EXPECT_NE(response.body.find("\"a?b\""), std::string::npos);
}

TEST(RenderProblem, AddsRetryAfterTo429And503) {
  for (const std::uint16_t status : {std::uint16_t{429}, std::uint16_t{503}}) {
    const HttpResponse response =
        render({.status = status, .code = "c", .title = "t", .detail = "d", .errors = {}});
    const Pairs want = {{"Retry-After", "1"}};
    EXPECT_EQ(response.headers, want);
  }
}

TEST(ToProblem, MapsErrorCodesToStatusesAndHidesCorruptionDetails) {
  const auto problem_of = [](Errc code) { return to_problem(fail(code, "secret path").value()); };
  EXPECT_EQ(problem_of(Errc::not_found).status, 404);
  EXPECT_EQ(problem_of(Errc::conflict).status, 409);
  EXPECT_EQ(problem_of(Errc::invalid).status, 422);
  EXPECT_EQ(problem_of(Errc::invalid).detail, "secret path");
  EXPECT_EQ(problem_of(Errc::unavailable).status, 503);
  EXPECT_EQ(problem_of(Errc::corrupt).status, 500);
  EXPECT_EQ(problem_of(Errc::corrupt).detail.find("secret"), std::string::npos);
}

TEST(HttpDate, FollowsRfc9110) {
  EXPECT_EQ(http_date(wall_from_unix_ms(784111777'000)), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http_date(wall_from_unix_ms(784111777'999)), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http_date(wall_from_unix_ms(0)), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(http_date(wall_from_unix_ms(-1)), "Wed, 31 Dec 1969 23:59:59 GMT");
}

std::string head_of(const HttpResponse& response, const ResponseFraming& framing) {
  std::string out;
  write_head(response, framing, out);
  return out;
}

TEST(WriteHead, WritesAPlainResponse) {
  EXPECT_EQ(head_of({.status = 201, .body = "{}"}, {.request_id = "r1", .date = "D"}),
            "HTTP/1.1 201 Created\r\n"
            "Content-Type: application/json; charset=utf-8\r\n"
            "Content-Length: 2\r\n"
            "Date: D\r\n"
            "X-Request-Id: r1\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Cache-Control: no-store\r\n"
            "\r\n");
}

TEST(WriteHead, OmitsLengthAndTypeFrom204) {
  const HttpResponse response{.status = 204, .body = "ignored"};
  EXPECT_EQ(head_of(response, {.close = true}),
            "HTTP/1.1 204 No Content\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Cache-Control: no-store\r\n"
            "Connection: close\r\n"
            "\r\n");
  EXPECT_FALSE(has_body(response, {}));
}

TEST(WriteHead, OmitsFramingHeadersAndHeadersWithControlCharacters) {
  const std::string head = head_of({.headers = {{"X-Good", "v"},
                                                {"X-Bad", "v\r\nInjected: yes"},
                                                {"X-Nul", std::string("a\0b", 3)},
                                                {"X\nY", "v"},
                                                {"content-LENGTH", "99"},
                                                {"Transfer-Encoding", "chunked"},
                                                {"Cache-Control", "max-age=60"}}},
                                   {});
  EXPECT_EQ(head,
            "HTTP/1.1 200 OK\r\n"
            "Content-Type: application/json; charset=utf-8\r\n"
            "Content-Length: 0\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "X-Good: v\r\n"
            "Cache-Control: max-age=60\r\n"
            "\r\n");
}

TEST(SharePlace, GivesItsPlaceBackOnce) {
  const ShareOwner client{ShareKind::address, "192.0.2.1"};
  const auto shares = std::make_shared<SharedShares>(share_rules(4));
  ASSERT_EQ(shares->take(client), ShareVerdict::granted);
  {
    SharePlace place{shares, client};
    const SharePlace moved{std::move(place)};
    EXPECT_EQ(shares->take(client), ShareVerdict::owner_full);
  }
  EXPECT_EQ(shares->take(client), ShareVerdict::granted);
  EXPECT_EQ(shares->take(client), ShareVerdict::owner_full);
}

TEST(HttpSamples, AddUpTheCountersOfAllListeners) {
  const std::vector<HttpServerCounters> listeners = {{.connections_open = 1,
                                                      .connections_accepted = 20,
                                                      .connections_refused = 3,
                                                      .accepts_failed = 8,
                                                      .requests_handled = 4,
                                                      .requests_refused = 5,
                                                      .timeouts = 6,
                                                      .handler_errors = 7},
                                                     {.connections_open = 100,
                                                      .connections_accepted = 2000,
                                                      .connections_refused = 300,
                                                      .accepts_failed = 800,
                                                      .requests_handled = 400,
                                                      .requests_refused = 500,
                                                      .timeouts = 600,
                                                      .handler_errors = 700}};
  std::vector<std::string> lines;
  for (const MetricSample& sample : to_samples(listeners)) {
    const std::string result = sample.labels.empty() ? "" : sample.labels.front().second;
    lines.push_back(fmt::format("{} {} {}", sample.name, result, sample.value));
  }
  const std::vector<std::string> want = {"postrider_http_connections_open  101",
                                         "postrider_http_connections_total accepted 1717",
                                         "postrider_http_connections_total refused 303",
                                         "postrider_http_connections_total failed 808",
                                         "postrider_http_requests_total handled 404",
                                         "postrider_http_requests_total refused 505",
                                         "postrider_http_requests_total timeout 606",
                                         "postrider_http_requests_total error 707"};
  EXPECT_EQ(lines, want);
}

/// A router whose handlers respond with their own name and parameters.
class RouterTest : public testing::Test {
 protected:
  void add(const std::string& method, const std::string& pattern) {
    router_.add(
        method, pattern,
        [name = method + " " + pattern](HttpRequest request) { return show(name, request); },
        [bytes = pattern.size()](const HttpRequest&) {
          return BodyPermit{.body_bytes_max = bytes, .owner = {}};
        });
  }

  static boost::asio::awaitable<HttpResponse> show(std::string name, HttpRequest request) {
    HttpResponse response;
    response.body = name;
    for (const auto& [key, value] : request.path_parameters) {
      response.body += " " + key + "=" + value;
    }
    co_return response;
  }

  HttpResponse send(const std::string& method, const std::string& path) {
    HttpRequest request;
    request.method = method;
    request.path = path;
    boost::asio::io_context io;
    std::future<HttpResponse> response =
        boost::asio::co_spawn(io, router_.route(request), boost::asio::use_future);
    io.run();
    return response.get();
  }

  Router router_;
};

TEST_F(RouterTest, FindsLiteralsAndParameters) {
  add("GET", "/");
  add("GET", "/v1/webhooks");
  add("GET", "/v1/webhooks/{id}");
  add("POST", "/v1/webhooks/{id}/deliveries/{delivery_id}/retry");
  EXPECT_EQ(send("GET", "/").body, "GET /");
  EXPECT_EQ(send("GET", "/v1/webhooks").body, "GET /v1/webhooks");
  EXPECT_EQ(send("GET", "/v1/webhooks/whk_1").body, "GET /v1/webhooks/{id} id=whk_1");
  EXPECT_EQ(send("POST", "/v1/webhooks/a/deliveries/b/retry").body,
            "POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry delivery_id=b id=a");
}

TEST_F(RouterTest, PrefersLiteralSegmentsInAnyOrderOfAddition) {
  add("POST", "/v1/events/{id}");
  add("POST", "/v1/events/batch");
  add("GET", "/v1/events/{id}");
  EXPECT_EQ(send("POST", "/v1/events/batch").body, "POST /v1/events/batch");
  EXPECT_EQ(send("POST", "/v1/events/other").body, "POST /v1/events/{id} id=other");
  EXPECT_EQ(send("GET", "/v1/events/other").body, "GET /v1/events/{id} id=other");
  EXPECT_EQ(send("GET", "/v1/events/batch").status, 405);  // The literal path has only POST.
}

TEST_F(RouterTest, ChecksAHeadAsItsRouteDoes) {
  add("POST", "/v1/events/{id}");
  HttpRequest head;
  head.method = "POST";
  head.path = "/v1/events/a";
  EXPECT_EQ(router_.check_head(head)->body_bytes_max, std::string{"/v1/events/{id}"}.size());
  head.method = "PUT";
  EXPECT_EQ(router_.check_head(head).error().status, 405);
  head.path = "/v1";
  EXPECT_EQ(router_.check_head(head).error().status, 404);
}

TEST_F(RouterTest, Returns404ForUnknownPaths) {
  add("GET", "/v1/webhooks/{id}");
  for (const char* path : {"/", "/v1", "/v1/webhooks", "/v1/webhooks/", "/v1/webhooks/a/",
                           "/v1/webhooks/a/b", "//v1/webhooks/a", "/V1/webhooks/a"}) {
    const HttpResponse response = send("GET", path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_EQ(response.content_type, "application/problem+json");
  }
}

TEST_F(RouterTest, TheFallbackAnswersUnknownPathsThatItAccepts) {
  add("GET", "/v1/webhooks");
  router_.set_fallback(
      [](const HttpRequest& request) { return request.path == "/other"; },
      [](HttpRequest request) { return show("fallback", std::move(request)); },
      [](const HttpRequest&) { return BodyPermit{.body_bytes_max = 7, .owner = {}}; });
  EXPECT_EQ(send("GET", "/other").body, "fallback");
  EXPECT_EQ(send("GET", "/v1/webhooks").body, "GET /v1/webhooks");
  EXPECT_EQ(send("GET", "/v1/another").status, 404);
  EXPECT_EQ(send("POST", "/v1/webhooks").status, 405);
  HttpRequest head;
  head.method = "PUT";
  head.path = "/other";
  EXPECT_EQ(router_.check_head(head)->body_bytes_max, 7u);
  EXPECT_EQ(router_.routes(), std::vector<std::string>{"GET /v1/webhooks"});
}

TEST_F(RouterTest, Returns405WithAnAllowHeader) {
  add("GET", "/v1/webhooks/{id}");
  add("DELETE", "/v1/webhooks/{id}");
  const HttpResponse response = send("POST", "/v1/webhooks/a");
  EXPECT_EQ(response.status, 405);
  const Pairs want = {{"Allow", "GET, HEAD, DELETE"}};
  EXPECT_EQ(response.headers, want);
}

TEST_F(RouterTest, HeadCallsTheGetHandler) {
  add("GET", "/healthz");
  EXPECT_EQ(send("HEAD", "/healthz").body, "GET /healthz");
}

}  // namespace
}  // namespace postrider::api
