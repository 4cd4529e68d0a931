// The steps from drafts to receipts that single events and batches share.
#pragma once

#include <vector>

#include "api/http/problem.h"
#include "api/resources/context.h"

namespace postrider::api {

/// Takes the events from their tenants' quotas, unless an earlier try has. Fails, and takes
/// nothing, if a tenant is unknown and must be known (422), is suspended (403) or is over its quota
/// (429 with Retry-After).
[[nodiscard]] Parsed<void> check_drafts(const Context& context,
                                        const std::vector<EventDraft>& drafts);
/// Like check_drafts, for one event of a batch that is not atomic.
[[nodiscard]] Parsed<void> check_draft(const Context& context, const EventDraft& draft);

/// The receipts are in the order of the drafts. Fails with 503 if the server cannot store them, and
/// with 429 if too many deliveries of a tenant are still to be made. If is_outdated(problem),
/// nothing was stored: check the request again from the start, with the current snapshots.
[[nodiscard]] Awaitable<Parsed<std::vector<PublishReceipt>>> publish_drafts(
    Context context, std::vector<EventDraft> drafts, bool all_or_nothing);

/// The catalogue has changed since the drafts were checked. Never shown to clients.
[[nodiscard]] bool is_outdated(const Problem& problem);

/// Whether an event is refused because of what is known about tenants and event types.
[[nodiscard]] bool is_due_to_catalog(const Problem& problem);

/// Fails with 403 if the tenant is suspended: nothing may be published or sent for it.
[[nodiscard]] Parsed<void> check_not_suspended(const Snapshots& snapshots,
                                               const TenantId& tenant_id);

/// Fails with 422 if the tenant is reserved for the server, or if only registered tenants are
/// served and this one is not registered.
[[nodiscard]] Parsed<void> check_tenant_known(const Context& context, const TenantId& tenant_id);

}  // namespace postrider::api
