#include "runtime/observability/tracer.h"

#include <mutex>

#include <gtest/gtest.h>

namespace postrider {
namespace {

/// Keeps everything.
class KeepingExporter final : public SpanExporter {
 public:
  explicit KeepingExporter(std::vector<Span>& kept) : kept_(kept) {}
  tl::expected<ExportReceipt, ExportFailure> send(std::span<const Span> spans, Millis) override {
    kept_.insert(kept_.end(), spans.begin(), spans.end());
    return ExportReceipt{};
  }
  void interrupt() override {}

 private:
  std::vector<Span>& kept_;
};

class TracerTest : public testing::Test {
 protected:
  /// The names of the spans that were exported.
  std::vector<std::string_view> stop() {
    tracer_.stop();
    std::vector<std::string_view> names;
    for (const Span& span : kept_) {
      names.push_back(span.name);
    }
    return names;
  }
  static Publish sampled_publish() {
    Publish publish;
    publish.event.trace = TraceContext{.trace_id = {{1}}, .parent = {}, .flags = 1};
    return publish;
  }

  std::vector<Span> kept_;
  Tracer tracer_{{.sample_ratio = 1}, std::make_unique<KeepingExporter>(kept_)};
};

using Names = std::vector<std::string_view>;

TEST_F(TracerTest, BeginsATraceWithAnEventInTheSample) {
  Event event;
  event.id.bytes.fill(7);
  tracer_.sample(event);
  ASSERT_TRUE(event.trace);
  EXPECT_EQ(event.trace->trace_id, own_trace_id(event.id));
  EXPECT_EQ(event.trace->parent, SpanId{});
  EXPECT_TRUE(is_sampled(*event.trace));
}

TEST_F(TracerTest, LeavesTheDecisionOfThePublisherAsItIs) {
  Event event;
  event.trace = TraceContext{.trace_id = {{9}}, .parent = {{1}}, .flags = 0};
  const std::optional<TraceContext> given = event.trace;
  tracer_.sample(event);
  EXPECT_EQ(event.trace, given);
}

TEST_F(TracerTest, AnEventOutsideTheSampleHasNoContext) {
  const Tracer none{{.sample_ratio = 0}, std::make_unique<KeepingExporter>(kept_)};
  Event event;
  event.id.bytes.fill(0xff);
  none.sample(event);
  EXPECT_FALSE(event.trace);
}

TEST_F(TracerTest, ExportsTheSampledPublishesOfABatch) {
  tracer_.start();
  Batch batch;
  batch.publishes = {sampled_publish(), Publish{}, sampled_publish(), sampled_publish(),
                     sampled_publish()};
  BatchReceipt receipt;
  receipt.publishes = {Accepted{}, Accepted{}, Refused{}, Duplicate{}, Outdated{}};
  tracer_.committed(batch, receipt, {});
  EXPECT_EQ(stop(), (Names{"publish", "commit", "publish", "commit"})) << "nothing of the others";
  EXPECT_EQ(tracer_.counts().exported, 4u);
}

TEST_F(TracerTest, ExportsAttempts) {
  tracer_.start();
  Settlement settlement;
  settlement.attempt = Attempt{};
  settlement.attempt->failure_category = FailureCategory::timeout;
  settlement.attempt->outcome.timings.dns = Micros{5};
  tracer_.settled(settlement, {});
  EXPECT_EQ(stop(), (Names{"attempt", "dns"}));
}

TEST_F(TracerTest, CountsWhatDoesNotFit) {
  Tracer full{{.sample_ratio = 1, .queue = {.spans_max = 1}},
              std::make_unique<KeepingExporter>(kept_)};
  Settlement settlement;
  settlement.attempt = Attempt{};
  full.settled(settlement, {});
  full.settled(settlement, {});
  EXPECT_EQ(full.counts().waiting, 1u);
  EXPECT_EQ(full.counts().dropped[static_cast<std::size_t>(SpanDrop::queue_full)], 1u);
}

}  // namespace
}  // namespace postrider
