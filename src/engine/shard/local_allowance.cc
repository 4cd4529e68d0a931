#include <algorithm>
#include <vector>

#include "core/base/assert.h"
#include "engine/shard/allowance.h"
#include "engine/shard/shard.h"
#include "engine/shard/slot_shares.h"

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

  void leave(TenantIndex index) override { POSTRIDER_ASSERT(tenants_[index].slots.taken == 0); }

  void join_host(HostIndex index, const std::string&) override {
    hosts_.resize(std::max<std::size_t>(hosts_.size(), index + 1));
  }
  void leave_host(HostIndex index) override { POSTRIDER_ASSERT(hosts_[index] == 0); }

  [[nodiscard]] std::uint32_t in_flight_max() const override { return limits_.in_flight_max; }
  [[nodiscard]] SlotRank candidates() const override { return rank_hint(limits_, total_.taken); }

  [[nodiscard]] std::optional<SlotRank> trial_candidates() const override {
    return trial_hint(limits_, total_);
  }

  [[nodiscard]] Permit take(const SlotUse& use, const SlotClaim& claim, MonoTime now) override {
    if (limits_.total_rate && !bucket_) {
      bucket_.emplace(*limits_.total_rate, now);
    }
    Tenant& tenant = tenants_[use.tenant];
    const SlotCeilings ceilings = ceilings_for(use, claim);
    const MonoTime again_at = ceilings.shared_out ? now + share_retry_pause : MonoTime{};
    if (total_.taken >= ceilings.total) {
      return {.refused_by = ceilings.total_for_all ? Limit::total_slots : Limit::tenant_slots,
              .again_at = again_at};
    }
    if (tenant.slots.taken >= ceilings.tenant) {
      return {.refused_by = Limit::tenant_slots, .again_at = again_at};
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
    active_tenants_ += tenant.slots.taken == 0 ? 1 : 0;
    add(tenant.slots, 1, use.unproven ? 1 : 0);
    add(total_, 1, use.unproven ? 1 : 0);
    if (use.host != no_host) {
      ++hosts_[use.host];
    }
    const bool tenant_token_taken = !tenant.bucket || tenant.bucket->try_take(now);
    const bool total_token_taken = !bucket_ || bucket_->try_take(now);
    POSTRIDER_ASSERT(tenant_token_taken && total_token_taken);
    return {};
  }

  void give_back(const SlotUse& use) override {
    SlotCounts& slots = tenants_[use.tenant].slots;
    remove(slots, 1, use.unproven ? 1 : 0);
    remove(total_, 1, use.unproven ? 1 : 0);
    active_tenants_ -= slots.taken == 0 ? 1 : 0;
    if (use.host != no_host) {
      POSTRIDER_ASSERT(hosts_[use.host] > 0);
      --hosts_[use.host];
    }
  }

  void move(TenantIndex from, TenantIndex to, std::uint32_t count,
            std::uint32_t unproven) override {
    if (count == 0) {
      return;
    }
    active_tenants_ += tenants_[to].slots.taken == 0 ? 1 : 0;
    add(tenants_[to].slots, count, unproven);
    remove(tenants_[from].slots, count, unproven);
    active_tenants_ -= tenants_[from].slots.taken == 0 ? 1 : 0;
  }

  void release_reserved() override {}
  void release_reserved(TenantIndex) override {}
  void release_reserved_host(HostIndex) override {}

  [[nodiscard]] bool slots_taken(const SlotUse& use, const SlotClaim& claim) const override {
    const SlotCeilings ceilings = ceilings_for(use, claim);
    return total_.taken >= ceilings.total || tenants_[use.tenant].slots.taken >= ceilings.tenant;
  }

  [[nodiscard]] std::optional<MonoTime> token_at(TenantIndex index, MonoTime now) const override {
    return std::max(next_token(tenants_[index].bucket, now), next_token(bucket_, now));
  }

 private:
  struct Tenant {
    SlotCounts slots;
    std::optional<TokenBucket> bucket;
  };

  static void add(SlotCounts& slots, std::uint32_t count, std::uint32_t unproven) {
    slots.taken += count;
    slots.unproven += unproven;
  }
  static void remove(SlotCounts& slots, std::uint32_t count, std::uint32_t unproven) {
    POSTRIDER_ASSERT(slots.taken >= count && slots.unproven >= unproven);
    slots.taken -= count;
    slots.unproven -= unproven;
  }
  [[nodiscard]] SlotCeilings ceilings_for(const SlotUse& use, const SlotClaim& claim) const {
    return slot_ceilings(limits_, {.claim = claim,
                                   .unproven = use.unproven,
                                   .total = total_,
                                   .tenant = tenants_[use.tenant].slots,
                                   .active_tenants = active_tenants_});
  }

  [[nodiscard]] static std::optional<MonoTime> next_token(const std::optional<TokenBucket>& bucket,
                                                          MonoTime now) {
    const MonoTime at = bucket ? bucket->available_at(now) : now;
    return at > now ? std::optional{at} : std::nullopt;
  }

  AllowanceLimits limits_;
  SlotCounts total_;
  std::uint32_t active_tenants_ = 0;
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
