#include "engine/shard/node_share.h"

#include <algorithm>

namespace postrider {
namespace {

std::uint32_t at_least_one(std::uint32_t whole, std::uint32_t nodes) {
  return std::max(whole / nodes, 1u);
}

std::optional<RateLimit> rate_share(const std::optional<RateLimit>& whole, std::uint32_t nodes) {
  return whole ? std::optional{share_of(*whole, nodes)} : std::nullopt;
}

}  // namespace

RateLimit share_of(const RateLimit& whole, std::uint32_t nodes) {
  nodes = std::max(nodes, 1u);
  RateLimit share{
      .count = whole.count, .period = whole.period, .burst = at_least_one(whole.burst, nodes)};
  if (whole.count % nodes == 0) {
    share.count = whole.count / nodes;
  } else {
    const Millis period = std::max(whole.period, Millis{1});
    share.period = period > Millis::max() / nodes ? Millis::max() : period * nodes;
  }
  return share;
}

AllowanceLimits share_of(const AllowanceLimits& whole, std::uint32_t nodes) {
  nodes = std::max(nodes, 1u);
  AllowanceLimits share{.in_flight_max = whole.in_flight_max,
                        .tenant_in_flight_max = at_least_one(whole.tenant_in_flight_max, nodes),
                        .first_attempt_reserve = whole.first_attempt_reserve,
                        .tenant_rate = rate_share(whole.tenant_rate, nodes),
                        .total_rate = rate_share(whole.total_rate, nodes)};
  if (whole.host_in_flight_max) {
    share.host_in_flight_max = at_least_one(*whole.host_in_flight_max, nodes);
  }
  return share;
}

}  // namespace postrider
