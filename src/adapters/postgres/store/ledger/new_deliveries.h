// The deliveries that a transaction adds to the table waiting. Store thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/delivery.h"
#include "core/model/shard_number.h"

#include "adapters/postgres/store/database/joined_statement.h"

namespace postrider::postgres {

/// Collects the columns of the rows, which one statement inserts.
class NewDeliveries {
 public:
  struct Origin {
    std::string_view tenant_id;
    WallTime now;       // created_at.
    bool late = false;  // Made after its event was published.
    std::optional<OperationId> operation = std::nullopt;
  };

  void reserve(std::size_t count);
  void add(const Delivery& delivery, const Origin& origin);

  /// Adds the insertion of the rows, if there is a delivery.
  void add_to(JoinedStatement& joined) &&;

 private:
  Array sequences_{ElementType::int8};
  Array ids_{ElementType::uuid};
  Array event_ids_{ElementType::uuid};
  Array webhook_ids_{ElementType::uuid};
  Array tenant_ids_{ElementType::text};
  Array types_{ElementType::text};
  Array priorities_{ElementType::int2};
  Array states_{ElementType::int2};
  Array triggers_{ElementType::int2};
  Array dues_{ElementType::int8};
  Array attempt_counts_{ElementType::int4};
  Array budgets_used_{ElementType::int4};
  Array created_{ElementType::int8};
  Array lates_{ElementType::boolean};
  Array operations_{ElementType::uuid};
  Array traces_{ElementType::bytea};
  Array shards_{ElementType::int2};
};

}  // namespace postrider::postgres
