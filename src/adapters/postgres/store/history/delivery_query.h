// Builds the SQL that lists and counts deliveries.
//
// Waiting and final deliveries are in two tables and are read as one list. A scan merges the newest
// rows of one index of each table, without sorting, and ends after a number of rows. The other
// conditions of the filter are applied to the rows of the scan, so that no filter can make a call
// read more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/filter/event_type_filter.h"
#include "core/model/delivery_filter.h"
#include "core/model/page.h"

#include "adapters/postgres/store/history/built_query.h"

namespace postrider::postgres {

/// The rows of up to this many webhooks are merged. For more, the rows of all webhooks are read.
constexpr std::size_t merged_webhooks_max = 16;

/// The index that a scan reads.
enum class ScanAlong : std::uint8_t { sequence, tenant, webhooks, event, resource };

/// Whether the deliveries of the filter's resource can be read within the limit of the scan.
enum class ResourceSize : std::uint8_t { small, large };

struct DeliveryScan {
  const DeliveryFilter* filter;
  ScanAlong along = ScanAlong::sequence;
  EventTypeFilter types;
  std::vector<WebhookId> webhooks;  // Of the filter, sorted, without duplicates.
  /// Only these webhooks have waiting deliveries that match.
  std::optional<std::vector<WebhookId>> waiting_only = std::nullopt;
  std::optional<std::int64_t> before = std::nullopt;
  std::uint32_t scanned_max = scanned_default;  // At least 1.
};

/// Chooses the index. `filter` must outlive the scan.
[[nodiscard]] DeliveryScan plan_scan(const DeliveryFilter& filter, ResourceSize resource);
/// False if no row can match.
[[nodiscard]] bool can_match(const DeliveryScan& scan);

/// Records (record_rows.h), newest first, at most one more than the page's limit.
[[nodiscard]] BuiltQuery select_deliveries(const DeliveryScan& scan, const Page& page);
/// The number of matching rows of the scan.
[[nodiscard]] BuiltQuery count_scanned(const DeliveryScan& scan);
/// The columns by which dead letters are grouped, for all matching rows of the scan.
[[nodiscard]] BuiltQuery select_dead_letter_facts(const DeliveryScan& scan);
/// The sequences of the last row of the scan and of the row after it. Fewer than two rows: the scan
/// has reached the end.
[[nodiscard]] BuiltQuery select_scan_end(const DeliveryScan& scan);

/// Counts the deliveries that the publishes of a resource made. Stops counting above `limit`.
[[nodiscard]] BuiltQuery select_resource_size(const std::string& resource_id, std::uint32_t limit);

/// Webhooks whose circuit is open or forced open.
inline constexpr std::string_view open_circuits =
    "SELECT k.webhook_id FROM circuit k"
    " WHERE k.state <> 0 OR (k.forced_until IS NOT NULL AND k.forced_open = 1)";

/// Restricts `column` to the types of the filter. Adds nothing if all are admitted.
void add_types(Conditions& conditions, ParameterList& parameters, const EventTypeFilter& types,
               std::string_view column);

}  // namespace postrider::postgres
