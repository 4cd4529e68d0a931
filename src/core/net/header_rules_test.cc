#include "core/net/header_rules.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

bool is_forbidden(const Headers& headers, const SignaturePolicy& signature = {}) {
  return forbidden_headers(headers, signature).has_value();
}

TEST(HeaderName, IsAToken) {
  for (const std::string_view text : {"A", "X-Api-Key", "x_y.z", "!#$%&'*+-.^_`|~09azAZ"}) {
    EXPECT_TRUE(is_header_name(text)) << text;
  }
  EXPECT_FALSE(is_header_name(""));
  for (int byte = 0; byte < 256; ++byte) {
    const char character = static_cast<char>(byte);
    const bool is_alphanumeric = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                                 (byte >= 'A' && byte <= 'Z');
    const bool is_mark =
        byte != 0 && std::string_view{"!#$%&'*+-.^_`|~"}.find(character) != std::string_view::npos;
    EXPECT_EQ(is_header_name(std::string{'a', character}), is_alphanumeric || is_mark) << byte;
  }
}

TEST(HeaderValue, IsVisibleAsciiSpaceOrTab) {
  EXPECT_TRUE(is_header_value(""));
  EXPECT_TRUE(is_header_value("Bearer a.b~c \t!"));
  for (int byte = 0; byte < 256; ++byte) {
    const bool want = (byte >= 0x20 && byte <= 0x7e) || byte == '\t';
    EXPECT_EQ(is_header_value(std::string(1, static_cast<char>(byte))), want) << byte;
  }
}

TEST(ForbiddenHeaders, AllowsOrdinaryHeaders) {
  EXPECT_FALSE(is_forbidden({}));
  EXPECT_FALSE(is_forbidden({{"Authorization", "Bearer x"},
                             {"X-Api-Key", ""},
                             {"Accept", "*/*"},
                             {"X-Webhook-Custom", "1"},
                             {"Webhooks", "1"},
                             {"Proxying", "1"}}));
}

TEST(ForbiddenHeaders, RejectsReservedHeadersInAnyCase) {
  for (const std::string name : {"Host",
                                 "content-length",
                                 "CONTENT-TYPE",
                                 "Content-Encoding",
                                 "Transfer-Encoding",
                                 "Connection",
                                 "TE",
                                 "Trailer",
                                 "Upgrade",
                                 "Expect",
                                 "Proxy-Authorization",
                                 "proxy-anything",
                                 "Keep-Alive",
                                 "User-Agent",
                                 "Accept-Encoding",
                                 "HTTP2-Settings",
                                 "Webhook-Id",
                                 "webhook-timestamp",
                                 "WEBHOOK-SIGNATURE",
                                 "webhook-",
                                 "X-Idempotency-Key",
                                 "X-Webhook-ID",
                                 "x-webhook-event",
                                 "X-Webhook-Delivery",
                                 "X-Webhook-Attempt",
                                 "X-Webhook-Timestamp",
                                 "X-Webhook-Signature",
                                 "x-webhook-signature-next"}) {
    const std::optional<std::string> reason = forbidden_headers({{name, "x"}}, {});
    ASSERT_TRUE(reason) << name;
    EXPECT_NE(reason->find(name), std::string::npos) << *reason;
  }
}

TEST(ForbiddenHeaders, RejectsReservedNamesWithTheConfiguredPrefix) {
  const SignaturePolicy agenta{.header_prefix = "X-Agenta-"};
  EXPECT_TRUE(is_forbidden({{"x-agenta-signature", "x"}}, agenta));
  EXPECT_FALSE(is_forbidden({{"X-Webhook-Signature", "x"}}, agenta));
  EXPECT_FALSE(is_forbidden({{"X-Agenta-Other", "x"}}, agenta));
}

TEST(ForbiddenHeaders, RejectsValuesWithLineBreaks) {
  EXPECT_TRUE(is_forbidden({{"X-A", "a\r\nX-B: b"}}));
  EXPECT_TRUE(is_forbidden({{"X-A", "a\nX-B: b"}}));
  EXPECT_TRUE(is_forbidden({{"X-A", "a\rb"}}));
  EXPECT_TRUE(is_forbidden({{"X-A", std::string("a\0b", 3)}}));
  EXPECT_TRUE(is_forbidden({{"X-A", "caf\xc3\xa9"}}));
  EXPECT_TRUE(is_forbidden({{"X-A: b\r\nX-B", "a"}}));
  EXPECT_TRUE(is_forbidden({{"X-A ", "a"}})) << "a space before the colon";
  EXPECT_TRUE(is_forbidden({{"", "a"}}));
}

TEST(ForbiddenHeaders, RejectsDuplicateNames) {
  EXPECT_TRUE(is_forbidden({{"X-A", "1"}, {"x-a", "2"}}));
  EXPECT_FALSE(is_forbidden({{"X-A", "1"}, {"X-AA", "2"}}));
}

TEST(ForbiddenHeaders, LimitsNumberAndBytes) {
  Headers headers;
  for (std::size_t i = 0; i < custom_headers_max; ++i) {
    headers.emplace_back("X-" + std::to_string(i), "v");
  }
  EXPECT_FALSE(is_forbidden(headers));
  headers.emplace_back("X-One-More", "v");
  EXPECT_TRUE(is_forbidden(headers));

  // `X-A: ` and CR LF are seven bytes.
  EXPECT_FALSE(is_forbidden({{"X-A", std::string(custom_headers_bytes_max - 7, 'v')}}));
  EXPECT_TRUE(is_forbidden({{"X-A", std::string(custom_headers_bytes_max - 6, 'v')}}));
}

TEST(ForbiddenHeaders, ChecksThePrefix) {
  for (const std::string prefix :
       {"", "X Y-", "X-\r\nA: ", "webhook-", "Webhook-", "Proxy-", "X:"}) {
    EXPECT_TRUE(is_forbidden({}, {.header_prefix = prefix})) << prefix;
  }
  EXPECT_TRUE(is_forbidden({}, {.header_prefix = std::string(65, 'X')}));
  EXPECT_FALSE(is_forbidden({}, {.header_prefix = std::string(64, 'X')}));
}

TEST(SameHeader, IgnoresCaseOfLettersOnly) {
  EXPECT_TRUE(same_header("X-Api-Key", "x-API-kEY"));
  EXPECT_FALSE(same_header("X-Api-Key", "X-Api-Ke"));
  EXPECT_FALSE(same_header("^", "~")) << "they differ only in the lower-case bit";
  EXPECT_FALSE(same_header("@", "`"));
}

}  // namespace
}  // namespace postrider
