// The contract of a source of events, as a test suite. The test program of each adapter links
// `postrider_source_contract` and instantiates it with POSTRIDER_SOURCE_CONTRACT and its own
// SourceBenchFactory.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "ports/event_source.h"

namespace postrider::test {

/// A message that the source keeps aside.
struct KeptMessage {
  std::string key;
  std::string reason;

  bool operator==(const KeptMessage&) const = default;
};

/// A server with an empty source. Made anew for each test; the server itself can be shared, if
/// every bench has a table, stream or queue of its own.
class SourceBench {
 public:
  virtual ~SourceBench() = default;

  /// Adds one message per key, in this order, and returns once the server has them. Each becomes a
  /// valid event with this idempotency key.
  virtual void add(const std::vector<std::string>& keys) = 0;

  /// The source as a process of this node makes it. Call again to simulate a restart.
  [[nodiscard]] virtual std::unique_ptr<EventSource> make_source() = 0;

  /// The key with which the message was added.
  [[nodiscard]] virtual std::string key_of(const SourceRecord& record) = 0;

  /// The messages that were rejected, in any order.
  [[nodiscard]] virtual std::vector<KeptMessage> rejected() = 0;

  /// Makes the server unreachable: connections end, and new ones are refused. Messages are kept.
  virtual void stop_server() = 0;
  /// Returns once the server accepts connections.
  virtual void start_server() = 0;

 protected:
  SourceBench() = default;
  SourceBench(const SourceBench&) = delete;
  SourceBench& operator=(const SourceBench&) = delete;
};

struct SourceBenchFactory {
  std::string name;
  std::function<std::unique_ptr<SourceBench>()> make;
};

inline void PrintTo(const SourceBenchFactory& factory, std::ostream* out) { *out << factory.name; }

class SourceContract : public testing::TestWithParam<SourceBenchFactory> {
 protected:
  using Keys = std::vector<std::string>;

  void SetUp() override { restart(); }

  /// Drops the source and connects a new one, like a process that was killed.
  void restart();
  /// Receives a batch of at least `count` messages. Defers smaller batches and receives again,
  /// since messages can arrive one after the other.
  std::vector<SourceRecord> receive(std::size_t count, std::size_t records_max = 500);
  /// Expects that no message is offered for a short time.
  void expect_none();
  void settle(const std::vector<SourceRecord>& records, const RecordOutcome& outcome);
  /// Receives and stores messages until `count` have arrived. Returns their keys in order.
  Keys drain(std::size_t count);
  [[nodiscard]] Keys keys_of(const std::vector<SourceRecord>& records);
  void connect_again();

  [[nodiscard]] static RecordOutcome stored();
  [[nodiscard]] static RecordOutcome rejected(std::string reason);

  std::unique_ptr<SourceBench> bench_ = GetParam().make();
  std::unique_ptr<EventSource> source_;
};

[[nodiscard]] inline std::string bench_name(
    const testing::TestParamInfo<SourceBenchFactory>& info) {
  return info.param.name;
}

/// `POSTRIDER_SOURCE_CONTRACT(Memory, SourceBenchFactory{"memory", …})`.
#define POSTRIDER_SOURCE_CONTRACT(prefix, ...) \
  INSTANTIATE_TEST_SUITE_P(prefix, SourceContract, testing::Values(__VA_ARGS__), bench_name)

}  // namespace postrider::test
