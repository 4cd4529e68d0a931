// Drives a ShardHost in tests: every port is recorded, and nothing happens by itself.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/shard/allowance.h"

#include "runtime/delivery/shard_host.h"

#include "tests/support/manual_clock.h"

namespace postrider::test {

[[nodiscard]] inline Outcome status(std::uint16_t code) {
  Outcome outcome;
  outcome.http_status = code;
  return outcome;
}

class ShardHostDriver final : private StoreQueue,
                              private ShardLoop,
                              private ShardOwner,
                              private ShardTrace,
                              private SendPermit,
                              private Transport {
 public:
  struct Sent {
    OutboundRequest request;
    std::function<void(Outcome)> done;
  };
  struct EventLoad {
    std::vector<EventId> ids;
    std::function<void(Result<std::vector<Event>>)> done;
  };
  struct Disabled {
    WebhookId id;
    std::string reason;
  };

  explicit ShardHostDriver(ShardHostOptions options = {}) {
    allowance_ = make_local_allowance(limits_of(options.shard));
    host_.emplace(std::move(options),
                  ShardHostParts{.clock = clock,
                                 .allowance = *allowance_,
                                 .transport = *this,
                                 .store = *this,
                                 .loop = *this,
                                 .owner = *this,
                                 .metrics = *metrics,
                                 .stream = stream,
                                 .make_sign =
                                     [](SignatureScheme, const Secret<std::string>&) {
                                       return [](std::string_view, std::string_view) {
                                         return std::string{"signature"};
                                       };
                                     },
                                 .trace = this,
                                 .permit = this});
  }

  [[nodiscard]] ShardHost& host() { return *host_; }

  /// Adds a webhook with the next id. `edit` may change it.
  WebhookId add_webhook(const std::function<void(Webhook&)>& edit = {}) {
    Webhook webhook;
    webhook.id.bytes[15] = ++webhooks_;
    webhook.tenant_id = "acme";
    webhook.url = "https://receiver.example/hook";
    change_webhook(std::move(webhook), edit);
    return last_webhook->id;
  }
  void change_webhook(Webhook webhook, const std::function<void(Webhook&)>& edit) {
    if (edit) {
      edit(webhook);
    }
    last_webhook = std::make_shared<const Webhook>(std::move(webhook));
    host_->feed(WebhookChanged{.webhook = last_webhook});
  }

  /// A new event, and its delivery to the webhook, due now.
  std::pair<EventRef, Delivery> make_delivery(WebhookId webhook) {
    Event event;
    event.id.bytes[15] = ++events_;
    event.type = "order.paid";
    event.data = R"({"order":)" + std::to_string(events_) + "}";
    Delivery delivery;
    delivery.id.bytes[15] = events_;
    delivery.event_id = event.id;
    delivery.webhook_id = webhook;
    delivery.event_type = event.type;
    delivery.sequence = events_;
    delivery.due = clock.now().steady;
    return {std::make_shared<const Event>(std::move(event)), delivery};
  }
  /// As the store does after a publish: with the payload.
  Delivery admit(WebhookId webhook) {
    const auto [event, delivery] = make_delivery(webhook);
    ShardReplies replies;
    replies.events.push_back(event);
    replies.inputs.emplace_back(Admitted{{delivery}});
    host_->receive(std::move(replies));
    return delivery;
  }

  /// Ends the oldest request in flight.
  void finish(Outcome outcome) {
    const Sent sent = std::move(in_flight.front());
    in_flight.pop_front();
    sent.done(std::move(outcome));
  }
  /// Runs what was posted, until nothing is.
  void run_posted() {
    while (!posted_.empty()) {
      const std::function<void()> task = std::move(posted_.front());
      posted_.pop_front();
      task();
    }
  }
  /// Answers every settlement that was handed to the store.
  void confirm_settlements() { answer_settlements<Settled>(); }
  void fail_settlements() { answer_settlements<StoreFailed>(); }

  /// Moves the clock to the alarm and rings it.
  void ring() {
    const MonoTime at = *std::exchange(alarm, std::nullopt);
    clock.advance(std::max(at - clock.now().mono, Micros{0}));
    host_->ring_alarm();
  }

  [[nodiscard]] bool has_metric(const std::string& line) {
    return ("\n" + metrics->text()).find("\n" + line + "\n") != std::string::npos;
  }

  ManualClock clock;
  std::unique_ptr<Metrics> metrics = make_metrics();
  StreamHub stream{StreamOptions{}};
  std::shared_ptr<const Webhook> last_webhook;

  // What the host did, in order. Tests take from these.
  std::vector<std::string> calls;  // Names of the calls to store and owner.
  std::deque<Sent> in_flight;
  std::vector<std::vector<Settlement>> settle_batches;
  std::vector<SaveCircuit> circuits;
  std::vector<LoadLane> lane_loads;
  std::vector<EventLoad> event_loads;
  std::optional<MonoTime> alarm;
  std::vector<Disabled> disabled;
  std::vector<WebhookId> rescheduled;
  std::vector<AlertChange> alerts;
  std::set<ShardNumber> not_permitted;  // The parts for which nothing may be sent.
  std::vector<CircuitCommanded> returned;
  std::vector<ShardNumber> handed_back;
  int drained = 0;
  std::vector<AddressPolicy> address_policies;
  std::vector<Input> inputs;
  std::vector<Command> commands;

 private:
  template <class Answer>
  void answer_settlements() {
    run_posted();
    for (const std::vector<Settlement>& batch : std::exchange(settle_batches, {})) {
      Answer answer;
      for (const Settlement& settlement : batch) {
        answer.deliveries.push_back({settlement.delivery.webhook_id, settlement.delivery.id});
      }
      host_->feed(std::move(answer));
    }
    run_posted();
  }

  void settle(std::vector<Settlement> settlements) override {
    calls.emplace_back("settle");
    settle_batches.push_back(std::move(settlements));
  }
  void save_circuit(SaveCircuit save) override {
    calls.emplace_back("save_circuit");
    circuits.push_back(save);
  }
  void load_lane(LoadLane query) override { lane_loads.push_back(query); }
  void load_events(std::vector<EventId> ids,
                   std::function<void(Result<std::vector<Event>>)> done) override {
    event_loads.push_back({std::move(ids), std::move(done)});
  }
  void set_alarm(MonoTime at) override { alarm = at; }
  void post(std::function<void()> task) override { posted_.push_back(std::move(task)); }
  void disable_webhook(WebhookId id, const std::string& reason) override {
    disabled.push_back({id, reason});
  }
  void reschedule(WebhookId id) override {
    calls.emplace_back("reschedule");
    rescheduled.push_back(id);
  }
  void alert_changed(const AlertChange& change) override { alerts.push_back(change); }
  void circuit_command_returned(const CircuitCommanded& command) override {
    calls.emplace_back("command_returned");
    returned.push_back(command);
  }
  void shard_handed_back(ShardNumber shard) override {
    calls.emplace_back("handed_back");
    handed_back.push_back(shard);
  }
  void shard_drained() override {
    calls.emplace_back("drained");
    ++drained;
  }
  [[nodiscard]] bool may_send(ShardNumber shard) const override {
    return !not_permitted.contains(shard);
  }
  void before_step(const Input& input) override { inputs.push_back(input); }
  void after_step(const Commands& step) override {
    commands.insert(commands.end(), step.begin(), step.end());
  }
  void send(OutboundRequest request, std::function<void(Outcome)> done) override {
    in_flight.push_back({std::move(request), std::move(done)});
  }
  void change_addresses(AddressPolicy addresses) override {
    address_policies.push_back(std::move(addresses));
  }
  void end(std::uint16_t group) override {
    std::deque<Sent> ending;
    for (Sent& each : std::exchange(in_flight, {})) {
      (each.request.group == group ? ending : in_flight).push_back(std::move(each));
    }
    for (Sent& each : ending) {
      each.done(lost());
    }
  }
  void stop() override {
    while (!in_flight.empty()) {
      finish(lost());
    }
  }
  [[nodiscard]] static Outcome lost() {
    Outcome outcome;
    outcome.failure = FailureCategory::network;
    return outcome;
  }

  std::uint8_t webhooks_ = 0;
  std::uint8_t events_ = 0;
  std::deque<std::function<void()>> posted_;
  std::unique_ptr<Allowance> allowance_;
  std::optional<ShardHost> host_;
};

}  // namespace postrider::test
