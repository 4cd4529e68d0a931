// What happened, for people: reads only, never on the delivery path.
//
// The specification is tests/contract/history_contract.cc. Calls block; one instance per reader
// thread. Every call sees one consistent state, no older than the last commit that returned before
// it began.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/attempt.h"
#include "core/model/delivery.h"
#include "core/model/event.h"
#include "core/request/request_shape.h"

namespace postrider {

/// A delivery as people see it.
struct DeliveryRecord {
  Delivery delivery;
  TenantId tenant_id;
  WallTime created_at;
  WallTime updated_at;
  std::optional<WallTime> completed_at;  // When it became final.
  std::optional<DeadReason> dead;
  std::optional<FailureCategory> last_failure;    // Of the latest attempt; none when it succeeded.
  std::optional<std::uint16_t> last_http_status;  // Of the latest attempt.

  bool operator==(const DeliveryRecord&) const = default;
};

/// About so many rows are looked at by one call, so that a filter that fits few of them does not
/// keep a reader for minutes: some 20 ms.
constexpr std::uint32_t looked_at_default = 20'000;

/// Newest first. `before` and `offset` are two ways to page: a cursor is stable under inserts. A
/// page may end early, even empty, because enough was looked at; then it has a `next`. The offset
/// counts within what one call looks at.
struct Page {
  std::uint32_t limit = 50;
  std::uint32_t offset = 0;
  std::optional<std::int64_t> before = std::nullopt;  // Sequences below this.
  std::uint32_t looked_at_max = looked_at_default;
};

/// A part of a list to count: newest first, below `before`.
struct CountRange {
  std::optional<std::int64_t> before = std::nullopt;
  std::uint32_t looked_at_max = looked_at_default;
};

/// How many there are in the stretch, and where the next one begins; nullopt at the end.
struct PartialCount {
  std::uint64_t count = 0;
  std::optional<std::int64_t> next = std::nullopt;

  bool operator==(const PartialCount&) const = default;
};

/// Oldest first: sequences above `after`.
struct ForwardPage {
  std::int64_t after = 0;
  std::uint32_t limit = 50;
  std::uint32_t looked_at_max = looked_at_default;
};

template <class Item>
struct Listed {
  std::vector<Item> items;
  std::optional<std::int64_t> next;  // Page::before for the following page; nullopt at the end.

  bool operator==(const Listed&) const = default;
};

/// Empty lists and nullopts do not restrict.
struct DeliveryFilter {
  std::optional<TenantId> tenant_id;
  std::vector<WebhookId> webhook_ids;
  std::optional<EventId> event_id;
  std::vector<DeliveryState> states;
  std::vector<std::string> event_types;             // As in core/filter/event_type_filter.h.
  std::vector<FailureCategory> failure_categories;  // Of the latest attempt.
  std::optional<Classification> classification;     // Of dead letters.
  std::optional<WallTime> from;  // created_at; completed_at when dead letters alone are asked for.
  std::optional<WallTime> to;    // Exclusive.

  bool operator==(const DeliveryFilter&) const = default;
};

[[nodiscard]] inline bool lists_dead_letters(const DeliveryFilter& filter) {
  return filter.states.size() == 1 && filter.states.front() == DeliveryState::dead_letter;
}

struct EventFilter {
  std::optional<TenantId> tenant_id;
  std::vector<std::string> types;               // As in core/filter/event_type_filter.h.
  std::optional<WallTime> from = std::nullopt;  // created_at
  std::optional<WallTime> to = std::nullopt;    // Exclusive.
  std::optional<bool> matched = std::nullopt;   // Some webhook got it, or none did.
};

/// An event, and what one webhook has had of it.
struct EventForWebhook {
  std::int64_t sequence = 0;
  Event event;
  std::optional<DeliveryRecord> delivery;

  bool operator==(const EventForWebhook&) const = default;
};

/// Over a webhook's latest attempts in the order they were recorded, at most `health_attempts_max`,
/// back to the first that has been removed.
struct WebhookHealth {
  std::uint32_t attempts = 0;
  std::uint32_t succeeded = 0;
  std::map<FailureCategory, std::uint32_t> failures;
  Micros duration_p50{0};
  Micros duration_p95{0};
  Micros duration_p99{0};
  std::optional<WallTime> last_success_at;  // executed_at, over its whole life.
  std::optional<WallTime> last_failure_at;
  std::map<DeliveryState, std::uint64_t>
      deliveries;  // Waiting and dead ones, exact; zeros left out.

  bool operator==(const WebhookHealth&) const = default;
};
constexpr std::uint32_t health_attempts_max = 1000;

class History {
 public:
  virtual ~History() = default;

  [[nodiscard]] virtual Result<Listed<DeliveryRecord>> list_deliveries(const DeliveryFilter& filter,
                                                                       const Page& page) = 0;
  /// Fails with not_found.
  [[nodiscard]] virtual Result<DeliveryRecord> find_delivery(DeliveryId id) = 0;
  /// In order of their number. Empty for an unknown delivery.
  [[nodiscard]] virtual Result<std::vector<Attempt>> attempts_of(DeliveryId id) = 0;
  /// What was kept of their requests, by the attempts' numbers, whatever has become of the webhook.
  /// Where there was nothing to send, or is no key to read it with, there is none.
  [[nodiscard]] virtual Result<std::map<std::uint32_t, RequestShape>> requests_of(
      DeliveryId id) = 0;

  [[nodiscard]] virtual Result<Listed<Event>> list_events(const EventFilter& filter,
                                                          const Page& page) = 0;
  /// Fails with not_found.
  [[nodiscard]] virtual Result<Event> find_event(EventId id) = 0;
  /// For a replay: oldest first, `next` is ForwardPage::after of the following page. A page of
  /// large events may end early.
  [[nodiscard]] virtual Result<Listed<EventForWebhook>> list_events_for(
      WebhookId webhook_id, const EventFilter& filter, const ForwardPage& page) = 0;

  [[nodiscard]] virtual Result<PartialCount> count_deliveries(const DeliveryFilter& filter,
                                                              const CountRange& range) = 0;

  [[nodiscard]] virtual Result<WebhookHealth> webhook_health(WebhookId id) = 0;
  /// Dead letters per tenant, for the start of the counter that metrics show.
  [[nodiscard]] virtual Result<std::map<TenantId, std::uint64_t>> dead_letter_counts() = 0;

 protected:
  History() = default;
  History(const History&) = default;
  History& operator=(const History&) = default;
};

}  // namespace postrider
