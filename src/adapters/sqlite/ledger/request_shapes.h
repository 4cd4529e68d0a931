// Stores the shapes of requests (sql/admin/request_shape_rows.h reads them). An attempt refers to
// the shape of its request by a number.
//
// A shape is stored with the first attempt that has it. It is retired when another shape replaces
// it or its webhook is removed; then only deliveries below a known sequence (`named_below`) can
// refer to it. When all of those have been removed, the shape can be removed too.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/model/delivery.h"
#include "core/request/request_shape.h"
#include "ports/vault.h"

#include "adapters/sql/sealed_shape.h"
#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/ledger/lane_cache.h"

namespace postrider::sqlite {

/// The writer's side. Call all members within a transaction. Store thread only.
class RequestShapeCache {
 public:
  /// `vault` may be null.
  [[nodiscard]] static Result<RequestShapeCache> open(Database& database,
                                                      std::shared_ptr<const Vault> vault);

  /// The number of `shape` for an attempt of `delivery`; zero if `shape` is null. Stores a new
  /// shape. `next_sequence` is the sequence of the next delivery.
  [[nodiscard]] Result<std::uint32_t> number_of(const RequestShapeRef& shape,
                                                const Delivery& delivery, LaneEntry& lane,
                                                std::int64_t next_sequence);

 private:
  struct StoredShape;

  explicit RequestShapeCache(Database& database) : database_(&database) {}

  [[nodiscard]] Result<std::vector<StoredShape>> load_recent(WebhookId webhook_id);
  [[nodiscard]] Result<void> store(const sql::ShapeKey& key, std::string packed,
                                   std::int64_t next_sequence);

  Database* database_;
  std::shared_ptr<const Vault> vault_;
  Statement load_recent_;
  Statement insert_;
  Statement retire_others_;
  Statement reactivate_;
};

/// Removes at most `limit` retired shapes that no stored delivery can refer to.
[[nodiscard]] Result<void> remove_unused_shapes(Database& database, std::uint32_t limit);

}  // namespace postrider::sqlite
