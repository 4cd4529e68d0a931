// One io thread: its event loop, its transport and the host of its shard. Everything that enters
// from another thread is posted to the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "engine/intake/publish.h"
#include "ports/clock.h"
#include "ports/transport.h"

#include "runtime/delivery/planning_turns.h"
#include "runtime/delivery/shard_host.h"
#include "runtime/delivery/shard_ports.h"
#include "runtime/store/store_thread.h"

namespace postrider {

using MakeTransport =
    std::function<Result<std::unique_ptr<Transport>>(boost::asio::io_context&, const Clock&)>;

/// An event for one webhook, with a caller that waits for the attempt.
struct TestSend {
  Publish publish;  // With one delivery.
  Millis patience{0};
  AttemptWaiters::Done done;  // On the io thread.
};

/// All references must outlive the worker.
struct WorkerParts {
  const Clock& clock;
  StoreThread& store;
  Allowance& allowance;  // This worker's part of the shared limits.
  ShardOwner& owner;
  Metrics& metrics;
  StreamHub& stream;
  MakeTransport make_transport;
  MakeSign make_sign;
  Tracer* tracer = nullptr;            // Null: tracing is off.
  const SendPermit* permit = nullptr;  // See ShardHostParts.
};

class Worker final : private StoreQueue, private ShardLoop {
 public:
  /// `options.index` is the worker's place among all workers.
  Worker(ShardHostOptions options, WorkerParts parts);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Makes the transport and the shard's host. Must succeed before any other call. Fails if the
  /// transport cannot be made.
  [[nodiscard]] Result<void> open();
  /// Before start(): an alert that was active when the server stopped.
  void restore_alert(const Alert& alert) { host_->restore_alert(alert); }
  void start();
  /// Stops the loop and joins the thread.
  void stop();

  /// The worker whose thread this is. Returns null on other threads.
  [[nodiscard]] static Worker* current();
  [[nodiscard]] std::size_t index() const { return index_; }
  [[nodiscard]] boost::asio::io_context& io() { return io_; }

  // Io thread only.

  [[nodiscard]] PlanningTurns& planning_turns() { return planning_turns_; }
  void probe(Probe probe) { host_->probe(std::move(probe)); }

  // Any thread, like the rest. Inputs posted before start() are handled first.

  [[nodiscard]] TransportCounters transport_counters() const { return transport_->counters(); }
  void receive(ShardReplies replies);
  void feed_later(Input input);
  void drain() { feed_later(DrainRequested{}); }
  /// See ShardHost::abandon.
  void abandon();
  /// Runs `act` on the io thread.
  void run_on_shard(std::function<void(Shard&, Moment)> act);
  void change_url_policy(UrlPolicy policy);
  void send_test(TestSend test);
  /// See ShardHost::check_alerts. Call periodically.
  void check_alerts();
  void change_alert_limits(const AlertLimits& limits);
  /// An active alert about a webhook that this server works from now on.
  void restore_alert_later(const Alert& alert);

 private:
  /// Calls itself again if the store refuses the test as Outdated.
  void publish_test(std::shared_ptr<const Publish> publish, int tries_left);

  // StoreQueue
  void settle(std::vector<Settlement> settlements) override;
  void save_circuit(SaveCircuit save) override;
  void load_lane(LoadLane query) override;
  void load_events(std::vector<EventId> ids,
                   std::function<void(Result<std::vector<Event>>)> done) override;
  // ShardLoop
  void set_alarm(MonoTime at) override;
  void post(std::function<void()> task) override;

  const std::size_t index_;
  ShardHostOptions options_;  // Until open().
  WorkerParts parts_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer alarm_;
  PlanningTurns planning_turns_;
  std::unique_ptr<ShardHost> host_;
  // Destroyed before the host, because ending its requests calls the host back.
  std::unique_ptr<Transport> transport_;
  std::thread thread_;
};

}  // namespace postrider
