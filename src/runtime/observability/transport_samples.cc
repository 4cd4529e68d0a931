#include "runtime/observability/transport_samples.h"

namespace postrider {

std::vector<MetricSample> to_samples(const std::vector<TransportCounters>& transports) {
  TransportCounters sum;
  for (const TransportCounters& each : transports) {
    sum.idle += each.idle;
    sum.opened += each.opened;
    sum.reused += each.reused;
  }
  return {{.name = "postrider_transport_connections_idle",
           .help = "Connections to receivers that are kept for reuse",
           .labels = {},
           .value = static_cast<double>(sum.idle)},
          {.name = "postrider_transport_connections_opened_total",
           .help = "Connections made to receivers",
           .is_total = true,
           .labels = {},
           .value = static_cast<double>(sum.opened)},
          {.name = "postrider_transport_connections_reused_total",
           .help = "Attempts that found a connection open",
           .is_total = true,
           .labels = {},
           .value = static_cast<double>(sum.reused)}};
}

}  // namespace postrider
