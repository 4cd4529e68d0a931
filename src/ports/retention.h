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

/// An event that can be removed with all its deliveries, or one dead letter that can be removed
/// alone.
struct ExpiredEvent {
  std::int64_t sequence = 0;                // Of the event.
  std::optional<std::int64_t> dead_letter;  // The sequence of the delivery that is removed alone.
  Event event;
  std::vector<ExpiredDelivery> deliveries;  // Those to be removed.
};

/// In sequence order. A page examines a limited number of events or dead letters.
struct ExpiredPage {
  std::vector<ExpiredEvent> items;
  std::optional<std::int64_t> next;  // Continue after this sequence; nullopt at the end.
};

struct ExpiredQuery {
  RetentionCutoffs cutoffs;
  std::int64_t after = 0;     // Sequences above this.
  std::uint32_t limit = 200;  // Rows to examine.
  bool with_content = true;   // False: sequences only, if nothing is archived.
};

/// One instance per reader thread.
class RetentionReader {
 public:
  virtual ~RetentionReader() = default;

  [[nodiscard]] virtual Result<ExpiredPage> expired_events(const ExpiredQuery& query) = 0;
  [[nodiscard]] virtual Result<ExpiredPage> expired_dead_letters(const ExpiredQuery& query) = 0;

 protected:
  RetentionReader() = default;
  RetentionReader(const RetentionReader&) = default;
  RetentionReader& operator=(const RetentionReader&) = default;
};

/// Identifies an ExpiredEvent.
struct ExpiredKey {
  std::int64_t sequence = 0;
  std::optional<std::int64_t> dead_letter;
};

[[nodiscard]] inline ExpiredKey key_of(const ExpiredEvent& expired) {
  return {expired.sequence, expired.dead_letter};
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

  /// Removes these and everything that depends on them, in one transaction. Keeps what was revived
  /// meanwhile and events that hold a live idempotency key (P3). Statistics are not changed.
  /// Sequences are never reused.
  [[nodiscard]] virtual Result<Removed> remove(const std::vector<ExpiredKey>& keys,
                                               const RetentionCutoffs& cutoffs) = 0;

  /// Removes at most `limit` statistics of spans before `before`. Returns the number removed.
  [[nodiscard]] virtual Result<std::uint64_t> remove_stats(WallTime before,
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
