// One io thread: its event loop, its shard and its transport. Carries out the shard's commands and
// feeds it what came of them; decides nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/request/request.h"
#include "engine/alerts/alert_rules.h"
#include "engine/intake/intake.h"
#include "engine/shard/allowance.h"
#include "engine/shard/shard.h"
#include "ports/clock.h"
#include "ports/transport.h"

#include "runtime/delivery/attempt_waiters.h"
#include "runtime/delivery/target.h"
#include "runtime/observability/attempt_log.h"
#include "runtime/observability/metrics.h"
#include "runtime/observability/stream_hub.h"
#include "runtime/store/payload_cache.h"
#include "runtime/store/store_thread.h"

namespace postrider {

using MakeTransport =
    std::function<Result<std::unique_ptr<Transport>>(boost::asio::io_context&, const Clock&)>;

/// One request outside all lanes: nothing is recorded, no gate is asked.
struct Probe {
  std::shared_ptr<const Webhook> webhook;  // Need not be stored.
  Event event;
  Millis timeout{0};
  std::function<void(Outcome)> done;  // On the io thread.
};

/// An event for one webhook, whose attempt somebody waits for.
struct TestSend {
  Publish publish;  // With one delivery.
  Millis patience{0};
  AttemptWaiters::Done done;  // On the io thread.
};

struct WorkerOptions {
  std::size_t index = 0;
  ShardOptions shard;
  std::uint64_t seed = 0;
  AlertLimits alerts = {};
  std::size_t payload_cache_bytes = 64u << 20;
  UrlPolicy url_policy;
  std::string user_agent;
};

/// What a worker uses and does not own. All outlive it.
struct WorkerParts {
  const Clock* clock = nullptr;
  StoreThread* store = nullptr;
  Allowance* allowance = nullptr;  // Speaks for this worker.
  Metrics* metrics = nullptr;
  StreamHub* stream = nullptr;
  MakeTransport make_transport;
  MakeSign make_sign;
  std::function<void(WebhookId id, const std::string& reason)> disable_webhook;  // Any thread.
  std::function<void(WebhookId id)> reschedule;                                  // Any thread.
  std::function<void(const AlertChange& change)> alert;                          // Any thread.
  std::function<void()> drained;                                                 // Any thread.
};

class Worker {
 public:
  Worker(WorkerOptions options, WorkerParts parts);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Opens the transport. Fails with what that fails with. Before anything else.
  [[nodiscard]] Result<void> open();
  void start();
  /// Ends the loop and joins. Nothing runs on it afterwards.
  void stop();

  /// The worker whose thread this is; null on other threads.
  [[nodiscard]] static Worker* current();
  [[nodiscard]] std::size_t index() const { return options_.index; }
  [[nodiscard]] boost::asio::io_context& io() { return io_; }

  /// Any thread.
  [[nodiscard]] TransportCounters transport_counters() const { return transport_->counters(); }
  void receive(ShardReplies replies);
  void drain();
  /// Hands back what is still in flight: it will be sent again after the next start (P2, P10).
  void abandon();
  /// `act` runs on the io thread.
  void run_on_shard(std::function<void(Shard&, Moment)> act);
  void feed_later(Input input);
  /// For webhooks heard of from then on, and for every address that is connected to.
  void change_url_policy(UrlPolicy policy);
  /// These must be called on the io thread.
  void probe(Probe probe);
  /// Any thread.
  void send_test(TestSend test);
  /// To be called now and then: says what has become worth an alert, and what has calmed down.
  void look_for_alerts();
  /// Any thread.
  void change_alert_limits(const AlertLimits& limits);
  /// Before start(): an alert that was active when the server ended.
  void restore(const AlertSubject& alert) { alert_rules_.restore(alert); }

 private:
  void feed(Input input);
  void perform(Command command);
  void perform(StartAttempt command);
  void perform(Settle command);
  void perform(LoadLane command);
  void perform(Reschedule command);
  void perform(SetAlarm command);
  void perform(SaveCircuit command);
  void perform(DisableWebhook command);
  void perform(RaiseAlert command);
  void perform(Drained command);
  void tell(WebhookId id, std::variant<DeliveryUpdate, CircuitUpdate, AlertUpdate> what);
  void remember(const WebhookChanged& changed);
  void send(const StartAttempt& command, const EventRef& event);
  void events_loaded(Result<std::vector<Event>> events, std::vector<StartAttempt> waiting);
  [[nodiscard]] TargetOptions target_options() const;
  void watch_attempt(const Settlement& settlement);
  void watch_circuit(WebhookId id, const CircuitRecord& record);
  void note_given_up(const Settlement& settlement);
  void flush_soon();
  void flush();
  void flush_circuits();
  void flush_settlements();

  WorkerOptions options_;
  WorkerParts parts_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer alarm_;
  Shard shard_;
  PayloadCache payloads_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<AttemptMeter> meter_;
  std::unordered_map<WebhookId, std::unique_ptr<Target>> targets_;
  std::unordered_map<WebhookId, CircuitState> circuits_;
  AttemptWaiters watches_;
  AlertRules alert_rules_;

  // Collected while handling what is ready now, handed over once.
  bool flush_scheduled_ = false;
  std::vector<Settlement> settlements_;
  std::vector<StartAttempt> payloads_missing_;
  std::unordered_map<WebhookId, SaveCircuit> unsaved_circuits_;  // The latest of each.

  bool abandoning_ = false;
  std::thread thread_;
};

}  // namespace postrider
