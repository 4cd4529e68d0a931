#include "runtime/observability/circuit_states.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

WebhookId webhook(std::size_t number) {
  WebhookId id{};
  id.bytes[14] = static_cast<std::uint8_t>(number / 256);
  id.bytes[15] = static_cast<std::uint8_t>(number % 256);
  return id;
}

using Labels = std::vector<std::pair<std::string, std::string>>;

TEST(CircuitStates, HaveASeriesForEachWebhookThatIsNotClosed) {
  CircuitStates states;
  states.set(webhook(1), CircuitState::open);
  states.set(webhook(2), CircuitState::half_open);
  states.set(webhook(3), CircuitState::open);
  states.set(webhook(3), CircuitState::closed);
  states.set(webhook(4), CircuitState::open);
  states.forget(webhook(4));
  const std::vector<MetricSample> samples = states.samples(9);
  ASSERT_EQ(samples.size(), 5u);
  EXPECT_EQ(samples[0].labels, (Labels{{"state", "open"}, {"webhook_id", webhook(1).to_string()}}));
  EXPECT_EQ(samples[0].value, 1);
  EXPECT_EQ(samples[1].labels,
            (Labels{{"state", "half_open"}, {"webhook_id", webhook(2).to_string()}}));
  EXPECT_EQ(samples[2].labels, (Labels{{"state", "closed"}, {"webhook_id", "other"}}));
  EXPECT_EQ(samples[2].value, 9);
  EXPECT_EQ(samples[3].value, 0);
}

TEST(CircuitStates, CountTheWebhooksBeyondTheLimitTogether) {
  CircuitStates states;
  for (std::size_t number = 0; number < circuit_series_max + 7; ++number) {
    states.set(webhook(number), CircuitState::open);
  }
  const std::vector<MetricSample> samples = states.samples(0);
  ASSERT_EQ(samples.size(), circuit_series_max + 3);
  double open = 0;
  for (const MetricSample& sample : samples) {
    open += sample.value;
  }
  EXPECT_EQ(open, static_cast<double>(circuit_series_max + 7));
}

}  // namespace
}  // namespace postrider
