// Which events of tracked rows may have changed (ports/source_rows.h). Only a hint that saves
// reading: the store knows all rows that are not settled.
//
// The store thread adds changes, one thread per source takes them. A settlement of an event that
// came from elsewhere costs one lookup. If servers share the store, each learns only of what it
// commits itself, and an event may have been published by another: every settlement is a change.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "ports/ledger.h"

namespace postrider {

struct RowChangeOptions {
  bool is_shared = false;             // Other servers use the same store: nothing is tracked.
  std::size_t tracked_max = 100'000;  // About 5 MB. With more, every settlement is a change.
  std::size_t changed_max = 50'000;   // Per source. With more, all its rows are examined.
};

class RowChanges {
 public:
  /// Of the sources with these names. All their rows are to be examined at first.
  explicit RowChanges(const std::vector<std::string>& sources,
                      const RowChangeOptions& options = {});

  /// A batch is on disk. Store thread.
  void committed(const Batch& batch, const BatchReceipt& receipt);
  /// Deliveries of unknown events have changed. Any thread.
  void examine_all();

  struct Taken {
    std::vector<EventId> events;  // Each once.
    bool examine_all = false;     // Read all unsettled rows, `track` them, then call `examined`.
  };
  /// Waits for changes that concern the source. Returns none when the time is over or after `stop`.
  [[nodiscard]] Taken take(std::string_view source, Millis wait_max);
  /// Returns changes that could not be handled.
  void put_back(std::string_view source, const std::vector<EventId>& events);

  /// These events have unsettled rows.
  void track(const std::vector<EventId>& events);
  /// These have none any more.
  void forget(const std::vector<EventId>& events);
  void examined(std::string_view source, bool completely);

  /// Ends all waiting for good.
  void stop();

 private:
  struct Source {
    std::string name;
    std::vector<EventId> changed;
    bool examine_all = true;
    bool is_examining = false;

    [[nodiscard]] bool has_news() const { return examine_all || !changed.empty(); }
  };

  [[nodiscard]] Source& find(std::string_view name);
  void track_one(EventId event);
  void change(Source& source, EventId event);
  void change_in_all(EventId event);
  void add_publishes(const Batch& batch, const BatchReceipt& receipt);
  [[nodiscard]] bool may_be_tracked(EventId event) const;

  RowChangeOptions options_;
  std::mutex mutex_;  // Guards the members below.
  std::condition_variable changed_;
  std::vector<Source> sources_;
  std::unordered_set<EventId> tracked_;
  bool tracks_all_;  // False: there are events with unsettled rows that are not in `tracked_`.
  bool stopped_ = false;
};

}  // namespace postrider
