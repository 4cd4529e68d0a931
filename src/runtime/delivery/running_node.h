// The running server: implements Node and Service. Private to the runtime. node.cc builds, starts
// and stops it; node_service.cc implements Service; node_notifications.cc tells people.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/admin/admin_service.h"
#include "runtime/admin/operation_runner.h"
#include "runtime/background/event_loop.h"
#include "runtime/background/fanout_runner.h"
#include "runtime/background/housekeeping.h"
#include "runtime/background/removed_webhook_cleanup.h"
#include "runtime/background/retry_rescheduler.h"
#include "runtime/background/store_checker.h"
#include "runtime/cluster/leader_flag.h"
#include "runtime/cluster/shared_notifications.h"
#include "runtime/delivery/interactive_sends.h"
#include "runtime/delivery/load_circuits.h"
#include "runtime/delivery/node.h"
#include "runtime/delivery/placement.h"
#include "runtime/limits/shared_allowance.h"
#include "runtime/notifications/notification_maker.h"
#include "runtime/notifications/notifier.h"
#include "runtime/observability/batch_stream_events.h"
#include "runtime/observability/server_alert_monitor.h"
#include "runtime/sources/source_hub.h"
#include "runtime/sources/status_writers.h"
#include "runtime/store/reader_pool.h"

namespace postrider {

/// What was loaded from the store.
struct NodeContents {
  Directory directory;
  AccessSnapshot access;
  EventTypeCatalog event_types;
  ChannelDirectory channels;
  std::vector<Alert> alerts;  // The active ones.
  /// The catalogue before it was loaded, if other servers share the store.
  CatalogVersion catalog_seen = 0;
};

class RunningNode final : public Node,
                          public AdminService,
                          private ShardOwner,
                          private StoreThreadOwner,
                          private ClusterOwner,
                          private WebhookObserver {
 public:
  RunningNode(NodeOptions options, NodeParts parts, NodeContents contents);
  ~RunningNode() override { stop(); }

  // Node
  Service& service() override { return *this; }
  std::vector<boost::asio::io_context*> io_contexts() override;
  void add_samples(CollectSamples take) override { metrics_->add_samples(std::move(take)); }
  void set_sources(std::vector<SourceParts> sources) override;
  void start() override;
  void change_url_policy(UrlPolicy policy) override;
  void change_alert_limits(const AlertLimits& limits) override;
  void change_retention(RetentionChange change) override { retention_->change(std::move(change)); }
  void drain(std::function<void()> drained) override;
  void stop() override;

  // Service
  Moment now() const override { return clock_->now(); }
  Uuid new_uuid() override;
  void record_key_use(const AccessKey& key) override;
  Awaitable<Result<std::vector<PublishReceipt>>> publish(std::vector<EventDraft> drafts,
                                                         bool all_or_nothing) override;
  Awaitable<Result<Delivery>> revive(Revive revive, AuditEntry entry) override;
  Awaitable<Result<Delivery>> cancel(DeliveryId id, AuditEntry entry) override;
  Awaitable<Result<Operation>> start_operation(Operation operation, ShareOwner owner,
                                               AuditEntry entry,
                                               std::optional<RequestKey> key) override;
  Awaitable<Result<Operation>> cancel_operation(OperationId id, AuditEntry entry) override;
  Awaitable<Result<TestSent>> send_test(WebhookRef webhook, Event event, AuditEntry entry,
                                        std::optional<RequestKey> key) override;
  Awaitable<Result<Outcome>> probe(Webhook webhook, Event event, Millis timeout) override;
  Awaitable<Result<Notification>> send_test_notification(Notification test, AuditEntry entry,
                                                         std::optional<RequestKey> key) override;
  Awaitable<Result<std::uint64_t>> reseal_secrets(AuditEntry entry) override;
  Awaitable<Result<LaneView>> lane_view(WebhookId id) override;
  Awaitable<LaneViews> lane_views(std::vector<WebhookId> ids) override;
  Awaitable<Result<LaneView>> command_circuit(CircuitCommanded command, AuditEntry entry) override;
  Awaitable<void> run_query(ShareOwner owner, ReaderQuery query) override;
  Result<std::unique_ptr<StreamHub::Subscription>> subscribe(StreamFilter filter,
                                                             std::optional<StreamPosition> seen,
                                                             std::function<void()> wake) override {
    return stream_.subscribe(std::move(filter), seen, std::move(wake));
  }
  std::vector<SourceView> sources() const override { return sources_->views(); }
  Awaitable<Result<SourceView>> pause_source(std::string name, bool paused,
                                             AuditEntry entry) override;
  std::string metrics_text() override { return metrics_->text(); }
  CurrentLoad current_load(const std::optional<TenantId>& tenant_id) override {
    return metrics_->current_load(tenant_id);
  }
  std::optional<std::string> not_ready() const override;
  bool is_shared() const override { return cluster_ != nullptr; }
  Awaitable<void> catch_up() override;
  std::optional<ClusterStatus> cluster() const override {
    return cluster_ ? cluster_->status() : std::nullopt;
  }

  [[nodiscard]] Result<void> open();
  /// Before start(): the alerts that were active when the server stopped, and the deliveries that
  /// ended within the window for dead letters.
  void restore_alerts(const std::vector<Alert>& alerts, const std::vector<SpanTally>& ended);
  /// Before start(): gives every lane its webhook.
  void load_lanes(std::map<WebhookId, LoadedCircuit> circuits,
                  const std::vector<LaneBacklog>& backlog);
  /// Before start(): continues the rescheduling that the last run did not finish.
  void load_reschedules(const std::vector<WebhookId>& marked,
                        const std::vector<LaneBacklog>& backlog);
  /// Before start(): continues unfinished operations.
  void load_operations(std::vector<Operation> unfinished) {
    operations_->resume(std::move(unfinished));
  }
  /// Before start(): continues with the notifications that the last run did not send.
  void load_notifications(NotificationsBefore before);
  /// Before start(): continues the fan-outs that the last run did not finish.
  void load_fanouts(const std::map<TenantId, std::uint64_t>& open) { fanout_runner_->add(open); }
  void load_counts(const std::map<TenantId, std::uint64_t>& dead_letters,
                   const TenantCounts& waiting);

 private:
  void make_store(NodeParts& parts);
  void make_workers(NodeParts& parts);
  void make_retention(NodeParts& parts);
  [[nodiscard]] std::vector<MetricSample> collect_transport_samples() const;
  void make_operations();
  void make_housekeeping(std::vector<Alert> alerts, std::function<Result<void>()> reload_keys);
  void make_alert_monitor();
  void make_notifier(std::unique_ptr<Mailer> mailer);
  /// Any thread but the store's and the io threads. Returns when the event is stored.
  [[nodiscard]] Result<void> publish_notification(Event event, WebhookId webhook_id);
  /// Store thread. Makes the notifications about an alert and hands them to the notifier.
  [[nodiscard]] std::vector<Notification> notify_alert(const Alert& alert,
                                                       NotificationTransition transition);
  void submit_notifications(const std::vector<Notification>& made);
  /// Store thread. Tells that an operation has ended, once.
  void notify_operation(const Operation& operation);
  /// Store thread. Looks whether operations ended because of these outcomes.
  void examine_operations(const OutcomeChanges& outcomes);
  void settle_notifications(NotificationOutcomes outcomes);
  [[nodiscard]] std::vector<Publish> to_publishes(std::vector<EventDraft> drafts,
                                                  bool all_or_nothing);
  [[nodiscard]] Result<void> check_publishing();
  [[nodiscard]] Result<void> admit_fanouts(const std::vector<Publish>& publishes);
  [[nodiscard]] std::size_t origin() const;
  [[nodiscard]] Worker& owner(WebhookId id) { return *workers_[worker_of(id, workers_.size())]; }

  /// On the store thread.
  Awaitable<Result<void>> run_on_store_thread(AuditEntry entry, Change change) override;
  /// Store thread. Makes a change of the catalogue, which other servers may be changing too.
  [[nodiscard]] Result<void> make_change(Store& store, RepliesByShard& replies,
                                         const std::function<Result<void>()>& change);

  // Several servers on one store; see node_cluster.cc.
  [[nodiscard]] Result<void> resume_operations(Store& store);
  /// Store thread, or before start(). Counts the waiting deliveries and the dead letters of the
  /// whole store.
  void count_stored();
  void make_cluster(NodeParts& parts, CatalogVersion seen);
  void add_cluster_parts(Housekeeping::Parts& parts);
  void add_cluster_parts(FanoutRunner::Parts& parts);
  /// Any thread. nullopt if the store is not shared.
  [[nodiscard]] std::optional<CatalogVersion> catalog_seen() const;
  [[nodiscard]] bool is_ordered_here(const Delivery& delivery) const;
  /// Whether this server works the webhook.
  [[nodiscard]] bool works(WebhookId id) const;
  void drain_workers();
  Awaitable<Result<LaneView>> stored_lane_view(WebhookId id);
  Awaitable<LaneViews> stored_lane_views(std::vector<WebhookId> ids);
  Awaitable<Result<LaneView>> command_remote_circuit(CircuitCommanded command, AuditEntry entry);
  Awaitable<Result<LaneView>> await_circuit(CircuitCommanded command);
  Awaitable<Result<TestSent>> send_remote_test(TestSend test);
  Awaitable<void> pause_here(Millis duration);
  void write_key_uses();
  /// nullopt: no worker has the lane.
  Awaitable<std::optional<LaneView>> own_lane_view(WebhookId id);

  // ShardOwner. Any thread.
  void disable_webhook(WebhookId id, const std::string& reason) override;
  void reschedule(WebhookId id) override { retry_rescheduler_->add_later(id); }
  void alert_changed(const AlertChange& change) override { housekeeping_->on_alert_change(change); }
  void circuit_command_returned(const CircuitCommanded& command) override;
  void shard_handed_back(ShardNumber shard) override;
  void shard_drained() override;

  // WebhookObserver. Store thread only.
  void webhook_stored(const Webhook& webhook) override { housekeeping_->webhook_stored(webhook); }
  void webhook_removed(WebhookId id) override;
  void deliveries_cancelled(const TenantCounts& cancelled) override {
    metrics_->waiting_cancelled(cancelled);
    status_writers_.examine_all();
  }

  // StoreThreadOwner. Store thread only.
  void deliver(std::size_t worker, ShardReplies replies) override {
    if (cluster_) {
      cluster_->keep_own(replies.inputs);
    }
    workers_[worker]->receive(std::move(replies));
  }
  void batch_committed(const Batch& batch, const BatchReceipt& receipt) override;
  void store_failed(const std::string& reason) override;
  void store_recovered(const std::vector<LaneBacklog>& backlog, RepliesByShard& replies) override;
  void failures_counted(std::uint32_t failures_in_row) override {
    housekeeping_->store_failed(failures_in_row);
  }
  Result<void> before_admission(const BatchReceipt& receipt, Store& store,
                                RepliesByShard& replies) override;
  void catalog_changed(Store& store, RepliesByShard& replies) override;

  // ClusterOwner. Store thread, except for the last two.
  void alerts_taken(const std::vector<Alert>& alerts) override;
  void alerts_dropped(const std::function<bool(WebhookId)>& is_dropped) override;
  Result<void> start_leading(Store& store) override;
  void stop_leading() override;
  void operations_changed() override;
  Result<void> refresh(Store& store) override;
  void servers_counted(std::uint32_t alive) override;
  void shards_left() override { drain_workers(); }

  NodeOptions options_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<Tracer> tracer_;  // Null: tracing is off.
  std::atomic<std::int64_t> key_uses_written_ms_{0};
  std::mutex ids_mutex_;
  UuidGenerator ids_;             // Guarded by ids_mutex_.
  std::uint64_t next_group_ = 0;  // Guarded by ids_mutex_.
  StreamHub stream_;
  BatchStreamPublisher stream_publisher_;
  std::unique_ptr<Cluster> cluster_;  // Null: no other server shares the store.
  LeaderFlag leader_;
  std::uint32_t servers_ = 1;  // That share the limits. The lease keeper's thread only.
  // Of the server that leads. Store thread only, as the three after it.
  std::set<OperationId> open_operations_;
  MonoTime refreshed_at_{};
  Micros refresh_period_{0};
  bool is_counting_ = false;
  std::unique_ptr<StoreThread> store_;
  std::unique_ptr<RemovedWebhookCleanup> removed_webhook_cleanup_;
  std::unique_ptr<RetryRescheduler> retry_rescheduler_;
  std::unique_ptr<FanoutRunner> fanout_runner_;
  std::unique_ptr<SharedAllowance> allowance_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<EventLoop> background_loop_;  // Of the first worker.
  std::unique_ptr<Housekeeping> housekeeping_;
  std::unique_ptr<ServerAlertMonitor> alert_monitor_;
  std::shared_ptr<UnwrittenAlerts> unwritten_alerts_ = std::make_shared<UnwrittenAlerts>();
  std::unique_ptr<StoreChecker> store_checker_;  // Null: off.
  std::unique_ptr<NotificationMaker> notification_maker_;
  std::unique_ptr<Notifier> notifier_;
  std::unique_ptr<SharedNotifications> shared_notifications_;  // Null: the store is not shared.
  std::deque<OperationId> told_operations_;                    // The latest. Store thread only.
  InteractiveSends interactive_sends_;
  std::unique_ptr<ReaderPool> readers_;
  std::unique_ptr<Retention> retention_;
  std::unique_ptr<OperationRunner> operations_;
  std::unique_ptr<SourceHub> sources_;
  StatusWriters status_writers_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> drain_requested_{false};  // Of the workers.
  std::mutex drain_mutex_;
  std::condition_variable all_drained_;
  std::size_t workers_draining_ = 0;  // Guarded by drain_mutex_.
  std::function<void()> drained_;     // Guarded by drain_mutex_.
  bool started_ = false;
  bool stopped_ = false;
};

}  // namespace postrider
