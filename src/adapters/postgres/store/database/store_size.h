// The size of a store's tables as metric samples. The database is asked once a minute on a thread
// of its own, so that a metrics page never waits for it.
//
// Clients cannot read the free disk space of the database server, so it is not included.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/result.h"
#include "ports/metric_sample.h"

#include "adapters/postgres/store/database/session.h"
#include "adapters/postgres/store/postgres_store.h"

namespace postrider::postgres {

/// The size of each large table, and the sum of all others.
[[nodiscard]] Result<std::vector<MetricSample>> read_store_size(Session& session);

class StoreSizeMonitor {
 public:
  explicit StoreSizeMonitor(PostgresOptions options, Millis period = std::chrono::minutes{1});
  ~StoreSizeMonitor();
  StoreSizeMonitor(const StoreSizeMonitor&) = delete;
  StoreSizeMonitor& operator=(const StoreSizeMonitor&) = delete;

  /// The latest samples. Empty until the first answer, and while the database cannot be reached.
  /// Any thread.
  [[nodiscard]] std::vector<MetricSample> samples() const;

 private:
  void run();
  [[nodiscard]] std::vector<MetricSample> read();

  PostgresOptions options_;
  Millis period_;
  Interruption interruption_;
  mutable std::mutex mutex_;  // Guards the two below.
  std::vector<MetricSample> samples_;
  bool stopping_ = false;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace postrider::postgres
