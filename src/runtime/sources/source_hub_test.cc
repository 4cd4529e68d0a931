#include "runtime/sources/source_hub.h"

#include <gtest/gtest.h>

#include "adapters/memory/memory_source.h"

#include "tests/support/manual_clock.h"

namespace postrider {
namespace {

class NoIntake final : public SourceIntake {
 public:
  std::vector<RecordOutcome> publish(const std::vector<SourceRecord>& records) override {
    return std::vector<RecordOutcome>(records.size(), RecordDeferred{});
  }
};

class SourceHubTest : public testing::Test {
 protected:
  SourceParts parts(std::string name) {
    return {.name = std::move(name),
            .kind = "redis",
            .source = make_memory_source(queue_),
            .intake = std::make_unique<NoIntake>()};
  }
  std::vector<SourceParts> two() {
    std::vector<SourceParts> all;
    all.push_back(parts("shop"));
    all.push_back(parts("mq"));
    return all;
  }

  test::ManualClock clock_;
  MemoryQueue queue_;
};

TEST_F(SourceHubTest, ListsItsSourcesInTheirOrder) {
  const SourceHub hub{two(), clock_, 1};
  const std::vector<SourceView> views = hub.views();
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(views[0].name, "shop");
  EXPECT_EQ(views[0].kind, "redis");
  EXPECT_EQ(views[0].state, SourceState::starting);
  EXPECT_EQ(views[1].name, "mq");
  EXPECT_EQ(hub.facts().size(), 2u);
}

TEST_F(SourceHubTest, PausesOneSource) {
  SourceHub hub{two(), clock_, 1};
  EXPECT_EQ(hub.set_paused("mq", true)->state, SourceState::paused);
  EXPECT_EQ(hub.find("mq")->state, SourceState::paused);
  EXPECT_EQ(hub.find("shop")->state, SourceState::starting);
  EXPECT_EQ(hub.set_paused("mq", false)->state, SourceState::starting);
  EXPECT_EQ(hub.set_paused("none", true).error().code, Errc::not_found);
  EXPECT_EQ(hub.find("none").error().code, Errc::not_found);
}

TEST_F(SourceHubTest, SamplesOfOneMetricAreAdjacent) {
  const SourceHub hub{two(), clock_, 1};
  std::vector<std::string> names;
  for (const MetricSample& sample : hub.samples()) {
    if (names.empty() || names.back() != sample.name) {
      names.push_back(sample.name);
    }
    EXPECT_EQ(sample.is_total, sample.name.ends_with("_total"));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"postrider_source_connected",
                                             "postrider_source_messages_total",
                                             "postrider_source_reconnects_total"}));
}

TEST_F(SourceHubTest, StopsAllSources) {
  queue_.set_reachable(false);
  SourceHub hub{two(), clock_, 1};
  hub.start();
  hub.stop_receiving();
  hub.join();
  for (const SourceView& view : hub.views()) {
    EXPECT_EQ(view.state, SourceState::stopped);
  }
}

}  // namespace
}  // namespace postrider
