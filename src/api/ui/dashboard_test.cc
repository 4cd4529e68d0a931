// The dashboard through the router.
#include "api/ui/dashboard.h"

#include <array>

#include <gtest/gtest.h>

#include "api/resources/api_world_test.h"

namespace postrider::api {
namespace {

constexpr std::array<DashboardFile, 4> files = {{
    {.path = "/assets/app-1.js",
     .content_type = "text/javascript; charset=utf-8",
     .hash = "11",
     .content = "plain script",
     .brotli = "br",
     .gzip = "gz"},
    {.path = "/assets/tiny-2.css",
     .content_type = "text/css; charset=utf-8",
     .hash = "22",
     .content = "a{}",
     .brotli = "",
     .gzip = ""},
    {.path = "/favicon.svg",
     .content_type = "image/svg+xml",
     .hash = "33",
     .content = "<svg/>",
     .brotli = "",
     .gzip = ""},
    {.path = "/index.html",
     .content_type = "text/html; charset=utf-8",
     .hash = "44",
     .content = R"(<meta nonce="__CSP_NONCE__"><style nonce="__CSP_NONCE__"></style>)",
     .brotli = "",
     .gzip = ""},
}};

const ApiWorld::Pairs browser = {{"accept", "text/html,*/*;q=0.8"}, {"authorization", ""}};

class DashboardTest : public testing::Test {
 protected:
  explicit DashboardTest(FrameAncestors frame_ancestors = {"none"})
      : world_([&](ApiOptions& options) {
          options.dashboard = make_dashboard(files);
          options.frame_ancestors = std::move(frame_ancestors);
        }) {}

  Answer get(std::string path, ApiWorld::Pairs headers = browser) {
    return world_.call("GET", std::move(path), {}, std::move(headers));
  }

  ApiWorld world_;
};

std::string nonce_of(const Answer& page) {
  constexpr std::string_view before = "style-src 'self' 'nonce-";
  const std::string policy = page.header("Content-Security-Policy");
  const std::size_t start = policy.find(before) + before.size();
  return policy.substr(start, policy.find('\'', start) - start);
}

TEST_F(DashboardTest, ThePageHasANewNonceInEveryAnswer) {
  const Answer first = get("/");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.content_type, "text/html; charset=utf-8");
  const std::string nonce = nonce_of(first);
  EXPECT_EQ(nonce.size(), 32u);
  EXPECT_EQ(first.body, "<meta nonce=\"" + nonce + "\"><style nonce=\"" + nonce + "\"></style>");
  EXPECT_NE(nonce_of(get("/")), nonce);
}

TEST_F(DashboardTest, ThePageAllowsNothingFromOthersAndIsNotStored) {
  const Answer page = get("/");
  EXPECT_EQ(page.header("Content-Security-Policy"),
            "default-src 'self'; script-src 'self'; style-src 'self' 'nonce-" + nonce_of(page) +
                "'; img-src 'self' data: https:; connect-src 'self'; font-src 'self' data:; "
                "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'");
  EXPECT_EQ(page.header("Cache-Control"), "no-store");
  EXPECT_EQ(page.header("Referrer-Policy"), "same-origin");
  EXPECT_EQ(page.header("Cross-Origin-Opener-Policy"), "same-origin");
  EXPECT_EQ(page.header("X-Frame-Options"), "DENY");
  EXPECT_NE(page.header("Permissions-Policy").find("camera=()"), std::string::npos);
  EXPECT_EQ(page.header("ETag"), "(none)");
}

TEST_F(DashboardTest, ABrowserGetsThePageAtEveryAddressOfTheApplication) {
  for (const char* path : {"/webhooks", "/webhooks/whk_1/edit", "/event-types/order.created",
                           "/index.html", "/v", "/version/1", "/assetsx", "//", "/a/"}) {
    const Answer page = get(path);
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_EQ(page.content_type, "text/html; charset=utf-8") << path;
    EXPECT_EQ(get(path, {{"accept", "application/json"}}).status, 404) << path;
    EXPECT_EQ(world_.call("POST", path, "{}", browser).status, 404) << path;
  }
  EXPECT_EQ(world_.call("HEAD", "/webhooks", {}, browser).status, 200);
  const Answer posted = world_.call("POST", "/", "{}", browser);
  EXPECT_EQ(posted.status, 405);
  EXPECT_EQ(posted.header("Allow"), "GET, HEAD");
}

TEST_F(DashboardTest, PathsOfTheApiAndUnknownFilesAreNotThePage) {
  for (const char* path : {"/v1", "/v1/", "/v1/nothing", "/v1/webhooks/", "/v2/webhooks",
                           "/healthz/", "/readyz/x", "/metrics/x", "/openapi.json/", "/assets",
                           "/assets/", "/assets/app-2.js", "/assets/../index.html"}) {
    const Answer answer = get(path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(answer.at("code"), "not_found") << path;
  }
}

TEST_F(DashboardTest, AFileIsAnsweredInTheCodingThatTheClientPrefers) {
  const Answer brotli = get("/assets/app-1.js", {{"accept-encoding", "gzip, br"}});
  EXPECT_EQ(brotli.status, 200);
  EXPECT_EQ(brotli.content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(brotli.body, "br");
  EXPECT_EQ(brotli.header("Content-Encoding"), "br");
  EXPECT_EQ(brotli.header("ETag"), "\"11-br\"");
  EXPECT_EQ(brotli.header("Vary"), "Accept-Encoding");
  EXPECT_EQ(brotli.header("Cache-Control"), "public, max-age=31536000, immutable");
  const Answer gzip = get("/assets/app-1.js", {{"accept-encoding", "gzip"}});
  EXPECT_EQ(gzip.body, "gz");
  EXPECT_EQ(gzip.header("ETag"), "\"11-gzip\"");
  const Answer plain = get("/assets/app-1.js", {});
  EXPECT_EQ(plain.body, "plain script");
  EXPECT_EQ(plain.header("Content-Encoding"), "(none)");
  EXPECT_EQ(plain.header("ETag"), "\"11\"");
  EXPECT_EQ(get("/assets/tiny-2.css", {{"accept-encoding", "br"}}).body, "a{}");
}

TEST_F(DashboardTest, AFileThatTheClientHasIsNotSentAgain) {
  const Answer same =
      get("/assets/app-1.js", {{"accept-encoding", "br"}, {"if-none-match", "\"x\", \"11-br\""}});
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.body, "");
  EXPECT_EQ(same.header("ETag"), "\"11-br\"");
  EXPECT_EQ(same.header("Vary"), "Accept-Encoding");
  EXPECT_EQ(same.header("Cache-Control"), "public, max-age=31536000, immutable");
  const Answer other = get("/assets/app-1.js", {{"if-none-match", "\"11-br\""}});
  EXPECT_EQ(other.status, 200) << "this coding is another representation";
}

TEST_F(DashboardTest, AFileWithoutAHashInItsNameIsCheckedEachTime) {
  EXPECT_EQ(get("/favicon.svg", {}).header("Cache-Control"), "no-cache");
  EXPECT_EQ(get("/favicon.svg", {{"if-none-match", "\"33\""}}).status, 304);
  EXPECT_EQ(world_.call("POST", "/favicon.svg", "{}").status, 404);
}

class FramedDashboardTest : public DashboardTest {
 protected:
  FramedDashboardTest() : DashboardTest({"self", "https://app.example.com"}) {}
};

TEST_F(FramedDashboardTest, NamesThoseWhoMayShowIt) {
  const Answer page = get("/");
  EXPECT_TRUE(page.header("Content-Security-Policy")
                  .ends_with("; frame-ancestors 'self' https://app.example.com"));
  EXPECT_EQ(page.header("X-Frame-Options"), "(none)");
}

TEST(WithoutDashboard, ThePageSaysSoAndNamesTheApi) {
  ApiWorld world;
  const Answer page = world.call("GET", "/", {}, browser);
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("built without the dashboard"), std::string::npos);
  EXPECT_NE(page.body.find("/openapi.json"), std::string::npos);
  EXPECT_NE(page.header("Content-Security-Policy"), "(none)");
  EXPECT_EQ(world.call("GET", "/webhooks", {}, browser).status, 404);
}

}  // namespace
}  // namespace postrider::api
