#include "adapters/sqlite/ledger/request_shapes.h"

#include <limits>
#include <string>
#include <utility>

#include "core/stored/shape_bytes.h"

#include "adapters/sql/admin/request_shape_rows.h"
#include "adapters/sqlite/database/secure_delete.h"

namespace postrider::sqlite {
namespace {

// How many of the latest shapes are searched for an equal one. Around a change, requests of both
// shapes are in flight, and some changes are undone. A shape that is not found is stored again.
constexpr std::uint32_t recent_max = 8;

constexpr std::int64_t no_bound = std::numeric_limits<std::int64_t>::max();

constexpr std::string_view load_recent_sql = R"sql(
  SELECT number, named_below, sealed, shape FROM request_shape
   WHERE webhook_id = ?1 ORDER BY number DESC LIMIT ?2
)sql";

// An attempt may end after its webhook was removed. Its shape is then retired at once.
constexpr std::string_view insert_sql = R"sql(
  INSERT INTO request_shape (webhook_id, number, named_below, sealed, shape)
  SELECT ?1, ?2, iif(EXISTS (SELECT 1 FROM webhook WHERE id = ?1), NULL, ?3), ?4, ?5
)sql";

constexpr std::string_view retire_others_sql = R"sql(
  UPDATE request_shape SET named_below = ?3
   WHERE webhook_id = ?1 AND number <> ?2 AND named_below IS NULL
)sql";

constexpr std::string_view reactivate_sql =
    "UPDATE request_shape SET named_below = NULL WHERE webhook_id = ?1 AND number = ?2";

constexpr std::string_view remove_unused_sql = R"sql(
  DELETE FROM request_shape WHERE (webhook_id, number) IN
    (SELECT webhook_id, number FROM request_shape INDEXED BY request_shape_left
      WHERE named_below <= ifnull((SELECT min(sequence) FROM event), 9223372036854775807)
      LIMIT ?1)
)sql";

}  // namespace

struct RequestShapeCache::StoredShape {
  std::uint32_t number = 0;
  std::int64_t named_below = no_bound;
  std::string packed;  // Empty if it cannot be decrypted. The attempt must be recorded anyway.
};

Result<RequestShapeCache> RequestShapeCache::open(Database& database,
                                                  std::shared_ptr<const Vault> vault) {
  RequestShapeCache cache{database};
  cache.vault_ = std::move(vault);
  POSTRIDER_CHECK(database.prepare_all({{&cache.load_recent_, load_recent_sql},
                                        {&cache.insert_, insert_sql},
                                        {&cache.retire_others_, retire_others_sql},
                                        {&cache.reactivate_, reactivate_sql}}));
  return cache;
}

Result<std::uint32_t> RequestShapeCache::number_of(const RequestShapeRef& shape,
                                                   const Delivery& delivery, LaneEntry& lane,
                                                   std::int64_t next_sequence) {
  if (shape == nullptr) {
    return 0;
  }
  if (lane.shape == shape && delivery.sequence < lane.shape_named_below) {
    return lane.shape_number;
  }
  std::string packed;
  stored::pack_shape(*shape, packed);
  POSTRIDER_TRY(const std::vector<StoredShape> recent, load_recent(delivery.webhook_id));
  sql::ShapeKey key{delivery.webhook_id, recent.empty() ? 1 : recent.front().number + 1};
  std::int64_t named_below = no_bound;
  bool found = false;
  for (const StoredShape& each : recent) {
    if (each.packed == packed) {
      key.number = each.number;
      named_below = each.named_below;
      found = true;
      break;
    }
  }
  if (!found) {
    POSTRIDER_CHECK(store(key, std::move(packed), next_sequence));
  } else if (delivery.sequence >= named_below) {
    POSTRIDER_CHECK(reactivate_.run(key.webhook_id, key.number));
    POSTRIDER_CHECK(retire_others_.run(key.webhook_id, key.number, next_sequence));
    named_below = no_bound;
  }
  lane.shape = shape;
  lane.shape_number = key.number;
  lane.shape_named_below = named_below;
  return key.number;
}

Result<std::vector<RequestShapeCache::StoredShape>> RequestShapeCache::load_recent(
    WebhookId webhook_id) {
  std::vector<StoredShape> recent;
  Query query = load_recent_.query(webhook_id, recent_max);
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return recent;
    }
    StoredShape each{.number = query.as<std::uint32_t>(0),
                     .named_below = query.is_null(1) ? no_bound : query.integer(1),
                     .packed = {}};
    Result<std::string> packed = sql::open_columns(sql::read_shape_columns(query, 2),
                                                   {webhook_id, each.number}, vault_.get());
    if (packed) {
      each.packed = *std::move(packed);
    }
    recent.push_back(std::move(each));
  }
}

Result<void> RequestShapeCache::store(const sql::ShapeKey& key, std::string packed,
                                      std::int64_t next_sequence) {
  const sql::ShapeColumns columns = sql::to_columns(std::move(packed), key, vault_.get());
  return with_secure_delete(*database_, [&]() -> Result<void> {
    POSTRIDER_CHECK(insert_.run(key.webhook_id, key.number, next_sequence, columns.sealed,
                                Blob{columns.shape}));
    return retire_others_.run(key.webhook_id, key.number, next_sequence);
  });
}

Result<void> remove_unused_shapes(Database& database, std::uint32_t limit) {
  POSTRIDER_TRY(Statement statement, database.prepare(remove_unused_sql));
  return with_secure_delete(database, [&] { return statement.run(limit); });
}

}  // namespace postrider::sqlite
