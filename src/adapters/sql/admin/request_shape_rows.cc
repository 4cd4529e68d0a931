#include "adapters/sql/admin/request_shape_rows.h"

#include <string>
#include <utility>
#include <vector>

#include "core/stored/shape_bytes.h"

namespace postrider::sql {
namespace {

constexpr std::string_view find_sql =
    "SELECT sealed, shape FROM request_shape WHERE webhook_id = ?1 AND number = ?2";

constexpr std::string_view retire_sql =
    "UPDATE request_shape SET named_below = ?2 WHERE webhook_id = ?1 AND named_below IS NULL";

constexpr std::string_view range_sql = R"sql(
  SELECT webhook_id, number, sealed, shape FROM request_shape
   WHERE webhook_id > ?1 AND webhook_id <= ?2
)sql";

constexpr std::string_view reseal_sql =
    "UPDATE request_shape SET sealed = 1, shape = ?3 WHERE webhook_id = ?1 AND number = ?2";

using SealedShape = std::pair<ShapeKey, ShapeColumns>;

/// The shapes that are not sealed with the current key.
Result<std::vector<SealedShape>> read_outdated(Database& database, const WebhookRange& range,
                                               const Vault& vault) {
  POSTRIDER_TRY(Statement statement, database.prepare(range_sql));
  std::vector<SealedShape> outdated;
  Query query = statement.query(range.after, range.last);
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return outdated;
    }
    ShapeColumns columns = read_shape_columns(query, 2);
    if (!columns.sealed || !vault.is_current(columns.shape)) {
      outdated.emplace_back(ShapeKey{query.id<WebhookId>(0), query.as<std::uint32_t>(1)},
                            std::move(columns));
    }
  }
}

}  // namespace

ShapeColumns read_shape_columns(const Query& query, int first) {
  return {.shape = query.text(first + 1), .sealed = query.integer(first) != 0};
}

Result<std::optional<RequestShape>> read_shape(Database& database, const ShapeKey& key,
                                               const Vault* vault) {
  POSTRIDER_TRY(Statement statement, database.prepare(find_sql));
  Query query = statement.query(key.webhook_id, key.number);
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return fail(Errc::corrupt, "The stored request of an attempt is missing.");
  }
  const Result<std::string> packed = open_columns(read_shape_columns(query, 0), key, vault);
  if (!packed && packed.error().code == Errc::invalid) {
    return std::nullopt;
  }
  POSTRIDER_CHECK(packed);
  POSTRIDER_TRY(RequestShape shape, stored::unpack_shape(*packed));
  return shape;
}

Result<void> retire_shapes(Database& database, WebhookId webhook_id, std::int64_t next_sequence) {
  POSTRIDER_TRY(Statement statement, database.prepare(retire_sql));
  return statement.run(webhook_id, next_sequence);
}

Result<void> reseal_shapes(Database& database, const WebhookRange& range, const Vault& vault) {
  POSTRIDER_TRY(const std::vector<SealedShape> outdated, read_outdated(database, range, vault));
  POSTRIDER_TRY(Statement reseal, database.prepare(reseal_sql));
  for (const auto& [key, columns] : outdated) {
    POSTRIDER_TRY(std::string packed, open_columns(columns, key, &vault));
    const ShapeColumns sealed = to_columns(std::move(packed), key, &vault);
    POSTRIDER_CHECK(reseal.run(key.webhook_id, key.number, Blob{sealed.shape}));
  }
  return {};
}

}  // namespace postrider::sql
