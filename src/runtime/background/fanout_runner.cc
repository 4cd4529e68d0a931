#include "runtime/background/fanout_runner.h"

#include <memory>
#include <utility>

#include <spdlog/spdlog.h>

#include "runtime/observability/attempt_log.h"
#include "runtime/store/receipt_replies.h"

namespace postrider {
namespace {

// Other jobs do not notice a look that is this quick. Longer ones may take this part of the time.
constexpr Micros quick_look{2'000};
constexpr int look_share = 20;

}  // namespace

void FanoutRunner::add(const std::map<TenantId, std::uint64_t>& fanouts) {
  {
    const std::lock_guard lock{mutex_};
    for (const auto& [tenant_id, deliveries] : fanouts) {
      turns_.add(tenant_id, deliveries);
    }
  }
  queue_step();
}

void FanoutRunner::reload() {
  {
    const std::lock_guard lock{mutex_};
    must_reload_ = true;
  }
  queue_step();
}

void FanoutRunner::look() {
  if (parts_.leader != nullptr && !parts_.leader->is_set()) {
    return;
  }
  {
    const std::lock_guard lock{mutex_};
    if (parts_.clock->now().mono < next_look_) {
      return;
    }
  }
  reload();
}

FanoutAdmission FanoutRunner::admit(const TenantId& tenant_id) const {
  const std::lock_guard lock{mutex_};
  return turns_.admit(tenant_id, limits_);
}

std::uint64_t FanoutRunner::remaining() const {
  const std::lock_guard lock{mutex_};
  return turns_.remaining();
}

void FanoutRunner::queue_step() {
  {
    const std::lock_guard lock{mutex_};
    if (stopped_ || stepping_ || !(must_reload_ || turns_.next())) {
      return;
    }
    stepping_ = true;
  }
  parts_.store->submit(StoreTask{
      [this](Store& store, RepliesByShard& replies) { return take_step(store, replies); }});
}

void FanoutRunner::end_step() {
  {
    const std::lock_guard lock{mutex_};
    stepping_ = false;
  }
  queue_step();
}

/// The tenant whose turn it is; nullopt if nothing is left to do.
Result<std::optional<TenantId>> FanoutRunner::next_tenant(Store& store) {
  const std::lock_guard lock{mutex_};
  if (must_reload_) {
    const MonoTime begun = parts_.clock->now().mono;
    POSTRIDER_TRY(auto open, store.ledger->open_fanouts());
    const MonoTime ended = parts_.clock->now().mono;
    next_look_ = ended - begun > quick_look ? ended + (ended - begun) * look_share : ended;
    must_reload_ = false;
    turns_.reset(std::move(open));
  }
  return turns_.next();
}

Result<bool> FanoutRunner::perform(Store& store, RepliesByShard& replies) {
  POSTRIDER_TRY(const std::optional<TenantId> tenant_id, next_tenant(store));
  if (!tenant_id || (parts_.leader != nullptr && !parts_.leader->is_set())) {
    return false;
  }
  const std::shared_ptr<const Directory> directory = parts_.changes->directory();
  const Moment begun = parts_.clock->now();
  POSTRIDER_TRY(
      FannedOut done,
      store.ledger->fan_out({.tenant_id = *tenant_id,
                             .limit = step_size_,
                             .now = begun.wall,
                             .due_max = begun.steady,
                             .exists = [&](WebhookId id) { return directory->find(id) != nullptr; },
                             .new_id = [this] { return DeliveryId{parts_.new_uuid()}; }}));
  step_size_ = next_fanout_step(step_size_, parts_.clock->now().mono - begun.mono);
  const Result<void> admissible = parts_.made ? parts_.made(done, store, replies) : Result<void>{};
  if (!admissible) {
    reload();  // The deliveries are made. Their lanes look when the store has recovered.
    return tl::make_unexpected(admissible.error());
  }
  const std::uint64_t made = publish(done, replies);
  const std::lock_guard lock{mutex_};
  turns_.end_turn(*tenant_id, made + done.left_out, done.finished);
  return true;
}

Result<void> FanoutRunner::take_step(Store& store, RepliesByShard& replies) {
  const Result<bool> performed = stopped_ ? false : perform(store, replies);
  if (!performed) {
    spdlog::error("fanout.failed reason=\"{}\"", log_safe(performed.error().message));
  }
  if (!performed || !*performed) {
    const std::lock_guard lock{mutex_};
    stepping_ = false;
  }
  return performed.map([](bool) {});
}

/// The next step waits until the shards have taken the deliveries of this one, so that their inputs
/// do not pile up.
std::uint64_t FanoutRunner::publish(FannedOut& done, RepliesByShard& replies) {
  parts_.stream->publish(done);
  TenantCounts added;
  for (FannedOut::Part& part : done.parts) {
    added[part.event.tenant_id][part.event.priority] += std::ssize(part.deliveries);
    admit_event(std::make_shared<const Event>(std::move(part.event)), part.deliveries, replies);
  }
  parts_.metrics->waiting_changed(added);
  parts_.metrics->deliveries_entered(DeliveryState::pending, added.total());
  const auto busy = std::make_shared<std::atomic<std::size_t>>(replies.size());
  for (ShardReplies& each : replies) {
    each.completions.emplace_back([this, busy] {
      if (busy->fetch_sub(1) == 1) {
        end_step();
      }
    });
  }
  return static_cast<std::uint64_t>(added.total());
}

}  // namespace postrider
