// Malformed and malicious signature headers.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <postrider/verify.h>

#include "core/base/random.h"

namespace postrider::verify {
namespace {

const std::string key = "a secret of my own, 24 b.";
const std::string body = "{}";
constexpr std::int64_t now = 1'731'705'121;

constexpr Scheme schemes[] = {Scheme::standard, Scheme::standard_ed25519, Scheme::t_v1,
                              Scheme::sha256_timestamp, Scheme::sha256_body};

Verifier verifier_for(Scheme scheme) {
  const bool asymmetric = scheme == Scheme::standard_ed25519;
  return Verifier{
      {.keys = {asymmetric ? "whpk_" + std::string(43, 'A') + "=" : key}, .scheme = scheme}};
}

Outcome check_standard(const std::string& timestamp, const std::string& signature) {
  return verifier_for(Scheme::standard)
      .check({{"webhook-id", "evt_1"},
              {"webhook-timestamp", timestamp},
              {"webhook-signature", signature}},
             body, now);
}

TEST(Garbage, IsRejectedAsATimestamp) {
  const std::string zeros(44, 'A');
  for (const char* timestamp :
       {"", " ", "soon", "-1", "+1731705121", "1731705121 ", " 1731705121", "1731705121.5", "1e9",
        "0x5", "9223372036854775807", "18446744073709551616", "1234567890123"}) {
    EXPECT_EQ(check_standard(timestamp, "v1," + zeros), Outcome::malformed_header) << timestamp;
  }
  EXPECT_EQ(check_standard("999999999999", "v1," + zeros), Outcome::wrong_signature);
}

TEST(Garbage, IsRejectedAsASignature) {
  const std::string time = std::to_string(now);
  for (const char* signature :
       {"", " ", "v1", "v1,", "v1,=", "v1,====", "v1,A", "v1,AAA", "v2,AAAA", ",", "v1,AAA*",
        "v1,AAAB=", "V1,AAAA", "v1=AAAA", "v1a,AAAA"}) {
    const Outcome outcome = check_standard(time, signature);
    EXPECT_TRUE(outcome == Outcome::malformed_header || outcome == Outcome::wrong_signature)
        << signature << ": " << explain(outcome);
  }
}

TEST(Garbage, InTheOtherSchemesIsMalformed) {
  const std::string time = std::to_string(now);
  const std::string hex(64, 'a');
  const auto check = [&](Scheme scheme, const std::string& value) {
    return verifier_for(scheme).check(
        {{"X-Webhook-Signature", value}, {"X-Webhook-Timestamp", time}}, body, now);
  };
  const std::vector<std::string> times = {"",
                                          "t=",
                                          "v1=" + hex,
                                          "t=,v1=" + hex,
                                          "t=soon,v1=" + hex,
                                          "t=" + time,
                                          "t=" + time + ",v1=zz",
                                          "t=soon,t=" + time + ",v1=" + hex,
                                          "t=" + time + ",v1=abc"};
  for (const std::string& value : times) {
    EXPECT_EQ(check(Scheme::t_v1, value), Outcome::malformed_header) << value;
  }
  for (const Scheme scheme : {Scheme::sha256_timestamp, Scheme::sha256_body}) {
    const std::vector<std::string> values = {
        "", hex, "sha1=" + hex, "sha256=" + hex + "a", "sha256=xy", "SHA256=" + hex};
    for (const std::string& value : values) {
      EXPECT_EQ(check(scheme, value), Outcome::malformed_header) << value;
    }
    EXPECT_EQ(check(scheme, "sha256="), Outcome::wrong_signature)
        << "an empty signature matches no key";
  }
}

TEST(Garbage, IsIgnoredBeyondTheSignatureLimit) {
  std::string many;
  for (int i = 0; i < 100'000; ++i) {
    many += "v1,AAAA ";
  }
  EXPECT_EQ(check_standard(std::to_string(now), many), Outcome::wrong_signature);
}

/// Random malformed headers must neither be accepted nor crash.
TEST(Garbage, IsNeverAccepted) {
  constexpr char letters[] = "v1a,=+/ tsh256.-\x01\xff\0whsec_AZaz09";
  const std::string_view alphabet{letters, sizeof letters - 1};
  SplitMix64 random{7};
  const auto text = [&] {
    std::string made;
    for (std::uint64_t length = random.below(90); length > 0; --length) {
      made += alphabet[random.below(alphabet.size())];
    }
    return made;
  };
  const std::vector<std::string> starts = {"", "v1,", "v1a,", "t=1731705121,v1=", "sha256="};
  for (int run = 0; run < 20'000; ++run) {
    const std::string signature = starts[random.below(starts.size())] + text();
    const std::string time = random.below(2) == 0 ? std::to_string(now) : text();
    const Headers headers = {{"webhook-id", text()},
                             {"webhook-timestamp", time},
                             {"webhook-signature", signature},
                             {"x-webhook-signature", signature},
                             {"x-webhook-timestamp", time}};
    for (const Scheme scheme : schemes) {
      ASSERT_NE(verifier_for(scheme).check(headers, body, now), Outcome::valid) << signature;
    }
  }
}

}  // namespace
}  // namespace postrider::verify
