#include "core/request/secret_text.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using enum SignatureScheme;

constexpr SignatureScheme standard_schemes[] = {standard, standard_ed25519};
constexpr SignatureScheme text_schemes[] = {t_v1, sha256_timestamp, sha256_body};

TEST(ParseSecret, DecodesTheOutputOfFormatSecret) {
  for (const SignatureScheme scheme : standard_schemes) {
    for (std::size_t length = secret_bytes_min; length <= secret_bytes_max; ++length) {
      const Secret<std::string> key{std::string(length, '\xfe')};
      const Result<Secret<std::string>> parsed = parse_secret(scheme, format_secret(scheme, key));
      ASSERT_TRUE(parsed) << length;
      EXPECT_EQ(*parsed, key);
      EXPECT_EQ(signing_key(scheme, key), key);
    }
  }
}

TEST(ParseSecret, UsesOtherTextAsTheKeyOfAStandardScheme) {
  const std::string own = "my own secret, 24 bytes!";
  ASSERT_EQ(own.size(), 24u);
  EXPECT_EQ(parse_secret(standard, own)->reveal(), own);
  EXPECT_EQ(parse_secret(standard, std::string(75, 's'))->reveal(), std::string(75, 's'));
  EXPECT_EQ(format_secret(standard, *parse_secret(standard, own)), "whsec_" + to_base64(own));
}

TEST(ParseSecret, RejectsStandardKeysThatAreTooShortOrTooLong) {
  // HMAC accepts an empty key, so an empty secret would let anyone forge signatures.
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{23}, std::size_t{76}, std::size_t{1000}}) {
    EXPECT_FALSE(parse_secret(standard, std::string(length, 's'))) << length;
    EXPECT_FALSE(parse_secret(standard, "whsec_" + to_base64(std::string(length, 's')))) << length;
  }
}

TEST(ParseSecret, RejectsWhsecWithoutCanonicalBase64WithoutRepeatingIt) {
  const std::string good = format_secret(standard, Secret<std::string>{std::string(32, 's')});
  ASSERT_TRUE(good.ends_with("="));
  const std::string cases[] = {good.substr(0, good.size() - 1), good + "=", good + "\n",
                               "whsec_-" + good.substr(7), "whsec_"};
  for (const std::string& text : cases) {
    const Result<Secret<std::string>> parsed = parse_secret(standard, text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::invalid);
    EXPECT_EQ(parsed.error().message.find("c3Nz"), std::string::npos);
  }
}

TEST(ParseSecret, KeepsTheTextOfTheOtherSchemesByteForByte) {
  const std::string texts[] = {"12345678",
                               " two  spaces ",
                               "whsec_not base64 at all",
                               format_secret(standard, Secret<std::string>{std::string(32, 's')}),
                               "Gr\xc3\xbc\xc3\x9f\x65 \xf0\x9f\x98\x80",
                               std::string(255, 's')};
  for (const SignatureScheme scheme : text_schemes) {
    for (const std::string& text : texts) {
      const Result<Secret<std::string>> parsed = parse_secret(scheme, text);
      ASSERT_TRUE(parsed) << text;
      EXPECT_EQ(format_secret(scheme, *parsed), text);
      EXPECT_EQ(signing_key(scheme, *parsed).reveal(), text);
    }
  }
}

TEST(ParseSecret, RejectsOtherTextsOfTheWrongLengthOrWithControlCharacters) {
  const std::string bad[] = {"",
                             "1234567",
                             std::string(256, 's'),
                             "12345678\n",
                             "1234\t5678",
                             "1234\x7f"
                             "5678",
                             std::string("1234\0"
                                         "5678",
                                         9),
                             "1234\xff"
                             "5678"};
  for (const SignatureScheme scheme : text_schemes) {
    for (const std::string& text : bad) {
      const Result<Secret<std::string>> parsed = parse_secret(scheme, text);
      ASSERT_FALSE(parsed) << text;
      EXPECT_EQ(parsed.error().code, Errc::invalid);
      EXPECT_EQ(parsed.error().message.find("1234"), std::string::npos);
    }
  }
}

TEST(FormatSecret, ShowsTheRandomBytesOfAnEarlierVersionAsTheTextThatSigns) {
  const Secret<std::string> stored{std::string(32, '\xfe')};
  for (const SignatureScheme scheme : text_schemes) {
    const std::string shown = format_secret(scheme, stored);
    EXPECT_EQ(shown, "whsec_" + to_base64(stored.reveal()));
    EXPECT_EQ(signing_key(scheme, stored).reveal(), shown);
  }
}

TEST(GenerateSecret, UsesBytesForTheStandardSchemesAndDigitsForTheOthers) {
  EXPECT_EQ(secret_random_bytes(standard, 64), 32u);
  EXPECT_EQ(generate_secret(standard, std::string(32, '\x01'), 64).reveal(),
            std::string(32, '\x01'));
  for (const SignatureScheme scheme : text_schemes) {
    EXPECT_EQ(secret_random_bytes(scheme, 64), 32u);
    EXPECT_EQ(secret_random_bytes(scheme, 33), 17u);
    const Secret<std::string> made = generate_secret(scheme, std::string(17, '\xab'), 33);
    EXPECT_EQ(made.reveal(), "ababababababababababababababababa");
    EXPECT_EQ(made.reveal().size(), 33u);
    EXPECT_TRUE(parse_secret(scheme, made.reveal()));
  }
}

Webhook webhook_with(SignatureScheme scheme, std::string secret) {
  Webhook webhook;
  webhook.signature.scheme = scheme;
  webhook.secret = Secret{std::move(secret)};
  return webhook;
}

TEST(AdaptSecrets, KeepsTheTextThatWasShown) {
  Webhook webhook = webhook_with(standard, std::string(32, '\xfe'));
  webhook.old_secrets = {{Secret{std::string(24, '\xfd')}, WallTime{}}};
  const Webhook before = webhook;
  const std::string shown = format_secret(standard, webhook.secret);
  webhook.signature.scheme = sha256_body;
  ASSERT_TRUE(adapt_secrets(standard, webhook));
  EXPECT_EQ(format_secret(sha256_body, webhook.secret), shown);
  EXPECT_EQ(signing_key(sha256_body, webhook.old_secrets[0].key).reveal(),
            format_secret(standard, before.old_secrets[0].key));
  webhook.signature.scheme = standard;
  ASSERT_TRUE(adapt_secrets(sha256_body, webhook));
  EXPECT_EQ(webhook, before);
}

TEST(AdaptSecrets, UsesTheBytesOfATextForAStandardScheme) {
  Webhook webhook = webhook_with(standard, std::string(64, 'a'));
  ASSERT_TRUE(adapt_secrets(t_v1, webhook));
  EXPECT_EQ(webhook.secret.reveal(), std::string(64, 'a'));
}

TEST(AdaptSecrets, FailsIfTheSchemeDoesNotAcceptTheSecret) {
  Webhook webhook = webhook_with(standard, "12345678");
  webhook.old_secrets = {{Secret<std::string>{"87654321"}, WallTime{}}};
  const Webhook before = webhook;
  EXPECT_EQ(adapt_secrets(t_v1, webhook).error().code, Errc::invalid);
  EXPECT_EQ(webhook, before);
  webhook = webhook_with(sha256_body, "12345678");
  EXPECT_TRUE(adapt_secrets(t_v1, webhook)) << "both schemes use text";
}

}  // namespace
}  // namespace postrider
