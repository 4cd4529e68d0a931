#include "core/request/signature.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

constexpr SignatureScheme all_schemes[] = {
    SignatureScheme::standard, SignatureScheme::standard_ed25519, SignatureScheme::t_v1,
    SignatureScheme::sha256_timestamp, SignatureScheme::sha256_body};

std::string prefix_of(SignatureScheme scheme) {
  return signed_text(scheme, {.id = "evt_1", .unix_seconds = 1'700'000'000, .body = "{}"}).prefix;
}

std::string value_of(SignatureScheme scheme, const std::vector<std::string>& signatures) {
  return signature_value(scheme, 1'700'000'000, signatures);
}

TEST(SignatureScheme, NamesRoundTrip) {
  for (const SignatureScheme scheme : all_schemes) {
    EXPECT_EQ(parse_signature_scheme(to_string(scheme)), scheme);
  }
  EXPECT_EQ(to_string(SignatureScheme::standard_ed25519), "standard-ed25519");
  EXPECT_FALSE(parse_signature_scheme("standard_ed25519"));
  EXPECT_FALSE(parse_signature_scheme(""));
}

TEST(SignedText, StartsWithThePrefixOfTheScheme) {
  EXPECT_EQ(prefix_of(SignatureScheme::standard), "evt_1.1700000000.");
  EXPECT_EQ(prefix_of(SignatureScheme::standard_ed25519), "evt_1.1700000000.");
  EXPECT_EQ(prefix_of(SignatureScheme::t_v1), "1700000000.");
  EXPECT_EQ(prefix_of(SignatureScheme::sha256_timestamp), "1700000000.");
  EXPECT_EQ(prefix_of(SignatureScheme::sha256_body), "");
}

TEST(SignedText, DoesNotCopyTheBody) {
  const std::string body = "{}";
  const SignedText text =
      signed_text(SignatureScheme::standard, {.id = "evt_1", .unix_seconds = 0, .body = body});
  EXPECT_EQ(text.body.data(), body.data());
}

TEST(SignatureValue, FormatsOneSignature) {
  const std::vector<std::string> one = {"\x01\xff"};
  EXPECT_EQ(value_of(SignatureScheme::standard, one), "v1,Af8=");
  EXPECT_EQ(value_of(SignatureScheme::standard_ed25519, one), "v1a,Af8=");
  EXPECT_EQ(value_of(SignatureScheme::t_v1, one), "t=1700000000,v1=01ff");
  EXPECT_EQ(value_of(SignatureScheme::sha256_timestamp, one), "sha256=01ff");
  EXPECT_EQ(value_of(SignatureScheme::sha256_body, one), "sha256=01ff");
}

TEST(SignatureValue, ListsAllSignaturesIfTheSchemeAllowsIt) {
  const std::vector<std::string> two = {"\x01\xff", "\x02"};
  EXPECT_EQ(value_of(SignatureScheme::standard, two), "v1,Af8= v1,Ag==");
  EXPECT_EQ(value_of(SignatureScheme::standard_ed25519, two), "v1a,Af8= v1a,Ag==");
  EXPECT_EQ(value_of(SignatureScheme::t_v1, two), "t=1700000000,v1=01ff,v1=02");
  EXPECT_TRUE(has_one_signature(SignatureScheme::sha256_timestamp));
  EXPECT_TRUE(has_one_signature(SignatureScheme::sha256_body));
  EXPECT_FALSE(has_one_signature(SignatureScheme::t_v1));
}

TEST(SignatureHeader, DependsOnSchemeAndPrefix) {
  EXPECT_EQ(signature_header({}), "webhook-signature");
  EXPECT_EQ(
      signature_header({.scheme = SignatureScheme::standard_ed25519, .header_prefix = "X-A-"}),
      "webhook-signature");
  EXPECT_EQ(signature_header({.scheme = SignatureScheme::t_v1}), "X-Webhook-Signature");
  EXPECT_EQ(
      signature_header({.scheme = SignatureScheme::sha256_body, .header_prefix = "X-Agenta-"}),
      "X-Agenta-Signature");
  EXPECT_EQ(
      next_signature_header({.scheme = SignatureScheme::sha256_body, .header_prefix = "X-Agenta-"}),
      "X-Agenta-Signature-Next");
}

TEST(Base64, MatchesRfc4648) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
  EXPECT_EQ(to_base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(to_base64("\xfb\xff\xfe"), "+//+");
}

TEST(Base64, AcceptsOnlyTheCanonicalForm) {
  for (const std::string_view text : {"Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "=", "====", "Z===",
                                      "Zg==Zg==", "Zm9v\n", " Zm9v", "Zm-v", "Zm_v", "Zm9vY"}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
  EXPECT_EQ(from_base64(""), "");
}

RC_GTEST_PROP(Base64, AnyBytesRoundTrip, (const std::string& bytes)) {
  RC_ASSERT(from_base64(to_base64(bytes)) == bytes);
}

RC_GTEST_PROP(Base64, AcceptedTextRoundTrips, ()) {
  const auto text =
      *rc::gen::container<std::string>(8, rc::gen::elementOf(std::string{"ABCDwxyz019+/="}));
  if (const std::optional<std::string> bytes = from_base64(text)) {
    RC_ASSERT(to_base64(*bytes) == text);
  }
}

TEST(Hex, IsLowerCaseAndKeepsLeadingZeros) {
  EXPECT_EQ(to_hex(""), "");
  EXPECT_EQ(to_hex(std::string_view{"\x00\x0f\xf0\xff", 4}), "000ff0ff");
}

}  // namespace
}  // namespace postrider
