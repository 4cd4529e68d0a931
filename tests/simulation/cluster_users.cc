// The clients of a simulated cluster: publishers, and users who add, edit and remove webhooks and
// revive and cancel deliveries. Each of them talks to any node.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "engine/intake/directory.h"

#include "tests/simulation/cluster_world_state.h"

namespace postrider::sim {

using std::chrono::hours;
using std::chrono::seconds;

namespace {

/// After this time without an answer a publisher tries another node.
constexpr Micros patience = seconds{10};

}  // namespace

void ClusterWorld::schedule_clients() {
  const Scenario& scenario = scenario_.base;
  for (std::uint32_t i = 0; i < scenario.event_count; ++i) {
    Draft draft;
    draft.event.tenant_id = fmt::format("tenant-{}", random_.below(3));
    draft.event.type =
        fmt::format("{}.{}", random_.below(2) == 0 ? "order" : "user", random_.below(3));
    draft.event.data = "{}";
    draft.event.priority = static_cast<Priority>(random_.below(3));
    draft.event.idempotency_key = fmt::format("key-{}", i);
    draft.keyed = random_.below(3) != 0;
    timeline_.after(sometime(), [this, draft] { publish(draft); });
  }
  const auto changes = scenario.changes + 2 * static_cast<std::uint32_t>(scenario.receivers.size());
  for (std::uint32_t i = 0; i < changes; ++i) {
    timeline_.after(sometime(), [this] { make_user_change(); });
  }
}

/// A publisher with an idempotency key repeats until the event is stored. One without gives up if
/// the answer is lost.
void ClusterWorld::publish(const Draft& draft) {
  const auto nodes = nodes_that(&ClusterNode::is_serving);
  if (nodes.empty()) {
    timeline_.after(seconds{1}, [this, draft] { publish(draft); });
    return;
  }
  ClusterNode& node = *nodes[random_.below(nodes.size())];
  Event event = draft.event;
  event.created_at = timeline_.now().wall;
  event.timestamp = event.created_at;
  event.id = ids_.make<EventId>(event.created_at);
  std::optional<IdempotencyClaim> claim;
  if (draft.keyed) {
    claim = IdempotencyClaim{.key = event.idempotency_key,
                             .body_digest = event.idempotency_key,
                             .expires_at = event.created_at + hours{24 * 30}};
  } else {
    event.idempotency_key = event.id.to_string();
  }
  note(fmt::format("event {} to node {}", event.id.to_string(), node.number()));
  node.publish({.event = event,
                .claim = claim,
                .done = [this, draft, id = event.id, expected = receivers_of(event)](
                            const auto& receipt) { answer(draft, id, expected, receipt); }});
  timeline_.after(patience, [this, draft] {
    if (*draft.answered) {
      return;
    }
    if (draft.keyed) {
      publish(draft);
    } else {
      *draft.answered = true;
      ++given_up_;
    }
  });
}

void ClusterWorld::answer(const Draft& draft, EventId id, const std::vector<WebhookId>& expected,
                          const Result<PublishReceipt>& receipt) {
  if (!receipt) {
    return;  // Tried again when the publisher's patience ends.
  }
  if (const auto* duplicate = std::get_if<Duplicate>(&*receipt)) {
    checks_.acknowledged(duplicate->first_id, {});
  } else {
    std::vector<WebhookId> reached = expected;
    std::erase_if(reached, [this](WebhookId each) { return !expected_.contains(each); });
    checks_.acknowledged(id, reached);  // Without those that were changed meanwhile.
  }
  if (!std::exchange(*draft.answered, true)) {
    ++acknowledged_;
  }
}

std::vector<WebhookId> ClusterWorld::receivers_of(const Event& event) const {
  std::vector<WebhookRef> webhooks;
  for (const auto& [id, webhook] : expected_) {
    webhooks.push_back(std::make_shared<const Webhook>(webhook));
  }
  std::vector<WebhookId> ids;
  for (const WebhookRef& webhook : Directory{webhooks}.match(event)) {
    ids.push_back(webhook->id);
  }
  return ids;
}

// ---------------------------------------------------------------- users

void ClusterWorld::make_user_change() {
  const auto nodes = nodes_that(&ClusterNode::is_serving);
  if (nodes.empty()) {
    return;
  }
  ClusterNode& node = *nodes[random_.below(nodes.size())];
  const std::size_t next = scenario_.webhooks_at_start + webhooks_added_;
  const Receiver& receiver =
      scenario_.base.receivers[random_.below(scenario_.base.receivers.size())];
  switch (random_.below(8)) {
    case 0:
    case 1:
    case 2:
      if (next < scenario_.base.receivers.size()) {
        ++webhooks_added_;
        add_webhook(node, scenario_.base.receivers[next].webhook);
      }
      return;
    case 3:
    case 4:
      edit(node, receiver.webhook.id, [](Webhook& webhook) { webhook.paused = !webhook.paused; });
      return;
    case 5:
      edit(node, receiver.webhook.id,
           [url = receiver_url(random_)](Webhook& webhook) { webhook.url = url; });
      return;
    case 6:
      revive_or_cancel(node);
      return;
    default:
      if (receiver.edited && random_.below(4) == 0) {
        remove(node, receiver.webhook.id);
      }
      return;
  }
}

void ClusterWorld::add_webhook(ClusterNode& node, const Webhook& webhook) {
  note(fmt::format("webhook {} is added on node {}", webhook.id.to_string(), node.number()));
  node.change_catalog(
      {.webhook_id = webhook.id,
       .change = [webhook](Catalog& catalog) { return catalog.put_webhook(webhook).has_value(); },
       .done = [this, webhook] { expected_.emplace(webhook.id, webhook); }});
}

void ClusterWorld::edit(ClusterNode& node, WebhookId id,
                        const std::function<void(Webhook&)>& change) {
  node.change_catalog({.webhook_id = id,
                       .change =
                           [id, change](Catalog& catalog) {
                             auto webhook = catalog.find_webhook(id);
                             if (!webhook || !*webhook) {
                               return false;
                             }
                             change(**webhook);
                             return catalog.put_webhook(**webhook).has_value();
                           },
                       .done = [] {}});
}

void ClusterWorld::remove(ClusterNode& node, WebhookId id) {
  note(fmt::format("webhook {} is removed on node {}", id.to_string(), node.number()));
  expected_.erase(id);
  node.change_catalog({.webhook_id = id,
                       .change =
                           [this, id](Catalog& catalog) {
                             return catalog.remove_webhook(id, timeline_.now().wall).has_value();
                           },
                       .done = [&node, id] { node.cancel_waiting(id); }});
}

void ClusterWorld::revive_or_cancel(ClusterNode& node) {
  if (db_.durable.deliveries.empty()) {
    return;
  }
  auto found = db_.durable.deliveries.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(random_.below(db_.durable.deliveries.size())));
  const DeliveryId id = found->second.delivery.id;
  if (random_.below(2) == 0) {
    node.submit_job(SimCancel{{.delivery_id = id, .now = timeline_.now().wall}});
    return;
  }
  checks_.revived(id);
  cluster_checks_.revived(id);
  node.submit_job(SimRevive{{.delivery_id = id, .now = timeline_.now().steady, .priority = {}}});
}

}  // namespace postrider::sim
