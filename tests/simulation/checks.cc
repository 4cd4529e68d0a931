#include "tests/simulation/checks.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/growth.h"
#include "core/net/target_url.h"

#include "adapters/memory/memory_fanouts.h"

namespace postrider::sim {
namespace {

// How long a new event may wait for a healthy receiver without any limit (P5).
constexpr Micros prompt_max = std::chrono::seconds{5};
// How many attempts per webhook of a crowd may end before one of them starts again (P5).
constexpr std::uint64_t turns_max = 24;

std::string host_of(const Webhook& webhook) { return parse_target_url(webhook.url, {})->host; }

}  // namespace

std::string excess_of(const std::optional<RateLimit>& limit, const std::vector<MonoTime>& starts,
                      double rate) {
  for (std::size_t first = 0; limit && first < starts.size(); ++first) {
    const double waited = static_cast<double>((starts.back() - starts[first]).count());
    const double earned =
        rate * waited * limit->count / static_cast<double>(Micros{limit->period}.count());
    const auto taken = static_cast<double>(starts.size() - first);
    if (taken > limit->burst + earned + 1e-6) {
      return fmt::format("{} attempts in {} us", taken, waited);
    }
  }
  return {};
}

void Checks::violate(const std::string& what) {
  violations_.push_back(
      fmt::format("at {} us: {}", timeline_.mono().time_since_epoch().count(), what));
}

void Checks::admitted(const Delivery& delivery) {
  admitted_at_.try_emplace(delivery.id, timeline_.mono());
  waits_since_.try_emplace(delivery.webhook_id, ended_count_);
}

void Checks::attempt_started(const StartAttempt& start) {
  const Delivery& delivery = start.delivery;
  const std::string name = delivery.id.to_string();
  attempted(delivery.id);
  const auto found = known_webhooks_.find(delivery.webhook_id);
  if (found == known_webhooks_.end()) {
    violate("an attempt to a removed webhook: " + name);
    return;
  }
  const Webhook& webhook = found->second;
  if (webhook.paused || !webhook.active) {
    violate("an attempt to a webhook that is paused or inactive: " + name);
  }
  if (delivery.budget_used >= webhook.retry.attempts_max) {
    violate("P2: more attempts than the budget: " + name);
  }
  if (flights_.contains(delivery.id)) {
    violate("one delivery in flight twice: " + name);
  }
  const auto in_flight = std::ranges::count_if(
      flights_, [&](const auto& flight) { return flight.second.webhook_id == webhook.id; });
  if (in_flight >= static_cast<std::ptrdiff_t>(webhook.max_in_flight)) {
    violate("P7: more in flight than max_in_flight: " + name);
  }
  check_order(delivery, webhook);
  check_notes(delivery, webhook);
  check_rate(webhook);
  check_shared_limits(webhook);
  check_memory(delivery);
  check_spacing(delivery, webhook);
  check_promptness(delivery);
  check_turns(delivery.webhook_id);
  flights_.emplace(delivery.id,
                   Flight{webhook.id, delivery.event_type, webhook.tenant_id, host_of(webhook)});
}

void Checks::check_order(const Delivery& delivery, const Webhook& webhook) {
  if (webhook.ordering == Ordering::none) {
    return;
  }
  const auto same_line = [&](const std::string& event_type) {
    return webhook.ordering == Ordering::strict || event_type == delivery.event_type;
  };
  for (const auto& [id, flight] : flights_) {
    if (flight.webhook_id == webhook.id && same_line(flight.event_type)) {
      violate("P4: two of one line in flight: " + delivery.id.to_string());
    }
  }
  const auto waiting = durable_.waiting.find(webhook.id);
  if (waiting == durable_.waiting.end()) {
    return;
  }
  for (const std::int64_t sequence : waiting->second) {
    if (sequence >= delivery.sequence) {
      break;
    }
    const Delivery& earlier = durable_.deliveries.at(sequence).delivery;
    if (same_line(earlier.event_type) && !revived_.contains(earlier.id)) {
      violate(
          fmt::format("P4: {} starts before {}", delivery.id.to_string(), earlier.id.to_string()));
    }
  }
}

/// No earlier event that the webhook still has to get from a note is overtaken.
void Checks::check_notes(const Delivery& delivery, const Webhook& webhook) {
  if (webhook.ordering == Ordering::none || replayed_.contains(delivery.id)) {
    return;
  }
  const std::int64_t sequence = durable_.event_sequences.at(delivery.event_id);
  for (const auto& [key, note] : durable_.fanouts) {
    const Event& earlier = *durable_.events.at(key.second).event;
    const bool same_line =
        webhook.ordering == Ordering::strict || earlier.type == delivery.event_type;
    if (key.second < sequence && same_line && will_reach(durable_, earlier, webhook.id)) {
      violate(fmt::format("P4: {} overtakes an event that is being fanned out",
                          delivery.id.to_string()));
    }
  }
}

void Checks::check_rate(const Webhook& webhook) {
  Starts& starts = starts_[webhook.id];
  starts.push_back(timeline_.mono());
  if (const std::string excess = excess_of(webhook.rate_limit, starts); !excess.empty()) {
    violate(fmt::format("P7: {} of {}", excess, webhook.id.to_string()));
  }
}

/// These limits hold for all shards together.
void Checks::check_shared_limits(const Webhook& webhook) {
  const ShardOptions& limits = scenario_.shard;
  const auto of_tenant = std::ranges::count_if(
      flights_, [&](const auto& flight) { return flight.second.tenant_id == webhook.tenant_id; });
  if (flights_.size() >= limits.in_flight_max) {
    violate("P7: more in flight than in_flight_max");
  }
  if (of_tenant >= static_cast<std::ptrdiff_t>(limits.tenant_in_flight_max)) {
    violate("P7: more in flight than tenant_in_flight_max: " + webhook.tenant_id);
  }
  const std::string host = host_of(webhook);
  const auto of_host = std::ranges::count_if(
      flights_, [&](const auto& flight) { return flight.second.host == host; });
  if (limits.host_in_flight_max &&
      of_host >= static_cast<std::ptrdiff_t>(*limits.host_in_flight_max)) {
    violate("P7: more in flight than host_in_flight_max: " + host);
  }
  tenant_starts_[webhook.tenant_id].push_back(timeline_.mono());
  all_starts_.push_back(timeline_.mono());
  if (const std::string excess = excess_of(limits.tenant_rate, tenant_starts_[webhook.tenant_id]);
      !excess.empty()) {
    violate(fmt::format("P7: {} of {}", excess, webhook.tenant_id));
  }
  if (const std::string excess = excess_of(limits.total_rate, all_starts_); !excess.empty()) {
    violate(fmt::format("P7: {} of all tenants", excess));
  }
}

void Checks::check_spacing(const Delivery& delivery, const Webhook& webhook) {
  const auto ended = ended_at_.find(delivery.id);
  const bool planned = delivery.budget_used > 0 && delivery.trigger == Trigger::scheduled;
  if (!planned || ended == ended_at_.end() || revived_.contains(delivery.id)) {
    return;
  }
  // The steady wall runs at most a sixteenth faster than the monotonic clock, whatever the wall
  // clock does.
  Millis delay = Millis::max();
  for (const RetryPolicy& policy :
       policies_[webhook.id]) {  // A longer one applies from the next attempt on.
    delay = std::min(delay, backoff_delay(policy, delivery.budget_used, 0.0));
  }
  const Micros least = Micros{delay} * 16 / 17;
  if (timeline_.mono() - ended->second < least - Millis{2}) {
    violate(fmt::format("P9: {} was tried again after {} us", delivery.id.to_string(),
                        (timeline_.mono() - ended->second).count()));
  }
}

void Checks::check_waits(WebhookId id) {
  const auto waiting = durable_.waiting.find(id);
  if (waiting != durable_.waiting.end()) {
    for (const std::int64_t sequence : waiting->second) {
      check_wait(durable_.deliveries.at(sequence).delivery.id);
    }
  }
}

/// A changed policy also applies to deliveries that wait already.
void Checks::check_wait(DeliveryId id) {
  const auto found = durable_.delivery_sequences.find(id);
  const auto stored = found == durable_.delivery_sequences.end()
                          ? durable_.deliveries.end()
                          : durable_.deliveries.find(found->second);
  if (stored == durable_.deliveries.end()) {
    return;
  }
  const Delivery& delivery = stored->second.delivery;
  const auto webhook = durable_.webhooks.find(delivery.webhook_id);
  if (webhook == durable_.webhooks.end() || durable_.rescheduling.contains(delivery.webhook_id) ||
      !is_waiting(delivery.state) || delivery.budget_used == 0) {
    return;
  }
  const RetryPolicy& policy = webhook->second.retry;
  // A Retry-After and the minimum of the failure category may be longer.
  Millis longest = std::max(backoff_delay(policy, delivery.budget_used, 0.999999), Millis{1});
  const bool asked = stored->second.last_http_status == 429;
  longest = asked ? std::max(longest, policy.delay_max) : longest;
  // The longest minimum, with all of the jitter.
  const double share = 1.0 + std::max(policy.jitter.minus, policy.jitter.plus);
  const Millis minimum = to_millis(60'000 * share) + policy.jitter.extra;
  longest = policy.category_minimums ? std::max(longest, minimum) : longest;
  if (delivery.due > later(timeline_.now().steady, longest)) {
    violate(fmt::format("{} waits longer than its policy allows", delivery.id.to_string()));
  }
}

/// A lane must not wait longer than the stored due time.
void Checks::check_memory(const Delivery& delivery) {
  const auto found = durable_.deliveries.find(delivery.sequence);
  if (found == durable_.deliveries.end()) {
    return;
  }
  const Delivery& stored = found->second.delivery;
  const bool same = is_waiting(stored.state) && stored.attempt_count == delivery.attempt_count &&
                    stored.revivals == delivery.revivals && stored.id == delivery.id;
  if (same && delivery.due > stored.due) {
    violate(fmt::format("{} was brought forward to {}, but its lane waited until {}",
                        delivery.id.to_string(), to_unix_ms(stored.due), to_unix_ms(delivery.due)));
  }
}

void Checks::check_promptness(const Delivery& delivery) {
  const WebhookId healthy = scenario_.receivers.front().webhook.id;
  const auto since = admitted_at_.find(delivery.id);
  if (delivery.webhook_id != healthy || delivery.attempt_count > 0 || since == admitted_at_.end()) {
    return;
  }
  const ShardOptions& shard = scenario_.shard;
  // Also among hostile receivers and tenants, which try to take all slots.
  const bool enough_slots =
      shard.in_flight_max == ShardOptions{}.in_flight_max || !scenario_.floods.empty();
  const bool roomy = !scenario_.crowded && shard.window_max == ShardOptions{}.window_max &&
                     enough_slots && !shard.tenant_rate && !shard.total_rate;
  const Micros waited = timeline_.mono() - std::max(since->second, last_trouble_);
  // Among hostile receivers, one that was never tried may wait as long as they do.
  const bool tried = scenario_.floods.empty() || (tried_at_ && *tried_at_ < since->second);
  if (roomy && tried && waited > prompt_max) {
    violate(fmt::format("P5: {} to a healthy webhook waited {} us", delivery.id.to_string(),
                        waited.count()));
  }
}

/// Among many healthy webhooks, all with a backlog, each one starts within a bounded number of
/// attempts that end.
void Checks::check_turns(WebhookId id) {
  const auto receiver = std::ranges::find(scenario_.receivers, id,
                                          [](const Receiver& each) { return each.webhook.id; });
  if (!scenario_.crowded || receiver == scenario_.receivers.end()) {
    return;
  }
  const auto [since, is_first] = waits_since_.try_emplace(id, ended_count_);
  const std::uint64_t waited = ended_count_ - std::exchange(since->second, ended_count_);
  if (waited > turns_max * scenario_.receivers.size()) {
    violate(fmt::format("P5: {} waited while {} attempts ended", id.to_string(), waited));
  }
}

void Checks::attempt_ended(DeliveryId delivery_id, bool sent) {
  flights_.erase(delivery_id);
  ++ended_count_;
  if (sent) {
    ended_at_[delivery_id] = timeline_.mono();
  }
}

void Checks::lane_seen(const LaneView& view, bool started) {
  if (view.window_count > scenario_.shard.window_max) {
    violate("P6: a lane's window is too large");
  }
  if (started && view.circuit.state == CircuitState::open) {
    violate("P7: an attempt through an open circuit");
  }
}

void Checks::shard_seen(const ShardView& view) {
  if (view.unsettled > scenario_.shard.unsettled_max + scenario_.shard.in_flight_max) {
    violate("P6: too many unsettled");
  }
}

void Checks::drained(const ShardView& view) {
  if (view.in_flight > 0) {
    violate("P10: drained with attempts in flight");
  }
  // A drain does not wait for a store that is down.
  if (view.unsettled > 0 && scenario_.commit_fails == 0) {
    violate("P10: drained with settlements that are not stored");
  }
}

void Checks::drain_overdue() { violate("P10: the drain did not end"); }

void Checks::started_while_draining(DeliveryId id) {
  violate("P10: an attempt started while draining: " + id.to_string());
}

void Checks::sent(DeliveryId id, WebhookId webhook_id, EventId event_id) {
  const auto sequence = durable_.delivery_sequences.find(id);
  if (sequence == durable_.delivery_sequences.end()) {
    violate("a request for an unknown delivery: " + id.to_string());
    return;
  }
  const Delivery& delivery = durable_.deliveries.at(sequence->second).delivery;
  if (delivery.webhook_id != webhook_id || delivery.event_id != event_id) {
    violate("the wrong event or receiver: " + id.to_string());
  }
  if (!flights_.contains(id)) {
    violate("a request without an attempt: " + id.to_string());
  }
  if (!tried_at_ && webhook_id == scenario_.receivers.front().webhook.id) {
    tried_at_ = timeline_.mono();
  }
  if (!known_webhooks_.contains(webhook_id)) {
    violate("a request to a removed webhook: " + id.to_string());
  }
}

void Checks::accepted(DeliveryId id) {
  if (++accepted_[id] > 1 && !ambiguous_.contains(id) && !revived_.contains(id)) {
    violate("P2: delivered twice without an ambiguous outcome: " + id.to_string());
  }
}

void Checks::crashed() {
  for (const auto& [id, flight] : flights_) {
    ambiguous_.insert(id);
  }
  ambiguous_.insert(unsettled_.begin(), unsettled_.end());
  unsettled_.clear();
  flights_.clear();
  tenant_starts_.clear();  // A new process does not know what was sent.
  all_starts_.clear();
  known_webhooks_.clear();
  admitted_at_.clear();
  ended_at_.clear();  // A new process trusts the wall clock.
  trouble();
}

void Checks::check_store() {
  for (const auto& [id, receivers] : acknowledged_) {
    if (!durable_.event_sequences.contains(id)) {
      violate("P1: acknowledged and lost: " + id.to_string());
    }
  }
  std::set<std::pair<TenantId, std::string>> keys;
  for (const auto& [sequence, stored] : durable_.events) {
    const Event& event = *stored.event;
    if (!event.idempotency_key.empty() &&
        !keys.emplace(event.tenant_id, event.idempotency_key).second) {
      violate("P3: one key, two events: " + event.idempotency_key);
    }
    std::set<WebhookId> reached;
    for (const std::vector<std::int64_t>* sequences : {&stored.deliveries, &stored.late}) {
      for (const std::int64_t each : *sequences) {
        if (!reached.insert(durable_.deliveries.at(each).delivery.webhook_id).second) {
          violate("P2: one event, one webhook, two deliveries: " + event.id.to_string());
        }
      }
    }
  }
}

/// Every webhook that matched and still exists has a delivery.
void Checks::check_reached(EventId id, const std::vector<WebhookId>& receivers) {
  const MemoryEvent& stored = durable_.events.at(durable_.event_sequences.at(id));
  std::set<WebhookId> reached;
  for (const std::vector<std::int64_t>* sequences : {&stored.deliveries, &stored.late}) {
    for (const std::int64_t each : *sequences) {
      reached.insert(durable_.deliveries.at(each).delivery.webhook_id);
    }
  }
  for (const WebhookId receiver : receivers) {
    if (durable_.webhooks.contains(receiver) && !reached.contains(receiver)) {
      violate(fmt::format("P2: {} has no delivery to {}", id.to_string(), receiver.to_string()));
    }
  }
}

void Checks::check_end() {
  check_store();
  if (!durable_.fanouts.empty()) {
    violate("P1: deliveries were never made");
  }
  for (const auto& [id, receivers] : acknowledged_) {
    if (durable_.event_sequences.contains(id)) {
      check_reached(id, receivers);
    }
  }
  for (const auto& [sequence, record] : durable_.deliveries) {
    const Delivery& delivery = record.delivery;
    if (delivery.state == DeliveryState::succeeded && !accepted_.contains(delivery.id)) {
      violate("P2: succeeded, but no receiver accepted it: " + delivery.id.to_string());
    }
    if (delivery.state == DeliveryState::dead_letter && attempts_due_.contains(delivery.id)) {
      violate("P2: revived, but never tried again: " + delivery.id.to_string());
    }
    if (is_waiting(delivery.state)) {
      const auto webhook = durable_.webhooks.find(delivery.webhook_id);
      if (webhook == durable_.webhooks.end()) {
        violate("P2: waits for a webhook that is gone: " + delivery.id.to_string());
      } else if (webhook->second.active) {
        violate("P2: still waits when all is calm: " + delivery.id.to_string());
      }
    }
  }
}

}  // namespace postrider::sim
