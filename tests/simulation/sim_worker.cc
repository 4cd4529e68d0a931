#include "tests/simulation/sim_worker.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"

#include "tests/simulation/network.h"
#include "tests/simulation/trace.h"

namespace postrider::sim {
namespace {

/// The id in a header of the request. It must be there.
template <class Id>
Id id_in_header(std::string_view request, std::string_view name) {
  const std::string line_start = fmt::format("\r\n{}: ", name);
  const std::size_t found = request.find(line_start);
  POSTRIDER_ASSERT(found != std::string_view::npos);
  const std::size_t begin = found + line_start.size();
  const auto id = Id::parse(request.substr(begin, request.find("\r\n", begin) - begin));
  POSTRIDER_ASSERT(id.has_value());
  return *id;
}

Sign make_no_signature(SignatureScheme, const Secret<std::string>&) {
  return [](std::string_view, std::string_view) { return std::string{}; };
}

Outcome connection_lost() {
  Outcome outcome;
  outcome.failure = FailureCategory::network;
  return outcome;
}

}  // namespace

SimWorker::SimWorker(const SimWorkerParts& parts, std::size_t index, std::uint64_t seed)
    : home_(parts.home),
      scenario_(parts.scenario),
      random_(parts.random),
      clock_(parts.clock),
      index_(index),
      host_({.index = index,
             .shard = scenario_.shard,
             .seed = seed,
             .payload_cache_bytes = scenario_.payload_cache_bytes,
             .url_policy = {},
             .user_agent = "simulation"},
            {.clock = parts.clock,
             .allowance = parts.allowance,
             .transport = *this,
             .store = *this,
             .loop = *this,
             .owner = *this,
             .metrics = parts.metrics,
             .stream = parts.stream,
             .make_sign = make_no_signature,
             .trace = this,
             .permit = parts.permit}) {}

// ---------------------------------------------------------------- the network

void SimWorker::send(OutboundRequest request, std::function<void(Outcome)> done) {
  const std::uint64_t flight = next_flight_++;
  const SimRequest sent{
      .worker = index_,
      .number = flight,
      .delivery_id = id_in_header<DeliveryId>(request.bytes, "X-Webhook-Delivery"),
      .webhook_id = id_in_header<WebhookId>(request.bytes, "X-Webhook-ID"),
      .event_id = id_in_header<EventId>(request.bytes, "webhook-id")};
  flights_.emplace(flight, Flight{sent, request.group, std::move(done)});
  if (home_.is_troubled() && !stopped_ && random_.below(1'000) < scenario_.shortages) {
    home_.later(Micros{0},
                [this, flight, outcome = not_sent(random_)] { finish(flight, outcome); });
    return;
  }
  home_.request_sent(sent);
  if (stopped_) {
    home_.later(Micros{0}, [this, flight] { finish(flight, connection_lost()); });
    return;
  }
  const auto receiver = std::ranges::find_if(scenario_.receivers, [&](const Receiver& each) {
    return each.webhook.id == sent.webhook_id;
  });
  POSTRIDER_ASSERT(receiver != scenario_.receivers.end());
  Reply reply = reply_of(receiver->behavior, request.timeout, random_);
  reply.outcome.duration = reply.delay;
  if (reply.accepted && reply.outcome.failure) {
    home_.ambiguous(sent.delivery_id);
  }
  if (reply.accepted) {
    // The receiver does not know whether the server is still alive.
    home_.elsewhere(reply.delay / 2, [&home = home_, id = sent.delivery_id] { home.accepted(id); });
  }
  home_.later(reply.delay, [this, flight, outcome = reply.outcome] { finish(flight, outcome); });
}

void SimWorker::finish(std::uint64_t flight, const Outcome& outcome) {
  const auto found = flights_.find(flight);
  if (found == flights_.end()) {
    return;  // Ended by `end` or `stop`.
  }
  const Flight ended = std::move(found->second);
  flights_.erase(found);
  home_.request_ended(ended.request);
  ended.done(outcome);
}

void SimWorker::cut(std::uint64_t flight) {
  home_.ambiguous(flights_.at(flight).request.delivery_id);
  finish(flight, connection_lost());
}

void SimWorker::end(std::uint16_t group) {
  std::vector<std::uint64_t> ending;
  for (const auto& [flight, request] : flights_) {
    if (request.group == group) {
      ending.push_back(flight);
    }
  }
  for (const std::uint64_t flight : ending) {
    cut(flight);
  }
}

void SimWorker::stop() {
  stopped_ = true;
  while (!flights_.empty()) {
    cut(flights_.begin()->first);
  }
}

// ---------------------------------------------------------------- store and event loop

void SimWorker::settle(std::vector<Settlement> settlements) {
  home_.submit(SimSettle{index_, std::move(settlements)});
}

void SimWorker::save_circuit(SaveCircuit save) { home_.submit(SimCircuit{save}); }

void SimWorker::load_lane(LoadLane query) { home_.submit(SimLoadLane{index_, query}); }

void SimWorker::load_events(std::vector<EventId> ids,
                            std::function<void(Result<std::vector<Event>>)> done) {
  home_.note(fmt::format("load {} events", ids.size()));
  home_.submit(SimLoadEvents{index_, std::move(ids), std::move(done)});
}

void SimWorker::set_alarm(MonoTime at) {
  const std::uint64_t number = ++alarm_number_;
  home_.later_at(at, [this, number] {
    if (alarm_number_ == number) {
      host_.ring_alarm();
    }
  });
}

void SimWorker::post(std::function<void()> task) { home_.later(Micros{0}, std::move(task)); }

// ---------------------------------------------------------------- the node

void SimWorker::disable_webhook(WebhookId id, const std::string&) { home_.disable_webhook(id); }

void SimWorker::alert_changed(const AlertChange& change) {
  home_.note(fmt::format("alert {} {}", to_string(change.subject.kind),
                         change.active ? "raised" : "resolved"));
}

void SimWorker::shard_drained() { home_.drained(host_.shard().view()); }

void SimWorker::after_step(const Commands& commands) {
  for (const Command& command : commands) {
    home_.note(describe(command));
  }
  home_.after_step(host_, commands);
}

}  // namespace postrider::sim
