#include "adapters/system/private_directory.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace postrider {
namespace {

namespace fs = std::filesystem;

class PrivateDirectory : public testing::Test {
 protected:
  PrivateDirectory() {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~PrivateDirectory() override { fs::remove_all(path_); }
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;

  [[nodiscard]] static unsigned mode(const fs::path& path) {
    return static_cast<unsigned>(fs::status(path).permissions());
  }

  const fs::path path_ = fs::path{testing::TempDir()} / "private_directory_test";
};

TEST_F(PrivateDirectory, RemovesThePermissionsOfOthers) {
  const fs::path file = path_ / "postrider.db";
  std::ofstream{file} << "x";
  fs::permissions(file, fs::perms{0644});
  fs::permissions(path_, fs::perms{0755});
  const auto changed = make_private(path_.string());
  ASSERT_TRUE(changed);
  EXPECT_NE(changed->value_or("").find("was open to other users"), std::string::npos);
  EXPECT_EQ(mode(path_), 0700u);
  EXPECT_EQ(mode(file), 0600u);
}

TEST_F(PrivateDirectory, SaysNothingAboutAPrivateDirectory) {
  fs::permissions(path_, fs::perms{0700});
  const auto changed = make_private(path_.string());
  ASSERT_TRUE(changed);
  EXPECT_EQ(*changed, std::nullopt);
}

TEST_F(PrivateDirectory, LeavesAMissingDirectoryToTheStore) {
  const auto changed = make_private((path_ / "none").string());
  ASSERT_TRUE(changed);
  EXPECT_EQ(*changed, std::nullopt);
}

}  // namespace
}  // namespace postrider
