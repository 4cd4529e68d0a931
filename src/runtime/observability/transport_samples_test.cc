#include "runtime/observability/transport_samples.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(TransportSamples, AddUpAllTransports) {
  const std::vector<MetricSample> samples = to_samples(
      {{.idle = 1, .opened = 20, .reused = 300}, {.idle = 4, .opened = 50, .reused = 600}});
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].name, "postrider_transport_connections_idle");
  EXPECT_EQ(samples[0].value, 5);
  EXPECT_FALSE(samples[0].is_total);
  EXPECT_EQ(samples[1].name, "postrider_transport_connections_opened_total");
  EXPECT_EQ(samples[1].value, 70);
  EXPECT_TRUE(samples[1].is_total);
  EXPECT_EQ(samples[2].name, "postrider_transport_connections_reused_total");
  EXPECT_EQ(samples[2].value, 900);
  EXPECT_TRUE(samples[2].is_total);
}

}  // namespace
}  // namespace postrider
