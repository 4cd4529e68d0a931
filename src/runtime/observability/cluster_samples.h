// Metric samples about the servers that share a store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/lease.h"
#include "ports/metric_sample.h"

#include "runtime/admin/service.h"

namespace postrider {

/// The pool as a value of the label `pool_id`: `default` for the one without a name.
[[nodiscard]] std::string pool_label(std::string_view pool);

/// What this server has done since its start.
struct ClusterActivity {
  std::string pool;  // Of this server.
  std::uint64_t turns = 0;
  std::uint64_t turn_failures = 0;
  std::uint64_t takeovers = 0;  // See takeovers_between.
};

/// The shards that `self` has taken from nodes whose leases had expired, between two views of its
/// pool.
[[nodiscard]] std::uint32_t takeovers_between(const ClusterView& before, const ClusterView& after,
                                              NodeId self);

/// Only the totals if `status` is nullopt: nothing is known of the others yet.
[[nodiscard]] std::vector<MetricSample> to_samples(const std::optional<ClusterStatus>& status,
                                                   const ClusterActivity& activity);

}  // namespace postrider
