#include "runtime/store/connection_meter.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

const MetricSample* find(const std::vector<MetricSample>& samples, const std::string& name,
                         const std::string& state = {}) {
  for (const MetricSample& sample : samples) {
    const bool fits = state.empty() || sample.labels.back().second == state;
    if (sample.name == name && fits) {
      return &sample;
    }
  }
  return nullptr;
}

TEST(ConnectionMeter, CountsConnectionsInUseAndRequestsThatWait) {
  ConnectionMeter meter{"reader", 3};
  for (int request = 0; request < 4; ++request) {
    meter.request_queued();
  }
  meter.use_begun(1, 2ms);
  meter.use_begun(1, 20ms);
  const std::vector<MetricSample> samples = to_samples({meter.use()});
  EXPECT_EQ(find(samples, "postrider_store_connections", "in_use")->value, 2);
  EXPECT_EQ(find(samples, "postrider_store_connections", "idle")->value, 1);
  EXPECT_EQ(find(samples, "postrider_store_requests_waiting")->value, 2);
  const MetricSample& waits = *find(samples, "postrider_store_wait_seconds");
  EXPECT_EQ(waits.histogram->count, 2u);
  EXPECT_DOUBLE_EQ(waits.histogram->sum, 0.022);

  meter.use_ended();
  meter.use_ended();
  EXPECT_EQ(meter.use().in_use, 0u);
}

TEST(ConnectionMeter, OneUseMayTakeAllThatWait) {
  ConnectionMeter meter{"writer", 1};
  meter.request_queued();
  meter.request_queued();
  meter.use_begun(2, 1ms);
  EXPECT_EQ(meter.use().waiting, 0u);
  EXPECT_EQ(meter.use().waits.count, 1u);
}

TEST(ConnectionMeter, SamplesOfOneNameAreAdjacent) {
  const ConnectionMeter reader{"reader", 3};
  const ConnectionMeter writer{"writer", 1};
  std::vector<std::string> names;
  for (const MetricSample& sample : to_samples({reader.use(), writer.use()})) {
    names.push_back(sample.name + " " + sample.labels.front().second);
  }
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "postrider_store_connections reader", "postrider_store_connections reader",
          "postrider_store_connections writer", "postrider_store_connections writer",
          "postrider_store_requests_waiting reader", "postrider_store_requests_waiting writer",
          "postrider_store_wait_seconds reader", "postrider_store_wait_seconds writer"}));
}

}  // namespace
}  // namespace postrider
