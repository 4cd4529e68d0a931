// The events that a transaction adds. Store thread only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/model/event.h"

#include "adapters/postgres/store/database/joined_statement.h"

namespace postrider::postgres {

struct EventPlace {
  std::int64_t sequence = 0;
  /// Deliveries that are made with the event; 1 if `fanned_out` is not zero.
  std::size_t delivery_count = 0;
  std::uint32_t fanned_out = 0;  // Deliveries that are made from a note.
};

/// Collects the columns of the rows, which one statement inserts.
class EventColumns {
 public:
  void reserve(std::size_t count, std::size_t data_bytes);
  void add(const Event& event, const EventPlace& place);
  /// Adds the insertion of the rows, if there is an event.
  void add_to(JoinedStatement& joined);

 private:
  Array ids_{ElementType::uuid};
  Array sequences_{ElementType::int8};
  Array tenant_ids_{ElementType::text};
  Array types_{ElementType::text};
  Array priorities_{ElementType::int2};
  Array timestamps_{ElementType::int8};
  Array created_{ElementType::int8};
  Array delivery_counts_{ElementType::int4};
  Array fanned_out_{ElementType::int4};
  Array idempotency_keys_{ElementType::text};
  Array resource_ids_{ElementType::text};
  Array sources_{ElementType::text};
  Array ordering_keys_{ElementType::text};
  Array source_ids_{ElementType::text};
  Array metadata_{ElementType::text};
  Array data_{ElementType::text};
  Array traces_{ElementType::bytea};
  Array trace_states_{ElementType::text};
};

}  // namespace postrider::postgres
