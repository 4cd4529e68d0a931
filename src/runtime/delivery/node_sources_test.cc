// A node that takes events from sources.
#include <gtest/gtest.h>

#include "adapters/memory/memory_source.h"

#include "tests/support/node_fixture.h"

namespace postrider {
namespace {

using test::eventually;

/// Publishes each message as an event whose idempotency key is the message's first field.
class NodeIntake final : public SourceIntake {
 public:
  explicit NodeIntake(Node& node) : node_(node) {}

  std::vector<RecordOutcome> publish(const std::vector<SourceRecord>& records) override {
    std::vector<EventDraft> drafts;
    for (const SourceRecord& record : records) {
      EventDraft& draft = drafts.emplace_back();
      draft.event.id = EventId{node_.service().new_uuid()};
      draft.event.type = "order.paid";
      draft.event.data = "{}";
      draft.event.created_at = node_.service().now().wall;
      draft.claim = IdempotencyClaim{.key = record.fields.front().value,
                                     .body_digest = {},
                                     .expires_at = draft.event.created_at + Millis{60'000}};
    }
    const auto receipts = boost::asio::co_spawn(*node_.io_contexts().front(),
                                                node_.service().publish(std::move(drafts), false),
                                                boost::asio::use_future)
                              .get();
    std::vector<RecordOutcome> outcomes(records.size(), RecordDeferred{});
    for (std::size_t index = 0; receipts && index < receipts->size(); ++index) {
      outcomes[index] = RecordStored{
          .event_id = {}, .duplicate = std::holds_alternative<Duplicate>((*receipts)[index])};
    }
    return outcomes;
  }

 private:
  Node& node_;
};

class NodeSourcesTest : public test::NodeFixture {
 protected:
  ~NodeSourcesTest() override { stop(); }  // Before the queue.

  void start_with_source() {
    Result<std::unique_ptr<Node>> node = make_node({.worker_count = 2}, make_parts(), {});
    ASSERT_TRUE(node) << node.error().message;
    node_ = *std::move(node);
    std::vector<SourceParts> sources;
    sources.push_back({.name = "shop",
                       .kind = "redis",
                       .batch_max = 3,
                       .source = make_memory_source(queue_),
                       .intake = std::make_unique<NodeIntake>(*node_)});
    node_->set_sources(std::move(sources));
    node_->start();
  }
  void add(int count) {
    for (int index = 0; index < count; ++index) {
      queue_.add({{.name = "id", .value = std::to_string(++last_)}});
    }
  }
  [[nodiscard]] std::size_t events() {
    return look([](const MemoryStore& store) { return store.events.size(); });
  }
  Result<SourceView> pause(const std::string& name, bool paused) {
    return ask([&] {
      return service().pause_source(
          name, paused, AuditEntry{.action = paused ? "source.pause" : "source.resume"});
    });
  }

  MemoryQueue queue_;
  int last_ = 0;
};

TEST_F(NodeSourcesTest, StoresTheMessagesOfItsSources) {
  add(20);
  start_with_source();
  ASSERT_TRUE(eventually([&] { return service().sources().front().counts.stored == 20; }));
  EXPECT_EQ(events(), 20u);
  EXPECT_TRUE(eventually([&] { return queue_.size() == 0; }));
  EXPECT_TRUE(has_metric("postrider_source_messages_total{source=\"shop\",outcome=\"stored\"} 20"));
  EXPECT_TRUE(has_metric("postrider_source_connected{source=\"shop\"} 1"));
  EXPECT_EQ(service().not_ready(), std::nullopt);
}

TEST_F(NodeSourcesTest, ASourceThatIsAwayDoesNotMakeTheNodeUnready) {
  queue_.set_reachable(false);
  start_with_source();
  EXPECT_TRUE(
      eventually([&] { return service().sources().front().state == SourceState::reconnecting; }));
  EXPECT_EQ(service().not_ready(), std::nullopt);
  EXPECT_TRUE(publish(1));
}

TEST_F(NodeSourcesTest, PausingIsAudited) {
  start_with_source();
  EXPECT_EQ(pause("none", true).error().code, Errc::not_found);
  EXPECT_FALSE(has_audit("source.pause"));
  EXPECT_EQ(pause("shop", true)->state, SourceState::paused);
  EXPECT_TRUE(has_audit("source.pause"));
  add(1);
  EXPECT_EQ(service().sources().front().state, SourceState::paused);
  EXPECT_NE(pause("shop", false)->state, SourceState::paused);
  EXPECT_TRUE(has_audit("source.resume"));
  EXPECT_TRUE(eventually([&] { return events() == 1; }));
}

TEST_F(NodeSourcesTest, NothingIsLostOrDoubledWhenTheNodeStops) {  // P1, P3
  for (int round = 0; round < 5; ++round) {
    add(30);
    start_with_source();
    ASSERT_TRUE(eventually([&] { return queue_.size() < 30; }));
    stop();
    EXPECT_EQ(events() + queue_.size(), static_cast<std::size_t>(last_));
    EXPECT_EQ(node_, nullptr);
  }
  start_with_source();
  ASSERT_TRUE(eventually([&] { return queue_.size() == 0; }));
  EXPECT_EQ(events(), static_cast<std::size_t>(last_));
}

}  // namespace
}  // namespace postrider
