#include "api/resources/publishing.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace postrider::api {
namespace {

Problem over_quota(Millis wait) {
  if (wait == Millis::max()) {
    return {.status = 422,
            .code = "batch_exceeds_quota",
            .title = "More events than the tenant may publish in a minute",
            .detail =
                "This batch has more events than its tenant may publish in a minute; split "
                "it. Nothing was stored.",
            .errors = {}};
  }
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait);
  return {.status = 429,
          .code = "event_quota_exceeded",
          .title = "The tenant's quota is used up",
          .detail = fmt::format("This tenant has published as many events as it may in a minute. "
                                "Nothing was stored; retry in {} s.",
                                seconds.count()),
          .errors = {},
          .retry_after = seconds};
}

EventCounts count_by_tenant(const std::vector<EventDraft>& drafts) {
  EventCounts counts;
  for (const EventDraft& draft : drafts) {
    ++counts[draft.event.tenant_id];
  }
  return counts;
}

}  // namespace

std::optional<Problem> unknown_tenant(const Context& context, const TenantId& tenant_id) {
  if (!context.options->require_known_tenants ||
      context.service->access()->find_tenant(tenant_id) != nullptr) {
    return std::nullopt;
  }
  return Problem{.status = 422,
                 .code = "unknown_tenant",
                 .title = "The tenant is not known",
                 .detail =
                     "This server serves registered tenants only; register `tenant_id` with POST "
                     "/v1/tenants first.",
                 .errors = {{"tenant_id", "must be a registered tenant's id."}}};
}

std::optional<HttpResponse> refuse_drafts(const Context& context,
                                          const std::vector<EventDraft>& drafts) {
  for (const EventDraft& draft : drafts) {
    if (const std::optional<Problem> problem = unknown_tenant(context, draft.event.tenant_id)) {
      return render(*problem);
    }
  }
  if (context.service->access()->limits_events()) {
    if (const QuotaWait wait = context.service->take_quota(count_by_tenant(drafts))) {
      return render(over_quota(*wait));
    }
  }
  return std::nullopt;
}

std::optional<Problem> refuse_draft(const Context& context, const EventDraft& draft) {
  if (std::optional<Problem> problem = unknown_tenant(context, draft.event.tenant_id)) {
    return problem;
  }
  if (context.service->access()->limits_events()) {
    if (const QuotaWait wait = context.service->take_quota({{draft.event.tenant_id, 1}})) {
      return over_quota(*wait);
    }
  }
  return std::nullopt;
}

Awaitable<Published> publish_drafts(Context context, std::vector<EventDraft> drafts,
                                    bool all_or_nothing) {
  auto pending = context.service->publish(std::move(drafts), all_or_nothing);
  Result<std::vector<PublishReceipt>> receipts = co_await std::move(pending);
  if (!receipts) {
    co_return tl::make_unexpected(render(to_problem(receipts.error())));
  }
  co_return *std::move(receipts);
}

}  // namespace postrider::api
