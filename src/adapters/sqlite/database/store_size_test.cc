#include "adapters/sqlite/database/store_size.h"

#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace postrider {
namespace {

namespace fs = std::filesystem;

class StoreSize : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(directory_); }
  ~StoreSize() override { fs::remove_all(directory_); }

  void write(const std::string& name, std::size_t bytes) {
    std::ofstream{directory_ / name} << std::string(bytes, 'x');
  }
  [[nodiscard]] std::map<std::string, double> read() const {
    std::map<std::string, double> values;
    for (const MetricSample& sample : store_size_samples(directory_)) {
      values.emplace(sample.labels.empty() ? sample.name : sample.labels[0].second, sample.value);
    }
    return values;
  }

  fs::path directory_ =
      fs::temp_directory_path() / ("store-size-test-" + std::to_string(::getpid()));
};

TEST_F(StoreSize, ShowsTheFilesAndTheSpaceThatIsLeft) {
  write("postrider.db", 8192);
  write("postrider.db-wal", 100);
  const std::map<std::string, double> values = read();
  EXPECT_EQ(values.at("database"), 8192);
  EXPECT_EQ(values.at("write_ahead_log"), 100);
  EXPECT_GT(values.at("postrider_store_free_bytes"), 0);
  EXPECT_LE(values.at("postrider_store_free_bytes"), values.at("postrider_store_filesystem_bytes"));
}

TEST_F(StoreSize, ShowsAMissingLogAsEmpty) {
  write("postrider.db", 1);
  EXPECT_EQ(read().at("write_ahead_log"), 0);
}

TEST_F(StoreSize, LeavesOutWhatCannotBeRead) {
  fs::remove_all(directory_);
  EXPECT_EQ(read(), (std::map<std::string, double>{{"write_ahead_log", 0}}));
}

}  // namespace
}  // namespace postrider
