// The threads that write the status of rows back, one per source that asks for it, and what they
// share. Does nothing, and costs nothing, if there is none.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ports/clock.h"
#include "ports/metric_sample.h"

#include "runtime/sources/row_changes.h"
#include "runtime/sources/source_runner.h"
#include "runtime/sources/status_write_back.h"
#include "runtime/store/reader_pool.h"
#include "runtime/store/store_thread.h"

namespace postrider {

class StatusWriters {
 public:
  /// All must outlive this object.
  struct Parts {
    StoreThread* store = nullptr;
    ReaderPool* readers = nullptr;
    const Clock* clock = nullptr;
    std::uint64_t seed = 0;
    bool is_shared = false;  // Other servers use the same store.
  };

  /// Takes the sinks of the sources. Call before the store thread starts.
  void make(std::vector<SourceParts>& sources, const Parts& parts);

  void start();
  /// Call while the store thread and the readers still run.
  void stop();

  /// Store thread.
  void committed(const Batch& batch, const BatchReceipt& receipt) {
    if (changes_) {
      changes_->committed(batch, receipt);
    }
  }
  /// Deliveries of unknown events have changed. Any thread.
  void examine_all() {
    if (changes_) {
      changes_->examine_all();
    }
  }
  [[nodiscard]] std::vector<MetricSample> samples() const;

 private:
  std::unique_ptr<RowChanges> changes_;  // Null: there is no source.
  std::unique_ptr<TrackedRows> rows_;
  std::vector<std::unique_ptr<StatusWriteBack>> writers_;
};

}  // namespace postrider
