// Removes old events and deliveries: the reader finds what has expired, the writer removes it. The
// rules are in core/policy/retention.h.
//
// The specification is tests/contract/retention_contract.cc. Calls block. Implementations never
// read a clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/model/attempt.h"
#include "core/model/delivery_record.h"
#include "core/model/event.h"
#include "core/policy/retention.h"

namespace postrider {

struct ExpiredDelivery {
  DeliveryRecord record;
  std::vector<Attempt> attempts;

  bool operator==(const ExpiredDelivery&) const = default;
};

/// An event that can be removed with all its deliveries, or one delivery that can be removed alone:
/// a dead letter, or a delivery to a removed webhook.
struct ExpiredEvent {
  std::int64_t sequence = 0;                  // Of the event.
  std::optional<std::int64_t> only_delivery;  // The sequence of the delivery that is removed alone.
  Event event;
  std::vector<ExpiredDelivery> deliveries;  // Those to be removed.
};

/// A page examines a limited number of events or deliveries.
struct ExpiredPage {
  std::vector<ExpiredEvent> items;
  std::optional<std::int64_t> next;  // `after` of the next page; nullopt at the end.
};

struct ExpiredQuery {
  RetentionCutoffs cutoffs;
  std::int64_t after = 0;     // 0: from the first.
  std::uint32_t limit = 200;  // Rows to examine.
  bool with_content = true;   // False: sequences only, if nothing is archived.
  WebhookId webhook_id = {};  // Only for deliveries_of_removed.
};

/// One instance per reader thread.
class RetentionReader {
 public:
  virtual ~RetentionReader() = default;

  /// Oldest first, like expired_dead_letters.
  [[nodiscard]] virtual Result<ExpiredPage> expired_events(const ExpiredQuery& query) = 0;
  [[nodiscard]] virtual Result<ExpiredPage> expired_dead_letters(const ExpiredQuery& query) = 0;
  /// The first webhook after `after` in id order that was removed long enough ago. nullopt: there
  /// is none, or no age is set.
  [[nodiscard]] virtual Result<std::optional<WebhookId>> expired_webhook(
      const RetentionCutoffs& cutoffs, std::optional<WebhookId> after) = 0;
  /// The deliveries to such a webhook, newest first. Waiting ones are left out.
  [[nodiscard]] virtual Result<ExpiredPage> deliveries_of_removed(const ExpiredQuery& query) = 0;

 protected:
  RetentionReader() = default;
  RetentionReader(const RetentionReader&) = default;
  RetentionReader& operator=(const RetentionReader&) = default;
};

/// Identifies an ExpiredEvent.
struct ExpiredKey {
  std::int64_t sequence = 0;
  std::optional<std::int64_t> only_delivery;
};

[[nodiscard]] inline ExpiredKey key_of(const ExpiredEvent& expired) {
  return {expired.sequence, expired.only_delivery};
}

struct Removed {
  std::uint64_t events = 0;
  std::uint64_t deliveries = 0;
  std::uint64_t attempts = 0;
  std::map<TenantId, std::uint64_t> dead_letters;  // Included in `deliveries`.

  bool operator==(const Removed&) const = default;
};

/// Store thread only.
class RetentionWriter {
 public:
  virtual ~RetentionWriter() = default;

  /// Removes at once the events of the oldest month of which every event has expired, with
  /// everything that depends on them, if the store keeps months apart. Only for events that are
  /// not archived. Dead letters are counted exactly; the other counts may be estimates. Returns
  /// nullopt if there is no such month.
  [[nodiscard]] virtual Result<std::optional<Removed>> remove_month(
      const RetentionCutoffs& /*cutoffs*/) {
    return std::nullopt;
  }

  /// Removes these and everything that depends on them, in one transaction. Keeps what was revived
  /// meanwhile and events that hold a live idempotency key (P3). Statistics are not changed.
  /// Sequences are never reused.
  [[nodiscard]] virtual Result<Removed> remove(const std::vector<ExpiredKey>& keys,
                                               const RetentionCutoffs& cutoffs) = 0;

  /// Forgets that this webhook was removed, unless a delivery to it is left. Returns whether it
  /// did.
  [[nodiscard]] virtual Result<bool> forget_webhook(WebhookId id) = 0;

  /// Removes at most `limit` statistics of spans before `before`. Returns the number removed.
  [[nodiscard]] virtual Result<std::uint64_t> remove_stats(WallTime before,
                                                           std::uint32_t limit) = 0;

  /// Removes at most `limit` open periods of circuits that ended before `before`, and those of
  /// removed webhooks that began before it. Returns the number removed.
  [[nodiscard]] virtual Result<std::uint64_t> remove_open_periods(WallTime before,
                                                                  std::uint32_t limit) = 0;

  /// Returns some free space to the file system if there is much of it. Returns true if there is
  /// more to release.
  [[nodiscard]] virtual Result<bool> release_space() = 0;

 protected:
  RetentionWriter() = default;
  RetentionWriter(const RetentionWriter&) = default;
  RetentionWriter& operator=(const RetentionWriter&) = default;
};

}  // namespace postrider
