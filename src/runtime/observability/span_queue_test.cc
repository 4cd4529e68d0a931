#include "runtime/observability/span_queue.h"

#include <future>

#include <gtest/gtest.h>

namespace postrider {
namespace {

using Answer = tl::expected<ExportReceipt, ExportFailure>;

/// Answers as scripted, then accepts. Records the sizes of the batches.
class ScriptedExporter final : public SpanExporter {
 public:
  struct Script {
    std::mutex mutex;
    std::vector<Answer> answers;
    std::vector<std::size_t> sent;
    std::vector<Span> spans;
    std::promise<void> interrupt;
    std::shared_future<void> interrupted = interrupt.get_future().share();
    bool hangs = false;
  };
  explicit ScriptedExporter(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  Answer send(std::span<const Span> spans, Millis) override {
    if (script_->hangs) {
      script_->interrupted.wait();
      return tl::make_unexpected(ExportFailure{.reason = "Interrupted."});
    }
    const std::lock_guard lock{script_->mutex};
    script_->sent.push_back(spans.size());
    if (script_->answers.empty()) {
      script_->spans.insert(script_->spans.end(), spans.begin(), spans.end());
      return ExportReceipt{};
    }
    Answer answer = script_->answers.front();
    script_->answers.erase(script_->answers.begin());
    return answer;
  }
  void interrupt() override { script_->interrupt.set_value(); }

 private:
  std::shared_ptr<Script> script_;
};

Answer failure(bool retry, Millis after = Millis{0}) {
  return tl::make_unexpected(
      ExportFailure{.reason = "Refused.", .retry = retry, .retry_after = after});
}

std::vector<Span> some_spans(std::size_t count) { return std::vector<Span>(count); }

class SpanQueueTest : public testing::Test {
 protected:
  SpanQueue& make(SpanQueueOptions options = {}) {
    queue_.emplace(options, std::make_unique<ScriptedExporter>(script_));
    return *queue_;
  }
  [[nodiscard]] std::uint64_t dropped(SpanDrop why) const {
    return queue_->counts().dropped[static_cast<std::size_t>(why)];
  }

  std::shared_ptr<ScriptedExporter::Script> script_ = std::make_shared<ScriptedExporter::Script>();
  std::optional<SpanQueue> queue_;
};

TEST_F(SpanQueueTest, SendsWhatIsQueuedInBatches) {
  SpanQueue& queue = make({.batch_max = 4});
  EXPECT_EQ(queue.step(), Millis{1'000}) << "nothing to send";
  queue.add(some_spans(3));
  queue.add(some_spans(3));
  EXPECT_EQ(queue.counts().waiting, 6u);
  EXPECT_EQ(queue.step(), Millis{1'000});
  EXPECT_EQ(queue.step(), Millis{1'000});
  EXPECT_EQ(script_->sent, (std::vector<std::size_t>{4, 2}));
  EXPECT_EQ(queue.counts().exported, 6u);
  EXPECT_EQ(queue.counts().waiting, 0u);
}

TEST_F(SpanQueueTest, KeepsTheOrder) {
  SpanQueue& queue = make({.batch_max = 2});
  std::vector<Span> spans = some_spans(3);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    spans[i].id.bytes[0] = static_cast<std::uint8_t>(i + 1);
  }
  queue.add(spans);
  (void)queue.step();
  (void)queue.step();
  EXPECT_EQ(script_->spans, spans);
}

TEST_F(SpanQueueTest, DropsAndCountsWhatDoesNotFit) {
  SpanQueue& queue = make({.spans_max = 5});
  queue.add(some_spans(4));
  EXPECT_TRUE(queue.has_room());
  queue.add(some_spans(2));
  EXPECT_EQ(dropped(SpanDrop::queue_full), 2u) << "all or none of an attempt";
  queue.add(some_spans(1));
  EXPECT_FALSE(queue.has_room());
  queue.drop(1);
  EXPECT_EQ(dropped(SpanDrop::queue_full), 3u);
  EXPECT_EQ(queue.counts().waiting, 5u);
}

TEST_F(SpanQueueTest, RetriesABatchWithGrowingDelaysAndThenDropsIt) {
  SpanQueue& queue = make({.tries_max = 3, .retry_delay_max = Millis{3'000}});
  script_->answers = std::vector<Answer>(7, failure(true));
  queue.add(some_spans(2));
  EXPECT_EQ(queue.step(), Millis{1'000});
  EXPECT_EQ(queue.step(), Millis{2'000});
  EXPECT_EQ(dropped(SpanDrop::unavailable), 0u);
  EXPECT_EQ(queue.step(), Millis{3'000});
  EXPECT_EQ(dropped(SpanDrop::unavailable), 2u);
  queue.add(some_spans(1));
  EXPECT_EQ(queue.step(), Millis{3'000}) << "still away";
  EXPECT_EQ(queue.counts().exported, 0u);
}

TEST_F(SpanQueueTest, ContinuesWhenTheCollectorIsBack) {
  SpanQueue& queue = make();
  script_->answers = {failure(true)};
  queue.add(some_spans(2));
  (void)queue.step();
  EXPECT_EQ(queue.step(), Millis{1'000});
  EXPECT_EQ(queue.counts().exported, 2u);
  script_->answers = {failure(true)};
  queue.add(some_spans(1));
  EXPECT_EQ(queue.step(), Millis{1'000}) << "the delay begins anew";
}

TEST_F(SpanQueueTest, WaitsAsLongAsTheCollectorAsks) {
  SpanQueue& queue = make();
  script_->answers = {failure(true, Millis{20'000}), failure(true, std::chrono::hours{24})};
  queue.add(some_spans(1));
  EXPECT_EQ(queue.step(), Millis{20'000});
  EXPECT_EQ(queue.step(), Millis{30'000}) << "bounded";
}

TEST_F(SpanQueueTest, DropsABatchThatIsRefused) {
  SpanQueue& queue = make();
  script_->answers = {failure(false)};
  queue.add(some_spans(3));
  EXPECT_EQ(queue.step(), Millis{1'000});
  EXPECT_EQ(dropped(SpanDrop::refused), 3u);
  queue.add(some_spans(1));
  (void)queue.step();
  EXPECT_EQ(queue.counts().exported, 1u);
}

TEST_F(SpanQueueTest, CountsSpansThatTheCollectorRejected) {
  SpanQueue& queue = make();
  script_->answers = {ExportReceipt{.rejected = 2}, ExportReceipt{.rejected = 99}};
  queue.add(some_spans(5));
  (void)queue.step();
  EXPECT_EQ(queue.counts().exported, 3u);
  EXPECT_EQ(dropped(SpanDrop::refused), 2u);
  queue.add(some_spans(1));
  (void)queue.step();
  EXPECT_EQ(dropped(SpanDrop::refused), 3u) << "not more than were sent";
}

TEST_F(SpanQueueTest, SendsTheRestWhenItStops) {
  SpanQueue& queue = make({.batch_max = 10, .period = std::chrono::hours{1}});
  queue.start();
  queue.add(some_spans(3));
  queue.stop();
  EXPECT_EQ(queue.counts().exported, 3u);
  queue.add(some_spans(1));
  EXPECT_EQ(dropped(SpanDrop::stopped), 1u);
}

TEST_F(SpanQueueTest, DropsTheRestIfTheCollectorIsAwayWhenItStops) {
  SpanQueue& queue = make({.period = std::chrono::hours{1}});
  script_->answers = {failure(true)};
  queue.start();
  queue.add(some_spans(600));
  queue.stop();
  EXPECT_EQ(dropped(SpanDrop::stopped) + queue.counts().exported, 600u);
  EXPECT_EQ(queue.counts().waiting, 0u);
}

TEST_F(SpanQueueTest, StopsWhileTheCollectorHangs) {
  script_->hangs = true;
  SpanQueue& queue = make({.period = std::chrono::hours{1}, .stop_timeout = Millis{1}});
  queue.start();
  queue.add(some_spans(2));
  queue.stop();
  EXPECT_EQ(dropped(SpanDrop::stopped), 2u);
}

TEST(SpanSamples, ShowEveryReasonAlsoIfNothingIsTraced) {
  const std::vector<MetricSample> samples = to_samples({});
  EXPECT_EQ(samples.size(), 2 + span_drop_count);
  EXPECT_EQ(samples.front().name, "postrider_trace_spans_exported_total");
  SpanCounts counts{.exported = 7, .waiting = 1};
  counts.dropped[static_cast<std::size_t>(SpanDrop::refused)] = 3;
  const std::vector<MetricSample> some = to_samples(counts);
  EXPECT_EQ(some[0].value, 7);
  EXPECT_EQ(some[3].labels.front().second, "refused");
  EXPECT_EQ(some[3].value, 3);
  EXPECT_EQ(some.back().value, 1);
}

}  // namespace
}  // namespace postrider
