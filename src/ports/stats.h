// Numbers over time: what the lists add up to, kept as sums that are written with what they count.
// Reads only; nothing here looks at single deliveries.
//
// The specification is tests/contract/stats_contract.cc. Calls block; one instance per reader
// thread, with the same view of the store as History.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <ratio>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/delivery_tally.h"
#include "core/model/event.h"

namespace postrider {

/// What the store keeps apart: everything in one span is one sum.
constexpr Millis stats_span{300'000};

/// Which span a time is in. PublishWriter counts when the event was created, attempts and dead
/// letters when they were settled.
[[nodiscard]] constexpr std::int64_t stats_span_of(WallTime time) {
  return std::chrono::floor<std::chrono::duration<std::int64_t, std::ratio<300>>>(
             time.time_since_epoch())
      .count();
}
[[nodiscard]] constexpr WallTime stats_span_start(std::int64_t span) {
  return WallTime{stats_span * span};
}

/// Whole spans: `from` and `to` are rounded outwards.
struct StatsFilter {
  WallTime from;
  WallTime to;  // Exclusive.
  std::optional<WebhookId> webhook_id;
  std::optional<TenantId> tenant_id;
};

struct SpanTally {
  WallTime start;
  DeliveryTally tally;

  bool operator==(const SpanTally&) const = default;
};

struct WebhookTally {
  WebhookId webhook_id;
  DeliveryTally tally;

  bool operator==(const WebhookTally&) const = default;
};

/// Most attempts first, then by id.
inline void sort_by_volume(std::vector<WebhookTally>& webhooks) {
  std::ranges::sort(webhooks, {}, [](const WebhookTally& each) {
    return std::pair{~each.tally.attempts, each.webhook_id};  // The complement: most first.
  });
}

class Stats {
 public:
  virtual ~Stats() = default;

  /// Sums of `bucket` (a multiple of stats_span, counted from 1970), oldest first. Those in which
  /// nothing happened are left out.
  [[nodiscard]] virtual Result<std::vector<SpanTally>> over_time(const StatsFilter& filter,
                                                                 Millis bucket) = 0;

  /// Every webhook for which something happened, most attempts first, then by id.
  [[nodiscard]] virtual Result<std::vector<WebhookTally>> by_webhook(const StatsFilter& filter) = 0;

 protected:
  Stats() = default;
  Stats(const Stats&) = default;
  Stats& operator=(const Stats&) = default;
};

}  // namespace postrider
