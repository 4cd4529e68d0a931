#include "runtime/node.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>

#include "core/assert.h"

#include "runtime/batch_news.h"
#include "runtime/desk.h"
#include "runtime/first_roster.h"
#include "runtime/housekeeping.h"
#include "runtime/operation_runner.h"
#include "runtime/placement.h"
#include "runtime/publish_quota.h"
#include "runtime/reader_pool.h"
#include "runtime/suspend.h"
#include "runtime/transport_readings.h"
#include "runtime/tryouts.h"

namespace postrider {
namespace {

// How long stop() waits for the store to take the last settlements; they are sent again otherwise.
constexpr Millis last_words_max{3'000};

// How often the uses of keys are written down: often enough to tell a key that is in use from one
// that is not, too seldom to cost anything.
constexpr std::int64_t key_uses_period_ms = 60'000;

template <class T>
Result<void> without_value(const Result<T>& result) {
  return result ? Result<void>{} : tl::make_unexpected(result.error());
}

struct Contents {
  Directory directory;
  Roster roster;
  EventTypeBook event_types;
  std::vector<Alert> alerts;  // The active ones.
};

class RunningNode final : public Node, public Service {
 public:
  RunningNode(NodeOptions options, NodeParts parts, Contents contents);
  ~RunningNode() override { stop(); }

  // Node
  Service& service() override { return *this; }
  std::vector<boost::asio::io_context*> io_contexts() override;
  void add_readings(TakeReadings take) override { metrics_->add_readings(std::move(take)); }
  void start() override;
  void change_url_policy(UrlPolicy policy) override;
  void drain(std::function<void()> drained) override;
  void stop() override;

  // Service
  Moment now() const override { return clock_->now(); }
  Uuid new_uuid() override;
  std::shared_ptr<const Directory> directory() const override { return desk_.directory(); }
  std::shared_ptr<const Roster> roster() const override { return desk_.roster(); }
  void note_key_use(const RosterKey& key) override;
  QuotaWait take_quota(const EventCounts& counts) override;
  std::shared_ptr<const EventTypeBook> event_types() const override { return event_types_.book(); }
  Awaitable<Result<std::vector<PublishReceipt>>> publish(std::vector<EventDraft> drafts,
                                                         bool all_or_nothing) override;
  Awaitable<Result<WebhookRef>> add_webhook(Webhook webhook, AuditEntry entry) override;
  Awaitable<Result<WebhookRef>> edit_webhook(WebhookId id, WebhookEdit edit,
                                             AuditEntry entry) override;
  Awaitable<Result<void>> remove_webhook(WebhookId id, AuditEntry entry) override;
  Awaitable<Result<EventTypeRef>> change_event_type(std::string name, EventTypeEdit edit,
                                                    AuditEntry entry) override;
  Awaitable<Result<Delivery>> revive(Revive revive, AuditEntry entry) override;
  Awaitable<Result<Delivery>> cancel(DeliveryId id, AuditEntry entry) override;
  Awaitable<Result<Operation>> start_operation(Operation operation, AuditEntry entry) override;
  Awaitable<Result<Operation>> cancel_operation(OperationId id, AuditEntry entry) override;
  Awaitable<Result<TestSent>> send_test(WebhookRef webhook, Event event, AuditEntry entry) override;
  Awaitable<Result<Outcome>> probe(Webhook webhook, Event event, Millis timeout) override;
  Awaitable<Result<void>> note(AuditEntry entry) override;
  Awaitable<Result<std::uint64_t>> reseal_secrets(AuditEntry entry) override;
  Awaitable<Result<LaneView>> lane_view(WebhookId id) override;
  Awaitable<Result<LaneView>> command_circuit(CircuitCommanded command, AuditEntry entry) override;
  Awaitable<Result<void>> change_registry(RegistryChange change, AuditEntry entry) override;
  Awaitable<Result<void>> remove_tenant(TenantId id, bool force, AuditEntry entry) override;
  Awaitable<void> run_query(ReaderQuery query) override;
  Result<std::unique_ptr<StreamHub::Subscription>> subscribe(StreamFilter filter,
                                                             std::optional<StreamPlace> seen,
                                                             std::function<void()> wake) override {
    return stream_.subscribe(std::move(filter), seen, std::move(wake));
  }
  std::string metrics_text() override { return metrics_->text(); }
  std::optional<std::string> not_ready() const override;

  [[nodiscard]] Result<void> open();
  /// Before start(): tells every lane about its webhook.
  void load_lanes(const std::map<WebhookId, CircuitRecord>& circuits,
                  const std::vector<LaneBacklog>& backlog);
  /// Before start(): goes on with what was not finished.
  void load_operations(std::vector<Operation> unfinished) {
    operations_->resume(std::move(unfinished));
  }
  void load_dead_letters(const std::map<TenantId, std::uint64_t>& counts);

 private:
  void make_store(NodeParts& parts);
  void make_workers(NodeParts& parts);
  void make_retention(NodeParts& parts);
  [[nodiscard]] std::vector<Reading> read_transports() const;
  void make_operations();
  void tell_stream(const Batch& batch, const BatchReceipt& receipt);
  void make_housekeeping(std::vector<Alert> alerts, std::function<Result<void>()> reload_keys);
  [[nodiscard]] std::vector<Publish> plan(std::vector<EventDraft> drafts, bool all_or_nothing);
  [[nodiscard]] std::size_t origin() const;
  [[nodiscard]] Worker& owner(WebhookId id) { return *workers_[worker_of(id, workers_.size())]; }

  /// `act` on the store thread, and what came of it here.
  template <class T>
  Awaitable<Result<T>> at_desk(AuditEntry entry, std::function<Result<T>(const Errand&)> act);
  void write_key_uses();

  void tell_backlog(const std::vector<LaneBacklog>& backlog, Mails& mails);

  void disable(WebhookId id, const std::string& reason);
  void worker_drained();

  NodeOptions options_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Metrics> metrics_;
  Desk desk_;
  EventTypeDesk event_types_;
  PublishQuota quota_;
  std::atomic<std::int64_t> key_uses_written_ms_{0};
  std::mutex ids_mutex_;
  UuidMaker ids_;                 // Guarded by ids_mutex_.
  std::uint64_t next_group_ = 0;  // Guarded by ids_mutex_.
  StreamHub stream_;
  std::unique_ptr<StoreThread> store_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Housekeeping> housekeeping_;
  Tryouts tryouts_;
  std::unique_ptr<ReaderPool> readers_;
  std::unique_ptr<Retention> retention_;
  std::unique_ptr<OperationRunner> operations_;
  std::atomic<bool> draining_{false};
  std::mutex drain_mutex_;
  std::condition_variable all_drained_;
  std::size_t workers_draining_ = 0;  // Guarded by drain_mutex_.
  std::function<void()> drained_;     // Guarded by drain_mutex_.
  bool started_ = false;
  bool stopped_ = false;
};

RunningNode::RunningNode(NodeOptions options, NodeParts parts, Contents contents)
    : options_(std::move(options)),
      clock_(std::move(parts.clock)),
      metrics_(make_metrics()),
      desk_(std::move(contents.directory), std::move(contents.roster)),
      event_types_(std::move(contents.event_types)),
      ids_(options_.seed),
      stream_({.epoch = static_cast<std::uint64_t>(to_unix_ms(clock_->now().wall))}),
      tryouts_(options_.tryouts_max) {
  POSTRIDER_ASSERT(options_.worker_count > 0);
  readers_ = std::make_unique<ReaderPool>(std::move(parts.readers));
  make_store(parts);
  make_workers(parts);
  make_retention(parts);
  make_operations();
  make_housekeeping(std::move(contents.alerts), std::move(parts.reload_keys));
  metrics_->add_readings([this] { return read_transports(); });
}

void RunningNode::make_retention(NodeParts& parts) {
  Retention::Parts retention_parts{.clock = clock_.get(),
                                   .metrics = metrics_.get(),
                                   .readers = readers_.get(),
                                   .store = store_.get(),
                                   .archive = std::move(parts.archive),
                                   .archive_line = std::move(parts.archive_line)};
  retention_ = std::make_unique<Retention>(options_.retention, std::move(retention_parts));
}

std::vector<Reading> RunningNode::read_transports() const {
  std::vector<TransportCounters> counters;
  for (const auto& worker : workers_) {
    counters.push_back(worker->transport_counters());
  }
  return to_readings(counters);
}

void RunningNode::make_store(NodeParts& parts) {
  StoreThread::Parts store_parts{
      .store = std::move(parts.store),
      .clock = clock_.get(),
      .metrics = metrics_.get(),
      .send = [this](std::size_t worker, Mail mail) { workers_[worker]->receive(std::move(mail)); },
      .on_failure =
          [](const std::string& reason) {
            spdlog::error("store.failed reason=\"{}\" next=\"reopening\"", reason);
          },
      .on_recovered =
          [this](const std::vector<LaneBacklog>& backlog, Mails& mails) {
            spdlog::warn("store.recovered");
            tell_backlog(backlog, mails);
          },
      .on_committed = [this](const Batch& batch,
                             const BatchReceipt& receipt) { tell_stream(batch, receipt); },
      .on_streak = [this](std::uint32_t failures) { housekeeping_->store_failed(failures); },
  };
  store_ = std::make_unique<StoreThread>(StoreThreadOptions{.worker_count = options_.worker_count},
                                         std::move(store_parts));
}

void RunningNode::make_workers(NodeParts& parts) {
  const auto count = static_cast<std::uint32_t>(options_.worker_count);
  ShardOptions shard = options_.shard;
  shard.in_flight_max = std::max(shard.in_flight_max / count, 1u);
  shard.tenant_in_flight_max = std::max(shard.tenant_in_flight_max / count, 1u);
  shard.first_attempt_reserve /= count;
  shard.tenant_rate = share_of(shard.tenant_rate, count);
  shard.total_rate = share_of(shard.total_rate, count);
  for (std::size_t index = 0; index < options_.worker_count; ++index) {
    WorkerOptions worker{.index = index,
                         .shard = shard,
                         .seed = options_.seed + index + 1,
                         .url_policy = options_.url_policy,
                         .user_agent = options_.user_agent};
    WorkerParts worker_parts{
        .clock = clock_.get(),
        .store = store_.get(),
        .metrics = metrics_.get(),
        .stream = &stream_,
        .make_transport = parts.make_transport,
        .make_sign = parts.make_sign,
        .disable_webhook = [this](WebhookId id, const std::string& reason) { disable(id, reason); },
        .alert = [this](const AlertChange& change) { housekeeping_->hear(change); },
        .drained = [this] { worker_drained(); },
    };
    workers_.push_back(std::make_unique<Worker>(std::move(worker), std::move(worker_parts)));
  }
}

void RunningNode::tell_stream(const Batch& batch, const BatchReceipt& receipt) {
  if (!stream_.is_wanted()) {
    return;
  }
  for (News& news : news_of(batch, receipt, *directory(), clock_->now().wall)) {
    stream_.tell(std::move(news));
  }
}

void RunningNode::make_operations() {
  constexpr std::size_t worker = 0;
  operations_ = std::make_unique<OperationRunner>(OperationRunnerParts{
      .io = &workers_[worker]->io(),
      .worker = worker,
      .clock = clock_.get(),
      .store = store_.get(),
      .readers = readers_.get(),
      .metrics = metrics_.get(),
      .directory = [this] { return desk_.directory(); },
      .new_uuid = [this] { return new_uuid(); },
      .on_committed = [this](const Batch& batch,
                             const BatchReceipt& receipt) { tell_stream(batch, receipt); }});
}

void RunningNode::load_dead_letters(const std::map<TenantId, std::uint64_t>& counts) {
  for (const auto& [tenant_id, count] : counts) {
    metrics_->dead_letters_changed(tenant_id, static_cast<std::int64_t>(count));
  }
}

void RunningNode::make_housekeeping(std::vector<Alert> alerts,
                                    std::function<Result<void>()> reload_keys) {
  for (const Alert& alert : alerts) {
    if (alert.subject.webhook_id) {
      owner(*alert.subject.webhook_id).restore(alert.subject);
    }
  }
  AlertDesk desk{std::move(alerts),
                 {.make_id = [this] { return AlertId{new_uuid()}; }, .metrics = metrics_.get()}};
  Housekeeping::Parts parts{.clock = clock_.get(),
                            .store = store_.get(),
                            .directory = [this] { return desk_.directory(); },
                            .store_webhook = {},
                            .tick_workers = {},
                            .reload_keys = std::move(reload_keys)};
  parts.store_webhook = [this](Store& store, Mails& mails, Webhook webhook) {
    return desk_.sweep_secrets({store, mails}, std::move(webhook), clock_->now().wall);
  };
  parts.tick_workers = [this] {
    for (const auto& worker : workers_) {
      worker->tick();
    }
  };
  housekeeping_ = std::make_unique<Housekeeping>(std::move(desk), std::move(parts));
  desk_.watch({.stored = [this](const Webhook& webhook) { housekeeping_->webhook_stored(webhook); },
               .removed = [this](WebhookId id) { housekeeping_->webhook_removed(id); }});
}

void RunningNode::load_lanes(const std::map<WebhookId, CircuitRecord>& circuits,
                             const std::vector<LaneBacklog>& backlog) {
  std::map<WebhookId, WallTime> due;
  for (const LaneBacklog& lane : backlog) {
    due.emplace(lane.webhook_id, lane.due);
  }
  for (const auto& [id, webhook] : desk_.directory()->all()) {
    WebhookChanged input{.webhook = webhook, .at_start = true};
    if (const auto circuit = circuits.find(id); circuit != circuits.end()) {
      input.circuit = circuit->second;
    }
    if (const auto waiting = due.find(id); waiting != due.end()) {
      input.backlog_due = waiting->second;
    }
    owner(id).feed_later(std::move(input));
  }
}

std::vector<boost::asio::io_context*> RunningNode::io_contexts() {
  std::vector<boost::asio::io_context*> contexts;
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
  store_->start();
  for (const auto& worker : workers_) {
    worker->start();
  }
  retention_->start();
  housekeeping_->start(workers_.front()->io());
}

void RunningNode::change_url_policy(UrlPolicy policy) {
  for (const auto& worker : workers_) {
    worker->change_url_policy(policy);
  }
  // On the store thread, so that no edit of a webhook is overtaken by what it was before.
  auto run = [this](Store&, Mails& mails) -> Result<void> {
    for (const auto& [id, webhook] : desk_.directory()->all()) {
      mails[worker_of(id, mails.size())].inputs.emplace_back(WebhookChanged{.webhook = webhook});
    }
    return {};
  };
  store_->submit(DeskJob{std::move(run)});
}

void RunningNode::drain(std::function<void()> drained) {
  {
    const std::lock_guard lock{drain_mutex_};
    POSTRIDER_ASSERT(!draining_);
    drained_ = std::move(drained);
    workers_draining_ = workers_.size();
    draining_ = true;
  }
  operations_->stop();
  for (const auto& worker : workers_) {
    worker->drain();
  }
}

void RunningNode::worker_drained() {
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
  retention_->stop();
  if (!draining_) {
    drain([] {});
  }
  for (const auto& worker : workers_) {
    worker->abandon();
  }
  {
    // What was handed back needs no more than a trip through the loops and a last commit.
    std::unique_lock lock{drain_mutex_};
    all_drained_.wait_for(lock, last_words_max, [this] { return workers_draining_ == 0; });
  }
  write_key_uses();
  store_->stop();
  readers_->stop();
  for (const auto& worker : workers_) {
    worker->stop();
  }
}

Uuid RunningNode::new_uuid() {
  const WallTime now = clock_->now().wall;
  const std::lock_guard lock{ids_mutex_};
  return ids_.next(now);
}

std::size_t RunningNode::origin() const {
  const Worker* worker = Worker::current();
  POSTRIDER_ASSERT(worker != nullptr);  // Service is for io threads.
  return worker->index();
}

std::vector<Publish> RunningNode::plan(std::vector<EventDraft> drafts, bool all_or_nothing) {
  const std::shared_ptr<const Directory> directory = desk_.directory();
  std::vector<Publish> publishes;
  publishes.reserve(drafts.size());
  const WallTime due = clock_->now().steady;
  const std::lock_guard lock{ids_mutex_};
  const std::uint64_t group = all_or_nothing && drafts.size() > 1 ? ++next_group_ : 0;
  for (EventDraft& draft : drafts) {
    publishes.push_back(plan_publish(std::move(draft.event), *directory, ids_, due));
    publishes.back().claim = std::move(draft.claim);
    publishes.back().atomic_group = group;
  }
  return publishes;
}

Awaitable<Result<std::vector<PublishReceipt>>> RunningNode::publish(std::vector<EventDraft> drafts,
                                                                    bool all_or_nothing) {
  if (draining_) {
    metrics_->publish_refused("draining");
    co_return fail(Errc::unavailable,
                   "The server is shutting down. Publish to another or retry soon.");
  }
  if (store_->failure()) {
    metrics_->publish_refused("store");
    co_return fail(Errc::unavailable, "The store cannot write at the moment. Retry soon.");
  }
  PublishJob job{
      .publishes = plan(std::move(drafts), all_or_nothing), .origin = origin(), .done = {}};
  auto begin = [this, &job](auto resume) {
    job.done = resume;
    if (!store_->try_publish(std::move(job))) {
      metrics_->publish_refused("queue_full");
      boost::asio::post(workers_[job.origin]->io(), [resume] {
        resume(fail(Errc::unavailable, "The server has more to store than it can. Retry soon."));
      });
    }
  };
  co_return co_await suspend<Result<std::vector<PublishReceipt>>>(begin);
}

template <class T>
Awaitable<Result<T>> RunningNode::at_desk(AuditEntry entry,
                                          std::function<Result<T>(const Errand&)> act) {
  const std::size_t from = origin();
  auto begin = [this, from, &entry, &act](std::function<void(Result<T>)> resume) {
    auto run = [from, resume, entry, act](Store& store, Mails& mails) {
      const Result<T> done = act({store, mails, entry});
      mails[from].completions.push_back([resume, done] { resume(done); });
      return without_value(done);
    };
    store_->submit(DeskJob{std::move(run)});
  };
  co_return co_await suspend<Result<T>>(begin);
}

Awaitable<Result<WebhookRef>> RunningNode::add_webhook(Webhook webhook, AuditEntry entry) {
  return at_desk<WebhookRef>(std::move(entry), [this, webhook](const Errand& errand) {
    return desk_.add_webhook(errand, webhook);
  });
}

Awaitable<Result<WebhookRef>> RunningNode::edit_webhook(WebhookId id, WebhookEdit edit,
                                                        AuditEntry entry) {
  return at_desk<WebhookRef>(std::move(entry), [this, id, edit](const Errand& errand) {
    return desk_.edit_webhook(errand, id, edit);
  });
}

Awaitable<Result<void>> RunningNode::remove_webhook(WebhookId id, AuditEntry entry) {
  return at_desk<void>(std::move(entry), [this, id](const Errand& errand) {
    return desk_.remove_webhook(errand, id);
  });
}

Awaitable<Result<EventTypeRef>> RunningNode::change_event_type(std::string name, EventTypeEdit edit,
                                                               AuditEntry entry) {
  return at_desk<EventTypeRef>(std::move(entry), [this, name, edit](const Errand& errand) {
    return event_types_.change(errand.store, name, edit, errand.entry);
  });
}

Awaitable<Result<void>> RunningNode::change_registry(RegistryChange change, AuditEntry entry) {
  return at_desk<void>(std::move(entry), [this, change](const Errand& errand) {
    return desk_.change_registry(errand, change);
  });
}

Awaitable<Result<void>> RunningNode::remove_tenant(TenantId id, bool force, AuditEntry entry) {
  return at_desk<void>(std::move(entry), [this, id, force](const Errand& errand) {
    return desk_.remove_tenant(errand, id, force);
  });
}

QuotaWait RunningNode::take_quota(const EventCounts& counts) {
  return quota_.try_take(*desk_.roster(), counts, clock_->now().mono);
}

void RunningNode::note_key_use(const RosterKey& key) {
  const WallTime now = clock_->now().wall;
  key.note_use(now);
  const std::int64_t now_ms = to_unix_ms(now);
  std::int64_t written_ms = key_uses_written_ms_.load(std::memory_order_relaxed);
  if (now_ms - written_ms >= key_uses_period_ms &&
      key_uses_written_ms_.compare_exchange_strong(written_ms, now_ms)) {
    write_key_uses();
  }
}

void RunningNode::write_key_uses() {
  store_->submit(DeskJob{[this](Store& store, Mails&) { return desk_.write_key_uses(store); }});
}

void RunningNode::tell_backlog(const std::vector<LaneBacklog>& backlog, Mails& mails) {
  const std::shared_ptr<const Directory> directory = desk_.directory();
  for (const LaneBacklog& lane : backlog) {
    if (const WebhookRef webhook = directory->find(lane.webhook_id)) {
      mails[worker_of(lane.webhook_id, mails.size())].inputs.emplace_back(
          WebhookChanged{.webhook = webhook, .circuit = std::nullopt, .backlog_due = lane.due});
    }
  }
}

void RunningNode::disable(WebhookId id, const std::string& reason) {
  store_->submit(DeskJob{[this, id, reason](Store& store, Mails& mails) {
    const Result<void> done = desk_.disable_webhook({store, mails}, id, reason, clock_->now().wall);
    if (!done) {
      spdlog::error("webhook.disable_failed webhook={} reason=\"{}\"", id.to_string(),
                    log_safe(done.error().message));
    }
    return done;
  }});
}

Awaitable<Result<Delivery>> RunningNode::revive(Revive revive, AuditEntry entry) {
  revive.now = clock_->now().steady;  // Due at once, whatever the wall clock did.
  ReviveJob job{.revive = revive, .audit = std::move(entry), .origin = origin(), .done = {}};
  auto begin = [this, &job](auto resume) {
    job.done = resume;
    store_->submit(std::move(job));
  };
  co_return co_await suspend<Result<Delivery>>(begin);
}

Awaitable<Result<Delivery>> RunningNode::cancel(DeliveryId id, AuditEntry entry) {
  CancelJob job{.cancel = {.delivery_id = id, .now = clock_->now().wall},
                .audit = std::move(entry),
                .origin = origin(),
                .done = {}};
  auto begin = [this, &job](auto resume) {
    job.done = resume;
    store_->submit(std::move(job));
  };
  co_return co_await suspend<Result<Delivery>>(begin);
}

Awaitable<Result<Operation>> RunningNode::start_operation(Operation operation, AuditEntry entry) {
  return at_desk<Operation>(std::move(entry), [this, operation](const Errand& errand) {
    return operations_->add(errand, operation);
  });
}

Awaitable<Result<Operation>> RunningNode::cancel_operation(OperationId id, AuditEntry entry) {
  return at_desk<Operation>(std::move(entry), [this, id](const Errand& errand) {
    return operations_->cancel(errand, id);
  });
}

Awaitable<Result<TestSent>> RunningNode::send_test(WebhookRef webhook, Event event,
                                                   AuditEntry entry) {
  if (draining_ || store_->failure()) {
    co_return fail(Errc::unavailable, "The server cannot store a test at the moment. Retry soon.");
  }
  auto noting = note(std::move(entry));
  const Result<void> noted = co_await std::move(noting);
  if (!noted) {
    co_return tl::make_unexpected(noted.error());
  }
  const DeliveryId id{new_uuid()};
  TestSend test = plan_test(*webhook, std::move(event), id, clock_->now().steady);
  auto pending = tryouts_.send_test(*workers_[origin()], owner(webhook->id), std::move(test));
  co_return co_await std::move(pending);
}

Awaitable<Result<Outcome>> RunningNode::probe(Webhook webhook, Event event, Millis timeout) {
  Probe probe{.webhook = std::make_shared<const Webhook>(std::move(webhook)),
              .event = std::move(event),
              .timeout = timeout,
              .done = {}};
  return tryouts_.probe(*workers_[origin()], std::move(probe));
}

Awaitable<Result<void>> RunningNode::note(AuditEntry entry) {
  return at_desk<void>(std::move(entry), [](const Errand& errand) {
    return errand.store.journal->append(errand.entry);
  });
}

Awaitable<Result<std::uint64_t>> RunningNode::reseal_secrets(AuditEntry entry) {
  auto noting = note(std::move(entry));
  const Result<void> noted = co_await std::move(noting);
  if (!noted) {
    co_return tl::make_unexpected(noted.error());
  }
  auto pending = housekeeping_->reseal(origin());
  co_return co_await std::move(pending);
}

Awaitable<Result<LaneView>> RunningNode::lane_view(WebhookId id) {
  boost::asio::io_context& home = workers_[origin()]->io();
  auto begin = [this, &home, id](std::function<void(Result<LaneView>)> resume) {
    owner(id).run_on_shard([&home, id, resume](Shard& shard, Moment now) {
      Result<LaneView> answer = fail(Errc::not_found, "There is no such webhook.");
      if (std::optional<LaneView> view = shard.view(id, now)) {
        answer = *std::move(view);
      }
      boost::asio::post(home, [resume, answer = std::move(answer)] { resume(answer); });
    });
  };
  co_return co_await suspend<Result<LaneView>>(begin);
}

Awaitable<Result<LaneView>> RunningNode::command_circuit(CircuitCommanded command,
                                                         AuditEntry entry) {
  const WebhookId id = command.webhook_id;
  // The lane stores its circuit itself, a moment later; what was asked is on record before.
  auto noting = note(std::move(entry));
  const Result<void> appended = co_await std::move(noting);
  if (!appended) {
    co_return tl::make_unexpected(appended.error());
  }
  owner(id).feed_later(command);
  auto pending = lane_view(id);  // Behind the command in the same loop.
  const Result<LaneView> view = co_await std::move(pending);
  if (view && view->circuit.state == CircuitState::closed) {
    housekeeping_->hear(
        {.subject = {AlertKind::circuit_opened, id}, .active = false, .detail = {}});
  }
  co_return view;
}

Awaitable<void> RunningNode::run_query(ReaderQuery query) {
  boost::asio::io_context& home = workers_[origin()]->io();
  auto begin = [this, &home, &query](std::function<void(bool)> resume) {
    auto job = [&home, &query, resume](Reader& reader) {
      query(reader);
      boost::asio::post(home, [resume] { resume(true); });
    };
    readers_->submit(std::move(job));
  };
  (void)co_await suspend<bool>(begin);
}

std::optional<std::string> RunningNode::not_ready() const {
  if (draining_) {
    return "The server is shutting down.";
  }
  return store_->failure();
}

}  // namespace

Result<std::unique_ptr<Node>> make_node(NodeOptions options, NodeParts parts,
                                        const std::optional<ApiKey>& key) {
  POSTRIDER_TRY(std::vector<Webhook> webhooks, parts.store.catalog->load_webhooks());
  POSTRIDER_CHECK(reseal_all(*parts.store.catalog));
  POSTRIDER_TRY(const auto circuits, parts.store.catalog->load_circuits());
  const WallTime now = parts.clock->now().wall;
  const auto complain = [](const EventType& type, const Error& error) {
    spdlog::error("event_type.schema_unusable name={} reason=\"{}\" next=\"not checked\"",
                  type.name, log_safe(error.message));
  };
  POSTRIDER_TRY(EventTypeBook event_types,
                load_event_types(*parts.store.event_types, parts.make_schema_check, complain));
  POSTRIDER_TRY(const std::vector<LaneBacklog> backlog, parts.store.ledger->backlog());
  POSTRIDER_TRY(std::vector<Operation> operations, parts.store.operations->load_unfinished());
  POSTRIDER_TRY(std::vector<Alert> alerts, parts.store.alerts->load_active());
  std::map<TenantId, std::uint64_t> dead_letters;
  if (!parts.readers.empty()) {
    POSTRIDER_TRY(dead_letters, parts.readers.front().history->dead_letter_counts());
  }
  POSTRIDER_TRY(Roster roster, load_roster(parts.store, key, now));
  std::vector<WebhookRef> refs;
  refs.reserve(webhooks.size());
  for (Webhook& webhook : webhooks) {
    refs.push_back(std::make_shared<const Webhook>(std::move(webhook)));
  }
  auto node = std::make_unique<RunningNode>(std::move(options), std::move(parts),
                                            Contents{.directory = Directory{std::move(refs)},
                                                     .roster = std::move(roster),
                                                     .event_types = std::move(event_types),
                                                     .alerts = std::move(alerts)});
  POSTRIDER_CHECK(node->open());
  node->load_lanes(circuits, backlog);
  node->load_dead_letters(dead_letters);
  node->load_operations(std::move(operations));
  return node;
}

}  // namespace postrider
