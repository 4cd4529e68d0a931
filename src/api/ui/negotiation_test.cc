#include "api/ui/negotiation.h"

#include <gtest/gtest.h>

namespace postrider::api {
namespace {

constexpr Codings all{.gzip = true, .brotli = true};

TEST(ChooseCoding, PrefersTheSmallerOfThoseThatAreWantedMost) {
  EXPECT_EQ(choose_coding("gzip, deflate, br, zstd", all), Coding::brotli);
  EXPECT_EQ(choose_coding("br, gzip", all), Coding::brotli);
  EXPECT_EQ(choose_coding("gzip, deflate", all), Coding::gzip);
  EXPECT_EQ(choose_coding("x-gzip", all), Coding::gzip);
  EXPECT_EQ(choose_coding("GZIP , BR;Q=0.5", all), Coding::gzip);
  EXPECT_EQ(choose_coding("br;q=0.2,gzip;q=0.201", all), Coding::gzip);
  EXPECT_EQ(choose_coding("*", all), Coding::brotli);
  EXPECT_EQ(choose_coding("br;q=0, *", all), Coding::gzip);
  EXPECT_EQ(choose_coding("identity, br;q=0.5", all), Coding::identity);
  EXPECT_EQ(choose_coding("identity;q=0.5, br;q=0.5", all), Coding::brotli);
}

TEST(ChooseCoding, IsIdentityIfNothingElseIsWanted) {
  EXPECT_EQ(choose_coding(std::nullopt, all), Coding::identity);
  for (const char* header :
       {"", " ", ",", ",,;", "deflate", "br;q=0, gzip;q=0.000", "*;q=0", "br;q=", "br;q=x",
        "br;q=2", "br;q=0.x", "br;q=0.1234", "br;q=-1", "brr", "b"}) {
    EXPECT_EQ(choose_coding(header, all), Coding::identity) << header;
  }
}

TEST(ChooseCoding, IsOneThatTheFileHas) {
  EXPECT_EQ(choose_coding("br, gzip", {.gzip = true, .brotli = false}), Coding::gzip);
  EXPECT_EQ(choose_coding("br, gzip", {}), Coding::identity);
  EXPECT_EQ(choose_coding("br;q=0.1, gzip;q=1, *;q=0", {.gzip = false, .brotli = true}),
            Coding::brotli);
}

HttpRequest request(std::string method, std::vector<std::pair<std::string, std::string>> headers) {
  HttpRequest made;
  made.method = std::move(method);
  made.headers = std::move(headers);
  return made;
}

TEST(IsNavigation, IsAGetOrHeadThatAcceptsHtml) {
  for (const char* accept :
       {"text/html", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "*/*",
        "text/*", "application/json, TEXT/HTML;q=0.1"}) {
    EXPECT_TRUE(is_navigation(request("GET", {{"accept", accept}}))) << accept;
    EXPECT_TRUE(is_navigation(request("HEAD", {{"accept", accept}}))) << accept;
    EXPECT_FALSE(is_navigation(request("POST", {{"accept", accept}}))) << accept;
  }
  for (const char* accept : {"", "application/json", "text/html;q=0, */*", "text/event-stream"}) {
    EXPECT_FALSE(is_navigation(request("GET", {{"accept", accept}}))) << accept;
  }
  EXPECT_FALSE(is_navigation(request("GET", {}))) << "a program";
}

TEST(IsNavigation, IsNotARequestOfAPageForItsParts) {
  const auto with_mode = [](std::string mode) {
    return request("GET", {{"accept", "*/*"}, {"sec-fetch-mode", std::move(mode)}});
  };
  EXPECT_TRUE(is_navigation(with_mode("navigate")));
  for (const char* mode : {"no-cors", "cors", "same-origin", "websocket", ""}) {
    EXPECT_FALSE(is_navigation(with_mode(mode))) << mode;
  }
}

TEST(MatchesEtag, FindsItInAList) {
  for (const char* header : {"\"a\"", "W/\"a\"", "\"b\", \"a\"", "\"b\" ,W/\"a\",", "*"}) {
    EXPECT_TRUE(matches_etag(header, "\"a\"")) << header;
  }
  for (const char* header : {"", "a", "\"b\"", "\"a\"x", "\"a-br\"", "W/", "\"A\""}) {
    EXPECT_FALSE(matches_etag(header, "\"a\"")) << header;
  }
}

}  // namespace
}  // namespace postrider::api
