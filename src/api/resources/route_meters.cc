#include "api/resources/route_meters.h"

#include <algorithm>

#include <fmt/format.h>

namespace postrider::api {

void RouteMeter::add_counts(std::vector<MetricSample>& samples) const {
  for (std::size_t group = 0; group < by_status_.size(); ++group) {
    const std::uint64_t count = by_status_[group].load(std::memory_order_relaxed);
    if (count > 0) {
      samples.push_back({.name = "postrider_api_requests_total",
                         .help = "Requests of the API by route and class of status",
                         .is_total = true,
                         .labels = {{"method", method_},
                                    {"route", pattern_},
                                    {"status", fmt::format("{}xx", group)}},
                         .value = static_cast<double>(count)});
    }
  }
}

void RouteMeter::add_durations(std::vector<MetricSample>& samples) const {
  HistogramSample durations = durations_.sample();
  if (durations.count > 0) {
    samples.push_back({.name = "postrider_api_request_seconds",
                       .help = "Time from a request of the API to the beginning of its response",
                       .labels = {{"method", method_}, {"route", pattern_}},
                       .histogram = std::move(durations)});
  }
}

RouteMeter& RouteMeters::of(std::string_view method, std::string_view pattern) {
  const auto found = std::ranges::find_if(
      meters_, [&](const RouteMeter& meter) { return meter.is_for(method, pattern); });
  return found == meters_.end() ? meters_.emplace_back(method, pattern) : *found;
}

std::vector<MetricSample> RouteMeters::samples() const {
  std::vector<MetricSample> samples;
  for (const RouteMeter& meter : meters_) {
    meter.add_counts(samples);
  }
  for (const RouteMeter& meter : meters_) {
    meter.add_durations(samples);
  }
  return samples;
}

}  // namespace postrider::api
