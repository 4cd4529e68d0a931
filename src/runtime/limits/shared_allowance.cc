#include "runtime/limits/shared_allowance.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "engine/shard/slot_shares.h"

namespace postrider {

class SharedAllowance::Part final : public Allowance {
 public:
  Part(SharedAllowance& shared, std::size_t worker)
      : shared_(shared), worker_(worker), place_{.worker = worker} {}

  void join(TenantIndex index, const TenantId& id, MonoTime now) override;
  void leave(TenantIndex index) override;
  void join_host(HostIndex index, const std::string& name) override;
  void leave_host(HostIndex index) override;
  [[nodiscard]] std::uint32_t in_flight_max() const override {
    return shared_.slot_limits_.total.load(std::memory_order_relaxed);
  }
  [[nodiscard]] SlotRank candidates() const override;
  [[nodiscard]] std::optional<SlotRank> trial_candidates() const override;
  [[nodiscard]] Permit take(const SlotUse& use, const SlotClaim& claim, MonoTime now) override;
  void give_back(const SlotUse& use) override;
  void move(TenantIndex from, TenantIndex to, std::uint32_t count, std::uint32_t unproven) override;
  void release_reserved() override { shared_.slots_.leave(place_); }
  void release_reserved(TenantIndex index) override {
    tenants_[index].tenant->slots.leave(tenants_[index].place);
  }
  void release_reserved_host(HostIndex index) override {
    hosts_[index].host->slots.leave(hosts_[index].place);
  }
  [[nodiscard]] bool slots_taken(const SlotUse& use, const SlotClaim& claim) const override;
  [[nodiscard]] std::optional<MonoTime> token_at(TenantIndex index, MonoTime now) const override;

 private:
  struct Member {
    TenantId id;
    Tenant* tenant = nullptr;
    SlotPool::Place place;
  };

  struct HostMember {
    std::string name;
    Host* host = nullptr;
    SlotPool::Place place;
  };

  [[nodiscard]] SlotCeilings ceilings_for(const SlotUse& use, const SlotClaim& claim) const;
  [[nodiscard]] Permit take_slots(const SlotUse& use, const SlotClaim& claim, MonoTime now);
  [[nodiscard]] Permit try_take_slots(const SlotUse& use, const SlotClaim& claim, MonoTime now);
  [[nodiscard]] Permit ask_tokens(Tenant& tenant, MonoTime now);

  SharedAllowance& shared_;
  std::size_t worker_;
  SlotPool::Place place_;
  std::vector<Member> tenants_;    // By TenantIndex.
  std::vector<HostMember> hosts_;  // By HostIndex.
};

SharedAllowance::SharedAllowance(const AllowanceLimits& limits, std::size_t worker_count, Wake wake)
    : has_host_limit_(limits.host_in_flight_max.has_value()),
      has_rates_(limits.tenant_rate || limits.total_rate),
      tenant_rate_(limits.tenant_rate),
      total_rate_(limits.total_rate),
      wake_(std::move(wake)),
      slots_([this](std::size_t worker) { wake_(worker, SlotReserved{}); }) {
  set_slot_limits(limits);
  for (std::size_t worker = 0; worker < worker_count; ++worker) {
    parts_.push_back(std::make_unique<Part>(*this, worker));
  }
}

SharedAllowance::~SharedAllowance() = default;

Allowance& SharedAllowance::of(std::size_t worker) { return *parts_[worker]; }

AllowanceLimits SharedAllowance::slot_limits() const {
  constexpr auto relaxed = std::memory_order_relaxed;
  return {.in_flight_max = slot_limits_.total.load(relaxed),
          .tenant_in_flight_max = slot_limits_.tenant.load(relaxed),
          .first_attempt_reserve = slot_limits_.first_attempt_reserve.load(relaxed),
          .host_in_flight_max =
              has_host_limit_ ? std::optional{slot_limits_.host.load(relaxed)} : std::nullopt};
}

void SharedAllowance::set_slot_limits(const AllowanceLimits& limits) {
  POSTRIDER_ASSERT(limits.in_flight_max > 0 && limits.tenant_in_flight_max > 0);
  POSTRIDER_ASSERT(limits.host_in_flight_max.value_or(1) > 0);
  POSTRIDER_ASSERT(limits.host_in_flight_max.has_value() == has_host_limit_);
  slot_limits_.total = limits.in_flight_max;
  slot_limits_.tenant = limits.tenant_in_flight_max;
  slot_limits_.first_attempt_reserve = limits.first_attempt_reserve;
  slot_limits_.host = limits.host_in_flight_max.value_or(1);
}

void SharedAllowance::change(const AllowanceLimits& limits, MonoTime now) {
  const std::lock_guard lock{change_mutex_};
  set_slot_limits(limits);
  if (has_rates_) {
    change_rates(limits, now);
  }
  changes_.fetch_add(1);
  wake_waiting();
}

void SharedAllowance::change_rates(const AllowanceLimits& limits, MonoTime now) {
  const std::lock_guard lock{tenants_mutex_};
  const std::lock_guard tokens_lock{tokens_mutex_};
  POSTRIDER_ASSERT(limits.tenant_rate.has_value() == tenant_rate_.has_value());
  POSTRIDER_ASSERT(limits.total_rate.has_value() == total_rate_.has_value());
  tenant_rate_ = limits.tenant_rate;
  total_rate_ = limits.total_rate;
  if (tokens_) {
    tokens_->change(*total_rate_, now);
    for (const std::size_t worker : tokens_->workers_waiting()) {
      wake_(worker, SlotReserved{});
    }
  }
  if (!tenant_rate_) {
    return;
  }
  for (const auto& [id, tenant] : tenants_) {
    tenant->tokens->change(*tenant_rate_, now);
    for (const std::size_t worker : tenant->tokens->workers_waiting()) {
      wake_(worker, {.tenant_id = id});
    }
  }
}

void SharedAllowance::wake_waiting() {
  slots_.wake_waiting();
  {
    const std::lock_guard lock{tenants_mutex_};
    for (const auto& [id, tenant] : tenants_) {
      tenant->slots.wake_waiting();
    }
  }
  const std::lock_guard lock{hosts_mutex_};
  for (const auto& [name, host] : hosts_) {
    host->slots.wake_waiting();
  }
}

void SharedAllowance::Part::join(TenantIndex index, const TenantId& id, MonoTime now) {
  tenants_.resize(std::max<std::size_t>(tenants_.size(), index + 1));
  const std::lock_guard lock{shared_.tenants_mutex_};
  std::unique_ptr<Tenant>& tenant = shared_.tenants_[id];
  if (!tenant) {
    auto wake = [&shared = shared_, id](std::size_t worker) {
      shared.wake_(worker, {.tenant_id = id});
    };
    tenant = std::make_unique<Tenant>(std::move(wake));
    const std::lock_guard tokens_lock{shared_.tokens_mutex_};
    if (shared_.tenant_rate_) {
      tenant->tokens.emplace(*shared_.tenant_rate_, now);
    }
  }
  ++tenant->workers;
  tenants_[index] = {.id = id, .tenant = tenant.get(), .place = {.worker = worker_}};
}

void SharedAllowance::Part::leave(TenantIndex index) {
  release_reserved(index);
  const Member member = std::exchange(tenants_[index], {});
  const std::lock_guard lock{shared_.tenants_mutex_};
  if (--member.tenant->workers == 0) {
    POSTRIDER_ASSERT(member.tenant->slots.taken() == 0);
    shared_.tenants_.erase(member.id);
  }
}

void SharedAllowance::Part::join_host(HostIndex index, const std::string& name) {
  hosts_.resize(std::max<std::size_t>(hosts_.size(), index + 1));
  const std::lock_guard lock{shared_.hosts_mutex_};
  std::unique_ptr<Host>& host = shared_.hosts_[name];
  if (!host) {
    auto wake = [&shared = shared_, name](std::size_t worker) {
      shared.wake_(worker, {.host = name});
    };
    host = std::make_unique<Host>(std::move(wake));
  }
  ++host->workers;
  hosts_[index] = {.name = name, .host = host.get(), .place = {.worker = worker_}};
}

void SharedAllowance::Part::leave_host(HostIndex index) {
  release_reserved_host(index);
  const HostMember member = std::exchange(hosts_[index], {});
  const std::lock_guard lock{shared_.hosts_mutex_};
  if (--member.host->workers == 0) {
    POSTRIDER_ASSERT(member.host->slots.taken() == 0);
    shared_.hosts_.erase(member.name);
  }
}

SlotRank SharedAllowance::Part::candidates() const {
  return rank_hint(shared_.slot_limits(), shared_.slots_.taken());
}

std::optional<SlotRank> SharedAllowance::Part::trial_candidates() const {
  return trial_hint(shared_.slot_limits(),
                    {.taken = shared_.slots_.taken(),
                     .unproven = shared_.unproven_.load(std::memory_order_relaxed)});
}

SlotCeilings SharedAllowance::Part::ceilings_for(const SlotUse& use, const SlotClaim& claim) const {
  const Tenant& tenant = *tenants_[use.tenant].tenant;
  constexpr auto relaxed = std::memory_order_relaxed;
  return slot_ceilings(
      shared_.slot_limits(),
      {.claim = claim,
       .unproven = use.unproven,
       .total = {.taken = shared_.slots_.taken(), .unproven = shared_.unproven_.load(relaxed)},
       .tenant = {.taken = tenant.in_flight.load(relaxed),
                  .unproven = tenant.unproven.load(relaxed)},
       .active_tenants = shared_.active_tenants_.load(relaxed)});
}

Permit SharedAllowance::Part::take(const SlotUse& use, const SlotClaim& claim, MonoTime now) {
  if (!shared_.has_rates_) {
    return take_slots(use, claim, now);  // The usual case: no lock.
  }
  const Member& member = tenants_[use.tenant];
  const std::lock_guard lock{shared_.tokens_mutex_};
  if (const Permit tokens = ask_tokens(*member.tenant, now); tokens.refused_by != Limit::none) {
    return tokens;
  }
  const Permit slots = take_slots(use, claim, now);
  if (slots.refused_by == Limit::none) {
    for (std::optional<SharedTokenBucket>* bucket : {&member.tenant->tokens, &shared_.tokens_}) {
      if (*bucket) {
        (*bucket)->take(worker_, now);
      }
    }
  }
  return slots;
}

Permit SharedAllowance::Part::take_slots(const SlotUse& use, const SlotClaim& claim, MonoTime now) {
  while (true) {  // Repeated only while the limits are being changed.
    const std::uint64_t changes = shared_.changes_;
    const Permit permit = try_take_slots(use, claim, now);
    if (permit.refused_by == Limit::none || changes == shared_.changes_) {
      return permit;
    }
  }
}

/// Takes the total slot first: a tenant or host slot that is reserved for this worker stays
/// reserved while the worker waits for a total slot, so that it gets both in the end.
Permit SharedAllowance::Part::try_take_slots(const SlotUse& use, const SlotClaim& claim,
                                             MonoTime now) {
  Member& member = tenants_[use.tenant];
  const SlotCeilings ceilings = ceilings_for(use, claim);
  const MonoTime again_at = ceilings.shared_out ? now + share_retry_pause : MonoTime{};
  if (!ceilings.total_for_all && shared_.slots_.taken() >= ceilings.total) {
    return {.refused_by = Limit::tenant_slots, .again_at = again_at};  // Others may get a slot.
  }
  if (!shared_.slots_.take(place_, ceilings.total)) {
    return {.refused_by = Limit::total_slots, .again_at = again_at};
  }
  if (!member.tenant->slots.take(member.place, ceilings.tenant)) {
    shared_.slots_.give_back(place_, 1);
    return {.refused_by = Limit::tenant_slots, .again_at = again_at};
  }
  if (use.host != no_host) {
    HostMember& host = hosts_[use.host];
    if (!host.host->slots.take(host.place, shared_.slot_limits_.host)) {
      member.tenant->slots.give_back(member.place, 1);
      shared_.slots_.give_back(place_, 1);
      return {.refused_by = Limit::host_slots};
    }
  }
  shared_.begin(*member.tenant, 1, use.unproven ? 1 : 0);
  if (use.unproven) {
    shared_.unproven_.fetch_add(1);
  }
  return {};
}

/// Counts attempts that a tenant has in flight from now on.
void SharedAllowance::begin(Tenant& tenant, std::uint32_t count, std::uint32_t unproven) {
  if (tenant.in_flight.fetch_add(count) == 0 && count > 0) {
    active_tenants_.fetch_add(1);
  }
  if (unproven > 0) {
    tenant.unproven.fetch_add(unproven);
  }
}

void SharedAllowance::end(Tenant& tenant, std::uint32_t count, std::uint32_t unproven) {
  if (tenant.in_flight.fetch_sub(count) == count && count > 0) {
    active_tenants_.fetch_sub(1);
  }
  if (unproven > 0) {
    tenant.unproven.fetch_sub(unproven);
  }
}

Permit SharedAllowance::Part::ask_tokens(Tenant& tenant, MonoTime now) {
  if (shared_.total_rate_ && !shared_.tokens_) {
    shared_.tokens_.emplace(*shared_.total_rate_, now);
  }
  if (tenant.tokens) {
    if (const MonoTime at = tenant.tokens->ask(worker_, now); at > now) {
      return {.refused_by = Limit::tenant_rate, .again_at = at};
    }
  }
  if (shared_.tokens_) {
    if (const MonoTime at = shared_.tokens_->ask(worker_, now); at > now) {
      if (tenant.tokens) {
        tenant.tokens->postpone(worker_, at);
      }
      return {.refused_by = Limit::total_rate, .again_at = at};
    }
  }
  return {};
}

void SharedAllowance::Part::give_back(const SlotUse& use) {
  shared_.end(*tenants_[use.tenant].tenant, 1, use.unproven ? 1 : 0);
  if (use.unproven) {
    shared_.unproven_.fetch_sub(1);
  }
  if (use.host != no_host) {
    hosts_[use.host].host->slots.give_back(hosts_[use.host].place, 1);
  }
  tenants_[use.tenant].tenant->slots.give_back(tenants_[use.tenant].place, 1);
  shared_.slots_.give_back(place_, 1);
}

void SharedAllowance::Part::move(TenantIndex from, TenantIndex to, std::uint32_t count,
                                 std::uint32_t unproven) {
  shared_.begin(*tenants_[to].tenant, count, unproven);
  shared_.end(*tenants_[from].tenant, count, unproven);
  tenants_[to].tenant->slots.add(count);
  tenants_[from].tenant->slots.give_back(tenants_[from].place, count);
}

bool SharedAllowance::Part::slots_taken(const SlotUse& use, const SlotClaim& claim) const {
  const SlotCeilings ceilings = ceilings_for(use, claim);
  return shared_.slots_.taken() >= ceilings.total ||
         tenants_[use.tenant].tenant->slots.taken() >= ceilings.tenant;
}

std::optional<MonoTime> SharedAllowance::Part::token_at(TenantIndex index, MonoTime now) const {
  if (!shared_.has_rates_) {
    return std::nullopt;
  }
  const std::lock_guard lock{shared_.tokens_mutex_};
  MonoTime at = now;
  for (const std::optional<SharedTokenBucket>* bucket :
       {&tenants_[index].tenant->tokens, &shared_.tokens_}) {
    if (*bucket) {
      at = std::max(at, (*bucket)->free_at(now));
    }
  }
  return at > now ? std::optional{at} : std::nullopt;
}

}  // namespace postrider
