// A node that exports spans.
#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include "tests/support/node_fixture.h"

namespace postrider {
namespace {

using test::eventually;

/// The spans that were exported. Any thread.
class Exported {
 public:
  void add(std::span<const Span> spans) {
    const std::lock_guard lock{mutex_};
    spans_.insert(spans_.end(), spans.begin(), spans.end());
  }
  [[nodiscard]] std::vector<Span> named(std::string_view name) const {
    const std::lock_guard lock{mutex_};
    std::vector<Span> found;
    std::ranges::copy_if(spans_, std::back_inserter(found),
                         [name](const Span& span) { return span.name == name; });
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Span> spans_;
};

class KeepingExporter final : public SpanExporter {
 public:
  explicit KeepingExporter(Exported& exported) : exported_(exported) {}
  tl::expected<ExportReceipt, ExportFailure> send(std::span<const Span> spans, Millis) override {
    exported_.add(spans);
    return ExportReceipt{};
  }
  void interrupt() override {}

 private:
  Exported& exported_;
};

class NodeTracingTest : public test::NodeFixture {
 protected:
  ~NodeTracingTest() override { stop(); }  // Before what is exported to.

  void start_tracing(double sample_ratio) {
    NodeParts parts = make_parts();
    parts.span_exporter = std::make_unique<KeepingExporter>(exported_);
    start({.tracing = {.sample_ratio = sample_ratio, .queue = {.period = Millis{1}}}},
          std::move(parts));
    add_webhook(make_webhook(1, "good.example"));
    add_webhook(make_webhook(2, "bad.example"));
    receivers_.answer("bad.example", 404);
  }

  Exported exported_;
};

TEST_F(NodeTracingTest, ExportsTheSpansOfASampledEvent) {
  start_tracing(1);
  ASSERT_TRUE(publish(7));
  ASSERT_TRUE(eventually([&] { return exported_.named("attempt").size() == 2; }));
  const std::vector<Span> published = exported_.named("publish");
  ASSERT_EQ(published.size(), 1u);
  EXPECT_EQ(exported_.named("commit").at(0).parent, published[0].id);
  for (const Span& attempt : exported_.named("attempt")) {
    EXPECT_EQ(attempt.parent, published[0].id);
    EXPECT_EQ(attempt.trace_id, published[0].trace_id);
  }
  const std::string request = receivers_.requests("good.example").at(0);
  EXPECT_NE(request.find("\r\ntraceparent: 00-" + to_string(published[0].trace_id)),
            std::string::npos)
      << request;
}

TEST_F(NodeTracingTest, ExportsOnlyFailuresOfOtherEvents) {
  start_tracing(0);
  ASSERT_TRUE(publish(7));
  ASSERT_TRUE(eventually([&] { return receivers_.requests("good.example").size() == 1; }));
  ASSERT_TRUE(eventually([&] { return exported_.named("attempt").size() == 1; }));
  stop();
  EXPECT_EQ(exported_.named("attempt").size(), 1u);
  EXPECT_TRUE(exported_.named("attempt")[0].error);
  EXPECT_TRUE(exported_.named("publish").empty());
  EXPECT_EQ(receivers_.requests("good.example").at(0).find("traceparent"), std::string::npos);
}

TEST_F(NodeTracingTest, ShowsItsCountersAlsoIfNothingIsTraced) {
  start();
  EXPECT_TRUE(has_metric("postrider_trace_spans_exported_total 0"));
  EXPECT_TRUE(has_metric("postrider_trace_spans_dropped_total{reason=\"queue_full\"} 0"));
}

}  // namespace
}  // namespace postrider
