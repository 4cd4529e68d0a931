#include <set>

#include <gtest/gtest.h>

#include "core/request/signature.h"

#include "adapters/openssl/digest.h"
#include "adapters/openssl/ed25519_key.h"
#include "adapters/openssl/hmac_key.h"
#include "adapters/openssl/openssl_crypto.h"
#include "adapters/openssl/running_sha256.h"
#include "adapters/openssl/signer.h"

namespace postrider {
namespace {

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string{hex.substr(i, 2)}, nullptr, 16));
  }
  return bytes;
}

std::string hmac_hex(std::string key, std::string_view text) {
  return to_hex(HmacKey{Secret<std::string>{std::move(key)}}.sign("", text));
}

TEST(Sha256, MatchesThePublishedVectors) {  // FIPS 180-2.
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(HmacKey, MatchesRfc4231) {
  EXPECT_EQ(hmac_hex(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac_hex("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac_hex(std::string(20, '\xaa'), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(hmac_hex(from_hex("0102030405060708090a0b0c0d0e0f10111213141516171819"),
                     std::string(50, '\xcd')),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  EXPECT_EQ(
      hmac_hex(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(HmacKey, SignsWithAnEmptyKeyAndAnEmptyText) {
  EXPECT_EQ(hmac_hex("", ""), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(HmacKey, DoesNotDependOnWhereThePrefixEnds) {
  const HmacKey key{Secret<std::string>{"Jefe"}};
  const std::string text = "what do ya want for nothing?";
  const std::string want = key.sign("", text);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(key.sign(text.substr(0, cut), text.substr(cut)), want) << cut;
  }
}

TEST(RunningSha256, DoesNotDependOnThePieces) {
  const std::string text(1'000, 'x');
  for (const std::size_t piece : {std::size_t{1}, std::size_t{63}, std::size_t{1'000}}) {
    RunningSha256 running;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      running.add(std::string_view{text}.substr(at, piece));
    }
    EXPECT_EQ(running.finish(), sha256(text)) << piece;
  }
  EXPECT_EQ(RunningSha256{}.finish(), sha256(""));
}

TEST(HmacKey, CopiesAndRepeatedSigningGiveTheSameSignature) {
  const HmacKey key{Secret<std::string>{std::string(32, 'k')}};
  const std::string first = key.sign("1.", "body");
  const HmacKey copy = key;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_NE(copy.sign("2.", "body"), first);
  EXPECT_EQ(copy.sign("1.", "body"), first);
  EXPECT_EQ(key.sign("1.", "body"), first);
}

struct Ed25519Vector {
  std::string_view seed;
  std::string_view public_key;
  std::string_view message;
  std::string_view signature;
};

// RFC 8032, section 7.1, tests 1 to 3.
constexpr Ed25519Vector ed25519_vectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b"
     "46b"
     "d25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11"
     "d8c"
     "387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc"
     "659"
     "4a7c15e9716ed28dc027beceea1ec40a"},
};

TEST(Ed25519Key, MatchesRfc8032) {
  for (const Ed25519Vector& vector : ed25519_vectors) {
    const Ed25519Key key{Secret<std::string>{from_hex(vector.seed)}};
    const std::string message = from_hex(vector.message);
    EXPECT_EQ(to_hex(key.public_key()), vector.public_key);
    EXPECT_EQ(to_hex(key.sign("", message)), vector.signature);
    EXPECT_EQ(to_hex(key.sign(message, "")), vector.signature);
  }
}

TEST(Ed25519Key, SeedIsTheFirst32BytesOrTheHashOfAShorterKey) {
  const std::string seed = from_hex(ed25519_vectors[0].seed);
  const Ed25519Key longer{Secret<std::string>{seed + "and more"}};
  EXPECT_EQ(to_hex(longer.public_key()), ed25519_vectors[0].public_key);

  const std::string brief(24, 's');
  const Ed25519Key shorter{Secret<std::string>{brief}};
  const Ed25519Key hashed{Secret<std::string>{sha256(brief)}};
  EXPECT_EQ(shorter.public_key(), hashed.public_key());
}

TEST(ConstantTimeEqual, ComparesWholeTexts) {
  EXPECT_TRUE(constant_time_equal("", ""));
  EXPECT_TRUE(constant_time_equal("secret", "secret"));
  EXPECT_FALSE(constant_time_equal("secret", "secreT"));
  EXPECT_FALSE(constant_time_equal("secret", "Secret"));
  // CVE-2024-21491: a prefix must not count as a match.
  EXPECT_FALSE(constant_time_equal("secret", "secre"));
  EXPECT_FALSE(constant_time_equal("secre", "secret"));
  EXPECT_FALSE(constant_time_equal("secret", ""));
  EXPECT_FALSE(constant_time_equal("", "secret"));
}

TEST(RandomBytes, HaveTheRequestedLengthAndDoNotRepeat) {
  EXPECT_EQ(random_bytes(0), "");
  std::set<std::string> seen;
  for (int i = 0; i < 1'000; ++i) {
    const std::string bytes = random_bytes(32);
    EXPECT_EQ(bytes.size(), 32u);
    EXPECT_TRUE(seen.insert(bytes).second);
  }
}

struct Signed {
  SignatureScheme scheme;
  std::int64_t unix_seconds;
  std::string_view body;
};

std::string sign_value(const Signed& what, const std::vector<std::string>& keys) {
  const SignedText text = signed_text(
      what.scheme,
      {.id = "msg_loFOjxBNrRLzqYUf", .unix_seconds = what.unix_seconds, .body = what.body});
  std::vector<std::string> signatures;
  for (const std::string& key : keys) {
    signatures.push_back(make_sign(what.scheme, Secret<std::string>{key})(text.prefix, text.body));
  }
  return signature_value(what.scheme, what.unix_seconds, signatures);
}

TEST(MakeSign, MatchesTheTestVectorOfStandardWebhooks) {
  const std::optional<std::string> key = from_base64("plJ3nmyCDGBKInavdOK15jsl");
  ASSERT_TRUE(key);
  EXPECT_EQ(sign_value({SignatureScheme::standard, 1'731'705'121,
                        R"({"event_type":"ping","data":{"success":true}})"},
                       {*key}),
            "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=");
}

TEST(MakeSign, SignsTheTextOfEachScheme) {
  const std::string key(32, 'k');
  const HmacKey hmac{Secret<std::string>{key}};
  const Ed25519Key ed25519{Secret<std::string>{key}};
  const auto hex_of = [&hmac](std::string_view text) { return to_hex(hmac.sign(text, "")); };

  EXPECT_EQ(sign_value({SignatureScheme::standard, 1'700'000'000, "{}"}, {key}),
            "v1," + to_base64(hmac.sign("msg_loFOjxBNrRLzqYUf.1700000000.{}", "")));
  EXPECT_EQ(sign_value({SignatureScheme::standard_ed25519, 1'700'000'000, "{}"}, {key}),
            "v1a," + to_base64(ed25519.sign("msg_loFOjxBNrRLzqYUf.1700000000.{}", "")));
  EXPECT_EQ(sign_value({SignatureScheme::t_v1, 1'700'000'000, "{}"}, {key}),
            "t=1700000000,v1=" + hex_of("1700000000.{}"));
  EXPECT_EQ(sign_value({SignatureScheme::sha256_timestamp, 1'700'000'000, "{}"}, {key}),
            "sha256=" + hex_of("1700000000.{}"));
  EXPECT_EQ(sign_value({SignatureScheme::sha256_body, 1'700'000'000, "{}"}, {key}),
            "sha256=" + hex_of("{}"));
}

TEST(MakeSign, BothSecretsSignDuringARotation) {
  const Signed what{SignatureScheme::standard, 1'700'000'000, "{}"};
  const std::string fresh(32, 'n');
  const std::string old(32, 'o');
  EXPECT_EQ(sign_value(what, {fresh, old}),
            sign_value(what, {fresh}) + ' ' + sign_value(what, {old}));
}

TEST(OpensslCrypto, UsesTheFunctionsOfTheAdapter) {
  const Crypto& crypto = openssl_crypto();
  const Secret<std::string> secret{std::string(32, 's')};
  EXPECT_EQ(crypto.sha256("abc"), sha256("abc"));
  EXPECT_EQ(crypto.random_bytes(24).size(), 24u);
  EXPECT_NE(crypto.random_bytes(24), crypto.random_bytes(24));
  EXPECT_TRUE(crypto.constant_time_equal("abc", "abc"));
  EXPECT_FALSE(crypto.constant_time_equal("abc", "abd"));
  EXPECT_EQ(crypto.ed25519_public_key(secret), Ed25519Key{secret}.public_key());
}

}  // namespace
}  // namespace postrider
