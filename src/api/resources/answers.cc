#include "api/resources/answers.h"

#include <set>

#include <fmt/format.h>

#include "core/base/assert.h"

namespace postrider::api {
namespace {

constexpr std::size_t id_shown_max = 64;

}  // namespace

HttpResponse json_answer(std::uint16_t status, std::string body) {
  return {
      .status = status, .content_type = "application/json", .headers = {}, .body = std::move(body)};
}

Problem not_found(std::string_view what, std::string_view id) {
  return {.status = 404,
          .code = "not_found",
          .title = "Not found",
          .detail = fmt::format("There is no {} `{}`.", what, clip(clean_utf8(id), id_shown_max)),
          .errors = {}};
}

Problem conflict(std::string code, std::string detail) {
  return {.status = 409,
          .code = std::move(code),
          .title = "Not possible in this state",
          .detail = std::move(detail),
          .errors = {}};
}

HttpResponse render_with(const Problem& problem, std::string_view name, std::string_view text) {
  HttpResponse response = render(problem);
  POSTRIDER_ASSERT(response.body.size() > 2 && response.body.back() == '}');
  response.body.back() = ',';
  JsonWriter writer{response.body};
  writer.member(name, text);
  response.body.push_back('}');
  return response;
}

Parsed<WebhookRef> path_webhook(const Context& context, const HttpRequest& request) {
  const Parsed<WebhookId> id = path_id<WebhookId>(request, "id", "webhook");
  if (!id) {
    return tl::make_unexpected(id.error());
  }
  WebhookRef webhook = context.service->directory()->find(*id);
  if (webhook == nullptr) {
    return tl::make_unexpected(not_found("webhook", id->to_string()));
  }
  return webhook;
}

Awaitable<LaneViews> view_lanes(Context context, std::vector<WebhookId> webhook_ids) {
  LaneViews lanes;
  for (const WebhookId id : webhook_ids) {
    auto pending = context.service->lane_view(id);
    Result<LaneView> view = co_await std::move(pending);
    if (view) {
      lanes.emplace(id, *std::move(view));
    }
  }
  co_return lanes;
}

std::vector<WebhookId> webhooks_waited_for(const std::vector<DeliveryRecord>& records) {
  std::set<WebhookId> ids;
  for (const DeliveryRecord& record : records) {
    if (is_waiting(record.delivery.state)) {
      ids.insert(record.delivery.webhook_id);
    }
  }
  return {ids.begin(), ids.end()};
}

}  // namespace postrider::api
