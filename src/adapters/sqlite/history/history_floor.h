// How far one call looks: the row after which enough was looked at. A filter that fits few rows
// then takes several calls instead of one that does not end.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/result.h"

#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/history/history_query.h"

namespace postrider::sqlite {

/// Counted from the newest row below `before`. nullopt: all the rest is within reach.
struct Reach {
  std::optional<std::int64_t> before;
  std::uint32_t looked_at_max = looked_at_default;
};

/// The oldest row that is looked at.
[[nodiscard]] Result<std::optional<std::int64_t>> delivery_floor(Database& database,
                                                                 const DeliveryFilter& filter,
                                                                 const DeliveryTerms& terms,
                                                                 const Reach& reach);
[[nodiscard]] Result<std::optional<std::int64_t>> event_floor(Database& database,
                                                              const EventFilter& filter,
                                                              const EventTerms& terms,
                                                              const Reach& reach);
/// The newest row that is looked at, going up.
[[nodiscard]] Result<std::optional<std::int64_t>> event_ceiling(Database& database,
                                                                const EventFilter& filter,
                                                                const EventTerms& terms,
                                                                const ForwardPage& page);

}  // namespace postrider::sqlite
