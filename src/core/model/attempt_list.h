// Lists of attempts over many deliveries: which attempts, and what part of the list.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/attempt.h"
#include "core/model/event.h"
#include "core/model/page.h"

namespace postrider {

/// What a list of attempts can be restricted to. `failed` includes the two that follow it.
enum class AttemptStatus : std::uint8_t {
  succeeded,
  failed,
  timeout,    // Failed because the receiver did not answer in time.
  exhausted,  // Failed and not followed by a retry.
  blocked,    // A blocked try is not an attempt: matches nothing.
};

/// Empty lists and nullopts do not restrict.
struct AttemptFilter {
  std::optional<TenantId> tenant_id;
  std::vector<WebhookId> webhook_ids;
  std::optional<DeliveryId> delivery_id;
  std::vector<AttemptStatus> statuses;
  std::vector<std::string> event_types;  // As in core/filter/event_type_filter.h.
  std::vector<FailureCategory> failure_categories;
  std::optional<WallTime> from;  // executed_at
  std::optional<WallTime> to;    // Exclusive.
};

/// True if any of the filter's statuses matches, or if it has none.
[[nodiscard]] bool admits_status(const AttemptFilter& filter, const Attempt& attempt);

/// The place of an attempt in the list. Unique.
struct AttemptPosition {
  WallTime executed_at;
  std::int64_t delivery = 0;  // The delivery's sequence.
  std::uint32_t number = 0;

  auto operator<=>(const AttemptPosition&) const = default;
};

/// As Page, for attempts.
struct AttemptPage {
  std::uint32_t limit = 50;
  std::uint32_t offset = 0;
  std::optional<AttemptPosition> before = std::nullopt;
  std::uint32_t scanned_max = scanned_default;
};

struct AttemptRecord {
  Attempt attempt;
  DeliveryId delivery_id;
  EventId event_id;
  WebhookId webhook_id;
  TenantId tenant_id;
  std::string event_type;

  bool operator==(const AttemptRecord&) const = default;
};

struct ListedAttempts {
  std::vector<AttemptRecord> items;
  std::optional<AttemptPosition> next;  // AttemptPage::before of the following page.

  bool operator==(const ListedAttempts&) const = default;
};

}  // namespace postrider
