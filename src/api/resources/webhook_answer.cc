#include "api/resources/webhook_answer.h"

#include "api/json/webhook_json.h"
#include "api/resources/answers.h"

namespace postrider::api {
namespace {

/// Errors are shown as null after a change.
struct WebhookStatus {
  Result<LaneView> lane;
  Result<WebhookHealth> health;
};

Awaitable<WebhookStatus> read_status(Context context, WebhookId id) {
  auto pending_lane = context.services.lanes.lane_view(id);
  Result<LaneView> lane = co_await std::move(pending_lane);
  const auto query = [id](Reader& reader) { return reader.history->webhook_health(id); };
  auto pending_health = context.queries().read(query);
  Result<WebhookHealth> health = co_await std::move(pending_health);
  co_return WebhookStatus{std::move(lane), std::move(health)};
}

HttpResponse write_answer(const Context& context, const Webhook& webhook,
                          const WebhookStatus& status,
                          std::optional<WallTime> replay_since = std::nullopt) {
  WebhookDetails standing;
  standing.public_key =
      public_key(*context.options->crypto, webhook.signature.scheme, webhook.secret);
  standing.replay_since = replay_since;
  standing.lane = status.lane ? &*status.lane : nullptr;
  if (status.health) {
    standing.last_success_at = status.health->last_success_at;
    standing.last_failure_at = status.health->last_failure_at;
  }
  std::string body;
  JsonWriter writer{body};
  write_webhook(writer, webhook, standing);
  return json_answer(200, std::move(body));
}

}  // namespace

Awaitable<Reply> show_webhook(Context context, WebhookRef webhook) {
  auto pending = read_status(context, webhook->id);
  const WebhookStatus status = co_await std::move(pending);
  if (!status.health) {
    co_return tl::make_unexpected(to_problem(status.health.error()));
  }
  co_return write_answer(context, *webhook, status);
}

Awaitable<Reply> show_changed_webhook(Context context, WebhookRef webhook) {
  auto pending = read_status(context, webhook->id);
  const WebhookStatus status = co_await std::move(pending);
  co_return write_answer(context, *webhook, status);
}

Awaitable<Reply> show_changed_webhook(Context context, WebhookRef webhook, Webhook before) {
  auto pending = read_status(context, webhook->id);
  const WebhookStatus status = co_await std::move(pending);
  const bool switched_on = webhook->active && !before.active;
  co_return write_answer(context, *webhook, status,
                         switched_on ? before.disabled_at : std::nullopt);
}

}  // namespace postrider::api
