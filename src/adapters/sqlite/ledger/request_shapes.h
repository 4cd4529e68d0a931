// The shapes of requests: which number an attempt names, and what it stands for.
//
// A shape is stored with the first attempt that has it. It may go when no delivery is left that
// could name it, which follows from sequences alone: once another shape has taken its place, or its
// webhook is gone, deliveries that are yet to come do not name it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/model/delivery.h"
#include "core/request/request_shape.h"
#include "ports/vault.h"

#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/ledger/lane_cache.h"
#include "adapters/sqlite/ledger/shape_bytes.h"

namespace postrider::sqlite {

/// The writer's side. All within a transaction.
class RequestShapeCache {
 public:
  /// `vault` may be null.
  [[nodiscard]] static Result<RequestShapeCache> open(Database& database,
                                                      std::shared_ptr<const Vault> vault);

  /// The number an attempt of `delivery` names; zero when `shape` is null. `next_sequence` is given
  /// to the next delivery.
  [[nodiscard]] Result<std::uint32_t> number_of(const RequestShapeRef& shape,
                                                const Delivery& delivery, LaneEntry& lane,
                                                std::int64_t next_sequence);

 private:
  struct Known;

  explicit RequestShapeCache(Database& database) : database_(&database) {}

  [[nodiscard]] Result<std::vector<Known>> recent(WebhookId webhook_id);
  [[nodiscard]] Result<void> store(const ShapePlace& place, std::string packed,
                                   std::int64_t next_sequence);

  Database* database_;
  std::shared_ptr<const Vault> vault_;
  Statement recent_;
  Statement insert_;
  Statement take_place_;
  Statement come_back_;
};

/// Its webhook is gone: only deliveries below `next_sequence` name its shapes.
[[nodiscard]] Result<void> leave_shapes(Database& database, WebhookId webhook_id,
                                        std::int64_t next_sequence);

/// Removes at most `limit` shapes that no delivery can name any more.
[[nodiscard]] Result<void> remove_left_shapes(Database& database, std::uint32_t limit);

/// nullopt when it cannot be opened with the keys at hand. Fails with corrupt.
[[nodiscard]] Result<std::optional<RequestShape>> read_shape(Database& database,
                                                             const ShapePlace& place,
                                                             const Vault* vault);

struct WebhookRange {
  WebhookId after;
  WebhookId last;  // Inclusive.
};

/// Seals anew what is plain or sealed under an older key.
[[nodiscard]] Result<void> reseal_shapes(Database& database, const WebhookRange& range,
                                         const Vault& vault);

}  // namespace postrider::sqlite
