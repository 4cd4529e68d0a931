#include "adapters/memory/memory_source.h"

#include <gtest/gtest.h>

#include "tests/contract/source_contract.h"

namespace postrider {
namespace {

class MemoryBench final : public test::SourceBench {
 public:
  void add(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) {
      queue_.add({{.name = "id", .value = key}, {.name = "data", .value = "{}", .is_json = true}});
    }
  }
  std::unique_ptr<EventSource> make_source() override { return make_memory_source(queue_); }
  std::string key_of(const SourceRecord& record) override { return record.fields.front().value; }
  std::vector<test::KeptMessage> rejected() override {
    std::vector<test::KeptMessage> kept;
    for (const MemoryRejected& each : queue_.rejected()) {
      kept.push_back({each.fields.front().value, each.reason});
    }
    return kept;
  }
  void stop_server() override { queue_.set_reachable(false); }
  void start_server() override { queue_.set_reachable(true); }

 private:
  MemoryQueue queue_;
};

TEST(MemorySource, ACallCanFailAlthoughItWasPerformed) {
  MemoryQueue queue;
  queue.add({{.name = "id", .value = "a"}});
  queue.inject([](SourceCall call) {
    return call == SourceCall::settle ? SourceFault::performed : SourceFault::none;
  });
  const auto source = make_memory_source(queue);
  ASSERT_TRUE(source->connect().has_value());
  const auto records = source->receive({});
  ASSERT_EQ(records->size(), 1u);
  EXPECT_FALSE(source->settle({{records->front().receipt, RecordStored{}}}).has_value());
  EXPECT_EQ(queue.size(), 0u);
}

TEST(MemorySource, OffersNothingWhileAnotherNodeReadsTheQueue) {
  MemoryQueue queue;
  queue.add({{.name = "id", .value = "a"}});
  queue.set_taken(true);
  const auto source = make_memory_source(queue);
  ASSERT_TRUE(source->connect().has_value());
  EXPECT_TRUE(source->receive({.records_max = 1, .wait_max = Millis{0}})->empty());
  EXPECT_TRUE(source->is_standby());
  queue.set_taken(false);
  EXPECT_EQ(source->receive({})->size(), 1u);
}

}  // namespace

namespace test {

POSTRIDER_SOURCE_CONTRACT(Memory, SourceBenchFactory{
                                      "memory", [] { return std::make_unique<MemoryBench>(); }});

}  // namespace test
}  // namespace postrider
