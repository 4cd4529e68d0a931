// The owner of a store thread in tests: does nothing but what the test sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/store/store_thread.h"

namespace postrider::test {

/// Set the functions before the store thread starts. They run on the store thread.
class FakeStoreOwner final : public StoreThreadOwner {
 public:
  std::function<void(std::size_t worker, ShardReplies replies)> on_deliver;
  std::function<void(const Batch&, const BatchReceipt&)> on_committed;
  std::function<void(const std::string& reason)> on_failed;
  std::function<void(const std::vector<LaneBacklog>&, RepliesByShard&)> on_recovered;
  std::function<void(RepliesByShard&)> on_catalog_changed;
  std::function<void(std::uint32_t failures_in_row)> on_failures_counted;
  std::function<Result<void>(RepliesByShard&)> on_admission;

  void deliver(std::size_t worker, ShardReplies replies) override {
    if (on_deliver) {
      on_deliver(worker, std::move(replies));
    }
  }
  void batch_committed(const Batch& batch, const BatchReceipt& receipt) override {
    if (on_committed) {
      on_committed(batch, receipt);
    }
  }
  void store_failed(const std::string& reason) override {
    if (on_failed) {
      on_failed(reason);
    }
  }
  void store_recovered(const std::vector<LaneBacklog>& backlog, RepliesByShard& replies) override {
    if (on_recovered) {
      on_recovered(backlog, replies);
    }
  }
  Result<void> before_admission(const BatchReceipt&, Store&, RepliesByShard& replies) override {
    return on_admission ? on_admission(replies) : Result<void>{};
  }
  void catalog_changed(Store&, RepliesByShard& replies) override {
    if (on_catalog_changed) {
      on_catalog_changed(replies);
    }
  }
  void failures_counted(std::uint32_t failures_in_row) override {
    if (on_failures_counted) {
      on_failures_counted(failures_in_row);
    }
  }
};

}  // namespace postrider::test
