#include "main/server_samples.h"

#include <set>

#include <gtest/gtest.h>

#include "cli/text/version.h"

namespace postrider {
namespace {

TEST(ServerSamples, ShowTheVersionAndTheProcess) {
  const std::vector<MetricSample> samples = server_samples();
  EXPECT_EQ(samples.front().name, "postrider_build_info");
  EXPECT_EQ(samples.front().labels.front().second, cli::version());
  std::set<std::string> names;
  for (const MetricSample& sample : samples) {
    names.insert(sample.name);
  }
  EXPECT_TRUE(names.contains("process_open_fds"));
}

}  // namespace
}  // namespace postrider
