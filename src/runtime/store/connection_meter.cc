#include "runtime/store/connection_meter.h"

#include <algorithm>

namespace postrider {
namespace {

MetricSample connections(const ConnectionUse& use, const char* state, std::size_t count) {
  return {.name = "postrider_store_connections",
          .help = "Connections to the store that are in use or idle",
          .labels = {{"role", use.role}, {"state", state}},
          .value = static_cast<double>(count)};
}

}  // namespace

std::vector<MetricSample> to_samples(const std::vector<ConnectionUse>& uses) {
  std::vector<MetricSample> samples;
  for (const ConnectionUse& use : uses) {
    samples.push_back(connections(use, "in_use", use.in_use));
    const std::size_t idle = use.connections - std::min(use.in_use, use.connections);
    samples.push_back(connections(use, "idle", idle));
  }
  for (const ConnectionUse& use : uses) {
    samples.push_back({.name = "postrider_store_requests_waiting",
                       .help = "Requests that wait for a connection to the store",
                       .labels = {{"role", use.role}},
                       .value = static_cast<double>(use.waiting)});
  }
  for (const ConnectionUse& use : uses) {
    samples.push_back({.name = "postrider_store_wait_seconds",
                       .help =
                           "How long requests waited for a connection to the store; of the writer, "
                           "the first request of each turn",
                       .labels = {{"role", use.role}},
                       .histogram = use.waits});
  }
  return samples;
}

}  // namespace postrider
