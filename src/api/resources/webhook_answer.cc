#include "api/resources/webhook_answer.h"

#include <map>
#include <utility>

#include "api/json/webhook_json.h"
#include "api/resources/answers.h"

namespace postrider::api {
namespace {

using LatestById = std::map<WebhookId, LatestResults>;

/// Errors are shown as null after a change.
struct WebhookStatus {
  Result<LaneView> lane;
  Result<LatestById> latest;
};

Awaitable<WebhookStatus> read_status(Context context, WebhookId id) {
  auto pending_lane = context.services.lanes.lane_view(id);
  Result<LaneView> lane = co_await std::move(pending_lane);
  const auto query = [id](Reader& reader) { return reader.history->latest_results({id}); };
  auto pending_latest = context.queries().read(query);
  Result<LatestById> latest = co_await std::move(pending_latest);
  co_return WebhookStatus{std::move(lane), std::move(latest)};
}

HttpResponse write_answer(const Context& context, const Webhook& webhook,
                          const WebhookStatus& status,
                          std::optional<WallTime> replay_since = std::nullopt) {
  WebhookDetails standing;
  standing.public_key =
      public_key(*context.options->crypto, webhook.signature.scheme, webhook.secret);
  standing.replay_since = replay_since;
  standing.lane = status.lane ? &*status.lane : nullptr;
  if (status.latest && !status.latest->empty()) {
    standing.latest = status.latest->begin()->second;
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
  if (!status.latest) {
    co_return tl::make_unexpected(to_problem(status.latest.error()));
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
