#include "runtime/cluster/peer_watcher.h"

#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "runtime/delivery/placement.h"
#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

// How often a server polls the store: with signals, in case one is lost, and without signals.
constexpr Millis look_period{1'000};
constexpr Millis look_period_without_signals{100};
// The pause after a signal. Everything that is stored during it shares the next signal.
constexpr Millis signal_pause{3};
constexpr Millis failure_pause{1'000};
// Deliveries that one job of the store thread takes over.
constexpr std::size_t received_max = 2'000;

void admit(HandedOver received, RepliesByShard& replies) {
  for (Delivery& delivery : received.deliveries) {
    std::vector<Input>& inputs = replies[worker_of(delivery.webhook_id, replies.size())].inputs;
    // One Admitted collects all of a turn.
    if (inputs.empty() || !std::holds_alternative<Admitted>(inputs.back())) {
      inputs.emplace_back(Admitted{});
    }
    std::get<Admitted>(inputs.back()).deliveries.push_back(std::move(delivery));
  }
  for (const LaneDelivery& closed : received.closed) {
    replies[worker_of(closed.webhook_id, replies.size())].inputs.emplace_back(
        DeliveryCancelled{closed.webhook_id, closed.delivery_id});
  }
  for (const CircuitCommanded& command : received.commands) {
    replies[worker_of(command.webhook_id, replies.size())].inputs.emplace_back(command);
  }
}

}  // namespace

void PeerWatcher::start() {
  thread_ = std::thread{[this] { run(); }};
}

void PeerWatcher::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_one();
  parts_.signals->wake();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void PeerWatcher::wake_others() {
  if (!signal_wanted_.exchange(true)) {
    parts_.signals->wake();
  }
}

Millis PeerWatcher::pause() const {
  return parts_.signals->is_listening() ? look_period : look_period_without_signals;
}

void PeerWatcher::run() {
  MonoTime looked_at{};
  while (true) {
    const Result<bool> signalled = parts_.signals->wait(pause());
    {
      const std::lock_guard lock{mutex_};
      if (stopping_) {
        return;
      }
    }
    if (signal_wanted_.exchange(false)) {
      signal_others();
    }
    const MonoTime now = parts_.clock->now().mono;
    if (!signalled || *signalled || now - looked_at >= pause()) {
      looked_at = now;
      queue_round();
    }
    if (!signalled) {
      if (!std::exchange(is_silent_, true)) {
        spdlog::warn("cluster.signals_lost reason=\"{}\" next=\"polling every second\"",
                     log_safe(signalled.error().message));
      }
      rest(failure_pause);
    } else {
      is_silent_ = false;
    }
  }
}

/// A lost signal is harmless, because the other servers also poll.
void PeerWatcher::signal_others() {
  if (parts_.signals->signal()) {
    rest(signal_pause);
  }
}

void PeerWatcher::rest(Millis duration) {
  std::unique_lock lock{mutex_};
  wake_.wait_for(lock, duration, [this] { return stopping_; });
}

void PeerWatcher::queue_round() {
  if (round_queued_.exchange(true)) {
    return;
  }
  parts_.store->submit(StoreTask{
      [this](Store& store, RepliesByShard& replies) { return take_round(store, replies); }});
}

Result<void> PeerWatcher::take_all(Store& store, RepliesByShard& replies) {
  POSTRIDER_CHECK(parts_.catalog->catch_up(store, replies));
  bool more = true;
  while (more) {
    POSTRIDER_TRY(HandedOver received, store.peers->receive(received_max));
    more = received.more;
    admit(std::move(received), replies);
  }
  return {};
}

Result<void> PeerWatcher::take_round(Store& store, RepliesByShard& replies) {
  round_queued_ = false;
  POSTRIDER_CHECK(parts_.catalog->catch_up(store, replies));
  POSTRIDER_TRY(HandedOver received, store.peers->receive(received_max));
  const bool more = received.more;
  admit(std::move(received), replies);
  if (more) {
    queue_round();
    return {};
  }
  return parts_.owner->store_looked_at(store, replies);
}

}  // namespace postrider
