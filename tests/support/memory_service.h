// A Service without threads, sockets and clock, on a store in memory. Every call completes at once.
// It sends nothing: tests record the outcomes of deliveries with settle().
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/policy/breaker.h"
#include "engine/intake/directory.h"

#include "adapters/memory/memory_store.h"
#include "runtime/admin/admin_service.h"

namespace postrider::test {

/// One thread.
class MemoryService final : public AdminService, private WebhookObserver {
 public:
  MemoryService();

  // Tests set and read these directly.
  Moment moment{.wall = wall_from_unix_ms(1'767'225'600'000), .mono = MonoTime{}};  // 2026-01-01.
  MemoryStore store;
  std::map<WebhookId, LaneView> lanes;  // One entry per webhook, in place of shards.
  std::optional<Error> store_failure;   // Set: every use of the store fails with it.
  std::optional<std::string> why_not_ready;
  CurrentLoad load;  // Of all tenants.
  std::map<TenantId, CurrentLoad> tenant_loads;
  std::function<void()> before_change;  // Runs between a request's checks and its change.
  std::vector<std::pair<KeyId, WallTime>> key_uses;
  StreamHub hub{StreamOptions{.epoch = 0x5eed}};
  /// How receivers answer probes and tests. Unset: they time out.
  std::function<std::optional<Outcome>(const Webhook&, const Event&)> receive;
  std::uint64_t resealed = 0;  // Returned by reseal_secrets.
  std::vector<SourceView> source_views;
  std::optional<ClusterStatus> cluster_status;  // Set: the store is shared.

  // Set `shared` and this is one of several servers on the store.
  bool shared = false;
  std::function<void()> on_catch_up;  // Called once: applies what another server has changed.
  std::uint64_t catch_ups = 0;
  std::uint32_t outdated_publishes = 0;  // The next publishes that get the receipt Outdated.
  std::function<void()> on_outdated;     // Called once, with the first of them.

  /// Records an attempt as a lane would; the delivery moves to `state`. The request is derived from
  /// the current webhook; there is none if the webhook is gone.
  void settle(DeliveryId id, DeliveryState state, const Outcome& outcome,
              std::optional<DeadReason> dead);

  void add_key(ApiKey key);

  [[nodiscard]] bool is_shared() const override { return shared || cluster_status.has_value(); }
  Awaitable<void> catch_up() override;

  /// Applies a change of another caller.
  void apply_now(const RegistryChange& change);
  void apply_now(WebhookId id, const WebhookEdit& edit);
  void apply_now(const std::string& event_type, const EventTypeEdit& edit);
  /// Makes a channel one that comes from the settings.
  void configure(ChannelId id);

  [[nodiscard]] Moment now() const override { return moment; }
  [[nodiscard]] Uuid new_uuid() override { return ids_.next(moment.wall); }
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
  Awaitable<Result<std::uint64_t>> reseal_secrets(AuditEntry entry) override;
  Awaitable<Result<LaneView>> lane_view(WebhookId id) override;
  Awaitable<LaneViews> lane_views(std::vector<WebhookId> ids) override;
  Awaitable<Result<LaneView>> command_circuit(CircuitCommanded command, AuditEntry entry) override;
  Awaitable<void> run_query(ShareOwner owner, ReaderQuery query) override;
  Result<std::unique_ptr<StreamHub::Subscription>> subscribe(StreamFilter filter,
                                                             std::optional<StreamPosition> seen,
                                                             std::function<void()> wake) override {
    return hub.subscribe(std::move(filter), seen, std::move(wake));
  }
  [[nodiscard]] std::optional<ClusterStatus> cluster() const override { return cluster_status; }
  [[nodiscard]] std::vector<SourceView> sources() const override { return source_views; }
  Awaitable<Result<SourceView>> pause_source(std::string name, bool paused,
                                             AuditEntry entry) override;
  [[nodiscard]] std::string metrics_text() override { return "# no metrics here\n"; }
  [[nodiscard]] CurrentLoad current_load(const std::optional<TenantId>& tenant_id) override {
    return tenant_id ? tenant_loads[*tenant_id] : load;
  }
  [[nodiscard]] std::optional<std::string> not_ready() const override { return why_not_ready; }

 private:
  // WebhookObserver
  void webhook_stored(const Webhook& webhook) override { lanes.try_emplace(webhook.id); }
  void webhook_removed(WebhookId id) override { lanes.erase(id); }
  void deliveries_cancelled(const TenantCounts&) override {}

  /// Runs the change immediately.
  Awaitable<Result<void>> run_on_store_thread(AuditEntry entry, Change change) override;
  Result<BatchReceipt> commit(const Batch& batch);
  [[nodiscard]] RequestShapeRef shape_for(WebhookId id) const;
  /// A ChangeContext and what it refers to.
  struct DirectChange;

  Store roles_;
  Reader reader_;
  UuidGenerator ids_{1};
};

}  // namespace postrider::test
