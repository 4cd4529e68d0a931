// The receivers' header: known vectors, exact limits, and round trips with the server's signer.
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <postrider/verify.h>

#include "core/request/signature.h"

#include "adapters/openssl/ed25519_key.h"
#include "adapters/openssl/signer.h"

namespace postrider::verify {
namespace {

using namespace std::chrono_literals;

const std::string known_key = "whsec_plJ3nmyCDGBKInavdOK15jsl";
const std::string known_body = R"({"event_type":"ping","data":{"success":true}})";
constexpr std::int64_t known_time = 1731705121;

const std::string new_key = "the new secret, long enough";
const std::string old_key = "the old secret, long enough";
const std::string foreign_key = "quite another secret than these";

constexpr Scheme schemes[] = {Scheme::standard, Scheme::standard_ed25519, Scheme::t_v1,
                              Scheme::sha256_timestamp, Scheme::sha256_body};

Headers known_headers() {
  return {{"webhook-id", "msg_loFOjxBNrRLzqYUf"},
          {"webhook-timestamp", "1731705121"},
          {"webhook-signature", "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="}};
}

Verifier verifier_for(Scheme scheme, std::vector<std::string> keys) {
  return Verifier{{.keys = std::move(keys), .scheme = scheme}};
}

Outcome check_known(const Headers& headers, std::string_view body = known_body,
                    std::int64_t now = known_time) {
  return verifier_for(Scheme::standard, {known_key}).check(headers, body, now);
}

/// The receiver's key: the secret itself, or its public key.
std::string receivers_key(Scheme scheme, const std::string& secret) {
  return scheme == Scheme::standard_ed25519
             ? "whpk_" + to_base64(Ed25519Key{Secret<std::string>{secret}}.public_key())
             : secret;
}

/// The headers the server would send, signed with `secrets`, newest first.
Headers sign(Scheme scheme, const std::vector<std::string>& secrets, std::string_view body) {
  const auto server_scheme = static_cast<SignatureScheme>(scheme);
  const SignedText text =
      signed_text(server_scheme, {.id = "evt_1", .unix_seconds = known_time, .body = body});
  std::vector<std::string> signatures;
  for (const std::string& secret : secrets) {
    signatures.push_back(
        make_sign(server_scheme, Secret<std::string>{secret})(text.prefix, text.body));
  }
  const SignaturePolicy policy{.scheme = server_scheme};
  Headers headers = {{"Webhook-Id", "evt_1"}, {"Webhook-Timestamp", std::to_string(known_time)}};
  const auto add = [&](std::string name, const std::vector<std::string>& values) {
    headers.emplace_back(std::move(name), signature_value(server_scheme, known_time, values));
  };
  if (has_one_signature(server_scheme) && signatures.size() > 1) {
    add(signature_header(policy), {signatures.back()});
    add(next_signature_header(policy), {signatures.front()});
  } else {
    add(signature_header(policy), signatures);
  }
  return headers;
}

TEST(Verify, AcceptsTheKnownVector) { EXPECT_EQ(check_known(known_headers()), Outcome::valid); }

TEST(Verify, AcceptsHeadersThroughACallback) {
  const Lookup lookup = [](std::string_view name) -> std::optional<std::string> {
    for (const auto& [other, value] : known_headers()) {
      if (other == name) {
        return value;
      }
    }
    return std::nullopt;
  };
  const Verifier verifier = verifier_for(Scheme::standard, {known_key});
  EXPECT_EQ(verifier.check(lookup, known_body, known_time), Outcome::valid);
  EXPECT_EQ(verifier.check(lookup, known_body), Outcome::timestamp_too_old) << "by the real clock";
}

TEST(Verify, ChecksTheTimestampToTheSecond) {
  EXPECT_EQ(check_known(known_headers(), known_body, known_time + 300), Outcome::valid);
  EXPECT_EQ(check_known(known_headers(), known_body, known_time + 301), Outcome::timestamp_too_old);
  EXPECT_EQ(check_known(known_headers(), known_body, known_time - 300), Outcome::valid);
  EXPECT_EQ(check_known(known_headers(), known_body, known_time - 301), Outcome::timestamp_too_new);

  const Verifier strict{{.keys = {known_key}, .tolerance = 0s}};
  EXPECT_EQ(strict.check(known_headers(), known_body, known_time), Outcome::valid);
  EXPECT_EQ(strict.check(known_headers(), known_body, known_time + 1), Outcome::timestamp_too_old);
  EXPECT_EQ(strict.check(known_headers(), known_body, known_time - 1), Outcome::timestamp_too_new);
}

TEST(Verify, DetectsEveryChangedByte) {
  for (std::size_t i = 0; i < known_body.size(); ++i) {
    std::string body = known_body;
    body[i] = static_cast<char>(body[i] ^ 1);
    EXPECT_EQ(check_known(known_headers(), body), Outcome::wrong_signature) << i;
  }
  EXPECT_EQ(check_known(known_headers(), known_body + " "), Outcome::wrong_signature);
  EXPECT_EQ(check_known(known_headers(), ""), Outcome::wrong_signature);
}

TEST(Verify, DetectsChangedHeaders) {
  Headers id = known_headers();
  id[0].second = "msg_other";
  EXPECT_EQ(check_known(id), Outcome::wrong_signature);
  Headers time = known_headers();
  time[1].second = "1731705122";
  EXPECT_EQ(check_known(time), Outcome::wrong_signature);
  Headers shifted = known_headers();  // The same signed text, split differently.
  shifted[0].second = "msg_loFOjxBNrRLzqYUf.1731705121";
  shifted[1].second = "0";
  EXPECT_EQ(check_known(shifted), Outcome::wrong_signature);
}

TEST(Verify, ReportsMissingHeaders) {
  for (std::size_t i = 0; i < 3; ++i) {
    Headers headers = known_headers();
    headers.erase(headers.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(check_known(headers), Outcome::missing_header) << i;
  }
}

TEST(Verify, IgnoresTheCaseOfHeaderNames) {
  Headers headers = known_headers();
  headers[0].first = "WEBHOOK-ID";
  headers[1].first = "Webhook-Timestamp";
  headers[2].first = "wEbHoOk-SiGnAtUrE";
  EXPECT_EQ(check_known(headers), Outcome::valid);
}

TEST(Verify, AcceptsTheServersSignaturesInEveryScheme) {
  for (const Scheme scheme : schemes) {
    SCOPED_TRACE(to_string(static_cast<SignatureScheme>(scheme)));
    const Headers headers = sign(scheme, {new_key}, known_body);
    const Verifier right = verifier_for(scheme, {receivers_key(scheme, new_key)});
    EXPECT_EQ(right.check(headers, known_body, known_time), Outcome::valid);
    EXPECT_EQ(right.check(headers, known_body + "x", known_time), Outcome::wrong_signature);
    const Verifier wrong = verifier_for(scheme, {receivers_key(scheme, foreign_key)});
    EXPECT_EQ(wrong.check(headers, known_body, known_time), Outcome::wrong_signature);
    const bool timed = scheme != Scheme::sha256_body;  // Does not sign its timestamp.
    EXPECT_EQ(right.check(headers, known_body, known_time + 301),
              timed ? Outcome::timestamp_too_old : Outcome::valid);
  }
}

TEST(Verify, AcceptsBothSecretsDuringARotation) {
  for (const Scheme scheme : schemes) {
    SCOPED_TRACE(to_string(static_cast<SignatureScheme>(scheme)));
    const Headers both = sign(scheme, {new_key, old_key}, known_body);
    for (const std::string& key : {new_key, old_key}) {
      const Verifier one = verifier_for(scheme, {receivers_key(scheme, key)});
      EXPECT_EQ(one.check(both, known_body, known_time), Outcome::valid) << key;
    }
  }
  for (const Scheme scheme : schemes) {  // A receiver that has both secrets.
    const Verifier both =
        verifier_for(scheme, {receivers_key(scheme, foreign_key), receivers_key(scheme, old_key)});
    EXPECT_EQ(both.check(sign(scheme, {old_key}, known_body), known_body, known_time),
              Outcome::valid);
  }
}

TEST(Verify, UsesTheTextOfASecretAsTheKeyIfTheSchemeIsNotStandard) {
  for (const Scheme scheme : {Scheme::t_v1, Scheme::sha256_timestamp, Scheme::sha256_body}) {
    for (const std::string& text : {known_key, std::string{"whsec_not base64"}}) {
      const Headers headers = sign(scheme, {text}, known_body);
      EXPECT_EQ(verifier_for(scheme, {text}).check(headers, known_body, known_time),
                Outcome::valid);
    }
  }
}

TEST(Verify, IgnoresAMalformedNextSignature) {
  Headers headers = sign(Scheme::sha256_body, {new_key}, known_body);
  headers.emplace_back("X-Webhook-Signature-Next", "sha256=zz");
  EXPECT_EQ(verifier_for(Scheme::sha256_body, {new_key}).check(headers, known_body, known_time),
            Outcome::valid);
}

TEST(Verify, SupportsAnotherHeaderPrefixAndPrefersItsTimestamp) {
  Headers headers = sign(Scheme::sha256_timestamp, {new_key}, known_body);
  headers[2].first = "X-Agenta-Signature";
  const Verifier other{
      {.keys = {new_key}, .scheme = Scheme::sha256_timestamp, .header_prefix = "X-Agenta-"}};
  EXPECT_EQ(other.check(headers, known_body, known_time), Outcome::valid);
  headers.emplace_back("x-agenta-timestamp", std::to_string(known_time));
  headers[1].second = "1";
  EXPECT_EQ(other.check(headers, known_body, known_time), Outcome::valid);
  EXPECT_EQ(
      verifier_for(Scheme::sha256_timestamp, {new_key}).check(headers, known_body, known_time),
      Outcome::missing_header);
}

TEST(Verify, RejectsInvalidKeys) {
  const std::string public_key = receivers_key(Scheme::standard_ed25519, new_key);
  EXPECT_EQ(
      verifier_for(Scheme::standard_ed25519, {public_key.substr(5)})
          .check(sign(Scheme::standard_ed25519, {new_key}, known_body), known_body, known_time),
      Outcome::valid)
      << "the prefix of a public key is optional";
  const std::vector<std::string> useless[] = {{}, {""}, {"whsec_"}, {"whsec_not base64"}};
  for (const std::vector<std::string>& keys : useless) {
    EXPECT_EQ(verifier_for(Scheme::standard, keys).check(known_headers(), known_body, known_time),
              Outcome::no_usable_key);
  }
  for (const std::string& key : {known_key, std::string{"whpk_AAAA"}, public_key + "AAAA"}) {
    EXPECT_EQ(verifier_for(Scheme::standard_ed25519, {key})
                  .check(known_headers(), known_body, known_time),
              Outcome::no_usable_key);
  }
}

TEST(Verify, ExplainsEveryOutcomeInASentence) {
  for (int i = 0; i <= static_cast<int>(Outcome::timestamp_too_new); ++i) {
    const std::string_view text = explain(static_cast<Outcome>(i));
    ASSERT_FALSE(text.empty()) << i;
    EXPECT_EQ(text.back(), '.');
  }
}

}  // namespace
}  // namespace postrider::verify
