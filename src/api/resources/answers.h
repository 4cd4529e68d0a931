// What many handlers share: responses, common problems, ids from the path, lane views.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"

#include "api/json/delivery_json.h"
#include "api/resources/context.h"

namespace postrider::api {

[[nodiscard]] HttpResponse json_answer(std::uint16_t status, std::string body);

/// `what` is a noun: "There is no webhook `whk_…`."
[[nodiscard]] Problem not_found(std::string_view what, std::string_view id);
[[nodiscard]] Problem conflict(std::string code, std::string detail);
/// `consequence` is a sentence.
[[nodiscard]] Problem tenant_suspended(std::string_view consequence);

/// to_problem(error), except that not_found names the thing that is missing.
[[nodiscard]] Problem to_problem(const Error& error, std::string_view what, std::string_view id);

/// Reads an id from the path. Fails with 404 if it is not a valid id.
template <class SomeId>
[[nodiscard]] Parsed<SomeId> path_id(const HttpRequest& request, const std::string& parameter,
                                     std::string_view what) {
  const auto found = request.path_parameters.find(parameter);
  const std::string text = found == request.path_parameters.end() ? "" : found->second;
  if (const std::optional<SomeId> id = SomeId::parse(text)) {
    return *id;
  }
  return tl::make_unexpected(not_found(what, text));
}

/// Finds the webhook that the path names. Fails with 404.
[[nodiscard]] Parsed<WebhookRef> path_webhook(const Snapshots& snapshots,
                                              const HttpRequest& request);

/// The webhooks of those deliveries that wait: their lanes know more than the store does.
[[nodiscard]] std::vector<WebhookId> webhooks_of_waiting(
    const std::vector<DeliveryRecord>& records);

}  // namespace postrider::api
