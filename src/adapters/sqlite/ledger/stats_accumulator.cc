#include "adapters/sqlite/ledger/stats_accumulator.h"

#include "core/stored/tally_bytes.h"
#include "ports/stats.h"

namespace postrider::sqlite {
namespace {

// A larger cache is cleared between transactions; the table has everything.
constexpr std::size_t tenants_max = 65'536;

constexpr std::string_view find_lane_sql =
    "SELECT tally FROM webhook_stats WHERE span = ?1 AND lane = ?2 AND tenant = ?3";
constexpr std::string_view put_lane_sql =
    "INSERT OR REPLACE INTO webhook_stats (span, lane, tenant, tally) VALUES (?1, ?2, ?3, ?4)";
constexpr std::string_view find_tenant_sql =
    "SELECT tally FROM tenant_stats WHERE span = ?1 AND tenant = ?2";
constexpr std::string_view put_tenant_sql =
    "INSERT OR REPLACE INTO tenant_stats (span, tenant, tally) VALUES (?1, ?2, ?3)";

/// The tally in the first row of the query; an empty one if there is no row.
Result<DeliveryTally> read_tally(Query query) {
  POSTRIDER_TRY(const bool found, query.next());
  return stored::unpack_tally(found ? query.bytes(0) : std::string_view{});
}

}  // namespace

Result<StatsAccumulator> StatsAccumulator::open(Database& database) {
  StatsAccumulator stats;
  POSTRIDER_CHECK(database.prepare_all({{&stats.find_lane_, find_lane_sql},
                                        {&stats.put_lane_, put_lane_sql},
                                        {&stats.find_tenant_, find_tenant_sql},
                                        {&stats.put_tenant_, put_tenant_sql}}));
  return stats;
}

Result<DeliveryTally*> StatsAccumulator::of_lane(LaneEntry& lane, std::int64_t tenant,
                                                 WallTime at) {
  const std::int64_t span = stats_span_of(at);
  if (lane.tally_span != span || lane.tally_tenant != tenant) {
    if (!lane.tally.empty()) {
      POSTRIDER_CHECK(move_out(lane));
    }
    lane.tally = {};
    lane.tally_span = span;
    lane.tally_tenant = tenant;
  }
  return &lane.tally;
}

/// Adds to the stored tally: a late result may belong to a span that was moved out before.
Result<void> StatsAccumulator::move_out(const LaneEntry& lane) {
  POSTRIDER_TRY(DeliveryTally sum,
                read_tally(find_lane_.query(lane.tally_span, lane.lane, lane.tally_tenant)));
  sum.add(lane.tally);
  return put_lane_.run(lane.tally_span, lane.lane, lane.tally_tenant, Blob{pack(sum)});
}

Result<DeliveryTally*> StatsAccumulator::of_tenant(std::int64_t tenant, WallTime at) {
  const std::int64_t span = stats_span_of(at);
  const auto [found, added] = tenants_.try_emplace(tenant);
  TenantEntry& entry = found->second;
  if (added || entry.span != span) {
    POSTRIDER_CHECK(write_tenant(tenant, entry));
    POSTRIDER_TRY(entry.tally, read_tally(find_tenant_.query(span, tenant)));
    entry.span = span;
  }
  if (!entry.changed) {
    entry.changed = true;
    changed_.push_back(tenant);
  }
  return &entry.tally;
}

/// The tally of the current span is part of the lane. It may be in both places: see move_out.
Result<void> StatsAccumulator::remove_settled(LaneEntry& lane, std::int64_t tenant, WallTime at,
                                              DeliveryState state) {
  const std::int64_t span = stats_span_of(at);
  const bool is_current = lane.tally_span == span && lane.tally_tenant == tenant;
  if (!is_current || !lane.tally.remove_settled(state)) {
    POSTRIDER_TRY(DeliveryTally stored, read_tally(find_lane_.query(span, lane.lane, tenant)));
    if (stored.remove_settled(state)) {
      POSTRIDER_CHECK(put_lane_.run(span, lane.lane, tenant, Blob{pack(stored)}));
    }
  }
  POSTRIDER_TRY(DeliveryTally * of_tenant_span, of_tenant(tenant, at));
  of_tenant_span->remove_settled(state);
  return {};
}

Result<void> StatsAccumulator::write_tenant(std::int64_t tenant, TenantEntry& entry) {
  if (entry.changed) {
    POSTRIDER_CHECK(put_tenant_.run(entry.span, tenant, Blob{pack(entry.tally)}));
  }
  return {};
}

Result<void> StatsAccumulator::write() {
  for (const std::int64_t tenant : changed_) {
    TenantEntry& entry = tenants_.at(tenant);
    POSTRIDER_CHECK(write_tenant(tenant, entry));
    entry.changed = false;
  }
  changed_.clear();
  if (tenants_.size() > tenants_max) {
    tenants_.clear();
  }
  return {};
}

void StatsAccumulator::clear_cache() {
  changed_.clear();
  tenants_.clear();
}

std::string_view StatsAccumulator::pack(const DeliveryTally& tally) {
  packed_.clear();
  stored::pack_tally(tally, packed_);
  return packed_;
}

}  // namespace postrider::sqlite
