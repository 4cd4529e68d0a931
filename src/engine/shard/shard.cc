#include "engine/shard/shard.h"

#include <utility>

#include "core/base/assert.h"
#include "engine/shard/shard_state.h"

namespace postrider {

std::string_view to_string(BlockReason reason) {
  switch (reason) {
    case BlockReason::none:
      return "none";
    case BlockReason::suspended:
      return "suspended";
    case BlockReason::paused:
      return "paused";
    case BlockReason::inactive:
      return "inactive";
    case BlockReason::circuit:
      return "circuit";
    case BlockReason::rate:
      return "rate";
    case BlockReason::slots:
      return "slots";
    case BlockReason::order:
      return "order";
    case BlockReason::store:
      return "store";
    case BlockReason::drain:
      return "drain";
  }
  return "unknown";
}

Shard::Shard(ShardOptions options, std::uint64_t seed)
    : state_(std::make_unique<ShardState>(options, seed)) {}
Shard::Shard(ShardOptions options, std::uint64_t seed, Allowance& allowance)
    : state_(std::make_unique<ShardState>(options, seed, &allowance)) {}
Shard::~Shard() = default;
Shard::Shard(Shard&&) noexcept = default;
Shard& Shard::operator=(Shard&&) noexcept = default;

Commands Shard::step(Input input, Moment now) {
  ShardState& state = *state_;
  POSTRIDER_ASSERT(state.commands.empty());
  state.begin_step(now);
  std::visit([&state](auto& each) { state.on(each); }, input);
  state.wake_due_lanes();
  state.check_lost_parts();
  state.evaluate_touched_lanes();
  state.resubmit_settlements();
  state.start_ready_deliveries();
  state.request_loads();
  state.finish_lost_parts();
  state.finish_drain();
  state.set_alarm();
  return std::exchange(state.commands, {});
}

bool Shard::works(ShardNumber shard) const { return state_->parts.works(shard); }

bool Shard::has_lane(WebhookId webhook_id) const { return state_->lanes.find(webhook_id); }

std::optional<LaneView> Shard::view(WebhookId webhook_id, Moment now) const {
  const Lane* lane = state_->lanes.find(webhook_id);
  if (!lane || lane->removed()) {
    return std::nullopt;
  }
  return state_->view(*lane, Moment{now.steady, now.mono});
}

ShardView Shard::view() const {
  ShardView view = state_->totals;
  view.lanes = static_cast<std::uint32_t>(state_->lanes.size());
  view.unsettled = static_cast<std::uint32_t>(state_->pending.size());
  return view;
}

std::vector<RateLimitUse> Shard::take_rate_limit_uses() {
  std::vector<RateLimitUse> uses;
  for (const RateReports::Report& report : state_->rate_reports.take()) {
    const Lane* lane = state_->lanes.at_or_null(report.lane);
    if (lane && !lane->removed()) {
      uses.push_back(
          {.webhook_id = lane->webhook().id, .hits = report.hits, .bucket = lane->bucket()});
    }
  }
  return uses;
}

TenantLoadChanges Shard::take_tenant_load_changes() {
  return std::exchange(state_->tenant_load_changes, {});
}

}  // namespace postrider
