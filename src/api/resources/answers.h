// Small pieces that every handler needs: answers, ids from the path, and a look at the lanes.
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

/// `what` is the noun: «There is no webhook `whk_…`.»
[[nodiscard]] Problem not_found(std::string_view what, std::string_view id);
[[nodiscard]] Problem conflict(std::string code, std::string detail);

/// A problem with one more member, for what a program wants to read out of it.
[[nodiscard]] HttpResponse render_with(const Problem& problem, std::string_view name,
                                       std::string_view text);

/// An id in the path; one that cannot be an id names nothing, so it is 404.
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

/// The webhook that the path names, as of now.
[[nodiscard]] Parsed<WebhookRef> path_webhook(const Context& context, const HttpRequest& request);

/// What the lanes of these webhooks are doing. Webhooks without a lane are left out.
[[nodiscard]] Awaitable<LaneViews> view_lanes(Context context, std::vector<WebhookId> webhook_ids);

/// The webhooks whose lanes say more about these deliveries than the store does.
[[nodiscard]] std::vector<WebhookId> webhooks_waited_for(
    const std::vector<DeliveryRecord>& records);

}  // namespace postrider::api
