#include "adapters/postgres/store/leases/lease_fence.h"

#include <utility>

namespace postrider::postgres {
namespace {

constexpr std::string_view fence_sql =
    "WITH " POSTRIDER_FENCE " SELECT place FROM lost ORDER BY place";

}  // namespace

void LeaseFence::add(std::string_view pool, ShardEpoch lease) {
  pools_.add(pool);
  shards_.add(lease.shard);
  epochs_.add(lease.epoch);
}

std::size_t LeaseFence::queue(Session& session) { return session.queue(fence_sql, parameters()); }

std::vector<std::size_t> LeaseFence::lost(const Rows& answer) {
  std::vector<std::size_t> places;
  for (int row = 0; row < answer.count(); ++row) {
    places.push_back(answer.as<std::size_t>(row, 0));
  }
  return places;
}

}  // namespace postrider::postgres
