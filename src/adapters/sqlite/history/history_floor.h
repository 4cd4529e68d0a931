// Bounds the number of rows that one call reads. A filter that matches few rows then takes several
// short calls instead of one unbounded call.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/result.h"

#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/history/history_query.h"

namespace postrider::sqlite {

/// Read at most `scanned_max` rows, starting with the newest row below `before`.
struct ScanLimit {
  std::optional<std::int64_t> before;
  std::uint32_t scanned_max = scanned_default;
};

/// The oldest row to read. Returns nullopt if all remaining rows are within the limit.
[[nodiscard]] Result<std::optional<std::int64_t>> delivery_floor(Database& database,
                                                                 const DeliveryFilter& filter,
                                                                 const DeliveryTerms& terms,
                                                                 const ScanLimit& limit);
[[nodiscard]] Result<std::optional<std::int64_t>> event_floor(Database& database,
                                                              const EventFilter& filter,
                                                              const EventTerms& terms,
                                                              const ScanLimit& limit);
/// The newest row to read, in ascending order. Returns nullopt as above.
[[nodiscard]] Result<std::optional<std::int64_t>> event_ceiling(Database& database,
                                                                const EventFilter& filter,
                                                                const EventTerms& terms,
                                                                const ForwardPage& page);

}  // namespace postrider::sqlite
