#include "adapters/system/process_samples.h"

#include <cmath>
#include <map>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace postrider {
namespace {

std::map<std::string, double> read() {
  std::map<std::string, double> values;
  for (const MetricSample& sample : process_samples()) {
    EXPECT_EQ(sample.is_total, sample.name == "process_cpu_seconds_total");
    values.emplace(sample.name, sample.value);
  }
  return values;
}

TEST(ProcessSamples, ShowMemoryFilesAndCpuOfThisProcess) {
  const std::map<std::string, double> values = read();
  ASSERT_EQ(values.size(), 6u);
  EXPECT_GT(values.at("process_resident_memory_bytes"), 100'000);
  EXPECT_GT(values.at("process_virtual_memory_bytes"), values.at("process_resident_memory_bytes"));
  EXPECT_GE(values.at("process_cpu_seconds_total"), 0);
  EXPECT_GT(values.at("process_start_time_seconds"), 1'600'000'000);
  EXPECT_LT(values.at("process_open_fds"), values.at("process_max_fds"));
}

TEST(ProcessSamples, CountAnOpenedFile) {
  const double before = read().at("process_open_fds");
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_EQ(read().at("process_open_fds"), before + 1);
  ::close(file);
  EXPECT_EQ(read().at("process_open_fds"), before);
}

TEST(ProcessSamples, ShowTheLimitOfOpenFiles) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const double shown = read().at("process_max_fds");
  EXPECT_EQ(shown,
            limit.rlim_cur == RLIM_INFINITY ? INFINITY : static_cast<double>(limit.rlim_cur));
}

}  // namespace
}  // namespace postrider
