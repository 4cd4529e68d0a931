// From drafts to receipts: what every way of publishing has in common.
#pragma once

#include <vector>

#include <tl/expected.hpp>

#include "api/resources/context.h"

namespace postrider::api {

/// The receipts in the order of the drafts, or the answer to give instead.
using Published = tl::expected<std::vector<PublishReceipt>, HttpResponse>;

/// Why not to store these at all: an unknown tenant when only known ones are wanted (422), a tenant
/// over its quota (429 with Retry-After). Else their share of the quota is taken.
[[nodiscard]] std::optional<HttpResponse> refuse_drafts(const Context& context,
                                                        const std::vector<EventDraft>& drafts);
/// The same of one event that is judged alone.
[[nodiscard]] std::optional<Problem> refuse_draft(const Context& context, const EventDraft& draft);

/// 503 when the server cannot take it.
[[nodiscard]] Awaitable<Published> publish_drafts(Context context, std::vector<EventDraft> drafts,
                                                  bool all_or_nothing);

/// 422 when only known tenants are wanted and this one is not.
[[nodiscard]] std::optional<Problem> unknown_tenant(const Context& context,
                                                    const TenantId& tenant_id);

}  // namespace postrider::api
