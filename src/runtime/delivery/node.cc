#include "runtime/delivery/node.h"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "core/base/assert.h"

#include "runtime/admin/load_access.h"
#include "runtime/delivery/interactive_sends.h"
#include "runtime/delivery/running_node.h"
#include "runtime/notifications/load_notifications.h"
#include "runtime/observability/attempt_log.h"
#include "runtime/observability/cluster_samples.h"
#include "runtime/observability/transport_samples.h"

namespace postrider {
namespace {

// How long stop() waits for the last settlements to be stored. Deliveries whose settlement is lost
// are sent again after the next start.
constexpr Millis last_commit_wait_max{3'000};

/// The deliveries that ended within the window, by span. Leaves out spans that began before it.
Result<std::vector<SpanTally>> load_ended(Stats& stats, WallTime now, Millis window) {
  if (window < stats_span) {
    return std::vector<SpanTally>{};
  }
  return stats.over_time({.from = now - window + stats_span, .to = now + Millis{1}}, stats_span);
}

std::vector<MetricSample> fanout_samples(std::uint64_t remaining) {
  return {{.name = "postrider_fanout_remaining",
           .help = "Deliveries of accepted events that are still to be made from their notes.",
           .is_total = false,
           .labels = {},
           .value = static_cast<double>(remaining)}};
}

}  // namespace

RunningNode::RunningNode(NodeOptions options, NodeParts parts, NodeContents contents)
    : AdminService(Contents{.directory = std::move(contents.directory),
                            .access = std::move(contents.access),
                            .event_types = std::move(contents.event_types),
                            .channels = std::move(contents.channels)}),
      options_(std::move(options)),
      clock_(std::move(parts.clock)),
      metrics_(make_metrics(options_.pool_id)),
      tracer_(parts.span_exporter
                  ? std::make_unique<Tracer>(options_.tracing, std::move(parts.span_exporter))
                  : nullptr),
      ids_(options_.seed),
      stream_({.epoch = static_cast<std::uint64_t>(to_unix_ms(clock_->now().wall))}),
      stream_publisher_(stream_, changes_, *clock_),
      interactive_sends_(options_.interactive_sends_max) {
  POSTRIDER_ASSERT(options_.worker_count > 0);
  for (Reader& reader : parts.readers) {
    reader.alerts = with_unwritten(std::move(reader.alerts), unwritten_alerts_);
  }
  readers_ = std::make_unique<ReaderPool>(std::move(parts.readers), *clock_);
  make_cluster(parts, contents.catalog_seen);
  make_store(parts);
  make_workers(parts);
  if (cluster_) {
    cluster_->connect({.store = store_.get(),
                       .workers = &workers_,
                       .cleanup = removed_webhook_cleanup_.get(),
                       .rescheduler = retry_rescheduler_.get()});
  }
  make_retention(parts);
  make_operations();
  if (cluster_) {
    std::erase_if(contents.alerts, [](const Alert& each) {
      // They follow with their shards, or when this server leads.
      return each.subject.webhook_id || each.subject.kind == AlertKind::notifications_failing;
    });
  }
  make_housekeeping(contents.alerts, std::move(parts.reload_keys));
  make_alert_monitor();
  make_notifier(std::move(parts.mailer));
  if (parts.store_check && options_.check_rows_per_second > 0) {
    store_checker_ = std::make_unique<StoreChecker>(
        StoreChecker::Parts{.check = std::move(parts.store_check),
                            .rows_per_second = options_.check_rows_per_second,
                            .readers = readers_.get(),
                            .alerts = housekeeping_.get()});
  }
  set_sources({});
  metrics_->add_samples([this] { return sources_->samples(); });
  metrics_->add_samples([this] { return status_writers_.samples(); });
  metrics_->add_samples([this] { return collect_transport_samples(); });
  metrics_->add_samples([this] { return metrics_->rate_limits().samples(clock_->now().mono); });
  metrics_->add_samples([this] { return fanout_samples(fanout_runner_->remaining()); });
  metrics_->add_samples([this] { return to_samples({readers_->use(), store_->use()}); });
  metrics_->add_samples([this] { return notifier_->samples(); });
  metrics_->add_samples([this] { return to_samples(tracer_ ? tracer_->counts() : SpanCounts{}); });
  if (cluster_) {
    metrics_->add_samples([this] { return to_samples(cluster_->status(), cluster_->activity()); });
  }
  changes_.limit_webhooks(options_.webhooks_per_tenant_max);
}

void RunningNode::make_retention(NodeParts& parts) {
  Retention::Parts retention_parts{.clock = clock_.get(),
                                   .metrics = metrics_.get(),
                                   .readers = readers_.get(),
                                   .store = store_.get(),
                                   .leader = &leader_,
                                   .archive = std::move(parts.archive),
                                   .archive_line = std::move(parts.archive_line)};
  retention_ = std::make_unique<Retention>(options_.retention, std::move(retention_parts));
}

std::vector<MetricSample> RunningNode::collect_transport_samples() const {
  std::vector<TransportCounters> counters;
  counters.reserve(workers_.size());
  for (const auto& worker : workers_) {
    counters.push_back(worker->transport_counters());
  }
  return to_samples(counters);
}

void RunningNode::make_store(NodeParts& parts) {
  store_ = std::make_unique<StoreThread>(StoreThreadOptions{.worker_count = options_.worker_count},
                                         StoreThread::Parts{.store = std::move(parts.store),
                                                            .clock = clock_.get(),
                                                            .metrics = metrics_.get(),
                                                            .owner = this,
                                                            .tracer = tracer_.get()});
  removed_webhook_cleanup_ = std::make_unique<RemovedWebhookCleanup>(*clock_, *store_, *metrics_);
  removed_webhook_cleanup_->on_cancelled([this] { status_writers_.examine_all(); });
  retry_rescheduler_ = std::make_unique<RetryRescheduler>(*clock_, *store_, changes_);
  FanoutRunner::Parts fanout{.clock = clock_.get(),
                             .store = store_.get(),
                             .metrics = metrics_.get(),
                             .changes = &changes_,
                             .stream = &stream_publisher_,
                             .new_uuid = [this] { return new_uuid(); },
                             .leader = &leader_};
  add_cluster_parts(fanout);
  fanout_runner_ = std::make_unique<FanoutRunner>(options_.fanout, std::move(fanout));
}

void RunningNode::make_workers(NodeParts& parts) {
  options_.shard.leased = cluster_ != nullptr;
  const auto wake = [this](std::size_t worker, SlotReserved reserved) {
    workers_[worker]->feed_later(std::move(reserved));
  };
  allowance_ =
      std::make_unique<SharedAllowance>(limits_of(options_.shard), options_.worker_count, wake);
  for (std::size_t index = 0; index < options_.worker_count; ++index) {
    ShardHostOptions host_options{.index = index,
                                  .shard = options_.shard,
                                  .seed = options_.seed + index + 1,
                                  .alerts = options_.alerts,
                                  .url_policy = options_.url_policy,
                                  .user_agent = options_.user_agent};
    WorkerParts worker_parts{.clock = *clock_,
                             .store = *store_,
                             .allowance = allowance_->of(index),
                             .owner = *this,
                             .metrics = *metrics_,
                             .stream = stream_,
                             .make_transport = parts.make_transport,
                             .make_sign = parts.make_sign,
                             .tracer = tracer_.get(),
                             .permit = cluster_ ? &cluster_->permit() : nullptr};
    workers_.push_back(std::make_unique<Worker>(std::move(host_options), std::move(worker_parts)));
  }
}

void RunningNode::batch_committed(const Batch& batch, const BatchReceipt& receipt) {
  stream_publisher_.publish(batch, receipt);
  status_writers_.committed(batch, receipt);
  if (!receipt.fanouts.empty()) {
    fanout_runner_->add(receipt.fanouts);
  }
  if (cluster_ && (receipt.handed_over || !receipt.fanouts.empty())) {
    cluster_->wake_others();
  }
  examine_operations(receipt.outcomes);
}

void RunningNode::make_operations() {
  constexpr std::size_t worker = 0;
  background_loop_ = make_event_loop(workers_[worker]->io());
  operations_ = std::make_unique<OperationRunner>(OperationRunnerParts{
      .loop = background_loop_.get(),
      .worker = worker,
      .clock = clock_.get(),
      .store = store_.get(),
      .readers = readers_.get(),
      .metrics = metrics_.get(),
      .changes = &changes_,
      .stream = &stream_publisher_,
      .committed =
          [this](const Batch& batch, const BatchReceipt& receipt) {
            status_writers_.committed(batch, receipt);
            if (cluster_ && receipt.handed_over) {
              cluster_->wake_others();
            }
            examine_operations(receipt.outcomes);
          },
      .ended = [this](const Operation& operation) { notify_operation(operation); },
      .new_uuid = [this] { return new_uuid(); },
      .leader = &leader_});
}

void RunningNode::load_counts(const std::map<TenantId, std::uint64_t>& dead_letters,
                              const TenantCounts& waiting) {
  if (cluster_) {
    count_stored();
  } else {
    metrics_->dead_letters_counted(dead_letters);
    metrics_->waiting_counted(waiting);
  }
}

void RunningNode::set_sources(std::vector<SourceParts> sources) {
  POSTRIDER_ASSERT(!started_);
  status_writers_.make(sources, {.store = store_.get(),
                                 .readers = readers_.get(),
                                 .clock = clock_.get(),
                                 .seed = options_.seed,
                                 .is_shared = cluster_ != nullptr});
  sources_ = std::make_unique<SourceHub>(std::move(sources), *clock_, options_.seed);
}

void RunningNode::make_alert_monitor() {
  ServerAlertMonitor::Parts parts{.clock = clock_.get(),
                                  .metrics = metrics_.get(),
                                  .alerts = housekeeping_.get(),
                                  .sources = [this] { return sources_->facts(); },
                                  .check_webhooks =
                                      [this] {
                                        for (const auto& worker : workers_) {
                                          worker->check_alerts();
                                        }
                                      }};
  alert_monitor_ = std::make_unique<ServerAlertMonitor>(options_.alerts, std::move(parts));
}

void RunningNode::restore_alerts(const std::vector<Alert>& alerts,
                                 const std::vector<SpanTally>& ended) {
  alert_monitor_->recall(ended);
  for (const Alert& alert : alerts) {
    if (alert.subject.webhook_id) {
      if (!cluster_) {
        owner(*alert.subject.webhook_id).restore_alert(alert);
      }
    } else {
      alert_monitor_->restore(alert);
    }
  }
}

void RunningNode::make_housekeeping(std::vector<Alert> alerts,
                                    std::function<Result<void>()> reload_keys) {
  AlertRecorder recorder{std::move(alerts),
                         {.make_id = [this] { return AlertId{new_uuid()}; },
                          .metrics = metrics_.get(),
                          .unwritten = unwritten_alerts_,
                          .notify =
                              [this](const Alert& alert, NotificationTransition transition) {
                                return notify_alert(alert, transition);
                              },
                          .has_secret_path =
                              [this](WebhookId id) {
                                const ChannelRef owner = changes_.channels()->owner_of_webhook(id);
                                return owner && owner->kind != ChannelKind::webhook;
                              }}};
  Housekeeping::Parts parts{.clock = clock_.get(),
                            .store = store_.get(),
                            .changes = &changes_,
                            .cleanup = removed_webhook_cleanup_.get(),
                            .rescheduler = retry_rescheduler_.get(),
                            .reload_keys = std::move(reload_keys)};
  add_cluster_parts(parts);
  housekeeping_ = std::make_unique<Housekeeping>(std::move(recorder), std::move(parts));
  changes_.observe(*this);
}

void RunningNode::webhook_removed(WebhookId id) {
  housekeeping_->webhook_removed(id);
  removed_webhook_cleanup_->add(id);
}

void RunningNode::load_lanes(std::map<WebhookId, LoadedCircuit> circuits,
                             const std::vector<LaneBacklog>& backlog) {
  for (const auto& [serial, tenant] : changes_.access()->tenants()) {
    for (const auto& worker : workers_) {
      if (tenant->suspended_at) {
        worker->feed_later(TenantSuspension{.tenant_id = tenant->id});
      }
      if (tenant->limits != TenantLimits{}) {
        worker->feed_later(TenantLimited{.tenant_id = tenant->id, .limits = tenant->limits});
      }
    }
  }
  if (cluster_) {
    return;  // The lanes follow with their shards.
  }
  std::map<WebhookId, WallTime> due;
  for (const LaneBacklog& lane : backlog) {
    due.emplace(lane.webhook_id, lane.due);
    if (!changes_.directory()->find(lane.webhook_id)) {
      removed_webhook_cleanup_->add(lane.webhook_id);
    }
  }
  for (const auto& [id, webhook] : changes_.directory()->all()) {
    WebhookChanged input{.webhook = webhook, .at_start = true};
    if (const auto circuit = circuits.find(id); circuit != circuits.end()) {
      input.circuit = circuit->second.record;
      input.past_calls = std::move(circuit->second.calls);
    }
    if (const auto waiting = due.find(id); waiting != due.end()) {
      input.backlog_due = waiting->second;
    }
    owner(id).feed_later(std::move(input));
  }
}

void RunningNode::load_reschedules(const std::vector<WebhookId>& marked,
                                   const std::vector<LaneBacklog>& backlog) {
  for (const WebhookId id : marked) {
    retry_rescheduler_->add(id);
  }
  retry_rescheduler_->add_from_the_future(backlog);
}

std::vector<boost::asio::io_context*> RunningNode::io_contexts() {
  std::vector<boost::asio::io_context*> contexts;
  contexts.reserve(workers_.size());
  for (const auto& worker : workers_) {
    contexts.push_back(&worker->io());
  }
  return contexts;
}

Result<void> RunningNode::open() {
  for (const auto& worker : workers_) {
    POSTRIDER_CHECK(worker->open());
  }
  return {};
}

void RunningNode::start() {
  started_ = true;
  if (tracer_) {
    tracer_->start();
  }
  store_->start();
  for (const auto& worker : workers_) {
    worker->start();
  }
  retention_->start();
  housekeeping_->start(*background_loop_);
  alert_monitor_->start(*background_loop_);
  if (store_checker_) {
    store_checker_->start(*background_loop_);
  }
  sources_->start();
  status_writers_.start();
  notifier_->start();
  if (cluster_) {
    cluster_->start();
  }
}

void RunningNode::change_alert_limits(const AlertLimits& limits) {
  for (const auto& worker : workers_) {
    worker->change_alert_limits(limits);
  }
  alert_monitor_->change(limits);
}

void RunningNode::change_url_policy(UrlPolicy policy) {
  for (const auto& worker : workers_) {
    worker->change_url_policy(policy);
  }
  // On the store thread, so that a lane never gets an older version of its webhook after a newer.
  auto run = [this](Store&, RepliesByShard& replies) -> Result<void> {
    for (const auto& [id, webhook] : changes_.directory()->all()) {
      replies[worker_of(id, replies.size())].inputs.emplace_back(
          WebhookChanged{.webhook = webhook});
    }
    return {};
  };
  store_->submit(StoreTask{std::move(run)});
}

void RunningNode::drain(std::function<void()> drained) {
  {
    const std::lock_guard lock{drain_mutex_};
    POSTRIDER_ASSERT(!draining_);
    drained_ = std::move(drained);
    workers_draining_ = workers_.size();
    draining_ = true;
  }
  sources_->stop_receiving();
  operations_->stop();
  fanout_runner_->stop();
  if (cluster_) {
    cluster_->leave();  // drain_workers() follows.
  } else {
    drain_workers();
  }
}

void RunningNode::drain_workers() {
  if (drain_requested_.exchange(true)) {
    return;
  }
  for (const auto& worker : workers_) {
    worker->drain();
  }
}

void RunningNode::shard_drained() {
  std::function<void()> drained;
  {
    const std::lock_guard lock{drain_mutex_};
    POSTRIDER_ASSERT(workers_draining_ > 0);
    if (--workers_draining_ > 0) {
      return;
    }
    drained = drained_;
  }
  all_drained_.notify_all();
  drained();
}

void RunningNode::stop() {
  if (std::exchange(stopped_, true) || !started_) {
    return;
  }
  notifier_->stop();  // While its events can still be stored.
  retention_->stop();
  removed_webhook_cleanup_->stop();
  retry_rescheduler_->stop();
  if (!draining_) {
    drain([] {});
  }
  // Before the threads that store their events.
  sources_->join();
  for (const auto& worker : workers_) {
    worker->abandon();
  }
  drain_workers();  // If the other servers have not taken the shards yet.
  {
    // Deliveries that were handed back need one pass through the loops and a last commit.
    std::unique_lock lock{drain_mutex_};
    all_drained_.wait_for(lock, last_commit_wait_max, [this] { return workers_draining_ == 0; });
  }
  status_writers_.stop();
  write_key_uses();
  if (cluster_) {
    cluster_->stop_receiving();
  }
  store_->stop();
  if (cluster_) {
    cluster_->stop();
  }
  readers_->stop();
  for (const auto& worker : workers_) {
    worker->stop();
  }
  if (tracer_) {
    tracer_->stop();
  }
}

void RunningNode::store_failed(const std::string& reason) {
  spdlog::error("store.failed reason=\"{}\" next=\"reopening\"", log_safe(reason));
}

void RunningNode::store_recovered(const std::vector<LaneBacklog>& backlog,
                                  RepliesByShard& replies) {
  spdlog::info("store.recovered");
  fanout_runner_->reload();
  status_writers_.examine_all();
  const std::shared_ptr<const Directory> directory = changes_.directory();
  for (const LaneBacklog& lane : backlog) {
    if (!works(lane.webhook_id)) {
      continue;
    }
    if (const WebhookRef webhook = directory->find(lane.webhook_id)) {
      replies[worker_of(lane.webhook_id, replies.size())].inputs.emplace_back(
          WebhookChanged{.webhook = webhook, .circuit = std::nullopt, .backlog_due = lane.due});
    } else {
      removed_webhook_cleanup_->add(lane.webhook_id);
    }
  }
}

void RunningNode::disable_webhook(WebhookId id, const std::string& reason) {
  store_->submit(StoreTask{[this, id, reason](Store& store, RepliesByShard& replies) {
    const Result<void> done = make_change(store, replies, [&] {
      return changes_.disable_webhook({store, replies}, id, reason, clock_->now().wall);
    });
    if (!done) {
      spdlog::error("webhook.disable_failed webhook={} reason=\"{}\"", id.to_string(),
                    log_safe(done.error().message));
    }
    return done;
  }});
}

Result<std::unique_ptr<Node>> make_node(NodeOptions options, NodeParts parts,
                                        const StartAccess& added) {
  CatalogVersion catalog_seen = 0;
  const bool is_shared = parts.cluster.leases != nullptr;
  if (is_shared) {
    parts.store.peers->join(options.lease.pool);
    POSTRIDER_TRY(catalog_seen, parts.store.peers->catalog_version());
  }
  POSTRIDER_TRY(std::vector<Webhook> webhooks, parts.store.catalog->load_webhooks());
  std::vector<WebhookRef> refs;
  refs.reserve(webhooks.size());
  for (Webhook& webhook : webhooks) {
    refs.push_back(std::make_shared<const Webhook>(std::move(webhook)));
  }
  POSTRIDER_CHECK(reseal_all(*parts.store.catalog));
  std::map<WebhookId, LoadedCircuit> circuits;
  if (!is_shared) {
    POSTRIDER_TRY(circuits, load_circuits(parts.store, refs, parts.clock->now().steady));
  }
  POSTRIDER_TRY(const auto rescheduling, parts.store.catalog->load_rescheduling());
  POSTRIDER_TRY(EventTypeCatalog event_types,
                load_event_types(*parts.store.event_types, parts.make_schema_check));
  POSTRIDER_TRY(std::vector<NotificationChannel> channels,
                parts.store.notifications->load_channels());
  POSTRIDER_TRY(const std::vector<LaneBacklog> backlog, parts.store.ledger->backlog());
  TenantCounts waiting;
  if (!is_shared) {
    POSTRIDER_TRY(waiting, parts.store.ledger->count_waiting());
  }
  POSTRIDER_TRY(const auto fanouts, parts.store.ledger->open_fanouts());
  POSTRIDER_TRY(std::vector<Operation> operations, parts.store.operations->load_unfinished());
  POSTRIDER_TRY(const std::vector<Alert> alerts, parts.store.alerts->load_active());
  POSTRIDER_TRY(NotificationsBefore notifications,
                load_notifications(
                    *parts.store.notifications,
                    parts.readers.empty() ? nullptr : parts.readers.front().notifications.get(),
                    alerts, parts.clock->now().wall));
  std::map<TenantId, std::uint64_t> dead_letters;
  std::vector<SpanTally> ended;
  if (!parts.readers.empty()) {
    POSTRIDER_TRY(ended, load_ended(*parts.readers.front().stats, parts.clock->now().wall,
                                    options.alerts.dead_letters_window));
    if (!is_shared) {
      POSTRIDER_TRY(dead_letters, parts.readers.front().history->dead_letter_counts());
    }
  }
  POSTRIDER_TRY(AccessSnapshot access, load_access(parts.store, added, parts.clock->now().wall));
  auto node =
      std::make_unique<RunningNode>(std::move(options), std::move(parts),
                                    NodeContents{.directory = Directory{std::move(refs)},
                                                 .access = std::move(access),
                                                 .event_types = std::move(event_types),
                                                 .channels = ChannelDirectory{std::move(channels)},
                                                 .alerts = alerts,
                                                 .catalog_seen = catalog_seen});
  POSTRIDER_CHECK(node->open());
  node->restore_alerts(alerts, ended);
  node->load_lanes(std::move(circuits), backlog);
  node->load_counts(dead_letters, waiting);
  node->load_fanouts(fanouts);
  if (!is_shared) {
    node->load_reschedules(rescheduling, backlog);
    node->load_operations(std::move(operations));
  }
  node->load_notifications(std::move(notifications));
  return node;
}

}  // namespace postrider
