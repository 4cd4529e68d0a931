// RunningNode: what it does as one of several servers on the same store.
#include <algorithm>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>

#include "engine/shard/node_share.h"

#include "runtime/delivery/running_node.h"
#include "runtime/observability/attempt_log.h"
#include "runtime/store/await_callback.h"

namespace postrider {
namespace {

// How often counts of the whole store are read again, because other servers change them too.
// Reading takes at most a hundredth of the time.
constexpr Micros refresh_period_min{std::chrono::seconds{5}};
constexpr int refresh_share = 100;

// Polls the store for the effect of a command that another server carries out.
constexpr Millis remote_poll{50};
constexpr int remote_polls_max = 60;

/// What lanes would show that start with what is stored. Other servers have these lanes.
LaneViews views_of(const std::vector<WebhookRef>& webhooks,
                   std::map<WebhookId, LoadedCircuit> circuits, const AccessSnapshot& access,
                   Moment now) {
  Shard shard{ShardOptions{}, 0};
  for (const WebhookRef& webhook : webhooks) {
    if (access.is_suspended(webhook->tenant_id)) {
      (void)shard.step(TenantSuspension{.tenant_id = webhook->tenant_id}, now);
    }
  }
  LaneViews views;
  for (const WebhookRef& webhook : webhooks) {
    LoadedCircuit& circuit = circuits[webhook->id];
    (void)shard.step(WebhookChanged{.webhook = webhook,
                                    .circuit = circuit.record,
                                    .backlog_due = std::nullopt,
                                    .at_start = false,
                                    .past_calls = std::move(circuit.calls)},
                     now);
    views.emplace(webhook->id, *shard.view(webhook->id, now));
  }
  return views;
}

bool shows_effect(CircuitAction action, const CircuitRecord& circuit) {
  switch (action) {
    case CircuitAction::reset:
      return circuit.state == CircuitState::closed && !circuit.forced_until;
    case CircuitAction::force_open:
      return circuit.forced_until && circuit.forced_open;
    case CircuitAction::force_close:
      return circuit.forced_until && !circuit.forced_open;
  }
  return true;
}

}  // namespace

void RunningNode::make_cluster(NodeParts& parts, CatalogVersion seen) {
  if (!parts.cluster.leases) {
    return;
  }
  leader_.set(false);
  cluster_ = std::make_unique<Cluster>(options_.lease, std::move(parts.cluster),
                                       Cluster::Parts{.clock = clock_.get(),
                                                      .changes = &changes_,
                                                      .event_types = &event_types_,
                                                      .make_schema_check = parts.make_schema_check,
                                                      .owner = this},
                                       parts.store, seen);
}

void RunningNode::add_cluster_parts(Housekeeping::Parts& parts) {
  if (cluster_) {
    parts.works = [this](WebhookId id) { return works(id); };
    parts.make_change = [this](Store& store, RepliesByShard& replies,
                               const std::function<Result<void>()>& change) {
      return make_change(store, replies, change);
    };
  }
}

void RunningNode::add_cluster_parts(FanoutRunner::Parts& parts) {
  if (cluster_) {
    parts.made = [this](const FannedOut& done, Store& store, RepliesByShard& replies) {
      if (done.handed_over) {
        cluster_->wake_others();
      }
      return cluster_->take_all(store, replies);
    };
  }
}

bool RunningNode::works(WebhookId id) const {
  if (!cluster_) {
    return true;
  }
  const WebhookRef webhook = changes_.directory()->find(id);
  return cluster_->works(id, webhook ? webhook->tenant_id : TenantId{});
}

Result<void> RunningNode::make_change(Store& store, RepliesByShard& replies,
                                      const std::function<Result<void>()>& change) {
  if (!cluster_) {
    return change();
  }
  const CatalogVersion before = cluster_->catalog().seen();
  POSTRIDER_CHECK(cluster_->catalog().change(store, replies, change));
  // Applies this server's own change; otherwise its next publish would be refused as outdated. The
  // change is stored even if this fails.
  catalog_changed(store, replies);
  if (cluster_->catalog().seen() != before) {  // Not after a read.
    cluster_->wake_others();
  }
  return {};
}

// ---------------------------------------------------------------- the catalogue

std::optional<CatalogVersion> RunningNode::catalog_seen() const {
  return cluster_ ? std::optional{cluster_->catalog().seen()} : std::nullopt;
}

bool RunningNode::is_ordered_here(const Delivery& delivery) const {
  const WebhookRef webhook = changes_.directory()->find(delivery.webhook_id);
  return webhook && webhook->ordering != Ordering::none && works(delivery.webhook_id);
}

/// An event that another server had acknowledged before one of this batch was published has been
/// handed over by now, so nothing overtakes it.
Result<void> RunningNode::before_admission(const BatchReceipt& receipt, Store& store,
                                           RepliesByShard& replies) {
  if (!cluster_) {
    return {};
  }
  const auto is_ordered = [this](const PublishReceipt& publish) {
    const auto* const accepted = std::get_if<Accepted>(&publish);
    return accepted != nullptr &&
           std::ranges::any_of(accepted->deliveries, [this](const Delivery& delivery) {
             return is_ordered_here(delivery);
           });
  };
  return std::ranges::any_of(receipt.publishes, is_ordered) ? cluster_->take_all(store, replies)
                                                            : Result<void>{};
}

void RunningNode::catalog_changed(Store& store, RepliesByShard& replies) {
  if (const Result<void> done = cluster_->catalog().catch_up(store, replies); !done) {
    spdlog::warn("cluster.not_caught_up reason=\"{}\"", log_safe(done.error().message));
  }
}

Awaitable<void> RunningNode::catch_up() {
  if (!cluster_ || store_->failure()) {
    co_return;
  }
  const std::size_t from = origin();
  auto begin = [this, from](const std::function<void(bool)>& resume) {
    cluster_->catch_up(from, resume);
  };
  (void)co_await await_callback<bool>(begin);
}

// ---------------------------------------------------------------- shards

void RunningNode::circuit_command_returned(const CircuitCommanded& command) {
  if (cluster_) {
    cluster_->return_command(command);
  }
}

void RunningNode::shard_handed_back(ShardNumber shard) {
  if (cluster_) {
    cluster_->shard_handed_back(shard);
  }
}

void RunningNode::alerts_taken(const std::vector<Alert>& alerts) {
  status_writers_.examine_all();  // What the servers before this one had stored and not written.
  for (const Alert& alert : alerts) {
    housekeeping_->take_over(alert);
    owner(*alert.subject.webhook_id).restore_alert_later(alert);
  }
}

void RunningNode::alerts_dropped(const std::function<bool(WebhookId)>& is_dropped) {
  housekeeping_->hand_over(is_dropped);
}

void RunningNode::servers_counted(std::uint32_t alive) {
  if (std::exchange(servers_, alive) != alive) {
    allowance_->change(share_of(limits_of(options_.shard), alive), clock_->now().mono);
  }
}

// ---------------------------------------------------------------- the server that leads

Result<void> RunningNode::start_leading(Store& store) {
  POSTRIDER_CHECK(resume_operations(store));
  spdlog::info("cluster.leading");
  leader_.set(true);
  shared_notifications_->start_leading();
  fanout_runner_->reload();
  return {};
}

/// Also notifies about operations that another server ended by storing their last outcome.
Result<void> RunningNode::resume_operations(Store& store) {
  for (auto each = open_operations_.begin(); each != open_operations_.end();) {
    const Result<Operation> operation = store.operations->find(*each);
    if (operation && is_unfinished(operation->status)) {
      ++each;
      continue;
    }
    if (operation) {
      notify_operation(*operation);
    } else if (operation.error().code == Errc::unavailable) {
      return tl::make_unexpected(operation.error());
    }
    each = open_operations_.erase(each);
  }
  POSTRIDER_TRY(std::vector<Operation> operations, store.operations->load_unfinished());
  for (const Operation& operation : operations) {
    open_operations_.insert(operation.id);
  }
  operations_->resume(std::move(operations));
  return {};
}

void RunningNode::stop_leading() {
  spdlog::info("cluster.not_leading");
  leader_.set(false);
  operations_->suspend();
  open_operations_.clear();
  shared_notifications_->stop_leading();
  housekeeping_->hand_over(AlertKind::notifications_failing);
}

void RunningNode::operations_changed() {
  if (!leader_.is_set()) {
    return;
  }
  store_->submit(
      StoreTask{[this](Store& store, RepliesByShard&) { return resume_operations(store); }});
}

Result<void> RunningNode::refresh(Store& store) {
  POSTRIDER_CHECK(shared_notifications_->look(store));
  fanout_runner_->look();
  const MonoTime now = clock_->now().mono;
  if (now - refreshed_at_ < refresh_period_) {
    return {};
  }
  fanout_runner_->reload();
  POSTRIDER_CHECK(store.peers->remove_old());
  refreshed_at_ = now;
  count_stored();
  return {};
}

/// On a reader: what is stored meanwhile does not wait, and a count that fails or takes too long
/// says nothing about the store.
void RunningNode::count_stored() {
  if (std::exchange(is_counting_, true)) {
    return;
  }
  readers_->submit([this](Reader& reader) {
    const MonoTime begun = clock_->now().mono;
    Result<TenantCounts> waiting = reader.history->waiting_counts();
    Result<std::map<TenantId, std::uint64_t>> dead_letters = reader.history->dead_letter_counts();
    const Micros duration = clock_->now().mono - begun;
    auto take = [this, waiting = std::move(waiting), dead_letters = std::move(dead_letters),
                 duration](Store&, RepliesByShard&) -> Result<void> {
      is_counting_ = false;
      refresh_period_ = std::max(refresh_period_min, duration * refresh_share);
      if (waiting) {
        metrics_->waiting_counted(*waiting);
      }
      if (dead_letters) {
        metrics_->dead_letters_counted(*dead_letters);
      }
      if (!waiting || !dead_letters) {
        const Error& error = waiting ? dead_letters.error() : waiting.error();
        spdlog::warn("cluster.not_counted reason=\"{}\"", log_safe(error.message));
      }
      return {};
    };
    store_->submit(StoreTask{std::move(take)});
  });
}

// ---------------------------------------------------------------- lanes of other servers

Awaitable<Result<LaneView>> RunningNode::stored_lane_view(WebhookId id) {
  const WebhookRef webhook = changes_.directory()->find(id);
  if (!webhook) {
    co_return fail(Errc::not_found, "There is no such webhook.");
  }
  const auto query = [webhook, now = clock_->now().steady](Reader& reader) {
    return read_circuit(*reader.history, *webhook, now);
  };
  auto reading = read(ShareOwner{}, query);
  Result<LoadedCircuit> circuit = co_await std::move(reading);
  if (!circuit) {
    co_return tl::make_unexpected(circuit.error());
  }
  std::map<WebhookId, LoadedCircuit> circuits;
  circuits.emplace(id, *std::move(circuit));
  co_return views_of({webhook}, std::move(circuits), *changes_.access(), clock_->now()).at(id);
}

Awaitable<LaneViews> RunningNode::stored_lane_views(std::vector<WebhookId> ids) {
  const std::shared_ptr<const Directory> directory = changes_.directory();
  std::vector<WebhookRef> webhooks;
  for (const WebhookId id : ids) {
    if (WebhookRef webhook = directory->find(id)) {
      webhooks.push_back(std::move(webhook));
    }
  }
  const auto query = [ids = std::move(ids)](Reader& reader) {
    return read_circuits(*reader.history, ids);
  };
  auto reading = read(ShareOwner{}, query);
  auto circuits = co_await std::move(reading);
  if (!circuits) {
    co_return LaneViews{};
  }
  co_return views_of(webhooks, *std::move(circuits), *changes_.access(), clock_->now());
}

Awaitable<Result<LaneView>> RunningNode::command_remote_circuit(CircuitCommanded command,
                                                                AuditEntry entry) {
  Change hand_over = [this, command](const ChangeContext& context) -> Result<void> {
    POSTRIDER_CHECK(changes_.end_forced_opening(context, command.webhook_id));
    POSTRIDER_CHECK(context.store.peers->command(command));
    cluster_->wake_others();
    return {};
  };
  auto handing = run_on_store_thread(std::move(entry), std::move(hand_over));
  const Result<void> handed = co_await std::move(handing);
  if (!handed) {
    co_return tl::make_unexpected(handed.error());
  }
  auto waiting = await_circuit(command);
  co_return co_await std::move(waiting);
}

/// Returns when the server with the lane has stored the effect, or after some seconds as it is
/// then.
Awaitable<Result<LaneView>> RunningNode::await_circuit(CircuitCommanded command) {
  for (int poll = 0;; ++poll) {
    auto pending = stored_lane_view(command.webhook_id);
    Result<LaneView> view = co_await std::move(pending);
    if (!view || poll == remote_polls_max || shows_effect(command.action, view->circuit)) {
      co_return view;
    }
    auto pause = pause_here(remote_poll);
    co_await std::move(pause);
  }
}

Awaitable<Result<TestSent>> RunningNode::send_remote_test(TestSend test) {
  const DeliveryId id = test.publish.deliveries.front().id;
  const Millis patience = test.patience;
  PublishJob job{.publishes = {}, .origin = origin(), .done = {}};
  job.publishes.push_back(std::move(test.publish));
  auto begin = [this, &job](const auto& resume) {
    job.done = resume;
    const std::size_t from = job.origin;
    if (!store_->try_publish(std::move(job))) {
      boost::asio::post(workers_[from]->io(), [resume] {
        resume(fail(Errc::unavailable, "The server's queue is full. Retry soon."));
      });
    }
  };
  const Result<std::vector<PublishReceipt>> receipts =
      co_await await_callback<Result<std::vector<PublishReceipt>>>(begin);
  if (!receipts) {
    co_return tl::make_unexpected(receipts.error());
  }
  if (!std::holds_alternative<Accepted>(receipts->front())) {
    co_return fail(Errc::unavailable, "The webhook was changed meanwhile. Retry soon.");
  }
  TestSent sent{.delivery_id = id};
  for (Millis waited{0}; waited < patience && !sent.attempt; waited += remote_poll) {
    auto pause = pause_here(remote_poll);
    co_await std::move(pause);
    const auto query = [id](Reader& reader) { return reader.history->attempts_of(id); };
    auto reading = read(ShareOwner{}, query);
    Result<std::vector<Attempt>> attempts = co_await std::move(reading);
    if (attempts && !attempts->empty()) {
      sent.attempt = std::move(attempts->front());
    }
  }
  co_return sent;
}

Awaitable<void> RunningNode::pause_here(Millis duration) {
  boost::asio::steady_timer timer{workers_[origin()]->io()};
  timer.expires_after(duration);
  auto pause = timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  (void)co_await std::move(pause);
}

}  // namespace postrider
