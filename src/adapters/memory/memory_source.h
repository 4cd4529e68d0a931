// A source of events in memory, for tests. The queue is the server; a source is a connection to it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ports/event_source.h"

namespace postrider {

/// The calls of EventSource that can be made to fail.
enum class SourceCall : std::uint8_t { connect, receive, settle, lag };

/// Whether a call fails, and whether the server still performs it.
enum class SourceFault : std::uint8_t { none, not_performed, performed };

struct MemoryRejected {
  std::vector<SourceField> fields;
  std::string reason;
};

/// Must outlive its sources. Any thread.
class MemoryQueue {
 public:
  void add(std::vector<SourceField> fields);
  void add_record(SourceRecord record);

  [[nodiscard]] std::vector<MemoryRejected> rejected() const;
  /// The number of messages that were neither stored nor rejected.
  [[nodiscard]] std::size_t size() const;

  /// While it is not reachable, all calls of its sources fail.
  void set_reachable(bool reachable);
  /// Asked for the fault of every call. Set before the first call.
  void inject(std::function<SourceFault(SourceCall)> faults);
  /// Another node reads the queue: its sources are on standby.
  void set_taken(bool taken);

 private:
  friend class MemorySource;

  struct Waiting {
    SourceRecord record;
    std::uint64_t number = 0;  // In the order of arrival. The receipt.
    bool received = false;     // By the current connection.
  };

  [[nodiscard]] SourceFault fault_of(SourceCall call);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;  // Guarded by mutex_, as are the members below.
  std::vector<MemoryRejected> rejected_;
  std::function<SourceFault(SourceCall)> faults_;
  std::uint64_t last_number_ = 0;
  bool reachable_ = true;
  bool taken_ = false;
};

[[nodiscard]] std::unique_ptr<EventSource> make_memory_source(MemoryQueue& queue);

}  // namespace postrider
