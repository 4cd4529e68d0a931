// Letting old things go: a reader finds what may, the writer removes it. The rule is
// core/policy/retention.h.
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
#include "core/model/event.h"
#include "core/policy/retention.h"
#include "ports/history.h"

namespace postrider {

struct ExpiredDelivery {
  DeliveryRecord record;
  std::vector<Attempt> attempts;

  bool operator==(const ExpiredDelivery&) const = default;
};

/// An event that may go with all its deliveries, or one of its dead letters that may go alone.
struct ExpiredEvent {
  std::int64_t sequence = 0;                // Of the event.
  std::optional<std::int64_t> dead_letter;  // Of the delivery that goes alone.
  Event event;
  std::vector<ExpiredDelivery> deliveries;  // Those that go.
};

/// In the order of their sequences. A page looks at so many events or dead letters, not at all.
struct ExpiredPage {
  std::vector<ExpiredEvent> items;
  std::optional<std::int64_t> next;  // Go on behind this sequence; nullopt: nothing old is left.
};

struct ExpiredQuery {
  RetentionCutoffs cutoffs;
  std::int64_t after = 0;     // Sequences above this.
  std::uint32_t limit = 200;  // Looked at.
  bool with_content = true;   // False: sequences alone, for who does not archive.
};

/// Reads. One instance per reader thread.
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

/// What an ExpiredEvent is known by.
struct ExpiredKey {
  std::int64_t sequence = 0;
  std::optional<std::int64_t> dead_letter;
};

[[nodiscard]] inline ExpiredKey name_of(const ExpiredEvent& old) {
  return {old.sequence, old.dead_letter};
}

struct Removed {
  std::uint64_t events = 0;
  std::uint64_t deliveries = 0;
  std::uint64_t attempts = 0;
  std::map<TenantId, std::uint64_t> dead_letters;  // Among the deliveries.

  bool operator==(const Removed&) const = default;
};

/// Writes. Used by the store thread only.
class RetentionWriter {
 public:
  virtual ~RetentionWriter() = default;

  /// In one transaction, with everything that hangs on them. What may not go any more, because it
  /// was revived meanwhile, stays; so does an event that holds a live idempotency key (P3). Numbers
  /// over time are not touched. Sequences are never given again.
  [[nodiscard]] virtual Result<Removed> remove(const std::vector<ExpiredKey>& names,
                                               const RetentionCutoffs& cutoffs) = 0;

  /// Forgets at most `limit` sums of spans before `before`. How many they were.
  [[nodiscard]] virtual Result<std::uint64_t> remove_stats(WallTime before,
                                                           std::uint32_t limit) = 0;

  /// Hands a little of the space that removal left back to the file system, when that is much.
  /// True: there is more to hand back.
  [[nodiscard]] virtual Result<bool> give_back_space() = 0;

 protected:
  RetentionWriter() = default;
  RetentionWriter(const RetentionWriter&) = default;
  RetentionWriter& operator=(const RetentionWriter&) = default;
};

}  // namespace postrider
