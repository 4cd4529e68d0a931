#include "api/http/http_samples.h"

namespace postrider::api {

std::vector<MetricSample> to_samples(const std::vector<HttpServerCounters>& listeners) {
  HttpServerCounters sum;
  for (const HttpServerCounters& each : listeners) {
    sum.connections_open += each.connections_open;
    sum.connections_accepted += each.connections_accepted;
    sum.connections_refused += each.connections_refused;
    sum.accepts_failed += each.accepts_failed;
    sum.requests_handled += each.requests_handled;
    sum.requests_refused += each.requests_refused;
    sum.timeouts += each.timeouts;
    sum.handler_errors += each.handler_errors;
  }
  std::vector<MetricSample> samples;
  samples.push_back({.name = "postrider_http_connections_open",
                     .help = "Open client connections",
                     .labels = {},
                     .value = static_cast<double>(sum.connections_open)});
  const auto total = [&](const char* name, const char* help, const char* result,
                         std::uint64_t value) {
    samples.push_back({.name = name,
                       .help = help,
                       .is_total = true,
                       .labels = {{"result", result}},
                       .value = static_cast<double>(value)});
  };
  constexpr const char* connections = "postrider_http_connections_total";
  constexpr const char* connections_help =
      "Client connections: accepted, refused because a limit was reached, or failed to be accepted "
      "for want of a file descriptor";
  total(connections, connections_help, "accepted",
        sum.connections_accepted - sum.connections_refused);
  total(connections, connections_help, "refused", sum.connections_refused);
  total(connections, connections_help, "failed", sum.accepts_failed);
  constexpr const char* requests = "postrider_http_requests_total";
  constexpr const char* requests_help =
      "Requests: handled, refused as malformed or too large, timed out, failed in a handler";
  total(requests, requests_help, "handled", sum.requests_handled);
  total(requests, requests_help, "refused", sum.requests_refused);
  total(requests, requests_help, "timeout", sum.timeouts);
  total(requests, requests_help, "error", sum.handler_errors);
  return samples;
}

}  // namespace postrider::api
