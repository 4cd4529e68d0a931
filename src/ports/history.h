// Reads the history of events, deliveries and attempts for users. Never on the delivery path.
//
// The specification is tests/contract/history_contract.cc. Calls block; one instance per reader
// thread. Every call sees one consistent state that includes every commit that returned before the
// call began.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/attempt.h"
#include "core/model/attempt_list.h"
#include "core/model/delivery.h"
#include "core/model/delivery_filter.h"
#include "core/model/delivery_record.h"
#include "core/model/event.h"
#include "core/model/page.h"
#include "core/model/tenant_counts.h"
#include "core/policy/breaker.h"
#include "core/request/request_shape.h"

namespace postrider {

/// Sums over the latest attempts of a webhook in the order of recording: at most
/// `health_attempts_max`, not beyond the first attempt that retention has removed.
struct WebhookHealth {
  std::uint32_t attempts = 0;
  std::uint32_t succeeded = 0;
  std::map<FailureCategory, std::uint32_t> failures;
  Micros duration_p50{0};
  Micros duration_p95{0};
  Micros duration_p99{0};
  std::optional<WallTime> last_success_at;  // executed_at. Not limited to the latest attempts.
  std::optional<WallTime> last_failure_at;
  /// The exact numbers of waiting deliveries and dead letters. No zeros.
  std::map<DeliveryState, std::uint64_t> deliveries;

  bool operator==(const WebhookHealth&) const = default;
};

/// When the latest successful and the latest failed attempt of a webhook began.
struct LatestResults {
  std::optional<WallTime> last_success_at;
  std::optional<WallTime> last_failure_at;

  bool operator==(const LatestResults&) const = default;
};
constexpr std::uint32_t health_attempts_max = 1000;
constexpr std::uint32_t open_periods_max = 250;

/// The parts of a dead letter by which dead letters are grouped.
struct DeadLetterFacts {
  WebhookId webhook_id;
  std::string_view event_type;  // Valid during the call.
  std::optional<FailureCategory> failure_category;
  std::optional<Classification> classification;
  WallTime completed_at;  // When it became a dead letter.
};
using TakeDeadLetter = std::function<void(const DeadLetterFacts&)>;

class History {
 public:
  virtual ~History() = default;

  [[nodiscard]] virtual Result<Listed<DeliveryRecord>> list_deliveries(const DeliveryFilter& filter,
                                                                       const Page& page) = 0;
  /// Fails with not_found.
  [[nodiscard]] virtual Result<DeliveryRecord> find_delivery(DeliveryId id) = 0;
  /// Newest first by executed_at. The attempts of a single webhook are paged in the order of
  /// recording, of which each page is sorted, and not beyond the first attempt that retention has
  /// removed.
  [[nodiscard]] virtual Result<ListedAttempts> list_attempts(const AttemptFilter& filter,
                                                             const AttemptPage& page) = 0;
  /// Ordered by attempt number. Empty if the delivery is unknown.
  [[nodiscard]] virtual Result<std::vector<Attempt>> attempts_of(DeliveryId id) = 0;
  /// The stored requests by attempt number, also if the webhook has been removed. Attempts that
  /// sent nothing, and requests sealed under a key that was not given, are left out.
  [[nodiscard]] virtual Result<std::map<std::uint32_t, RequestShape>> requests_of(
      DeliveryId id) = 0;

  /// The times in which the circuit of the delivery's webhook was open while the delivery existed
  /// and was not final. Oldest first, the latest `open_periods_max`. Empty if the delivery is
  /// unknown.
  [[nodiscard]] virtual Result<std::vector<OpenPeriod>> open_periods_of(DeliveryId id) = 0;

  /// The times in which the webhook's circuit was open, newest first. `next` is a time.
  [[nodiscard]] virtual Result<Listed<OpenPeriod>> list_open_periods(WebhookId id,
                                                                     const Page& page) = 0;
  /// The stored circuits of these webhooks, without those that never changed.
  [[nodiscard]] virtual Result<std::map<WebhookId, CircuitRecord>> circuits_of(
      const std::vector<WebhookId>& ids) = 0;
  /// See Ledger::recent_calls.
  [[nodiscard]] virtual Result<std::vector<PastCall>> recent_calls(WebhookId id,
                                                                   const CallsToRestore& which) = 0;
  /// The stored circuits that are not closed.
  [[nodiscard]] virtual Result<std::map<WebhookId, CircuitState>> open_circuits() = 0;

  [[nodiscard]] virtual Result<Listed<Event>> list_events(const EventFilter& filter,
                                                          const Page& page) = 0;
  /// Fails with not_found.
  [[nodiscard]] virtual Result<Event> find_event(EventId id) = 0;
  /// The deliveries of the event that are still to be made: see Fanout. 0 if the event is unknown.
  [[nodiscard]] virtual Result<std::uint64_t> fanout_remaining(EventId id) = 0;
  /// For a replay. Oldest first; `next` is ForwardPage::after of the following page. A page of
  /// large events may end early.
  [[nodiscard]] virtual Result<Listed<EventForWebhook>> list_events_for(
      WebhookId webhook_id, const EventFilter& filter, const ForwardPage& page) = 0;

  [[nodiscard]] virtual Result<PartialCount> count_deliveries(const DeliveryFilter& filter,
                                                              const CountRange& range) = 0;

  /// Calls `take` for each matching dead letter of the range, in no particular order. `filter` must
  /// list only dead letters. Returns where the next range begins; nullopt at the end.
  [[nodiscard]] virtual Result<std::optional<std::int64_t>> scan_dead_letters(
      const DeliveryFilter& filter, const CountRange& range, const TakeDeadLetter& take) = 0;

  /// The tenant of a removed webhook. nullopt if there was no such webhook or retention has removed
  /// its history.
  [[nodiscard]] virtual Result<std::optional<TenantId>> tenant_of_removed(WebhookId id) = 0;
  [[nodiscard]] virtual Result<WebhookHealth> webhook_health(WebhookId id) = 0;
  /// The latest results of these webhooks, without those that have none. Reads one row for each.
  [[nodiscard]] virtual Result<std::map<WebhookId, LatestResults>> latest_results(
      const std::vector<WebhookId>& ids) = 0;
  /// See Ledger::count_waiting. For a store that several nodes share, where the count may take
  /// long and must not delay what is stored.
  [[nodiscard]] virtual Result<TenantCounts> waiting_counts() = 0;
  /// Dead letters by tenant: the initial value of the metric.
  [[nodiscard]] virtual Result<std::map<TenantId, std::uint64_t>> dead_letter_counts() = 0;

 protected:
  History() = default;
  History(const History&) = default;
  History& operator=(const History&) = default;
};

}  // namespace postrider
