#include <algorithm>
#include <vector>

#include "core/base/assert.h"
#include "engine/shard/allowance.h"
#include "engine/shard/shard.h"

namespace postrider {
namespace {

class LocalAllowance final : public Allowance {
 public:
  explicit LocalAllowance(const AllowanceLimits& limits) : limits_(limits) {
    POSTRIDER_ASSERT(limits_.in_flight_max > 0 && limits_.tenant_in_flight_max > 0);
  }

  void join(TenantIndex index, const TenantId&, MonoTime now) override {
    tenants_.resize(std::max<std::size_t>(tenants_.size(), index + 1));
    tenants_[index] = {};
    if (limits_.tenant_rate) {
      tenants_[index].bucket.emplace(*limits_.tenant_rate, now);
    }
  }

  void leave(TenantIndex index) override { POSTRIDER_ASSERT(tenants_[index].in_flight == 0); }

  void join_host(HostIndex index, const std::string&) override {
    hosts_.resize(std::max<std::size_t>(hosts_.size(), index + 1));
  }
  void leave_host(HostIndex index) override { POSTRIDER_ASSERT(hosts_[index] == 0); }

  [[nodiscard]] Candidates candidates() const override {
    return in_flight_ < retries_max(limits_) ? Candidates::all : Candidates::first_attempts;
  }

  [[nodiscard]] Permit take(const SlotUse& use, Candidates candidates, MonoTime now) override {
    if (limits_.total_rate && !bucket_) {
      bucket_.emplace(*limits_.total_rate, now);
    }
    Tenant& tenant = tenants_[use.tenant];
    const std::uint32_t max =
        candidates == Candidates::all ? retries_max(limits_) : limits_.in_flight_max;
    if (in_flight_ >= max) {
      return {.refused_by = Limit::total_slots};
    }
    if (tenant.in_flight >= limits_.tenant_in_flight_max) {
      return {.refused_by = Limit::tenant_slots};
    }
    if (use.host != no_host && hosts_[use.host] >= *limits_.host_in_flight_max) {
      return {.refused_by = Limit::host_slots};
    }
    if (const std::optional<MonoTime> at = next_token(tenant.bucket, now)) {
      return {.refused_by = Limit::tenant_rate, .again_at = *at};
    }
    if (const std::optional<MonoTime> at = next_token(bucket_, now)) {
      return {.refused_by = Limit::total_rate, .again_at = *at};
    }
    ++in_flight_;
    ++tenant.in_flight;
    if (use.host != no_host) {
      ++hosts_[use.host];
    }
    const bool tenant_token_taken = !tenant.bucket || tenant.bucket->try_take(now);
    const bool total_token_taken = !bucket_ || bucket_->try_take(now);
    POSTRIDER_ASSERT(tenant_token_taken && total_token_taken);
    return {};
  }

  void give_back(const SlotUse& use) override {
    POSTRIDER_ASSERT(tenants_[use.tenant].in_flight > 0 && in_flight_ > 0);
    --tenants_[use.tenant].in_flight;
    --in_flight_;
    if (use.host != no_host) {
      POSTRIDER_ASSERT(hosts_[use.host] > 0);
      --hosts_[use.host];
    }
  }

  void move(TenantIndex from, TenantIndex to, std::uint32_t count) override {
    POSTRIDER_ASSERT(tenants_[from].in_flight >= count);
    tenants_[from].in_flight -= count;
    tenants_[to].in_flight += count;
  }

  void release_reserved() override {}
  void release_reserved(TenantIndex) override {}
  void release_reserved_host(HostIndex) override {}

  [[nodiscard]] bool slots_taken(TenantIndex index) const override {
    return in_flight_ >= limits_.in_flight_max ||
           tenants_[index].in_flight >= limits_.tenant_in_flight_max;
  }

  [[nodiscard]] std::optional<MonoTime> token_at(TenantIndex index, MonoTime now) const override {
    return std::max(next_token(tenants_[index].bucket, now), next_token(bucket_, now));
  }

 private:
  struct Tenant {
    std::uint32_t in_flight = 0;
    std::optional<TokenBucket> bucket;
  };

  [[nodiscard]] static std::optional<MonoTime> next_token(const std::optional<TokenBucket>& bucket,
                                                          MonoTime now) {
    const MonoTime at = bucket ? bucket->available_at(now) : now;
    return at > now ? std::optional{at} : std::nullopt;
  }

  AllowanceLimits limits_;
  std::uint32_t in_flight_ = 0;
  std::optional<TokenBucket> bucket_;
  std::vector<Tenant> tenants_;
  std::vector<std::uint32_t> hosts_;  // Attempts in flight, by HostIndex.
};

}  // namespace

AllowanceLimits limits_of(const ShardOptions& options) {
  return {.in_flight_max = options.in_flight_max,
          .tenant_in_flight_max = options.tenant_in_flight_max,
          .first_attempt_reserve = options.first_attempt_reserve,
          .host_in_flight_max = options.host_in_flight_max,
          .tenant_rate = options.tenant_rate,
          .total_rate = options.total_rate};
}

std::unique_ptr<Allowance> make_local_allowance(const AllowanceLimits& limits) {
  return std::make_unique<LocalAllowance>(limits);
}

}  // namespace postrider
