#include <algorithm>
#include <span>
#include <tuple>

#include "core/base/assert.h"
#include "core/base/overloaded.h"
#include "ports/claims.h"
#include "ports/dead_letter_audit.h"
#include "ports/settlement_rule.h"

#include "adapters/memory/memory_fanouts.h"
#include "adapters/memory/memory_lanes.h"
#include "adapters/memory/memory_rows.h"
#include "adapters/memory/memory_source_rows.h"
#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

class MemoryLedger final : public Ledger {
 public:
  explicit MemoryLedger(MemoryStore& store) : store_(store) {}

  Result<BatchReceipt> commit(const Batch& batch) override {
    const std::lock_guard guard{store_.mutex};
    BatchReceipt receipt;
    for (std::span<const Publish> rest = batch.publishes; !rest.empty();) {
      const std::size_t length = group_length(rest);
      publish_group(rest.first(length), receipt);
      rest = rest.subspan(length);
    }
    for (const Settlement& settlement : batch.settlements) {
      settle(settlement, receipt);
    }
    for (const Revive& order : batch.revivals) {
      receipt.revivals.push_back(revive(order, receipt));
    }
    for (const AddLateDelivery& order : batch.late_deliveries) {
      receipt.late_deliveries.push_back(add_late_delivery(order, receipt));
    }
    for (const Cancel& order : batch.cancels) {
      receipt.cancels.push_back(cancel(order, receipt));
    }
    for (const SaveCircuit& circuit : batch.circuits) {
      save_circuit(circuit);
    }
    if (store_.digest != nullptr) {
      for (const AuditEntry& entry : dead_letter_entries(receipt.new_dead_letters)) {
        append_audit(store_, entry);
      }
    }
    for (const BatchAudit& audit : batch.audits) {
      if (audit_applies(audit, receipt)) {
        append_audit(store_, audit.entry);
      }
    }
    add_to_operations(store_, receipt.outcomes);
    std::erase_if(receipt.dead_letter_changes, [](const auto& each) { return each.second == 0; });
    receipt.waiting_change.remove_zeros();
    return receipt;
  }

  Result<void> recover() override { return {}; }

  Result<LanePage> load_lane(const LoadLane& query) override {
    const std::lock_guard guard{store_.mutex};
    return make_lane_page(waiting_of(query.webhook_id), query);
  }

  Result<std::vector<LaneBacklog>> backlog() override {
    const std::lock_guard guard{store_.mutex};
    std::vector<LaneBacklog> lanes;
    for (const auto& [webhook_id, sequences] : store_.waiting) {
      WallTime due = WallTime::max();
      for (const std::int64_t sequence : sequences) {
        due = std::min(due, store_.deliveries.at(sequence).delivery.due);
      }
      lanes.push_back({.webhook_id = webhook_id,
                       .due = due,
                       .last_attempt = std::max(find_time(store_.last_success_at, webhook_id),
                                                find_time(store_.last_failure_at, webhook_id))});
    }
    return lanes;
  }

  Result<std::vector<PastCall>> recent_calls(WebhookId id, const CallsToRestore& which) override {
    const std::lock_guard guard{store_.mutex};
    return postrider::recent_calls(store_, id, which);
  }

  Result<BroughtForward> bring_forward(const BringForward& order) override {
    const std::lock_guard guard{store_.mutex};
    const LaneCursor begin{.priority = Priority::high, .due = order.now, .sequence = 0};
    const LaneCursor after = order.after.value_or(begin);
    std::vector<Delivery> rest;
    for (Delivery& delivery : waiting_of(order.webhook_id)) {
      if (place_of(delivery) > std::tuple{after.priority, after.due, after.sequence} &&
          delivery.due > order.now) {
        rest.push_back(std::move(delivery));
      }
    }
    std::ranges::sort(rest, {}, place_of);
    BroughtForward step;
    if (rest.size() > order.limit) {
      rest.resize(order.limit);
      step.next = {rest.back().priority, rest.back().due, rest.back().sequence};
    } else {
      store_.rescheduling.erase(order.webhook_id);
    }
    for (const Delivery& delivery : rest) {
      DeliveryRecord record = store_.deliveries.at(delivery.sequence);
      record.delivery.due = due_under(order.policy, delivery, order.now);
      if (record.delivery.due < delivery.due) {
        step.moved.push_back(record.delivery);
        put(store_, std::move(record));
      }
    }
    return step;
  }

  Result<FannedOut> fan_out(const FanOutStep& step) override {
    const std::lock_guard guard{store_.mutex};
    FannedOut done;
    std::size_t bytes = 0;
    for (std::uint32_t used = 0; used < step.limit && bytes <= fan_out_bytes_max;) {
      const auto note = store_.fanouts.lower_bound({step.tenant_id, 0});
      if (note == store_.fanouts.end() || note->first.first != step.tenant_id) {
        done.finished = true;
        break;
      }
      MemoryEvent& stored = store_.events.at(note->first.second);
      FannedOut::Part& part = done.parts.emplace_back(FannedOut::Part{*stored.event, {}});
      bytes += part.event.data.size();
      for (; used < step.limit && note->second.remaining > 0; ++used) {
        const WebhookId webhook_id = take_next(note->second);
        if (step.exists(webhook_id)) {
          part.deliveries.push_back(make_delivery(stored, webhook_id, note->second, step));
        } else {
          ++done.left_out;
        }
      }
      if (note->second.remaining == 0) {
        store_.fanouts.erase(note);
      }
    }
    return done;
  }

  Result<std::map<TenantId, std::uint64_t>> open_fanouts() override {
    const std::lock_guard guard{store_.mutex};
    std::map<TenantId, std::uint64_t> open;
    for (const auto& [key, note] : store_.fanouts) {
      open[key.first] += note.remaining;
    }
    return open;
  }

  Result<TenantCounts> count_waiting() override {
    return make_memory_history(store_)->waiting_counts();
  }

  Result<std::vector<Event>> load_events(const std::vector<EventId>& ids) override {
    const std::lock_guard guard{store_.mutex};
    std::vector<Event> events;
    for (const EventId& id : ids) {
      const auto found = store_.event_sequences.find(id);
      if (found != store_.event_sequences.end()) {
        events.push_back(*store_.events.at(found->second).event);
      }
    }
    return events;
  }

 private:
  void save_circuit(const SaveCircuit& circuit) {
    if (!store_.webhooks.contains(circuit.webhook_id)) {
      return;
    }
    store_.circuits[circuit.webhook_id] = circuit.record;
    for (const OpenPeriod& period : circuit.periods) {
      OpenPeriod& stored =
          store_.open_periods.try_emplace({circuit.webhook_id, period.opened_at}, period)
              .first->second;
      stored.ended_at = period.ended_at;
      stored.reason = std::max(stored.reason, period.reason);
    }
  }

  void publish_group(std::span<const Publish> group, BatchReceipt& receipt) {
    const Overloaded lookup{
        [this](const TenantId& tenant_id, const std::string& key) {
          return find_claim(tenant_id, key);
        },
        [this](const SourceRow& row) -> Result<std::optional<StoredRow>> {
          return find_source_row(store_, row);
        },
    };
    const auto plans = plan_group(group, lookup);
    POSTRIDER_ASSERT(plans.has_value());  // The lookup cannot fail.
    for (std::size_t i = 0; i < group.size(); ++i) {
      const PublishPlan& plan = (*plans)[i];
      if (std::holds_alternative<Fresh>(plan)) {
        Accepted accepted = store_publish(group[i]);
        add_waiting(group[i], accepted, receipt.waiting_change);
        track_source_row(store_, group[i], group[i].event.id);
        if (accepted.fanned_out > 0) {
          receipt.fanouts[group[i].event.tenant_id] += accepted.fanned_out;
        }
        receipt.publishes.emplace_back(std::move(accepted));
      } else if (const Duplicate* duplicate = std::get_if<Duplicate>(&plan)) {
        if (group[i].row && duplicate->same_body && !find_source_row(store_, *group[i].row)) {
          track_source_row(store_, group[i], duplicate->first_id);
        }
        receipt.publishes.emplace_back(*duplicate);
      } else {
        receipt.publishes.emplace_back(Refused{});
      }
    }
  }

  Result<std::optional<StoredClaim>> find_claim(const TenantId& tenant_id, const std::string& key) {
    const auto found = store_.claims.find({tenant_id, key});
    if (found == store_.claims.end()) {
      return std::nullopt;
    }
    return StoredClaim{.body_digest = found->second.body_digest,
                       .expires_at = found->second.expires_at,
                       .first = duplicate_of(store_, found->second.event_sequence)};
  }

  /// See Publish::ordered.
  [[nodiscard]] bool needs_note(const Publish& publish) const {
    const auto first = store_.fanouts.lower_bound({publish.event.tenant_id, 0});
    const bool any = first != store_.fanouts.end() && first->first.first == publish.event.tenant_id;
    return publish.fanout || (publish.ordered && !publish.deliveries.empty() && any);
  }

  Accepted store_publish(const Publish& publish) {
    if (!needs_note(publish)) {
      return store_directly(publish);
    }
    Publish event_only = publish;
    event_only.deliveries.clear();
    const std::int64_t event_sequence = store_.next_sequence;
    (void)store_directly(event_only);
    MemoryFanout note = make_note(publish);
    const std::uint32_t count = note.remaining;
    store_.events.at(event_sequence).fanned_out = count;
    store_.fanouts.emplace(std::pair{publish.event.tenant_id, event_sequence}, std::move(note));
    return {.deliveries = {}, .fanned_out = count};
  }

  Accepted store_directly(const Publish& publish) {
    // An event without deliveries takes a sequence too, for paging.
    const std::int64_t event_sequence = store_.next_sequence;
    store_.next_sequence += std::max<std::int64_t>(1, std::ssize(publish.deliveries));

    DeliveryTally& of_tenant = tenant_tally(publish.event.tenant_id, publish.event.created_at);
    of_tenant.published += 1;
    of_tenant.deliveries += publish.deliveries.size();
    Accepted accepted{.deliveries = publish.deliveries};
    Event event = publish.event;
    event.sequence = event_sequence;
    MemoryEvent stored{std::make_shared<const Event>(std::move(event)), {}};
    for (std::int64_t i = 0; i < std::ssize(accepted.deliveries); ++i) {
      Delivery& delivery = accepted.deliveries[static_cast<std::size_t>(i)];
      delivery.sequence = event_sequence + i;
      stored.deliveries.push_back(delivery.sequence);
      DeliveryTally& of_webhook =
          webhook_tally(store_delivery(delivery, publish.event.tenant_id, publish.event.created_at),
                        publish.event.created_at);
      of_webhook.published += 1;
      of_webhook.deliveries += 1;
    }
    store_.event_sequences[publish.event.id] = event_sequence;
    store_.events.emplace(event_sequence, std::move(stored));
    if (publish.claim) {
      store_.claims[{publish.event.tenant_id, publish.claim->key}] = {
          event_sequence, publish.claim->body_digest, publish.claim->expires_at};
    }
    return accepted;
  }

  DeliveryRecord store_delivery(const Delivery& delivery, const TenantId& tenant_id, WallTime now) {
    store_.delivery_sequences[delivery.id] = delivery.sequence;
    DeliveryRecord record{.delivery = delivery,
                          .tenant_id = tenant_id,
                          .created_at = now,
                          .updated_at = now,
                          .completed_at = {},
                          .dead = {},
                          .last_failure = {},
                          .last_http_status = {}};
    put(store_, record);
    return record;
  }

  Delivery make_delivery(MemoryEvent& stored, WebhookId webhook_id, const MemoryFanout& note,
                         const FanOutStep& step) {
    const WallTime due = std::min(note.fanout.due, step.due_max);
    Delivery delivery = new_delivery(*stored.event, webhook_id, step.new_id(), due);
    delivery.sequence = store_.next_sequence++;
    stored.late.push_back(delivery.sequence);
    const DeliveryRecord record = store_delivery(delivery, stored.event->tenant_id, step.now);
    DeliveryTally& of_webhook = webhook_tally(record, step.now);
    of_webhook.published += 1;
    of_webhook.deliveries += 1;
    tenant_tally(record.tenant_id, step.now).deliveries += 1;
    return delivery;
  }

  std::optional<Delivery> add_late_delivery(const AddLateDelivery& order, BatchReceipt& receipt) {
    const auto found = store_.event_sequences.find(order.delivery.event_id);
    if (found == store_.event_sequences.end()) {
      return std::nullopt;
    }
    MemoryEvent& stored = store_.events.at(found->second);
    const auto same_webhook = [&](std::int64_t sequence) {
      const auto row = store_.deliveries.find(sequence);  // Retention may have removed it.
      return row != store_.deliveries.end() &&
             row->second.delivery.webhook_id == order.delivery.webhook_id;
    };
    if (std::ranges::any_of(stored.deliveries, same_webhook) ||
        std::ranges::any_of(stored.late, same_webhook) ||
        will_reach(store_, *stored.event, order.delivery.webhook_id)) {
      return std::nullopt;
    }
    Delivery delivery = order.delivery;
    delivery.sequence = store_.next_sequence++;
    stored.late.push_back(delivery.sequence);
    if (order.operation) {
      store_.operation_of[delivery.sequence] = *order.operation;
    }
    const DeliveryRecord record = store_delivery(delivery, stored.event->tenant_id, order.now);
    webhook_tally(record, order.now).deliveries += 1;
    tenant_tally(record.tenant_id, order.now).deliveries += 1;
    ++receipt.waiting_change[record.tenant_id][delivery.priority];
    unsettle_source_rows(store_, delivery.event_id);
    return delivery;
  }

  void settle(const Settlement& settlement, BatchReceipt& receipt) {
    const DeliveryRecord* found = find(store_, settlement.delivery.id);
    if (found == nullptr) {
      return;
    }
    DeliveryRecord record = *found;
    const SettlementDecision decision = decide_settlement(settlement, record.delivery);
    if (decision.effect == SettlementEffect::apply) {
      apply(settlement, record, receipt);
    } else if (decision.effect == SettlementEffect::succeed_cancelled) {
      record.delivery.state = DeliveryState::succeeded;
      record.dead.reset();
      record.updated_at = settled_at(settlement);
      record.completed_at = record.updated_at;
      add_settled(record);
      unsettle_source_rows(store_, record.delivery.event_id);
      if (const auto operation = operation_of(store_, record.delivery)) {
        ++receipt.outcomes[*operation].revised;
      }
    }
    if (settlement.attempt && decision.is_last_attempt) {
      const Attempt& attempt = *settlement.attempt;
      record.delivery.attempt_count = std::max(record.delivery.attempt_count, attempt.number);
      record.last_failure = attempt.failure_category;
      record.last_http_status = attempt.outcome.http_status;
    }
    if (settlement.attempt && decision.record_attempt) {
      record_attempt(*settlement.attempt, settlement, record);
    }
    if (decision.revived_meanwhile) {
      receipt.revived_meanwhile.push_back(record.delivery);
    }
    put(store_, std::move(record));
  }

  void apply(const Settlement& settlement, DeliveryRecord& record, BatchReceipt& receipt) {
    Delivery& stored = record.delivery;
    stored.state = settlement.delivery.state;
    stored.trigger = settlement.delivery.trigger;
    stored.due = settlement.delivery.due;
    stored.attempt_count = settlement.delivery.attempt_count;
    stored.budget_used = settlement.delivery.budget_used;
    record.updated_at = settled_at(settlement);
    if (!is_waiting(stored.state)) {
      record.completed_at = record.updated_at;
      --receipt.waiting_change[record.tenant_id][stored.priority];
      add_settled(record);
      if (const auto operation = operation_of(store_, stored)) {
        receipt.outcomes[*operation].add(stored.state, record.updated_at);
      }
    }
    if (stored.state == DeliveryState::dead_letter) {
      record.dead = settlement.dead;
      tenant_tally(record.tenant_id, settled_at(settlement)).dead_letters += 1;
      webhook_tally(record, settled_at(settlement)).dead_letters += 1;
      ++receipt.dead_letter_changes[record.tenant_id];
      receipt.new_dead_letters.push_back(new_dead_letter(settlement, record.tenant_id));
    }
  }

  void record_attempt(const Attempt& attempt, const Settlement& settlement,
                      const DeliveryRecord& record) {
    const WebhookId webhook_id = record.delivery.webhook_id;
    const std::pair key{record.delivery.sequence, attempt.number};
    if (!store_.attempts.emplace(key, attempt).second) {
      return;
    }
    store_.attempts_recorded[webhook_id].push_back(key);
    if (settlement.request != nullptr) {
      store_.requests.emplace(key, settlement.request);
    }
    auto& latest = attempt.failure_category ? store_.last_failure_at : store_.last_success_at;
    WallTime& at = latest.try_emplace(webhook_id, WallTime::min()).first->second;
    at = std::max(at, attempt.outcome.executed_at);
    tenant_tally(record.tenant_id, settled_at(settlement)).add(attempt);
    webhook_tally(record, settled_at(settlement)).add(attempt);
  }

  void add_settled(const DeliveryRecord& record) {
    tenant_tally(record.tenant_id, *record.completed_at).add_settled(record.delivery.state);
    webhook_tally(record, *record.completed_at).add_settled(record.delivery.state);
  }

  /// Call before a settled delivery is revived or discarded.
  void remove_settled(const DeliveryRecord& record) {
    if (!record.completed_at) {
      return;
    }
    const std::int64_t span = stats_span_of(*record.completed_at);
    const auto remove = [&](auto& tallies, const auto& key) {
      if (const auto found = tallies.find(key); found != tallies.end()) {
        found->second.remove_settled(record.delivery.state);
      }
    };
    remove(store_.tenant_tallies, std::pair{span, record.tenant_id});
    remove(store_.webhook_tallies, std::tuple{span, record.delivery.webhook_id, record.tenant_id});
  }

  DeliveryTally& tenant_tally(const TenantId& tenant_id, WallTime at) {
    return store_.tenant_tallies[{stats_span_of(at), tenant_id}];
  }

  DeliveryTally& webhook_tally(const DeliveryRecord& record, WallTime at) {
    return store_
        .webhook_tallies[{stats_span_of(at), record.delivery.webhook_id, record.tenant_id}];
  }

  Result<Delivery> revive(const Revive& order, BatchReceipt& receipt) {
    const DeliveryRecord* found = find(store_, order.delivery_id);
    if (found == nullptr) {
      return fail(Errc::not_found, "There is no such delivery.");
    }
    if (has_changed_since(found->delivery, order.only_if)) {
      return fail(Errc::conflict, "The delivery has changed since.");
    }
    DeliveryRecord record = *found;
    Delivery& delivery = record.delivery;
    PriorityCounts& waiting_change = receipt.waiting_change[record.tenant_id];
    if (delivery.state == DeliveryState::dead_letter) {
      --receipt.dead_letter_changes[record.tenant_id];
    }
    if (is_waiting(delivery.state)) {
      --waiting_change[delivery.priority];  // A revival may change the priority.
    } else {
      remove_settled(record);
      record.completed_at.reset();
      record.dead.reset();
      if (order.operation) {
        store_.operation_of[delivery.sequence] = *order.operation;
      }
    }
    delivery = revived(delivery, order);
    ++waiting_change[delivery.priority];
    record.updated_at = order.now;
    put(store_, record);
    unsettle_source_rows(store_, delivery.event_id);
    return delivery;
  }

  Result<Delivery> cancel(const Cancel& order, BatchReceipt& receipt) {
    const DeliveryRecord* found = find(store_, order.delivery_id);
    if (found == nullptr) {
      return fail(Errc::not_found, "There is no such delivery.");
    }
    if (!may_cancel(found->delivery, order)) {
      return fail(Errc::conflict, "The delivery is already final.");
    }
    DeliveryRecord record = *found;
    if (record.delivery.state == DeliveryState::dead_letter) {
      --receipt.dead_letter_changes[record.tenant_id];
      remove_settled(record);
    } else {
      --receipt.waiting_change[record.tenant_id][record.delivery.priority];
    }
    mark_cancelled(store_, record, order.now, receipt.outcomes);
    put(store_, record);
    return record.delivery;
  }

  /// Ordered by sequence.
  [[nodiscard]] std::vector<Delivery> waiting_of(WebhookId webhook_id) const {
    std::vector<Delivery> deliveries;
    const auto found = store_.waiting.find(webhook_id);
    if (found != store_.waiting.end()) {
      for (const std::int64_t sequence : found->second) {
        deliveries.push_back(store_.deliveries.at(sequence).delivery);
      }
    }
    return deliveries;
  }

  static std::tuple<Priority, WallTime, std::int64_t> place_of(const Delivery& delivery) {
    return {delivery.priority, delivery.due, delivery.sequence};
  }

  MemoryStore& store_;
};

}  // namespace

std::unique_ptr<Ledger> make_memory_ledger(MemoryStore& store) {
  return std::make_unique<MemoryLedger>(store);
}

}  // namespace postrider
