#include "core/policy/branding.h"

#include <string>

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(Branding, TitleIsCountedInCharacters) {
  EXPECT_TRUE(is_branding_title("Acme"));
  EXPECT_TRUE(is_branding_title("<script>alert(1)</script>"));  // Shown as text.
  EXPECT_TRUE(is_branding_title(std::string(100, 'x')));
  EXPECT_FALSE(is_branding_title(std::string(101, 'x')));
  std::string umlauts;
  for (int i = 0; i < 100; ++i) {
    umlauts += "ü";
  }
  EXPECT_TRUE(is_branding_title(umlauts));
  EXPECT_FALSE(is_branding_title(umlauts + "ü"));
  EXPECT_FALSE(is_branding_title(""));
  EXPECT_FALSE(is_branding_title("a\nb"));
}

TEST(Branding, LogoIsAnHttpsUrlOrAPathOfThisServer) {
  for (const char* url : {"https://cdn.example.com/logo.svg", "/assets/logo.png", "/",
                          "https://cdn.example.com:8443/a?b=c&d#e"}) {
    EXPECT_TRUE(is_logo_url(url)) << url;
  }
  for (const char* url :
       {"", "http://cdn.example.com/a", "//evil.example/a", "https://", "https:///a", "logo.png",
        "javascript:alert(1)", "data:image/png;base64,AA", "https://a/b c", "https://a/\"x",
        "/\\evil.example", "https://a;script-src", "https://a, https://b", "https://ü.example/"}) {
    EXPECT_FALSE(is_logo_url(url)) << url;
  }
  EXPECT_TRUE(is_logo_url("/" + std::string(2047, 'x')));
  EXPECT_FALSE(is_logo_url("/" + std::string(2048, 'x')));
}

TEST(Branding, ColorHasSixHexDigits) {
  EXPECT_TRUE(is_color("#1a73E8"));
  for (const char* text : {"", "#fff", "1a73e8", "#1a73e80", "#1a73eg", "red", "#1a73e;"}) {
    EXPECT_FALSE(is_color(text)) << text;
  }
}

}  // namespace
}  // namespace postrider
