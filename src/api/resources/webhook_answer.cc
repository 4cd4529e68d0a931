#include "api/resources/webhook_answer.h"

#include "api/json/webhook_json.h"
#include "api/resources/answers.h"

namespace postrider::api {
namespace {

struct Glance {
  Result<LaneView> lane;
  Result<WebhookHealth> health;
};

Awaitable<Glance> look_at(Context context, WebhookId id) {
  auto pending_lane = context.service->lane_view(id);
  Result<LaneView> lane = co_await std::move(pending_lane);
  const auto query = [id](Reader& reader) { return reader.history->webhook_health(id); };
  auto pending_health = context.service->read(query);
  Result<WebhookHealth> health = co_await std::move(pending_health);
  co_return Glance{std::move(lane), std::move(health)};
}

HttpResponse write_answer(const Webhook& webhook, const Glance& glance,
                          std::optional<WallTime> replay_since = std::nullopt) {
  WebhookStanding standing;
  standing.replay_since = replay_since;
  standing.lane = glance.lane ? &*glance.lane : nullptr;
  if (glance.health) {
    standing.last_success_at = glance.health->last_success_at;
    standing.last_failure_at = glance.health->last_failure_at;
  }
  std::string body;
  JsonWriter writer{body};
  write_webhook(writer, webhook, standing);
  return json_answer(200, std::move(body));
}

}  // namespace

Awaitable<HttpResponse> show_webhook(Context context, WebhookRef webhook) {
  auto pending = look_at(context, webhook->id);
  const Glance glance = co_await std::move(pending);
  if (!glance.health) {
    co_return render(to_problem(glance.health.error()));
  }
  co_return write_answer(*webhook, glance);
}

Awaitable<HttpResponse> show_changed_webhook(Context context, WebhookRef webhook) {
  auto pending = look_at(context, webhook->id);
  const Glance glance = co_await std::move(pending);
  co_return write_answer(*webhook, glance);
}

Awaitable<HttpResponse> show_changed_webhook(Context context, WebhookRef webhook, Webhook before) {
  auto pending = look_at(context, webhook->id);
  const Glance glance = co_await std::move(pending);
  const bool switched_on = webhook->active && !before.active;
  co_return write_answer(*webhook, glance, switched_on ? before.disabled_at : std::nullopt);
}

}  // namespace postrider::api
