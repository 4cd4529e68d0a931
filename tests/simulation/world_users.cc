// The clients of the simulated server: publishers, and users who edit, replay, revive and remove.
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "engine/admin/operation_step.h"
#include "engine/intake/intake.h"

#include "tests/simulation/world_state.h"

namespace postrider::sim {

using std::chrono::hours;
using std::chrono::seconds;

namespace {

std::vector<WebhookId> receivers_of(const Publish& publish) {
  std::vector<WebhookId> ids;
  for (const Delivery& delivery : publish.deliveries) {
    ids.push_back(delivery.webhook_id);
  }
  for (std::size_t i = 0; publish.fanout && i < publish.fanout->webhooks->size(); ++i) {
    if (is_chosen(publish.fanout->chosen, i)) {
      ids.push_back((*publish.fanout->webhooks)[i]);
    }
  }
  return ids;
}

}  // namespace

Publish World::plan(Event event) {
  std::vector<Publish> publishes(1);
  publishes.front().event = std::move(event);
  PublishPlanner planner{std::make_shared<const Directory>(directory_), std::move(publishes),
                         scenario_.fanout};
  while (!planner.advance(1)) {
  }
  return std::move(planner).finish(ids_, timeline_.now().steady).front();
}

/// A publisher with an idempotency key repeats until the event is stored. One without gives up if
/// the answer is lost.
void World::publish(Event draft, bool keyed) {
  if (!up_ || draining_ || store_.failing()) {
    timeline_.after(seconds{1}, [this, draft, keyed] { publish(draft, keyed); });
    return;
  }
  Event event = draft;
  event.created_at = timeline_.now().wall;
  event.timestamp = event.created_at;
  event.id = ids_.make<EventId>(event.created_at);
  const EventId id = event.id;
  const auto answered = std::make_shared<bool>(false);
  const auto again = [this, draft, keyed, answered] {
    if (!*answered && keyed) {
      *answered = true;
      publish(draft, keyed);
    }
  };
  Publish planned = plan(std::move(event));
  if (keyed) {
    planned.claim = IdempotencyClaim{.key = draft.idempotency_key,
                                     .body_digest = draft.idempotency_key,
                                     .expires_at = planned.event.created_at + hours{24 * 30}};
  } else {
    planned.event.idempotency_key = id.to_string();
  }
  const auto done = [this, id, answered, again,
                     to = receivers_of(planned)](const Result<PublishReceipt>& receipt) {
    if (!receipt) {
      timeline_.after(seconds{1}, again);
      return;
    }
    *answered = true;
    ++acknowledged_;
    if (const auto* duplicate = std::get_if<Duplicate>(&*receipt)) {
      checks_.acknowledged(duplicate->first_id, {});
    } else {
      checks_.acknowledged(id, to);
    }
  };
  store_.submit(SimPublish{std::move(planned), done});
  timeline_.after(seconds{10}, again);  // No answer: the server died.
}

void World::make_user_change() {
  if (!up_ || draining_) {
    return;
  }
  const Receiver& receiver = scenario_.receivers[random_.below(scenario_.receivers.size())];
  const WebhookId id = receiver.webhook.id;
  const auto some_delivery = [this]() -> const Delivery* {
    if (durable_.deliveries.empty()) {
      return nullptr;
    }
    auto found = durable_.deliveries.begin();
    std::advance(found, static_cast<std::ptrdiff_t>(random_.below(durable_.deliveries.size())));
    return &found->second.delivery;
  };
  const std::uint64_t what = random_.below(15);
  if (what >= 12) {
    const RetryPolicy policy = another_retry(random_);
    change_webhook(id, [policy](Webhook& webhook) { webhook.retry = policy; });
  } else if (what >= 10) {
    replay(id);
  } else if (what < 2) {
    if (const Delivery* delivery = some_delivery()) {
      checks_.revived(delivery->id);
      store_.submit(
          SimRevive{{.delivery_id = delivery->id, .now = timeline_.now().steady, .priority = {}}});
    }
  } else if (what < 3) {
    if (const Delivery* delivery = some_delivery()) {
      store_.submit(SimCancel{{.delivery_id = delivery->id, .now = timeline_.now().wall}});
    }
  } else if (!receiver.edited) {
    return;
  } else if (what < 6 && random_.below(3) == 0) {
    const std::string url = receiver_url(random_);
    change_webhook(id, [url](Webhook& webhook) { webhook.url = url; });
  } else if (what < 6) {
    change_webhook(id, [](Webhook& webhook) { webhook.paused = !webhook.paused; });
  } else if (what < 9) {
    const auto action = static_cast<CircuitAction>(random_.below(3));
    feed(id,
         CircuitCommanded{id, action, Millis{static_cast<std::int64_t>(random_.below(60'000))}});
  } else if (random_.below(4) == 0) {
    remove_webhook(id);
  }
}

/// Submits one chunk of a replay that begins at a random place.
void World::replay(WebhookId id) {
  const WebhookRef webhook = directory_.find(id);
  if (!webhook) {
    return;
  }
  Operation operation;
  operation.kind = OperationKind::replay;
  operation.spec.filter.states = {DeliveryState::dead_letter, DeliveryState::cancelled};
  if (random_.below(3) == 0) {
    operation.spec.filter.states.push_back(DeliveryState::succeeded);
  }
  const ForwardPage page{.after = static_cast<std::int64_t>(
                             random_.below(static_cast<std::uint64_t>(durable_.next_sequence))),
                         .limit = static_cast<std::uint32_t>(1 + random_.below(20))};
  const auto events = make_memory_history(durable_)->list_events_for(
      id, {.tenant_id = webhook->tenant_id, .types = {}}, page);
  POSTRIDER_ASSERT(events.has_value());
  const Moment now = timeline_.now();
  const std::function<Uuid()> new_uuid = [this, now] { return ids_.next(now.wall); };
  const ChunkPlan plan =
      plan_replay(operation, *events, {.webhook = *webhook, .new_uuid = new_uuid, .now = now});
  for (const Revive& order : plan.batch.revivals) {
    checks_.revived(order.delivery_id);
  }
  for (const AddLateDelivery& order : plan.batch.late_deliveries) {
    checks_.replayed(order.delivery.id);
  }
  note(fmt::format("replay {} revives {} enrolls {}", id.to_string(), plan.batch.revivals.size(),
                   plan.batch.late_deliveries.size()));
  store_.submit(SimReplay{plan.batch.revivals, plan.batch.late_deliveries});
}

void World::change_webhook(WebhookId id, const std::function<void(Webhook&)>& edit) {
  store_.submit(SimCatalog{[this, id, edit](Catalog& catalog, RepliesByShard& replies) {
    const WebhookRef current = directory_.find(id);
    if (!current) {
      return;
    }
    Webhook changed = *current;
    edit(changed);
    POSTRIDER_ASSERT(catalog.put_webhook(changed).has_value());
    if (!same_schedule(changed.retry, current->retry)) {
      POSTRIDER_ASSERT(catalog.mark_rescheduling(id).has_value());
    }
    auto shared = std::make_shared<const Webhook>(std::move(changed));
    directory_ = directory_.with(shared);
    reply(replies, id, WebhookChanged{.webhook = shared});
  }});
}

void World::remove_webhook(WebhookId id) {
  store_.submit(SimCatalog{[this, id](Catalog& catalog, RepliesByShard& replies) {
    if (catalog.remove_webhook(id, timeline_.now().wall)) {
      directory_ = directory_.without(id);
      reply(replies, id, WebhookRemoved{id});
      cancel_waiting(id);
    }
  }});
}

/// Works in small steps, so that a crash can happen between them.
void World::cancel_waiting(WebhookId id) {
  store_.submit(SimCatalog{[this, id](Catalog& catalog, RepliesByShard&) {
    const Result<TenantCounts> cancelled = catalog.cancel_waiting(id, timeline_.now().wall, 2);
    if (!cancelled || cancelled->total() == 2) {
      cancel_waiting(id);
    }
  }});
}

}  // namespace postrider::sim
