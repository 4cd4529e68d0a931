#include "api/resources/publishing.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "api/resources/answers.h"
#include "api/resources/publish_tries.h"

namespace postrider::api {
namespace {

constexpr std::string_view outdated_code = "catalog_outdated";

/// Without the code for a used-up quota: the client sends such a publish again anyway.
constexpr std::array<std::string_view, 8> catalog_codes = {
    "tenant_suspended",           "unknown_tenant",     "unknown_event_type",
    "event_type_archived",        "schema_violation",   "validation_budget_exceeded",
    "event_type_schema_unusable", "batch_exceeds_quota"};

Problem catalog_outdated() {
  return {.status = 503,
          .code = std::string{outdated_code},
          .title = "Temporarily unavailable",
          .detail = "Webhooks, tenants or event types have changed meanwhile. Nothing was stored.",
          .errors = {}};
}

Problem over_quota(Millis wait) {
  if (wait == Millis::max()) {
    return {.status = 422,
            .code = "batch_exceeds_quota",
            .title = "More events than the tenant may publish in a minute",
            .detail =
                "This batch has more events than its tenant may publish in a minute. Split "
                "it. Nothing was stored.",
            .errors = {}};
  }
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait);
  return {.status = 429,
          .code = "event_quota_exceeded",
          .title = "The tenant's quota is used up",
          .detail = fmt::format("The tenant's limit of events per minute is reached. Nothing was "
                                "stored. Retry in {} s.",
                                seconds.count()),
          .errors = {},
          .retry_after = seconds};
}

Problem fanout_backlog_full(const Error& error) {
  constexpr std::chrono::seconds wait{5};
  return {.status = 429,
          .code = "fanout_backlog_full",
          .title = "Too many deliveries of the tenant are still to be made",
          .detail = error.message,
          .errors = {},
          .retry_after = wait};
}

Problem publishing_suspended() {
  return tenant_suspended("Nothing can be published for it, and its deliveries wait.");
}

EventCounts count_by_tenant(const std::vector<EventDraft>& drafts) {
  EventCounts counts;
  for (const EventDraft& draft : drafts) {
    ++counts[draft.event.tenant_id];
  }
  return counts;
}

/// The events that no earlier try has taken from the quotas.
EventCounts not_charged(const PublishTries& tries, const EventCounts& counts) {
  EventCounts missing;
  for (const auto& [tenant_id, count] : counts) {
    const auto counted = tries.counted.find(tenant_id);
    const auto charged = tries.charged.find(tenant_id);
    const std::uint32_t wanted = count + (counted == tries.counted.end() ? 0 : counted->second);
    const std::uint32_t taken = charged == tries.charged.end() ? 0 : charged->second;
    if (wanted > taken) {
      missing[tenant_id] = wanted - taken;
    }
  }
  return missing;
}

void add(EventCounts& sum, const EventCounts& counts) {
  for (const auto& [tenant_id, count] : counts) {
    sum[tenant_id] += count;
  }
}

QuotaWait take_quota(const Context& context, const EventCounts& counts) {
  PublishTries* const tries = context.tries.get();
  if (tries == nullptr) {
    return context.services.publishing.take_quota(counts);
  }
  const EventCounts missing = not_charged(*tries, counts);
  const QuotaWait wait = context.services.publishing.take_quota(missing);
  if (!wait) {
    add(tries->charged, missing);
    add(tries->counted, counts);
  }
  return wait;
}

}  // namespace

bool is_outdated(const Problem& problem) { return problem.code == outdated_code; }

bool is_due_to_catalog(const Problem& problem) {
  return std::ranges::find(catalog_codes, problem.code) != catalog_codes.end();
}

Parsed<void> check_tenant_known(const Context& context, const TenantId& tenant_id) {
  if (tenant_id == reserved_tenant) {
    return tl::make_unexpected(
        Problem{.status = 422,
                .code = "validation_failed",
                .title = "The tenant is reserved",
                .detail = "The tenant `postrider` belongs to the server. Use another id.",
                .errors = {{"tenant_id", "must not be `postrider`, which is reserved."}}});
  }
  if (!context.options->require_known_tenants ||
      context.services.snapshots.access()->find_tenant(tenant_id) != nullptr) {
    return {};
  }
  return tl::make_unexpected(Problem{
      .status = 422,
      .code = "unknown_tenant",
      .title = "The tenant is not known",
      .detail = "This server serves registered tenants only. Register `tenant_id` with POST "
                "/v1/tenants first.",
      .errors = {{"tenant_id", "must be a registered tenant's id."}}});
}

Parsed<void> check_not_suspended(const Snapshots& snapshots, const TenantId& tenant_id) {
  if (snapshots.access()->is_suspended(tenant_id)) {
    return tl::make_unexpected(publishing_suspended());
  }
  return {};
}

Parsed<void> check_drafts(const Context& context, const std::vector<EventDraft>& drafts) {
  const std::shared_ptr<const AccessSnapshot> access = context.services.snapshots.access();
  for (const EventDraft& draft : drafts) {
    POSTRIDER_CHECK(check_tenant_known(context, draft.event.tenant_id));
    if (access->is_suspended(draft.event.tenant_id)) {
      return tl::make_unexpected(publishing_suspended());
    }
  }
  if (access->limits_events()) {
    if (const QuotaWait wait = take_quota(context, count_by_tenant(drafts))) {
      return tl::make_unexpected(over_quota(*wait));
    }
  }
  return {};
}

Parsed<void> check_draft(const Context& context, const EventDraft& draft) {
  const TenantId& tenant_id = draft.event.tenant_id;
  const std::shared_ptr<const AccessSnapshot> access = context.services.snapshots.access();
  POSTRIDER_CHECK(check_tenant_known(context, tenant_id));
  if (access->is_suspended(tenant_id)) {
    return tl::make_unexpected(publishing_suspended());
  }
  if (access->limits_events()) {
    if (const QuotaWait wait = take_quota(context, {{tenant_id, 1}})) {
      return tl::make_unexpected(over_quota(*wait));
    }
  }
  return {};
}

Awaitable<Parsed<std::vector<PublishReceipt>>> publish_drafts(Context context,
                                                              std::vector<EventDraft> drafts,
                                                              bool all_or_nothing) {
  auto pending = context.services.publishing.publish(std::move(drafts), all_or_nothing);
  Result<std::vector<PublishReceipt>> receipts = co_await std::move(pending);
  if (!receipts) {
    const Error& error = receipts.error();
    co_return tl::make_unexpected(error.code == Errc::conflict ? fanout_backlog_full(error)
                                                               : to_problem(error));
  }
  // All receipts of one call are outdated, or none is.
  if (!receipts->empty() && std::holds_alternative<Outdated>(receipts->front())) {
    co_return tl::make_unexpected(catalog_outdated());
  }
  co_return *std::move(receipts);
}

}  // namespace postrider::api
