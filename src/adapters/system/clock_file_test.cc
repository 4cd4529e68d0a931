#include "adapters/system/clock_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);

class ClockFile : public testing::Test {
 protected:
  ~ClockFile() override { std::filesystem::remove(path_); }

  void write(const ClockRecord& record) { ASSERT_TRUE(write_clock_file(path_, record)); }

  std::string path_ =
      std::filesystem::temp_directory_path() / ("clock-file-test-" + std::to_string(::getpid()));
};

TEST_F(ClockFile, IsReadAsItWasWritten) {
  EXPECT_EQ(read_clock_file(path_), std::nullopt);
  for (const Millis ahead : {Millis{1h}, Millis{-24h}, Millis{1s}}) {
    const ClockRecord record{.wall = noon, .steady = noon + ahead};
    write(record);
    EXPECT_EQ(read_clock_file(path_), record);
  }
}

TEST_F(ClockFile, IsRemovedWhenTheTimesAgree) {
  write({.wall = noon, .steady = noon + 1h});
  write({.wall = noon, .steady = noon - 999ms});
  EXPECT_FALSE(std::filesystem::exists(path_));
  write({.wall = noon, .steady = noon});
  EXPECT_EQ(read_clock_file(path_), std::nullopt);
}

TEST_F(ClockFile, IsIgnoredIfItIsNotValid) {
  for (const char* content : {"", "12", "a b", "99999999999999999999999 1"}) {
    std::ofstream{path_, std::ios::trunc} << content;
    EXPECT_EQ(read_clock_file(path_), std::nullopt) << content;
  }
}

TEST_F(ClockFile, CannotBeWrittenWithoutItsDirectory) {
  EXPECT_FALSE(write_clock_file("/nonexistent/clock", {.wall = noon, .steady = noon + 1h}));
}

}  // namespace
}  // namespace postrider
