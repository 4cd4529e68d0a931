#include "runtime/observability/cluster_samples.h"

#include <algorithm>
#include <map>

namespace postrider {
namespace {

MetricSample gauge(std::string name, std::string help, std::string pool, double value) {
  return {.name = std::move(name),
          .help = std::move(help),
          .labels = {{"pool_id", std::move(pool)}},
          .value = value};
}

MetricSample total(std::string name, std::string help, std::uint64_t value) {
  return {.name = std::move(name),
          .help = std::move(help),
          .is_total = true,
          .labels = {},
          .value = static_cast<double>(value)};
}

void add_gauges(const ClusterStatus& status, const std::string& own_pool,
                std::vector<MetricSample>& samples) {
  std::map<std::string, std::size_t> nodes{{own_pool, 0}};
  for (const ClusterNode& node : status.view.nodes) {
    ++nodes[pool_label(node.identity.pool)];
  }
  for (const auto& [pool, count] : nodes) {
    samples.push_back(gauge("postrider_cluster_nodes", "Live servers that share the store", pool,
                            static_cast<double>(count)));
  }
  for (const auto& [pool, count] : nodes) {
    samples.push_back(gauge("postrider_cluster_shards",
                            "Shards that the webhooks of a pool are divided into", pool,
                            static_cast<double>(shard_count)));
  }
  const auto held = std::ranges::count_if(
      status.view.leases, [&](const Lease& lease) { return lease.is_held_by(status.self); });
  samples.push_back(gauge("postrider_cluster_shards_held", "Shards that this server works",
                          own_pool, static_cast<double>(held)));
}

}  // namespace

std::string pool_label(std::string_view pool) {
  return pool.empty() ? "default" : std::string{pool};
}

std::uint32_t takeovers_between(const ClusterView& before, const ClusterView& after, NodeId self) {
  const std::size_t count = std::min(before.leases.size(), after.leases.size());
  std::uint32_t takeovers = 0;
  for (std::size_t shard = 0; shard < count; ++shard) {
    const Lease& was = before.leases[shard];
    const Lease& is = after.leases[shard];
    const bool was_abandoned = was.owner && was.owner != self && was.expired;
    takeovers += was_abandoned && is.is_held_by(self) ? 1 : 0;
  }
  return takeovers;
}

std::vector<MetricSample> to_samples(const std::optional<ClusterStatus>& status,
                                     const ClusterActivity& activity) {
  std::vector<MetricSample> samples;
  if (status) {
    add_gauges(*status, pool_label(activity.pool), samples);
  }
  samples.push_back(total("postrider_cluster_turns_total",
                          "Turns at the table of leases that this server has taken",
                          activity.turns));
  samples.push_back(total("postrider_cluster_turn_failures_total",
                          "Turns that failed: the database was not reached or did not answer",
                          activity.turn_failures));
  samples.push_back(total("postrider_cluster_takeovers_total",
                          "Shards that this server has taken from servers whose lease had expired",
                          activity.takeovers));
  return samples;
}

}  // namespace postrider
