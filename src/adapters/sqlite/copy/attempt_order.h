// The order in which attempts were recorded.
//
// SQLite keeps this order for each webhook, as a chain. A copy numbers all attempts in one series.
// They are numbered by the time at which they began, except that no attempt comes before its
// predecessor in the chain: a slow attempt begins before others and is recorded after them. So
// results that depend on the chain, such as the calls that a circuit counts, stay the same.
// Attempts that began in the same millisecond may be listed in another order than before.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/base/result.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

struct AttemptKey {
  std::int64_t delivery = 0;
  std::int64_t number = 0;

  auto operator<=>(const AttemptKey&) const = default;
};

using TakeAttempt = std::function<Result<void>(const AttemptKey& key)>;

/// Keeps in memory the attempts that wait for their predecessor: about as many as were in flight at
/// once.
class AttemptOrder {
 public:
  /// `take` must outlive this object.
  explicit AttemptOrder(const TakeAttempt& take) : take_(take) {}

  /// The next attempt by the time at which it began. `previous_is_later`: its predecessor has not
  /// been added yet.
  [[nodiscard]] Result<void> add(const AttemptKey& key, const AttemptKey& previous,
                                 bool previous_is_later);
  /// Takes the attempts that still wait. There are none unless a chain is damaged.
  [[nodiscard]] Result<void> finish();

 private:
  [[nodiscard]] Result<void> take(AttemptKey key);

  const TakeAttempt& take_;
  std::map<AttemptKey, AttemptKey> successors_;  // By predecessor.
  std::set<AttemptKey> held_;                    // The values of `successors_`.
};

/// Calls `take` for every attempt of the store, in that order.
[[nodiscard]] Result<void> for_each_recorded_attempt(Database& database, const TakeAttempt& take);

}  // namespace postrider::sqlite
