#include "runtime/cluster/shard_handover.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <spdlog/spdlog.h>

#include "core/policy/retry.h"

#include "runtime/delivery/load_circuits.h"
#include "runtime/delivery/placement.h"
#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

// Shards that one job of the store thread takes, so that other jobs do not wait long.
constexpr std::size_t step_shards_max = 32;
// Deliveries that one job of the store thread forgets of those that were handed over to the shards
// while nobody held them.
constexpr std::size_t forgotten_max = 5'000;
// Reading the backlog of all lanes costs about as much as reading that of this many shards.
constexpr std::size_t single_backlogs_max = 4;

bool is_of(std::span<const ShardAcquired> acquired, WebhookId id) {
  return std::ranges::count(acquired, shard_of(id), &ShardAcquired::shard) > 0;
}

/// How long servers may still work a webhook after its tenant was moved away from them: until they
/// learn of it or have lost their lease, and then until their attempts have ended.
Millis rest_after_move(const Webhook& webhook, Millis lease_length) {
  return lease_length + attempt_timeout(webhook.retry, webhook.retry.attempts_max);
}

}  // namespace

void ShardHandover::take(const ShardAcquired& acquired) {
  {
    const std::lock_guard lock{mutex_};
    wanted_.push_back(acquired);
  }
  queue_step();
}

void ShardHandover::lose(const ShardLost& lost) {
  {
    const std::lock_guard lock{mutex_};
    lost_[lost.shard] = lost.epoch;
    std::erase_if(wanted_, [&](const ShardAcquired& each) { return each.shard == lost.shard; });
  }
  (*parts_.workers)[worker_of(lost.shard, parts_.workers->size())]->feed_later(lost);
}

/// Queued behind the jobs that store the last attempts.
void ShardHandover::handed_back(ShardNumber shard) {
  parts_.store->submit(StoreTask{[this, shard](Store& store, RepliesByShard&) -> Result<void> {
    store.peers->release(shard);
    parts_.store->drop_unsaved_circuits(shard);
    held_[shard].store(false, std::memory_order_release);
    parts_.observer->shard_released(shard);
    parts_.keeper->shard_handed_back(shard);
    return {};
  }});
}

void ShardHandover::queue_step() {
  {
    const std::lock_guard lock{mutex_};
    if (step_queued_ || wanted_.empty()) {
      return;
    }
    step_queued_ = true;
  }
  parts_.store->submit(StoreTask{
      [this](Store& store, RepliesByShard& replies) { return take_some(store, replies); }});
}

Result<void> ShardHandover::take_some(Store& store, RepliesByShard& replies) {
  std::vector<ShardAcquired> step;
  {
    const std::lock_guard lock{mutex_};
    step_queued_ = false;
    const auto end =
        wanted_.begin() + static_cast<std::ptrdiff_t>(std::min(wanted_.size(), step_shards_max));
    step.assign(wanted_.begin(), end);
    wanted_.erase(wanted_.begin(), end);
  }
  const Result<bool> taken = load(step, store, replies);
  if (!taken) {
    spdlog::warn("cluster.shards_not_loaded shards={} reason=\"{}\"", step.size(),
                 log_safe(taken.error().message));
    put_back(std::move(step));
    return tl::make_unexpected(taken.error());
  }
  if (!*taken) {
    put_back(std::move(step));
  }
  queue_step();
  return {};
}

/// What was lost meanwhile is handed back by another job.
void ShardHandover::put_back(std::vector<ShardAcquired> step) {
  const std::lock_guard lock{mutex_};
  std::erase_if(step, [&](const ShardAcquired& each) { return each.epoch <= lost_[each.shard]; });
  wanted_.insert(wanted_.begin(), step.begin(), step.end());
}

/// The store holds the shards before their backlog is read: what other servers add afterwards is
/// handed over. Observers and workers are told last, when nothing can fail any more.
Result<bool> ShardHandover::load(std::span<const ShardAcquired> acquired, Store& store,
                                 RepliesByShard& replies) {
  std::vector<ShardEpoch> leases;
  for (const ShardAcquired& each : acquired) {
    leases.push_back({.shard = each.shard, .epoch = each.epoch});
  }
  POSTRIDER_TRY(const bool more, store.peers->forget_handed_over(leases, forgotten_max));
  if (more) {
    return false;
  }
  for (const ShardEpoch& lease : leases) {
    store.peers->hold(lease);
  }
  POSTRIDER_CHECK(parts_.catalog->catch_up(store, replies));
  POSTRIDER_TRY(Lanes backlog, load_backlog(acquired, store));
  defer_new_tenants(acquired);
  const std::vector<WebhookRef> webhooks = own_webhooks(acquired);
  POSTRIDER_TRY(Stored stored, load_lanes(webhooks, std::move(backlog), store));
  std::erase_if(stored.alerts,
                [&](const Alert& alert) { return !is_of(acquired, *alert.subject.webhook_id); });
  for (const ShardAcquired& each : acquired) {
    held_[each.shard].store(true, std::memory_order_release);
    parts_.observer->shard_taken(each.shard);
    replies[worker_of(each.shard, replies.size())].inputs.emplace_back(each);
  }
  clean_up(stored.backlog);
  add_lanes(webhooks, std::move(stored), replies);
  return true;
}

/// A tenant is bound when it is registered, so its age tells how long ago that was. This server may
/// not have run then. Another server's clock gave the time; one that is less than a lease behind
/// does no harm, because servers usually learn of a move at once.
void ShardHandover::defer_new_tenants(std::span<const ShardAcquired> acquired) {
  if (parts_.pool->name().empty()) {
    return;
  }
  const Moment now = parts_.clock->now();
  const std::shared_ptr<const AccessSnapshot> access = parts_.changes->access();
  for (const auto& [id, webhook] : parts_.changes->directory()->all()) {
    const TenantRef tenant = access->find_tenant(webhook->tenant_id);
    if (!tenant || !parts_.pool->includes(tenant->id) || !is_of(acquired, id)) {
      continue;
    }
    const Millis rest = rest_after_move(*webhook, parts_.lease_length);
    const Millis left = std::min(later(tenant->created_at, rest) - now.wall, rest);
    if (left > Millis{0}) {
      MonoTime& at = later_.try_emplace(id, now.mono).first->second;
      at = std::max(at, now.mono + left);
    }
  }
}

std::vector<WebhookRef> ShardHandover::own_webhooks(std::span<const ShardAcquired> acquired) const {
  std::vector<WebhookRef> webhooks;
  for (const auto& [id, webhook] : parts_.changes->directory()->all()) {
    if (is_of(acquired, id) && parts_.pool->includes(webhook->tenant_id) && !later_.contains(id)) {
      webhooks.push_back(webhook);
    }
  }
  return webhooks;
}

Result<ShardHandover::Stored> ShardHandover::load_lanes(std::span<const WebhookRef> webhooks,
                                                        Lanes backlog, Store& store) const {
  std::set<WebhookId> ids;
  for (const WebhookRef& webhook : webhooks) {
    ids.insert(webhook->id);
  }
  Stored stored{.backlog = std::move(backlog), .circuits = {}, .reschedules = {}, .alerts = {}};
  POSTRIDER_TRY(stored.circuits, load_circuits(store, webhooks, parts_.clock->now().steady));
  POSTRIDER_TRY(stored.reschedules, store.catalog->load_rescheduling());
  std::erase_if(stored.reschedules, [&](WebhookId id) { return !ids.contains(id); });
  POSTRIDER_TRY(stored.alerts, store.alerts->load_active());
  const std::shared_ptr<const Directory> directory = parts_.changes->directory();
  std::erase_if(stored.alerts, [&](const Alert& alert) {
    const std::optional<WebhookId>& id = alert.subject.webhook_id;
    return !id || (!ids.contains(*id) && directory->find(*id));
  });
  return stored;
}

void ShardHandover::add_lanes(std::span<const WebhookRef> webhooks, Stored stored,
                              RepliesByShard& replies) {
  parts_.observer->alerts_taken(stored.alerts);
  for (const WebhookId id : stored.reschedules) {
    parts_.rescheduler->add(id);
  }
  std::vector<LaneBacklog> lanes;
  for (const WebhookRef& webhook : webhooks) {
    WebhookChanged input{.webhook = webhook, .at_start = true};
    if (const auto circuit = stored.circuits.find(webhook->id); circuit != stored.circuits.end()) {
      input.circuit = circuit->second.record;
      input.past_calls = std::move(circuit->second.calls);
    }
    if (const auto lane = stored.backlog.find(webhook->id); lane != stored.backlog.end()) {
      input.backlog_due = lane->second.due;
      lanes.push_back(lane->second);
    }
    replies[worker_of(webhook->id, replies.size())].inputs.emplace_back(std::move(input));
  }
  parts_.rescheduler->add_from_the_future(lanes);
}

Result<ShardHandover::Lanes> ShardHandover::load_backlog(std::span<const ShardAcquired> acquired,
                                                         Store& store) {
  Lanes lanes;
  const auto add = [&lanes](std::vector<LaneBacklog> backlog) {
    for (LaneBacklog& lane : backlog) {
      lanes.emplace(lane.webhook_id, lane);
    }
  };
  if (acquired.size() > single_backlogs_max) {
    POSTRIDER_TRY(std::vector<LaneBacklog> all, store.ledger->backlog());
    std::erase_if(all, [&](const LaneBacklog& lane) { return !is_of(acquired, lane.webhook_id); });
    add(std::move(all));
    return lanes;
  }
  for (const ShardAcquired& each : acquired) {
    POSTRIDER_TRY(std::vector<LaneBacklog> backlog, store.peers->backlog(each.shard));
    add(std::move(backlog));
  }
  return lanes;
}

void ShardHandover::drop_tenants(const std::vector<TenantId>& tenants, RepliesByShard& replies) {
  std::set<WebhookId> dropped;
  for (const auto& [id, webhook] : parts_.changes->directory()->all()) {
    if (std::ranges::count(tenants, webhook->tenant_id) > 0) {
      dropped.insert(id);
      later_.erase(id);
      replies[worker_of(id, replies.size())].inputs.emplace_back(
          WebhookRemoved{.webhook_id = id, .handed_over = true});
    }
  }
  parts_.observer->webhooks_dropped(dropped);
}

void ShardHandover::take_tenants_later(const std::vector<TenantId>& tenants) {
  const MonoTime now = parts_.clock->now().mono;
  for (const auto& [id, webhook] : parts_.changes->directory()->all()) {
    if (std::ranges::count(tenants, webhook->tenant_id) > 0) {
      later_.insert_or_assign(id, now + rest_after_move(*webhook, parts_.lease_length));
    }
  }
}

Result<void> ShardHandover::take_due(Store& store, RepliesByShard& replies) {
  const MonoTime now = parts_.clock->now().mono;
  std::vector<WebhookRef> webhooks;
  for (const auto& [id, at] : later_) {
    const WebhookRef webhook = parts_.changes->directory()->find(id);
    if (at <= now && webhook && holds(shard_of(id))) {
      webhooks.push_back(webhook);
    }
  }
  if (!webhooks.empty()) {
    POSTRIDER_TRY(std::vector<LaneBacklog> backlog, store.ledger->backlog());
    Lanes lanes;
    for (LaneBacklog& lane : backlog) {
      lanes.emplace(lane.webhook_id, lane);
    }
    POSTRIDER_TRY(Stored stored, load_lanes(webhooks, std::move(lanes), store));
    std::erase_if(stored.alerts, [&](const Alert& alert) {
      return std::ranges::none_of(webhooks, [&](const WebhookRef& webhook) {
        return webhook->id == alert.subject.webhook_id;
      });
    });
    add_lanes(webhooks, std::move(stored), replies);
  }
  std::erase_if(later_, [now](const auto& each) { return each.second <= now; });
  return {};
}

void ShardHandover::clean_up(const Lanes& lanes) {
  const std::shared_ptr<const Directory> directory = parts_.changes->directory();
  for (const auto& [id, lane] : lanes) {
    if (!directory->find(id)) {
      parts_.cleanup->add(id);
    }
  }
}

}  // namespace postrider
