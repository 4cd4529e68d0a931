#include "api/resources/session_cookie.h"

#include <gtest/gtest.h>

#include "adapters/openssl/openssl_crypto.h"

namespace postrider::api {
namespace {

SessionCookie read(const std::vector<std::string>& cookies) {
  static HttpRequest request;  // The result points into it.
  request.headers.clear();
  for (const std::string& cookie : cookies) {
    request.headers.emplace_back("cookie", cookie);
  }
  return read_session_cookie(request);
}

TEST(SessionCookie, IsFoundAmongOthers) {
  EXPECT_EQ(read({"postrider_session=a"}).text, "a");
  EXPECT_EQ(read({"x=1; postrider_session=a; y=2"}).text, "a");
  EXPECT_EQ(read({"x=1;postrider_session=a;"}).text, "a");
  EXPECT_EQ(read({"x=1", "postrider_session=a"}).text, "a");
  EXPECT_EQ(read({"\t postrider_session=a \t"}).text, "a");
  EXPECT_EQ(read({";;; =; =x; postrider_session=a=b"}).text, "a=b");
  EXPECT_EQ(read({R"(postrider_session="a")"}).text, R"("a")");  // Not unquoted.
}

TEST(SessionCookie, OtherCookiesAreNone) {
  for (const char* header :
       {"", ";", "x=postrider_session=a", "Postrider_Session=a", "postrider_session2=a",
        "xpostrider_session=a", "postrider_session =a", "$postrider_session=a"}) {
    EXPECT_FALSE(read({header}).present) << header;
  }
  EXPECT_FALSE(read({}).present);
}

TEST(SessionCookie, AmbiguousOnesHaveNoText) {
  for (const std::vector<std::string>& headers : std::vector<std::vector<std::string>>{
           {"postrider_session=a; postrider_session=b"},
           {"postrider_session=a", "postrider_session=a"},
           {"postrider_session=a; postrider_session"},
           {"postrider_session"},
           {"postrider_session="},
           {"postrider_session=a", "x=1", "postrider_session=b; postrider_session=c"}}) {
    EXPECT_TRUE(read(headers).present);
    EXPECT_EQ(read(headers).text, "");
  }
}

TEST(SessionCookie, IsWrittenForThisServerOnly) {
  ApiOptions options;
  const std::string plain = "postrider_session=x; Path=/; HttpOnly; SameSite=Strict; Max-Age=61";
  EXPECT_EQ(write_session_cookie(options, "x", Millis{60'001}), plain);
  options.public_url = "http://hooks.example.com";
  EXPECT_EQ(write_session_cookie(options, "x", Millis{60'001}), plain);
  options.public_url = "https://hooks.example.com";
  EXPECT_EQ(write_session_cookie(options, "x", Millis{60'001}), plain + "; Secure");
  options.public_url.clear();
  options.tls = true;
  EXPECT_EQ(write_session_cookie(options, "", Millis{0}),
            "postrider_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0; Secure");
}

TEST(CsrfToken, BelongsToOneSession) {
  const std::string token = csrf_token(openssl_crypto(), "a");
  EXPECT_EQ(token.size(), 64u);
  EXPECT_EQ(token, csrf_token(openssl_crypto(), "a"));
  EXPECT_NE(token, csrf_token(openssl_crypto(), "b"));
}

}  // namespace
}  // namespace postrider::api
