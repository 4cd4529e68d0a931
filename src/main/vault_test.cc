#include "main/vault.h"

#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace postrider {
namespace {

const std::string first_key(64, '1');  // 32 bytes in hex.
const std::string second_key(64, '2');

class VaultKeys : public testing::Test {
 protected:
  ~VaultKeys() override { std::remove(file_.c_str()); }

  void write(const std::string& text) const { std::ofstream{file_} << text; }

  [[nodiscard]] config::SecretsConfig from_file() const { return {.key_file = file_}; }
  static config::SecretsConfig from_environment(const std::string& text) {
    return {.key = Secret<std::string>{text}};
  }

  const std::string file_ = testing::TempDir() + "postrider_vault_keys";
};

TEST_F(VaultKeys, WithoutAKeyThereIsNoVault) {
  const auto vault = open_vault({});
  ASSERT_TRUE(vault);
  EXPECT_EQ(*vault, nullptr);
}

TEST_F(VaultKeys, AreReadFromTheFileOrTheEnvironment) {
  write(first_key + "\n");
  const auto of_file = open_vault(from_file());
  ASSERT_TRUE(of_file && *of_file);
  const auto of_environment = open_vault(from_environment(first_key));
  ASSERT_TRUE(of_environment && *of_environment);
  EXPECT_EQ((*of_environment)->open((*of_file)->seal("secret", "place"), "place"), "secret");
}

TEST_F(VaultKeys, TwoSourcesAreRefused) {
  write(first_key);
  config::SecretsConfig both = from_file();
  both.key = Secret<std::string>{first_key};
  EXPECT_EQ(open_vault(both).error().code, Errc::invalid);
}

TEST_F(VaultKeys, AFileThatCannotBeUsedIsRefused) {
  EXPECT_EQ(open_vault(from_file()).error().code, Errc::invalid);  // It does not exist.
  write("");
  EXPECT_EQ(open_vault(from_file()).error().code, Errc::invalid);
  const std::string comment = "#" + std::string(64u << 10, 'x') + "\n";
  write(comment + first_key);
  const auto too_large = open_vault(from_file());
  ASSERT_FALSE(too_large);
  EXPECT_NE(too_large.error().message.find("larger than 65536 bytes"), std::string::npos);
}

TEST_F(VaultKeys, AReloadReadsTheFileAgain) {
  write(first_key);
  const auto vault = open_vault(from_file());
  ASSERT_TRUE(vault && *vault);
  const std::string sealed = (*vault)->seal("secret", "place");
  EXPECT_TRUE((*vault)->is_current(sealed));
  write(second_key + "\n" + first_key);
  ASSERT_TRUE(reload_vault(**vault, from_file()));
  EXPECT_FALSE((*vault)->is_current(sealed));
  EXPECT_TRUE(reload_vault(**vault, from_environment(first_key)));  // Nothing to read again.
}

}  // namespace
}  // namespace postrider
