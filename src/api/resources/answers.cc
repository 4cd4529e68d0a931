#include "api/resources/answers.h"

#include <set>

#include <fmt/format.h>

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

Problem tenant_suspended(std::string_view consequence) {
  return {.status = 403,
          .code = "tenant_suspended",
          .title = "The tenant is suspended",
          .detail =
              fmt::format("The operator of this server has suspended the tenant. {}", consequence),
          .errors = {}};
}

Problem to_problem(const Error& error, std::string_view what, std::string_view id) {
  return error.code == Errc::not_found ? not_found(what, id) : to_problem(error);
}

Parsed<WebhookRef> path_webhook(const Snapshots& snapshots, const HttpRequest& request) {
  POSTRIDER_TRY(const WebhookId id, path_id<WebhookId>(request, "id", "webhook"));
  WebhookRef webhook = snapshots.directory()->find(id);
  if (webhook == nullptr) {
    return tl::make_unexpected(not_found("webhook", id.to_string()));
  }
  return webhook;
}

std::vector<WebhookId> webhooks_of_waiting(const std::vector<DeliveryRecord>& records) {
  std::set<WebhookId> ids;
  for (const DeliveryRecord& record : records) {
    if (is_waiting(record.delivery.state)) {
      ids.insert(record.delivery.webhook_id);
    }
  }
  return {ids.begin(), ids.end()};
}

}  // namespace postrider::api
