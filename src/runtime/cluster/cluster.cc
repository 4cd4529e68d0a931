#include "runtime/cluster/cluster.h"

#include <algorithm>
#include <utility>

namespace postrider {
namespace {

/// The holder of this shard of the default pool does the work that one server does for all.
constexpr ShardNumber leading_shard = 0;

}  // namespace

Cluster::Cluster(LeaseOptions options, Ports ports, Parts parts, Store& store, CatalogVersion seen)
    : node_(options.node),
      lease_length_(options.length),
      parts_(std::move(parts)),
      own_pool_(options.pool, pools_of(*parts_.changes->access())),
      signals_(std::move(ports.signals)),
      catalog_(seen, {.changes = parts_.changes,
                      .event_types = parts_.event_types,
                      .make_schema_check = parts_.make_schema_check,
                      .observer = this}),
      keeper_(std::move(options),
              {.clock = parts_.clock, .leases = std::move(ports.leases), .observer = this}) {
  catalog_.guard(store);
  store.peers->set_pools(pools_of(*parts_.changes->access()));
}

Cluster::~Cluster() = default;

void Cluster::connect(const Threads& threads) {
  store_ = threads.store;
  cleanup_ = threads.cleanup;
  handover_ =
      std::make_unique<ShardHandover>(ShardHandover::Parts{.clock = parts_.clock,
                                                           .store = threads.store,
                                                           .keeper = &keeper_,
                                                           .catalog = &catalog_,
                                                           .pool = &own_pool_,
                                                           .lease_length = lease_length_,
                                                           .changes = parts_.changes,
                                                           .cleanup = threads.cleanup,
                                                           .rescheduler = threads.rescheduler,
                                                           .workers = threads.workers,
                                                           .observer = this});
  watcher_ = std::make_unique<PeerWatcher>(PeerWatcher::Parts{.clock = parts_.clock,
                                                              .store = threads.store,
                                                              .catalog = &catalog_,
                                                              .signals = std::move(signals_),
                                                              .owner = this});
}

void Cluster::start() {
  watcher_->start();
  keeper_.start();
}

std::optional<ClusterStatus> Cluster::status() const {
  const std::lock_guard lock{mutex_};
  if (!view_) {
    return std::nullopt;
  }
  return ClusterStatus{.self = node_, .view = *view_};
}

ClusterActivity Cluster::activity() const {
  const LeaseCounts counts = keeper_.counts();
  const std::lock_guard lock{mutex_};
  return {.pool = own_pool_.name(),
          .turns = counts.turns,
          .turn_failures = counts.turn_failures,
          .takeovers = takeovers_};
}

void Cluster::cluster_seen(const ClusterView& view) {
  {
    const std::lock_guard lock{mutex_};
    if (view_) {
      takeovers_ += takeovers_between(*view_, view, node_);
    }
    view_ = view;
  }
  const auto alive = std::ranges::count_if(view.nodes, [this](const ClusterNode& node) {
    return node.identity.pool == own_pool_.name();
  });
  parts_.owner->servers_counted(static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(alive, 1)));
}

void Cluster::shard_taken(ShardNumber shard) {
  if (shard == leading_shard && own_pool_.name().empty()) {
    holds_leading_shard_ = true;
  }
}

void Cluster::shard_released(ShardNumber shard) {
  if (shard == leading_shard && own_pool_.name().empty()) {
    holds_leading_shard_ = false;
    if (std::exchange(leads_, false)) {
      parts_.owner->stop_leading();
    }
  }
  parts_.owner->alerts_dropped([shard](WebhookId id) { return shard_of(id) == shard; });
}

void Cluster::access_changed(Store& store, RepliesByShard& replies) {
  TenantPools pools = pools_of(*parts_.changes->access());
  store.peers->set_pools(pools);
  const OwnPool::Moved moved = own_pool_.change(std::move(pools));
  if (!moved.removed.empty()) {
    handover_->drop_tenants(moved.removed, replies);
  }
  if (!moved.added.empty()) {
    handover_->take_tenants_later(moved.added);
  }
}

/// Those of webhooks that are known and removed later are cancelled then.
void Cluster::cancel_unknown(const std::vector<Input>& inputs) const {
  const std::shared_ptr<const Directory> directory = parts_.changes->directory();
  for (const Input& input : inputs) {
    if (const auto* const admitted = std::get_if<Admitted>(&input)) {
      for (const Delivery& delivery : admitted->deliveries) {
        if (!directory->find(delivery.webhook_id)) {
          cleanup_->add(delivery.webhook_id);
        }
      }
    }
  }
}

void Cluster::keep_own(std::vector<Input>& inputs) const {
  cancel_unknown(inputs);
  if (own_pool_.includes_all() && !handover_->takes_later()) {
    return;
  }
  const std::shared_ptr<const Directory> directory = parts_.changes->directory();
  const auto is_others = [&](WebhookId id) {
    const WebhookRef webhook = directory->find(id);
    return webhook && !own_pool_.includes(webhook->tenant_id);
  };
  std::erase_if(inputs, [&](Input& input) {
    if (Admitted* admitted = std::get_if<Admitted>(&input)) {
      std::erase_if(admitted->deliveries,
                    [&](const Delivery& delivery) { return is_others(delivery.webhook_id); });
      return admitted->deliveries.empty();
    }
    const auto* changed = std::get_if<WebhookChanged>(&input);
    return changed != nullptr && (!own_pool_.includes(changed->webhook->tenant_id) ||
                                  handover_->is_taken_later(changed->webhook->id));
  });
}

Result<void> Cluster::store_looked_at(Store& store, RepliesByShard& replies) {
  handover_->resume();
  POSTRIDER_CHECK(handover_->take_due(store, replies));
  POSTRIDER_CHECK(store_returned_commands(store));
  if (holds_leading_shard_ && !leads_) {
    POSTRIDER_CHECK(parts_.owner->start_leading(store));
    leads_ = true;
  }
  return parts_.owner->refresh(store);
}

void Cluster::return_command(const CircuitCommanded& command) {
  store_->submit(StoreTask{[this, command](Store& store, RepliesByShard&) {
    returned_commands_.push_back(command);
    return store_returned_commands(store);
  }});
}

/// In their order. If the store fails, the rest is stored when it is looked at again.
Result<void> Cluster::store_returned_commands(Store& store) {
  while (!returned_commands_.empty()) {
    const Result<void> stored = store.peers->command(returned_commands_.front());
    if (!stored && stored.error().code == Errc::unavailable) {
      return stored;
    }
    returned_commands_.erase(returned_commands_.begin());  // Or the webhook was removed.
    watcher_->wake_others();
  }
  return {};
}

void Cluster::catch_up(std::size_t origin, std::function<void(bool)> done) {
  {
    const std::lock_guard lock{mutex_};
    catching_up_.emplace_back(origin, std::move(done));
    if (catching_up_.size() > 1) {
      return;  // A job that has not begun yet answers all.
    }
  }
  store_->submit(StoreTask{
      [this](Store& store, RepliesByShard& replies) { return answer_catch_ups(store, replies); }});
}

Result<void> Cluster::answer_catch_ups(Store& store, RepliesByShard& replies) {
  std::vector<std::pair<std::size_t, std::function<void(bool)>>> waiting;
  {
    const std::lock_guard lock{mutex_};
    waiting.swap(catching_up_);
  }
  const Result<void> done = catalog_.catch_up(store, replies);
  for (auto& [origin, resume] : waiting) {
    replies[origin].completions.push_back(
        [resume = std::move(resume), worked = done.has_value()] { resume(worked); });
  }
  return done;
}

}  // namespace postrider
