// A model of one worker: a production ShardHost whose ports are the simulated store, the virtual
// clock and a simulated network. Destroyed by a crash.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ports/transport.h"

#include "runtime/delivery/shard_host.h"
#include "runtime/delivery/shard_ports.h"

#include "tests/simulation/sim_home.h"

namespace postrider::sim {

class SimWorker final : public Transport,
                        private StoreQueue,
                        private ShardLoop,
                        private ShardOwner,
                        private ShardTrace {
 public:
  /// `seed` differs from worker to worker and from life to life.
  SimWorker(const SimWorkerParts& parts, std::size_t index, std::uint64_t seed);

  [[nodiscard]] ShardHost& host() { return host_; }

  // Transport
  void send(OutboundRequest request, std::function<void(Outcome)> done) override;
  void change_addresses(AddressPolicy) override {}
  void end(std::uint16_t group) override;
  void stop() override;

 private:
  struct Flight {
    SimRequest request;
    std::uint16_t group = 0;
    std::function<void(Outcome)> done;
  };

  // StoreQueue
  void settle(std::vector<Settlement> settlements) override;
  void save_circuit(SaveCircuit save) override;
  void load_lane(LoadLane query) override;
  void load_events(std::vector<EventId> ids,
                   std::function<void(Result<std::vector<Event>>)> done) override;
  // ShardLoop
  void set_alarm(MonoTime at) override;
  void post(std::function<void()> task) override;
  // ShardOwner
  void disable_webhook(WebhookId id, const std::string& reason) override;
  void reschedule(WebhookId id) override { home_.reschedule(id); }
  void alert_changed(const AlertChange& change) override;
  void circuit_command_returned(const CircuitCommanded&) override {}
  void shard_handed_back(ShardNumber shard) override { home_.handed_back(shard); }
  void shard_drained() override;
  // ShardTrace
  void before_step(const Input& input) override { home_.before_step(input); }
  void after_step(const Commands& commands) override;

  void finish(std::uint64_t flight, const Outcome& outcome);
  void cut(std::uint64_t flight);

  SimHome& home_;
  const Scenario& scenario_;
  SplitMix64& random_;
  const Clock& clock_;
  std::size_t index_;
  std::uint64_t alarm_number_ = 0;  // Of the latest alarm; earlier ones are replaced.
  std::uint64_t next_flight_ = 0;
  std::map<std::uint64_t, Flight> flights_;
  bool stopped_ = false;
  ShardHost host_;
};

}  // namespace postrider::sim
