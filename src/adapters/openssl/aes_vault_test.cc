#include "adapters/openssl/aes_vault.h"

#include <set>

#include <gtest/gtest.h>

#include "core/request/signature.h"

#include "adapters/openssl/aes_gcm.h"

namespace postrider {
namespace {

VaultKey key(char letter) { return Secret{std::string(32, letter)}; }

std::shared_ptr<const Vault> vault_of(std::vector<VaultKey> keys) {
  return make_aes_vault(std::move(keys));
}

TEST(AesGcm, MatchesTheTestVectorOfTheSpecification) {
  // Test case 14 of the GCM specification: a zero key and nonce, one zero block.
  const std::string zeros(32, '\0');
  std::string sealed(12, '\0');
  sealed += std::string(
      "\xce\xa7\x40\x3d\x4d\x60\x6b\x6e\x07\x4e\xc5\xd3\xba\xf3\x9d\x18"
      "\xd0\xd1\xc8\xa7\x99\x99\x6b\xf0\x26\x5b\x98\xb5\xd4\x8a\xb9\x19",
      32);
  EXPECT_EQ(aes_open(zeros, sealed, ""), std::string(16, '\0'));
}

TEST(AesVault, SealedValueOpensOnlyInItsOwnContext) {
  const auto vault = vault_of({key('a')});
  for (const std::string& plain : {std::string{}, std::string{"x"}, std::string(100'000, 'y')}) {
    const std::string sealed = vault->seal(plain, "whk_1/secret");
    EXPECT_EQ(vault->open(sealed, "whk_1/secret").value(), plain);
    EXPECT_EQ(vault->open(sealed, "whk_2/secret").error().code, Errc::corrupt);
    EXPECT_EQ(vault->open(sealed, "whk_1/headers").error().code, Errc::corrupt);
    EXPECT_EQ(sealed.find("yyyy"), std::string::npos);
  }
}

TEST(AesVault, SealingTwiceGivesDifferentBytes) {
  const auto vault = vault_of({key('a')});
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    seen.insert(vault->seal("same", "place").substr(9));
  }
  EXPECT_EQ(seen.size(), 100u);
}

TEST(AesVault, DetectsEveryChangedByte) {
  const auto vault = vault_of({key('a')});
  const std::string sealed = vault->seal("secret", "place");
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(vault->open(changed, "place").has_value()) << i;
    EXPECT_FALSE(vault->open(sealed.substr(0, i), "place").has_value()) << i;
  }
}

TEST(AesVault, OldKeysOpenAndTheFirstSeals) {
  const std::string old = vault_of({key('a')})->seal("secret", "place");
  const auto vault = vault_of({key('b'), key('a')});
  EXPECT_EQ(vault->open(old, "place").value(), "secret");
  EXPECT_FALSE(vault->is_current(old));
  const std::string fresh = vault->seal("secret", "place");
  EXPECT_TRUE(vault->is_current(fresh));
  EXPECT_EQ(vault_of({key('b')})->open(fresh, "place").value(), "secret");
}

TEST(AesVault, ReplacingKeysMustKeepTheKeyInUse) {
  const auto vault = make_aes_vault({key('a')});
  const std::string old = vault->seal("secret", "place");
  EXPECT_EQ(vault->replace_keys({key('b')}).error().code, Errc::invalid);
  EXPECT_TRUE(vault->is_current(old));
  ASSERT_TRUE(vault->replace_keys({key('b'), key('a')}).has_value());
  EXPECT_FALSE(vault->is_current(old));
  EXPECT_EQ(vault->open(old, "place").value(), "secret");
  ASSERT_TRUE(vault->replace_keys({key('b')}).has_value());
  EXPECT_EQ(vault->open(old, "place").error().code, Errc::invalid);
}

TEST(AesVault, ErrorNamesTheIdOfAMissingKey) {
  const std::string sealed = vault_of({key('a')})->seal("secret", "place");
  const Result<std::string> opened = vault_of({key('b')})->open(sealed, "place");
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Errc::invalid);
  EXPECT_NE(opened.error().message.find(to_hex(sealed.substr(1, 8))), std::string::npos);
}

TEST(VaultKeys, AreParsedFromBase64AndHexInOrder) {
  const std::string base64 = to_base64(key('a').reveal());
  const std::string hex = to_hex(key('b').reveal());
  const std::vector<VaultKey> both = {key('a'), key('b')};
  EXPECT_EQ(parse_vault_keys(base64 + "," + hex).value(), both);
  EXPECT_EQ(parse_vault_keys("# current\n " + base64 + " \r\n\n" + hex + "\n").value(), both);
  EXPECT_EQ(
      parse_vault_keys("  # new, since May, " + hex + "\n" + base64 + ", # old,\n" + hex).value(),
      both);
}

TEST(VaultKeys, RejectsInvalidKeysWithoutRepeatingThem) {
  const std::string almost(63, 'a');
  for (const std::string& text :
       {std::string{}, std::string{"# only a comment\n"}, std::string{"secret-key"}, almost,
        std::string(64, 'g'), to_base64(std::string(31, 'a')), to_base64(std::string(33, 'a'))}) {
    const Result<std::vector<VaultKey>> keys = parse_vault_keys(text);
    ASSERT_FALSE(keys.has_value()) << text;
    EXPECT_EQ(keys.error().code, Errc::invalid);
    EXPECT_TRUE(text.size() < 10 || keys.error().message.find(text) == std::string::npos);
  }
}

}  // namespace
}  // namespace postrider
