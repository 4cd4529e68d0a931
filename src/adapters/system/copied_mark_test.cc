#include "adapters/system/copied_mark.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

namespace postrider {
namespace {

TEST(CopiedMark, NamesTheDatabaseUntilItIsRemoved) {
  const std::string directory =
      std::filesystem::temp_directory_path() / ("copied-mark-test-" + std::to_string(::getpid()));
  EXPECT_EQ(write_copied_mark(directory, "x").error().code, Errc::unavailable);
  std::filesystem::create_directories(directory);
  EXPECT_EQ(read_copied_mark(directory), std::nullopt);
  for (const char* target : {"postgres://db/one", "postgres://db/p"}) {
    EXPECT_TRUE(write_copied_mark(directory, target));
    EXPECT_EQ(read_copied_mark(directory), target);
  }
  EXPECT_TRUE(std::filesystem::remove(copied_mark_file(directory)));
  EXPECT_EQ(read_copied_mark(directory), std::nullopt);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace postrider
